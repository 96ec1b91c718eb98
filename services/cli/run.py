"""`punto run`: one service on Kafka."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.logs import log_to_stderr
from services.cli.output import say_now

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from services.baccarat.events import Configuration
    from services.card_scanner.sources import Source
    from services.runtime.log import Log
    from services.runtime.processor import Processor
    from services.runtime.settings import Settings

PAGES: Final = "pages"
app = typer.Typer(
    name="run",
    help="""\
One service on Kafka; several of the same share the tables.

Settings come from the environment (KAFKA_BOOTSTRAP_SERVERS, SCHEMA_REGISTRY_URL, REDIS_URL, PUNTO_HTTP_PORT, ...) and
from the TOML file that PUNTO_SETTINGS names. SIGTERM and Ctrl-C end a service in order, with exit code 0. Where Kafka,
the registry or Redis is away the process stays up, says so (/ready at PUNTO_HTTP_PORT) and goes on by itself.
""",
    rich_markup_mode=None,
)
TABLES = Annotated[int, typer.Option(metavar="N", help="The demonstration's first N tables; the variants take turns.")]
SPEED = Annotated[float, typer.Option(metavar="X", help="2 is twice as fast, betting windows included.")]
SEED = Annotated[str | None, typer.Option(metavar="S", help="The same every time: a demonstration, never for play.")]


@app.command(
    "card-scanner",
    epilog="""\
\b
Examples:
  punto run card-scanner                        simulated shoes at the demonstration's four tables
  punto run card-scanner --table T1 --recording shoe.rec
""",
)
def card_scanner(
    *,
    tables: TABLES = 4,
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="This table, by its name, instead; may be repeated.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Deal the shoes of this recording (or CSV), then end.")
    ] = None,
    seed: SEED = None,
    speed: SPEED = 1.0,
) -> int:
    """Deal simulated or recorded shoes into 'table-feed'.

    What is in the shoes is kept under PUNTO_STATE_DIR: a scanner that was killed goes on with the next card. Scanners
    with one such folder share the tables.
    """
    from services.card_scanner.motor import pace_at
    from services.card_scanner.scanner import scan
    from services.card_scanner.sources import Simulated

    if table and "" in table:
        raise BadSettings("--table: the name of a table is missing")
    source = Simulated(seed) if recording is None else recorded_source(recording)
    sources: Mapping[str, Source] = dict.fromkeys(table or demonstration(tables, speed), source)
    pace = pace_at(checked_speed(speed))

    async def work(settings: "Settings", stop: "asyncio.Event") -> None:
        async def deal(log: "Log", stop: "asyncio.Event") -> None:
            await scan(log, sources, state_dir=settings.state_dir / "shoes", pace=pace, stop=stop)
            stop.set()

        await _with_log("card-scanner", settings, stop, deal)

    return _run(work)


@app.command(epilog="\b\nExamples:\n  punto run rules")
def rules() -> int:
    """Read 'table-feed'; say in 'rounds' what it means, and in 'bets' when betting opens and closes."""
    from services.rules import RULES

    return _run_processor(RULES)


@app.command(epilog="\b\nExamples:\n  punto run settlement")
def settlement() -> int:
    """Read 'bets' and 'rounds'; accept, refuse and settle in 'settlements'."""
    from services.settlement import SETTLEMENT

    return _run_processor(SETTLEMENT)


@app.command(epilog="\b\nExamples:\n  PUNTO_DASHBOARD_PORT=8000 punto run dashboard")
def dashboard() -> int:
    """Show every table live: fold 'rounds' and 'settlements' into Redis, and serve the page.

    Prints the page's address first. The page is empty until a table is configured ('tables apply', 'run demo-dealer').
    """
    return _run(_show)


@app.command("demo-dealer", epilog="\b\nExamples:\n  punto run demo-dealer --tables 8")
def demo_dealer(*, tables: TABLES = 4, speed: SPEED = 1.0) -> int:
    """Mind the demonstration's tables: configure them, and resume what was suspended."""
    from services.demo.dealer import dealer

    configurations = demonstration(tables, speed)

    async def work(settings: "Settings", stop: "asyncio.Event") -> None:
        await _with_log("demo-dealer", settings, stop, lambda log, stop: dealer(log, configurations, speed, stop))

    return _run(work)


@app.command("demo-customers", epilog="\b\nExamples:\n  punto run demo-customers --tables 8 --seed 7")
def demo_customers(*, tables: TABLES = 4, seed: SEED = None) -> int:
    """Bet at the demonstration's tables, as customers would."""
    from services.demo.customers import customers

    names = tuple(demonstration(tables, 1.0))

    async def work(settings: "Settings", stop: "asyncio.Event") -> None:
        await _with_log("demo-customers", settings, stop, lambda log, stop: customers(log, names, seed, stop))

    return _run(work)


def demonstration(tables: int, speed: float) -> "Mapping[str, Configuration]":
    """The demonstration's tables by their names. Raises BadSettings."""
    from services.demo.demo import MOST_TABLES, table_configurations

    if not 1 <= tables <= MOST_TABLES:
        raise BadSettings(f"--tables: the demonstration has 1 to {MOST_TABLES} tables, not {tables}")
    return table_configurations(tables, checked_speed(speed))


def checked_speed(speed: float) -> float:
    """Raises BadSettings for a speed that nobody could mean."""
    from services.demo.demo import SPEEDS

    if not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise BadSettings(f"--speed: must be {SPEEDS[0]:g} to {SPEEDS[1]:g}, not {speed:g}")
    return speed


def recorded_source(path: Path) -> "Source":
    """The shoes of a recording; the rounds of a CSV are one shoe, of 12 decks. Raises BadSettings and Unusable."""
    from services.card_scanner import recorded_csv
    from services.card_scanner.recording import parse, read_text
    from services.card_scanner.sources import recorded

    text = read_text(path)
    if recorded_csv.is_recorded_csv(text):
        return recorded(recorded_csv.as_recording(recorded_csv.parse(text, str(path))))
    return recorded(parse(text, str(path)))


def _run_processor(processor: "Processor[Any]") -> int:
    from services.runtime.service import run_processor

    return _run(lambda settings, stop: run_processor(processor, settings, stop))


def _run(work: "Callable[[Settings, asyncio.Event], Awaitable[None]]") -> int:
    """The settings are read first: what is wrong with them is told before anything starts."""
    import logging

    from services.runtime import settings
    from services.runtime.service import until_signal

    known = settings.read(os.environ)
    log_to_stderr("INFO")
    logging.getLogger(__name__).info("starting; Kafka is expected at %s", known.kafka)
    until_signal(lambda stop: work(known, stop))
    return Code.DONE


async def _with_log(
    name: str, settings: "Settings", stop: "asyncio.Event", work: "Callable[[Log, asyncio.Event], Awaitable[None]]"
) -> None:
    from services.runtime.service import run_with_log

    await run_with_log(name, settings, stop, work)


async def _show(settings: "Settings", stop: "asyncio.Event") -> None:
    """The projection and the page side by side: the page stays up, and says how old it is, where Kafka is away."""
    import asyncio

    from services.dashboard.projection import PREFIX, project
    from services.dashboard.web import listen, serve
    from services.runtime.health import Health
    from services.runtime.service import run_with_log

    health = Health("dashboard")
    prefix = settings.topic_prefix + PREFIX  # those who share a Kafka share a Redis too
    stale = "the pages do not show all there is"

    def note(is_ready: bool) -> None:
        if is_ready:
            health.right(PAGES)
        else:
            health.wrong(PAGES, stale)

    def blame(why: str) -> None:
        health.wrong(PAGES, f"{stale}: {why}")

    async def fold(log: "Log", stop: "asyncio.Event") -> None:
        await project(log, settings.redis, stop, note, prefix=prefix, on_trouble=blame)

    note(False)
    with listen(settings.host, settings.dashboard_port) as page:
        say_now(page_address(settings.host, page.getsockname()[1]))
        async with asyncio.TaskGroup() as group:
            group.create_task(run_with_log("dashboard", settings, stop, fold, health=health))
            group.create_task(serve(settings.redis, settings.host, 0, stop, prefix=prefix, listening=page))


def page_address(host: str, port: int) -> str:
    """As this machine's browser can open it, where the page is served at every address."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
