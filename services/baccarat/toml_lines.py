"""Where in a TOML text something stands, so that a mistake can be pointed at: what the parser itself does not keep.

A path is the keys from the top, with the place of an item in an array counted from 0: `("bets", "nines", 1, "pays")`.
"""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

Path = tuple[str | int, ...]
BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
KEY: Final = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")
# One value that has no parts: text in one of four ways, or a number, a truth or a time up to what ends it.
PLAIN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^,\]}#\n]+""", re.DOTALL
)


class NotToml(Exception):
    """The text is no TOML; `line` is where, from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class Document(Struct, frozen=True):
    """A TOML text's values, and the line of each. Decimals are exact."""

    values: dict[str, Any]
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """Counted from 1; of what holds it, where the path itself is not written."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def parse(text: str) -> Document:
    """Raises NotToml."""
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(line_of_error(text, str(error)), " ".join(str(error).split())) from error
    return Document(values, lines_of(text))


def line_of_error(text: str, message: str) -> int:
    """The line that the parser's message names; the last one where it only says that the document ended."""
    named = re.search(r"at line (\d+)", message)
    return int(named[1]) if named else max(1, len(text.splitlines()))


def lines_of(text: str) -> dict[Path, int]:
    """The line of every key and item of a text that is TOML."""
    found = Finding(text)
    within: Path = ()
    at = found.skip(0)
    while at < len(text):
        if text[at] == "[":
            within, at = found.header(at)
        else:
            at = found.pair(within, at)
        at = found.skip(at)
    return found.lines


class Finding:
    """Walks over a text that is known to be TOML, and writes down where what stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}

    def skip(self, at: int) -> int:
        """The place of what comes next that is no blank and no comment."""
        blank = BLANK.match(self.text, at)
        return at if blank is None else blank.end()

    def note(self, path: Path, at: int) -> None:
        self.lines.setdefault(path, self.text.count("\n", 0, at) + 1)

    def keys(self, at: int) -> tuple[tuple[str, ...], int]:
        """A key, dotted or not."""
        name, at = self.one_key(at)
        if not self.text.startswith(".", at):
            return (name,), at
        rest, at = self.keys(at + 1)
        return (name, *rest), at

    def one_key(self, at: int) -> tuple[str, int]:
        key = KEY.match(self.text, at)
        return ("", at) if key is None else (next(name for name in key.groups() if name is not None), key.end())

    def header(self, at: int) -> tuple[Path, int]:
        """`[table]` or `[[item]]`: the path of what follows, and where that begins."""
        several = self.text.startswith("[[", at)
        names, end = self.keys(at + (2 if several else 1))
        path = self.placed(names[:-1]) + names[-1:]
        if several:
            self.counts[path] = number = self.counts.get(path, -1) + 1
            self.note(path, at)
            path = (*path, number)
        self.note(path, at)
        return path, end + (2 if several else 1)

    def placed(self, names: tuple[str, ...]) -> Path:
        """Names as a path: of what is written item by item, the last item so far."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def pair(self, within: Path, at: int) -> int:
        """`key = value`; where it ends."""
        names, end = self.keys(at)
        for many in range(1, len(names) + 1):
            self.note((*within, *names[:many]), at)
        return self.value((*within, *names), self.skip(end + 1))

    def value(self, path: Path, at: int) -> int:
        """A value and what is in it; where it ends."""
        if self.text[at] not in "[{":
            plain = PLAIN.match(self.text, at)
            return at + 1 if plain is None else plain.end()
        closing = "]" if self.text[at] == "[" else "}"
        at = self.skip(at + 1)
        number = 0
        while self.text[at] != closing:
            if closing == "]":
                self.note((*path, number), at)
                at = self.value((*path, number), at)
            else:
                at = self.pair(path, at)
            number += 1
            at = self.skip(at)
            if self.text[at] == ",":
                at = self.skip(at + 1)
        return at + 1
