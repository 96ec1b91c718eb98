"""The long versions: the tests marked `soak`, then minutes of chaos on Kafka, judged like the short ones.

Chaos is rules and settlement as processes that are killed, stalled, stopped and joined at random while tables play;
in the end the log must be what the replay of its inputs says, and the books must balance.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random

from bench.processes import ROOT
from bench.servers import Servers
from tests.broker.fleet import Fleet
from tests.broker.test_processes import change
from tests.runtime.plays import play
from tests.runtime.test_contract import finish

ROUNDS_A_LIFE = 60  # of a log; then another one, or the judge would read for hours


def report(at: Servers, minutes: float, seed: int, say: Callable[[str], None]) -> None:
    """Raises AssertionError at the first thing that is not as it must be."""
    say("tests marked soak")
    subprocess.run((sys.executable, "-m", "pytest", "-q", "-m", "soak", "--timeout=0"), cwd=ROOT, check=True)
    asyncio.run(chaos(at, minutes, seed, say))


async def chaos(at: Servers, minutes: float, seed: int, say: Callable[[str], None]) -> None:
    """Log after log, each with other chances."""
    ends_s = time.monotonic() + 60 * minutes
    number = 0
    while time.monotonic() < ends_s:
        number += 1
        facts = await one_log(at, f"soak-{seed}-{number}", ends_s)
        say(f"chaos: log {number} of seed {seed} is what its inputs say, {facts:,} facts")


async def one_log(at: Servers, name: str, ends_s: float) -> int:
    """How many facts it held."""
    random = Random(name)
    with tempfile.TemporaryDirectory(dir=at.folder) as folder:
        fleet = Fleet(at.kafka, f"{name}-{int(time.time())}.", Path(folder))
        await fleet.prepare()
        try:
            for instance in ("", "1"):
                for service in ("rules", "settlement"):
                    fleet.join(service, instance=instance)
            steps = iter(play(random.randrange(10**6), rounds_each=ROUNDS_A_LIFE))
            while time.monotonic() < ends_s and (some := list(islice(steps, 2))):
                changing = asyncio.create_task(change(fleet, random))
                await fleet.play(some)
                await changing
            await fleet.play(islice(steps, 1))  # a play goes in pairs of bets and cards, and began with cards
            told = await finish(fleet)
        except BaseException:
            print(fleet.said())
            raise
        finally:
            await fleet.close()
    return sum(map(len, told.values()))
