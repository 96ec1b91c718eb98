"""The pages: what is in Redis, as JSON, as a stream of events, and as one page to look at."""

import asyncio
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.baccarat.errors import BadSettings, NotReady
from services.dashboard.feed import Feed, Page, sse
from services.dashboard.projection import PREFIX

STATIC: Final = Path(__file__).parent / "static"
HEADERS: Final = {
    # Nothing is fetched from elsewhere, nothing runs that does not come from here, and nobody frames the page.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Headers:
    """Puts the headers of safety, and of no stale files, on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = {name for name, _ in message["headers"]}
                more = {**HEADERS, "Cache-Control": "no-cache"}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), text.encode())
                        for name, text in more.items()
                        if name.lower().encode() not in told
                    ),
                ]
            await send(message)

        await self._app(scope, receive, with_headers)


def application(feed: Feed) -> Starlette:
    """The app over one feed, which runs for as long as the app does."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(feed.run())
        try:
            yield
        finally:
            feed.close()
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def page(_request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def events(_request: Request) -> Response:
        return StreamingResponse(_stream(feed), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def tables(_request: Request) -> Response:
        try:
            return _json(await feed.snapshot())
        except NotReady as missing:
            return _problem(503, "not-ready", str(missing))

    async def table(request: Request) -> Response:
        table_id = request.path_params["table_id"]
        try:
            found = await feed.table(table_id)
        except NotReady as missing:
            return _problem(503, "not-ready", str(missing))
        return _json(found) if found else _problem(404, "unknown-table", f"no table is called {table_id!r}")

    async def live(_request: Request) -> Response:
        return _json({"live": True})

    async def ready(_request: Request) -> Response:
        return _json(feed.pulse(), 503 if feed.problem else 200)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/api/tables", tables),
            Route("/api/tables/{table_id}", table),
            Route("/events", events),
            Route("/live", live),
            Route("/ready", ready),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Headers)],
        lifespan=lifespan,
    )


async def _stream(feed: Feed) -> AsyncIterator[bytes]:
    """A snapshot first, and again after anything was missed; between them deltas and the pulse."""
    page = feed.join()
    try:
        yield b"retry: 1000\n\n" + sse("pulse", msgspec.json.encode(feed.pulse()))
        while not page.closed:
            if page.stale:
                async for message in _restarted(feed, page):
                    yield message
            for message in page.take():
                yield message
            await page.called()
    finally:
        feed.leave(page)


async def _restarted(feed: Feed, page: Page) -> AsyncIterator[bytes]:
    """The snapshot, once it can be had; it is read after the page began to hear deltas, so none is missed."""
    page.stale = False
    try:
        snapshot = await feed.snapshot()
    except NotReady:
        page.stale = True  # the feed calls again when it can tell; until then the pulse says why not
        return
    yield sse("snapshot", msgspec.json.encode(snapshot))


def _json(answer: Any, status: int = 200) -> Response:  # noqa: ANN401 - whatever has a JSON form
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


def _problem(status: int, code: str, message: str) -> Response:
    return _json({"error": {"code": code, "message": message}}, status)


class _Server(uvicorn.Server):
    """Signals are the business of whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket for `serve`: its address is had, and may be told, before anything else starts; port 0 takes any.

    Raises BadSettings where the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise BadSettings(f"the page cannot be served at {host}:{port}: {error.strerror}") from error
    return listening


async def serve(
    redis_url: str,
    host: str,
    port: int,
    stop: asyncio.Event,
    *,
    prefix: str = PREFIX,
    listening: socket.socket | None = None,
) -> None:
    """Serves the pages until `stop` is set. Raises BadSettings where the address cannot be had."""
    feed = Feed(redis_url, prefix)
    config = uvicorn.Config(
        application(feed), log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=2, lifespan="on"
    )
    server = _Server(config)

    async def end() -> None:
        await stop.wait()
        feed.close()
        server.should_exit = True

    with listening or listen(host, port) as bound:
        async with asyncio.TaskGroup() as group:
            ending = group.create_task(end())
            await server.serve(sockets=[bound])
            ending.cancel()
