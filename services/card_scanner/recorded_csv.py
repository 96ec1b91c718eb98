"""A public format of recorded rounds: CSV, a round a line, three columns of cards a hand, and what was said of it.

The third cards, totals, winner and pairs are claims: compared, never believed. A third card that is empty or `NA` was
not drawn, while `0` is a ten. Rows are independent rounds unless who uses them knows better (`as_recording`).

Stable for those who use it: `RecordedRound`, `is_recorded_csv`, `parse`, `read`, `as_recording`.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.cards import Card, UnknownCard, Winner, parse_card
from services.baccarat.errors import Unusable
from services.card_scanner.recording import Claim, End, Fact, Recording, Shoe, Taken, read_text

T = TypeVar("T")
CARD_COLUMNS: Final = (
    ("player card 1", "player card 2", "player card 3"),
    ("banker card 1", "banker card 2", "banker card 3"),
)
COLUMNS: Final = (*CARD_COLUMNS[0], *CARD_COLUMNS[1], "player total", "banker total", "winner", "pair outcome")
TOTALS: Final[Mapping[str, int]] = {str(total): total for total in range(10)}
WINNERS: Final[Mapping[str, Winner]] = {str(winner): winner for winner in Winner}
NO_CARD: Final = ("", "NA")
# Player pair, Banker pair.
PAIRS: Final[Mapping[str, tuple[bool, bool]]] = {
    "no pair": (False, False),
    "player pair": (True, False),
    "banker pair": (False, True),
    "both pairs": (True, True),
    "both pair": (True, True),
}


class RecordedRound(Struct, frozen=True):
    """A row: the claim (always with both hands as cards) and the line of the file on which it ends, from 1."""

    line: int
    claim: Claim


def is_recorded_csv(text: str) -> bool:
    """Whether the first line names the columns of this format."""
    return set(COLUMNS) <= set(_header(next(csv.reader(text.splitlines()), [])))


def read(path: Path) -> tuple[RecordedRound, ...]:
    """The rounds in a file; raises BadSettings if there is no such text, and Unusable as `parse` does."""
    return parse(read_text(path), str(path))


def parse(text: str, name: str = "rounds.csv") -> tuple[RecordedRound, ...]:
    """The rounds in order; raises Unusable whose text says `name:line`, the column by its name, and what to do."""
    rows = csv.reader(text.splitlines())
    header = _header(next(rows, []))
    if missing := [column for column in COLUMNS if column not in header]:
        raise Unusable("no-columns", f"{name}:1: no column is called {', '.join(missing)}; name them in the first line")
    rounds: list[RecordedRound] = []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        place = f"{name}:{rows.line_num}"
        if len(row) != len(header):
            text = f"{place}: {len(row)} cells, where the first line names {len(header)} columns; mend the row"
            raise Unusable("bad-line", text)
        cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
        rounds.append(RecordedRound(rows.line_num, _claim(cells, len(rounds) + 1, place)))
    return tuple(rounds)


def as_recording(rounds: Sequence[RecordedRound], decks: int = 12) -> Recording:
    """The rounds, one after another, as one shoe without burn or cut card, in the order in which cards are dealt."""
    facts: list[Fact] = [Shoe(decks=decks, burn_rule="none")]
    lines = [1]
    card_no = 0
    for round_no, recorded in enumerate(rounds, start=1):
        for card in deal_order(recorded.claim.player or (), recorded.claim.banker or ()):
            card_no += 1
            facts.append(Taken("card", card_no, card))
            lines.append(recorded.line)
        facts.append(replace(recorded.claim, round_no=round_no))
        lines.append(recorded.line)
    return Recording((*facts, End(card_no)), (*lines, lines[-1]))


def deal_order(player: tuple[Card, ...], banker: tuple[Card, ...]) -> tuple[Card, ...]:
    """Player, Banker, Player, Banker, then the Player's third card and the Banker's (R7, R9, R11)."""
    first_four = (card for pair in zip(player[:2], banker[:2], strict=True) for card in pair)
    return (*first_four, *player[2:], *banker[2:])


def _header(names: Sequence[str]) -> list[str]:
    return [name.strip().lower() for name in names]


def _claim(cells: Mapping[str, str], round_no: int, place: str) -> Claim:
    player, banker = (_hand(cells, columns, place) for columns in CARD_COLUMNS)
    pairs = _known(PAIRS, cells, "pair outcome", place)
    return Claim(
        round_no=round_no,
        player=player,
        banker=banker,
        player_total=_known(TOTALS, cells, "player total", place),
        banker_total=_known(TOTALS, cells, "banker total", place),
        winner=_known(WINNERS, cells, "winner", place),
        player_pair=pairs[0],
        banker_pair=pairs[1],
    )


def _hand(cells: Mapping[str, str], columns: tuple[str, ...], place: str) -> tuple[Card, ...]:
    """Two or three cards: only the third may be missing."""
    cards: list[Card] = []
    for column in columns:
        if cells[column] in NO_CARD and column == columns[2]:
            continue
        try:
            cards.append(parse_card(cells[column]))
        except UnknownCard as error:
            raise Unusable("unknown-card", f"{place}: column {column!r}: {error}") from error
    return tuple(cards)


def _known(known: Mapping[str, T], cells: Mapping[str, str], column: str, place: str) -> T:
    """What the cell says, of the few things it can say."""
    text = cells[column]
    if text.lower() not in known:
        raise Unusable(
            "bad-value", f"{place}: column {column!r}: {text!r} is none of {', '.join(known)}; mend the cell"
        )
    return known[text.lower()]
