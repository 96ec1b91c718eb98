"""What a command says: to people, to machines, and of its errors."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")
SLOW = 2_000  # items; with fewer the bar would be gone before it is read


def say(text: str) -> None:
    """One line or more to the terminal; what the terminal's encoding lacks is replaced, never an error."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def say_now(text: str) -> None:
    """The same, and whoever reads along sees it at once."""
    say(text)
    sys.stdout.flush()


def say_json(value: object, *, indent: int | None = 2) -> None:
    """One JSON value in pure ASCII, so that no locale can spoil it; written out at once."""
    print(json.dumps(value, indent=indent), flush=True)


def complain(text: str) -> None:
    """One line to standard error, whatever line breaks the text had."""
    line = " ".join(text.split())
    encoding = sys.stderr.encoding or "utf-8"
    print(f"punto: {line}".encode(encoding, "replace").decode(encoding), file=sys.stderr)


def tracked(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The same items; on a terminal, and if they are many, with a bar on standard error that shows how far it is."""
    if total < SLOW or not sys.stderr.isatty():
        return iter(items)
    from rich.console import Console
    from rich.progress import track

    return iter(track(items, what, total=total, console=Console(stderr=True), transient=True))


def waiting(what: str) -> AbstractContextManager[object]:
    """On a terminal, something that moves on standard error while nothing else can be said."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)
