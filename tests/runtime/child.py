"""A process to be killed: `child.py embedded FOLDER SEED`, or `child.py kafka ADDRESS PREFIX`.

Embedded, it plays a play from the step that it had reached, and says a line after each step. On Kafka it runs both
processors, and is never asked to stop.
"""

import asyncio
import sys
from pathlib import Path

from services.runtime import kafka
from services.runtime.codec import Codec
from services.runtime.embedded import Draft, EmbeddedLog
from services.runtime.settings import Settings
from tests.runtime.harness import BOTH, PARTITIONS, draft, raws
from tests.runtime.plays import Step, play


async def embedded(folder: Path, seed: int) -> None:
    now_ms = 0
    reached = folder / "reached"
    with EmbeddedLog(folder / "0" / "log.db", PARTITIONS, clock=lambda: now_ms, snapshot_ms=20) as log:
        stop = asyncio.Event()
        running = asyncio.create_task(log.run(BOTH, stop))
        steps = play(seed)
        begin = int(reached.read_text()) if reached.exists() else 0
        for number, step in enumerate(steps[begin:], start=begin):
            now_ms = step.sent[0][2]
            await asyncio.gather(*(log.append_drafts(some) for some in by_table(step)))
            await log.caught_up(BOTH)
            reached.with_suffix(".new").write_text(str(number))  # the step is sent again: nobody knows how far it was
            reached.with_suffix(".new").replace(reached)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
        stop.set()
        await running


def by_table(step: Step) -> list[list[Draft]]:
    """What one table's scanner and customers send, in their order."""
    tables: dict[bytes | None, list[Draft]] = {}
    for raw in raws(step):
        tables.setdefault(raw.key, []).append(draft(raw))
    return list(tables.values())


async def on_kafka(address: str, prefix: str) -> None:
    settings = Settings(kafka=address, topic_prefix=prefix, partitions=PARTITIONS, snapshot_every_ms=200)
    for_ever = asyncio.Event()
    await asyncio.gather(*(kafka.run(processor, settings, Codec(), for_ever) for processor in BOTH))


if __name__ == "__main__":
    what, where, how = sys.argv[1:]
    asyncio.run(embedded(Path(where), int(how)) if what == "embedded" else on_kafka(where, how))
