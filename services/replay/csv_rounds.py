"""Public recordings in CSV, a round a row: what can be read of each row, and what cannot as a finding of that round.

Three columns of cards a hand; totals, winner and pairs if the first line names them. Where it names values and not
cards, only points are known: a 0 is then a ten, jack, queen or king.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

from services.baccarat.cards import Card, UnknownCard, parse_card
from services.baccarat.errors import Unusable
from services.card_scanner.recorded_csv import CARD_COLUMNS, NO_CARD, PAIRS, TOTALS, WINNERS
from services.card_scanner.recording import Claim
from services.replay.judge import Finding, Recorded

T = TypeVar("T")
VALUE_COLUMNS: Final = tuple(tuple(name.replace("card", "value") for name in hand) for hand in CARD_COLUMNS)
VALUES: Final[Mapping[str, Card]] = {str(points): Card("A" if points == 1 else str(points)) for points in range(1, 10)}
EXAMPLE: Final = ", ".join(column for hand in CARD_COLUMNS for column in hand)
TEN_VALUES: Final[Mapping[str, Card]] = {"0": Card("10"), "10": Card("10")}


def is_csv(text: str) -> bool:
    """Whether the first line names three columns of cards, or of values, a hand."""
    return _card_columns(_header(text)) is not None


def read_rounds(text: str, name: str) -> tuple[Recorded, ...]:
    """The rows in order, each numbered by its place; raises Unusable if the first line names no cards."""
    header = _header(text)
    columns = _card_columns(header)
    if columns is None:
        raise Unusable("no-columns", f"{name}:1: the first line must name the columns {EXAMPLE}")
    try:
        return tuple(_rows(text, header, columns))
    except csv.Error as error:
        raise Unusable("bad-line", f"{name}: this is no CSV: {error}") from error


def _header(text: str) -> list[str]:
    """The names in the first line; none if it is no CSV."""
    try:
        return [cell.strip().lower() for cell in next(csv.reader(io.StringIO(text, newline="")), [])]
    except csv.Error:
        return []


def _card_columns(header: list[str]) -> tuple[tuple[str, ...], ...] | None:
    return next(
        (
            columns
            for columns in (CARD_COLUMNS, VALUE_COLUMNS)
            if all(name in header for hand in columns for name in hand)
        ),
        None,
    )


def _rows(text: str, header: list[str], columns: tuple[tuple[str, ...], ...]) -> Iterator[Recorded]:
    rows = csv.reader(io.StringIO(text, newline=""))
    next(rows)
    round_no = 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        round_no += 1
        yield _Row(round_no, rows.line_num, header, row).recorded(columns)


class _Row:
    """One row as it is read: what its cells say, and what was wrong with them."""

    def __init__(self, round_no: int, line: int, header: list[str], row: list[str]) -> None:
        self.round_no = round_no
        self.line = line
        self.cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        self.problems: list[Finding] = []
        if len(row) != len(header):
            self._wrong("bad-line", f"the row has {len(row)} cells, and the first line names {len(header)} columns")

    def recorded(self, columns: tuple[tuple[str, ...], ...]) -> Recorded:
        """The row as a round; with problems it is not judged."""
        valued = columns is VALUE_COLUMNS
        player, banker = (self._hand(names, valued=valued) for names in columns)
        pairs = self._known(PAIRS, "pair outcome")
        claim = Claim(
            round_no=self.round_no,
            player=player,
            banker=banker,
            player_total=self._known(TOTALS, "player total"),
            banker_total=self._known(TOTALS, "banker total"),
            winner=self._known(WINNERS, "winner"),
            player_pair=pairs[0] if pairs else None,
            banker_pair=pairs[1] if pairs else None,
        )
        problems = tuple(self.problems)
        return Recorded(shoe_no=1, line=self.line, claim=claim, valued=valued, problems=problems)

    def _hand(self, names: tuple[str, ...], *, valued: bool) -> tuple[Card, ...]:
        """The cards before the first that is missing; one after it stands in the wrong place."""
        cards: list[Card] = []
        missing = ""
        for column in names:
            text = self.cells.get(column, "")
            if text.upper() in NO_CARD:
                missing = missing or column
            elif missing:
                self._wrong("not-enough-cards", f"column {missing!r} has no card, and {column!r} has {text!r}")
            elif (card := self._card(text, column, valued=valued)) is not None:
                cards.append(card)
        return tuple(cards)

    def _card(self, text: str, column: str, *, valued: bool) -> Card | None:
        if valued:
            card = {**VALUES, **TEN_VALUES}.get(text)
            if card is None:
                self._wrong("unknown-card", f"column {column!r}: {text!r} is no value from 0 to 9")
            return card
        try:
            return parse_card(text)
        except UnknownCard as error:
            self._wrong("unknown-card", f"column {column!r}: {error}")
            return None

    def _known(self, known: Mapping[str, T], column: str) -> T | None:
        """What the cell says; None where the file, or the cell, says nothing of it."""
        text = self.cells.get(column, "")
        if text.upper() in NO_CARD:
            return None
        if text.lower() not in known:
            self._wrong("bad-value", f"column {column!r}: {text!r} is none of {', '.join(known)}")
        return known.get(text.lower())

    def _wrong(self, code: str, message: str) -> None:
        self.problems.append(Finding(1, self.round_no, self.line, code, message))
