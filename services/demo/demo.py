"""Everything in one process: tables, cards, bets, settlement and the page, over one durable file.

Killed at any moment and started again it goes on with the same shoe, the next card and the open bets.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.catalogue import VARIANTS, configuration
from services.baccarat.errors import BadSettings, NotReady
from services.baccarat.events import Configuration
from services.card_scanner.motor import pace_at
from services.card_scanner.scanner import scan
from services.card_scanner.sources import Simulated
from services.dashboard.projection import project
from services.dashboard.web import listen, serve
from services.demo.customers import customers
from services.demo.dealer import dealer
from services.demo.folders import choose, newest
from services.demo.following import again_and_again
from services.demo.telling import Say, tell
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog
from services.runtime.local import Child, LocalError, default_state_dir, start_valkey
from services.settlement import SETTLEMENT

HOST: Final = "127.0.0.1"
PORTS_TRIED: Final = 20
FIRST_VARIANTS: Final = ("classic", "classic-tie-9", "super-6", "ez")
WINDOW_MS: Final = 15_000  # of betting, at speed 1
CLOSE_MARGIN_MS: Final = 250  # at speed 1
SPEEDS: Final = (0.1, 1_000.0)
MOST_TABLES: Final = 200
REDIS_LOOK_S: Final = 1.0


class Play(Struct, frozen=True):
    """What is played: the tables with their configurations, by whose chance, how fast and for how long."""

    tables: Mapping[str, Configuration]
    seed: str | None
    speed: float
    seconds: float | None


def table_configurations(count: int, speed: float) -> dict[str, Configuration]:
    """So many tables, the variants in turn, `classic-2` after the last of them; speed shortens the betting."""
    slugs = tuple(dict.fromkeys((*FIRST_VARIANTS, *VARIANTS)))
    found: dict[str, Configuration] = {}
    for place in range(count):
        slug = slugs[place % len(slugs)]
        found[f"{slug}-{place // len(slugs) + 1}"] = replace(
            configuration(slug),
            betting_window_ms=max(round(WINDOW_MS / speed), 1),
            close_margin_ms=round(CLOSE_MARGIN_MS / speed),
        )
    return found


async def demo(
    tables: int = 4,
    seed: str | int | None = None,
    speed: float = 1.0,
    port: int = 8080,
    seconds: float | None = None,
    fresh: bool = False,  # noqa: FBT001, FBT002 - as the command has it
    state_dir: Path | None = None,
    say: Say = print,
) -> None:
    """Plays until Ctrl-C, SIGTERM or so many `seconds`. Raises BadSettings and NotReady, one line each."""
    if not 1 <= tables <= MOST_TABLES:
        raise BadSettings(f"the demonstration has 1 to {MOST_TABLES} tables, not {tables}")
    if seconds is not None and seconds <= 0:
        raise BadSettings(f"the demonstration lasts more than 0 seconds, not {seconds:g}")
    if not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise BadSettings(f"the speed is {SPEEDS[0]:g} to {SPEEDS[1]:g}, not {speed:g}")
    play = Play(table_configurations(tables, speed), None if seed is None else str(seed), speed, seconds)
    with ExitStack() as held:
        page = held.enter_context(listening(port))
        folder = choose(state_dir or default_state_dir() / "demo", play.seed, fresh=fresh)
        log = held.enter_context(EmbeddedLog(folder.path / "log.sqlite"))
        address, child = held.enter_context(redis(folder.path / "redis"))
        say(f"http://{HOST}:{page.getsockname()[1]}")
        if folder.remark:
            say(folder.remark)
        say(f"{'A new log' if folder.is_new else 'Going on with the log'} in {folder.path}; Ctrl-C stops.")
        if play.seed is not None:
            say(f"A demonstration with seed {play.seed}: the same shoes every time, never for play.")
        await run(log, play, folder.path, page, address, child, say)
        say(stopped(folder.path, play.seed))


def stopped(folder: Path, seed: str | None) -> str:
    """The last line: how this log is gone on with, unless a newer one with its seed was begun meanwhile."""
    if (beside := newest(folder.parent, seed)) != folder:
        return f"Stopped; {beside} was begun meanwhile, and is gone on with instead."
    return f"Stopped; started again{'' if seed is None else f' with --seed {seed}'} it goes on here."


async def run(
    log: EmbeddedLog, play: Play, folder: Path, page: socket.socket, redis_url: str, child: Child | None, say: Say
) -> None:
    """All parts side by side until the end; if one fails, all stop and its error is raised."""
    stop = asyncio.Event()
    sources = dict.fromkeys(play.tables, Simulated(play.seed))
    pace = pace_at(play.speed)
    parts = (
        again_and_again(lambda: log.run([RULES, SETTLEMENT], stop), stop, "rules and settlement"),
        scan(log, sources, state_dir=folder / "shoes", pace=pace, stop=stop),
        dealer(log, play.tables, play.speed, stop),
        customers(log, tuple(play.tables), play.seed, stop),
        project(log, redis_url, stop, lambda _is_ready: None),
        serve(redis_url, HOST, page.getsockname()[1], stop, listening=page),
        tell(log, tuple(play.tables), stop, say),
        mind(child, stop),
    )
    with stopping(stop, play.seconds):
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            await asyncio.gather(*tasks)
        finally:
            stop.set()
            await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def stopping(stop: asyncio.Event, seconds: float | None) -> Iterator[None]:
    """Ctrl-C, SIGTERM and the end of the time set `stop`; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def order() -> None:
        stop.set()
        for number in signals:
            loop.remove_signal_handler(number)

    for number in signals:
        loop.add_signal_handler(number, order)
    timer = None if seconds is None else loop.call_later(seconds, stop.set)
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        for number in signals:
            loop.remove_signal_handler(number)


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """The page's port, or the next one that is free. Raises BadSettings."""
    if not 0 <= port <= 65_535:
        raise BadSettings(f"a port is a number up to 65535, not {port}")
    found: socket.socket | None = None
    for tried in range(port, min(port + PORTS_TRIED, 65_536)):
        with suppress(BadSettings):
            found = listen(HOST, tried)
            break
    if found is None:
        raise BadSettings(
            f"no port from {port} to {port + PORTS_TRIED - 1} is free at {HOST}; give another with --port"
        )
    with found:
        yield found


@contextmanager
def redis(folder: Path) -> Iterator[tuple[str, Child | None]]:
    """The address of a real Redis: REDIS_URL, else a child process, which is given too. Raises NotReady."""
    if address := os.environ.get("REDIS_URL"):
        yield address, None
        return
    try:
        child = start_valkey(folder)
    except LocalError as error:
        raise NotReady(f"no Redis for the page: {error}; or set REDIS_URL") from error
    with child:
        yield child.address, child


async def mind(child: Child | None, stop: asyncio.Event) -> None:
    """Starts the Redis again if somebody ended it: what is in it can be built again."""
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), REDIS_LOOK_S)
        if child is not None and not child.alive and not stop.is_set():
            with suppress(LocalError):
                child.start()
