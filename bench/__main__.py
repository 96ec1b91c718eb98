"""`python -m bench [WHAT ...]`: figures, each beside what it is to be compared with, after a line about the machine.

Without WHAT everything but the soak, small enough for some four minutes; `all` is the same, long enough to be trusted.
"""

import argparse
import logging
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench import bets, deciders, embedded, kafka, memory, odds, restart, soak
from bench.machine import machine
from bench.servers import Servers, servers
from services.baccarat.errors import NotReady
from services.runtime.service import NOISY

ON_SERVERS: Final[Mapping[str, Callable[[Servers, argparse.Namespace], None]]] = {
    "kafka": lambda at, how: kafka.report(at, how.tables, how.seconds or (5 if how.quick else 20), how.turns, say),
    "bets": lambda at, how: bets.report(at, how.turns, 3 if how.quick else 1, say),
    "restart": lambda at, how: restart.report(at, max(how.tables), 6 if how.quick else 30, say),
    "soak": lambda at, how: soak.report(at, how.minutes, how.seed, say),
}
ALONE: Final = {"deciders": deciders.report, "embedded": embedded.report, "memory": memory.report, "odds": odds.report}
ALL: Final = ("deciders", "odds", "memory", "embedded", "kafka", "bets", "restart")


def say(line: str) -> None:
    print(line, flush=True)


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed and memory, on this machine.")
    parser.add_argument(
        "what", nargs="*", choices=[[], *ALONE, *ON_SERVERS, "all"], help="all is all but soak; default: all --quick"
    )
    parser.add_argument("--quick", action="store_true", help="smaller and shorter, and less to be trusted")
    parser.add_argument("--tables", type=int, nargs="+", default=[*kafka.TABLES], help="for kafka and restart")
    parser.add_argument("--seconds", type=float, help="of a card a second in each turn, for kafka")
    parser.add_argument("--turns", type=int, help="of floor and services, for kafka and bets")
    parser.add_argument("--minutes", type=float, default=10, help="of chaos, for soak")
    parser.add_argument("--seed", type=int, default=1, help="of chaos")
    how = parser.parse_args()
    how.quick = how.quick or not how.what
    how.what = ALL if not how.what or "all" in how.what else how.what
    how.turns = how.turns or (1 if how.quick else 2)
    return how


def main() -> None:
    how = asked()
    for name in (*NOISY, "tests"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    say(machine())
    with ExitStack() as stack:
        for name in how.what:
            if name in ALONE:
                for line in ALONE[name]():
                    say(line)
        if not any(name in ON_SERVERS for name in how.what):
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            at = stack.enter_context(servers(folder))
        except NotReady as missing:
            say(f"nothing measured on Kafka: {missing}")
            return
        for name in how.what:
            if name in ON_SERVERS:
                try:
                    ON_SERVERS[name](at, how)
                except NotReady as trouble:
                    say(f"{name}: {trouble}")


if __name__ == "__main__":
    main()
