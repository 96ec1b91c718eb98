"""What a command says: to people, to machines, and of its errors."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TextIO, TypeVar

from services.baccarat.errors import PuntoError

T = TypeVar("T")
SLOW = 2_000  # items; with fewer the bar would be gone before it is read


class NotWritten(PuntoError):
    """What a command had to write could not be written; whoever closed a pipe is no such case."""


class Unsaid(NotWritten):
    """The same of standard output, which nothing more can be said to."""


@contextmanager
def writing() -> Iterator[TextIO]:
    """Standard output. Raises Unsaid where it is closed or takes no more, and BrokenPipeError as it comes."""
    if sys.stdout is None:  # as a process begins whose standard output was closed
        raise Unsaid("standard output is closed: there is nowhere to write to")
    try:
        yield sys.stdout
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unsaid(f"standard output cannot be written: {error.strerror or error}") from error


def say(text: str) -> None:
    """One line or more to the terminal; what the terminal's encoding lacks is replaced, never an error."""
    with writing() as out:
        encoding = out.encoding or "utf-8"
        print(text.encode(encoding, "replace").decode(encoding), file=out)


def say_now(text: str) -> None:
    """The same, and whoever reads along sees it at once."""
    say(text)
    flush()


def flush() -> None:
    """Writes out what was said."""
    if sys.stdout is not None:
        with writing() as out:
            out.flush()


def say_json(value: object, *, indent: int | None = 2) -> None:
    """One JSON value in pure ASCII, so that no locale can spoil it; written out at once."""
    with writing() as out:
        print(json.dumps(value, indent=indent), file=out, flush=True)


def complain(text: str) -> None:
    """One line to standard error, whatever line breaks the text had; where nobody can hear it, none."""
    if sys.stderr is None:
        return
    line = " ".join(text.split())
    encoding = sys.stderr.encoding or "utf-8"
    try:
        print(f"punto: {line}".encode(encoding, "replace").decode(encoding), file=sys.stderr, flush=True)
    except OSError:
        # What stays in it would fail again at the end, and be the exit code.
        sys.stderr = None


def tracked(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The same items; on a terminal, and if they are many, with a bar on standard error that shows how far it is."""
    if total < SLOW or not _is_watched():
        return iter(items)
    from rich.console import Console
    from rich.progress import track

    return iter(track(items, what, total=total, console=Console(stderr=True), transient=True))


def waiting(what: str) -> AbstractContextManager[object]:
    """On a terminal, something that moves on standard error while nothing else can be said."""
    if not _is_watched():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def counted(number: int, what: str) -> str:
    """`1 deck`, `2 decks`; also of `difference` and the like, whose plural is as regular."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
