"""`punto demo`: everything in one process."""

from typing import Annotated

import typer

from services.cli.exits import Code
from services.cli.logs import log_to_stderr
from services.cli.output import say_now

EXAMPLES = """\
\b
Examples:
  punto demo                                    four tables, one of each variant; Ctrl-C stops it
  punto demo --tables 12 --speed 5
  punto demo --seed 7 --seconds 60              the same shoes every time, for a minute
"""


def command(
    *,
    tables: Annotated[int, typer.Option(metavar="N", help="How many; the variants take turns.")] = 4,
    seed: Annotated[
        str | None, typer.Option(metavar="S", help="The same shoes every time; each seed has its own log.")
    ] = None,
    speed: Annotated[float, typer.Option(metavar="X", help="2 is twice as fast, betting windows included.")] = 1.0,
    port: Annotated[int, typer.Option(metavar="P", help="Of the page; the next one that is free is taken.")] = 8080,
    seconds: Annotated[float | None, typer.Option(metavar="T", help="End by itself after so long.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start a new log.")] = False,
) -> int:
    """Play live tables: shoes, simulated customers, settlement and the page, all in this process.

    Prints the page's address first, then what happens. Started again, also after a kill, it goes on with the same shoe,
    the next card and the open bets: each --seed, and none, with its own newest log. The logs are kept under
    PUNTO_STATE_DIR, by default ~/.local/state/puntobanco.
    """
    import asyncio

    from services.demo.demo import demo

    log_to_stderr("WARNING")
    asyncio.run(demo(tables, seed, speed, port, seconds, fresh, say=say_now))
    return Code.DONE
