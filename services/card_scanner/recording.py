"""The project's own recording of shoes: text, one fact a line, a checksum a line, readable in a diff.

    puntobanco recording 1 *72b7
    # comments and empty lines are free, and have no checksum
    shoe decks=8 variant=classic burn_rule=face_value_faces_10 *b3bc
    burn 1 2C *2ac4
    burn 2 KD *733e
    burn 3 -- *5989
    card 4 9S *07b2
    card 5 3 *3843
    cut *c718
    card 6 10H *b870
    card 7 2C *52a5
    claim 1 player=9S,10H player_total=9 winner=player player_pair=no *8ce0
    left 8 4D *270a
    end cards=7 *d1cc

The first line names the format. `shoe` begins a shoe; `burn`, `card` and `left` number its cards from 1: burned before
or between rounds, dealt, and never dealt (so that a commitment can be checked); `--` is a face nobody read, a rank
alone a card whose suit nobody wrote down. `cut` stands where the cut card came. `claim` is what the record says of the
round just dealt, and is compared, never believed. `end` says how many cards left the shoe, so that a torn file shows.
What the checksum covers is the line before the blank and the `*`: CRC-16/CCITT, four hex digits.

A file may hold several shoes. The parser asks whether the text is a recording, not whether the game allows it: a ninth
seven of hearts in eight decks is for the rules to find.

Stable for those who use it: `Shoe`, `Taken`, `CutCard`, `Claim`, `End`, `Recording`, `parse`, `read`, `format_text`,
and `Recording.facts` with `Recording.lines` beside it (the line of each fact, from 1; empty if it was not parsed).
"""

import binascii
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, convert
from msgspec.structs import replace

from services.baccarat.cards import Card, UnknownCard, Winner, parse_card
from services.baccarat.errors import BadSettings, Unusable
from services.baccarat.shoe import BURN_RULES, END_RULES, MAX_DECKS, MIN_DECKS

VERSION_LINE: Final = "puntobanco recording 1"
UNREAD: Final = "--"


class Shoe(Struct, frozen=True, kw_only=True):
    """A shoe begins; all but `decks` is None where the record does not say.

    `seed` marks an order made for a demonstration; `salt` (hex) opens `commitment` (hex).
    """

    decks: int
    variant: str | None = None
    burn_rule: str | None = None
    burn_fixed: int | None = None
    end_rule: str | None = None
    cards_behind_cut: int | None = None
    seed: str | None = None
    commitment: str | None = None
    salt: str | None = None


class Taken(Struct, frozen=True):
    """A card and where it went: `burn`, `card` (dealt) or `left` (in the shoe when it ended); None: not read."""

    how: str
    card_no: int
    card: Card | None


class CutCard(Struct, frozen=True):
    """The cut card came, before the next card."""


class Claim(Struct, frozen=True, kw_only=True):
    """What the record says a round came to; None where it does not say. Rounds count from 1 in each shoe."""

    round_no: int
    player: tuple[Card, ...] | None = None
    banker: tuple[Card, ...] | None = None
    player_total: int | None = None
    banker_total: int | None = None
    winner: Winner | None = None
    player_pair: bool | None = None
    banker_pair: bool | None = None


class End(Struct, frozen=True):
    """The shoe is over; `cards` left it, burned ones included."""

    cards: int


Fact = Shoe | Taken | CutCard | Claim | End


class Recording(Struct, frozen=True):
    """Facts in order, each shoe from its `Shoe` to its `End`; `lines` are where they stood in the text."""

    facts: tuple[Fact, ...]
    lines: tuple[int, ...] = ()


def checksum(line: str) -> str:
    """CRC-16/CCITT of the line without its checksum, as four lower-case hex digits."""
    return f"{binascii.crc_hqx(line.encode('utf-8'), 0xFFFF):04x}"


# ---------------------------------------------------------------- writing


def format_text(recording: Recording) -> str:
    """The recording as text, which `parse` reads back to the same facts."""
    return "".join(f"{line} *{checksum(line)}\n" for line in (VERSION_LINE, *map(_written, recording.facts)))


def _written(fact: Fact) -> str:
    match fact:
        case Shoe():
            return _with_values("shoe", fact)
        case Taken():
            return f"{fact.how} {fact.card_no} {UNREAD if fact.card is None else fact.card}"
        case CutCard():
            return "cut"
        case Claim():
            return _with_values(f"claim {fact.round_no}", fact)
        case End():
            return f"end cards={fact.cards}"


def _with_values(start: str, fact: Shoe | Claim) -> str:
    values = ((name, getattr(fact, name)) for name in (SHOE_VALUES if isinstance(fact, Shoe) else CLAIM_VALUES))
    return " ".join((start, *(f"{name}={_value(value)}" for name, value in values if value is not None)))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(str(card) for card in value)
    return str(value)


# ---------------------------------------------------------------- reading


def _decks(text: str) -> int:
    return _number(text, MIN_DECKS, MAX_DECKS)


def _count(text: str) -> int:
    return _number(text, 0, 52 * MAX_DECKS)


def _total(text: str) -> int:
    return _number(text, 0, 9)


def _number(text: str, least: int, most: int) -> int:
    if re.fullmatch(r"[0-9]{1,4}", text) is None or not least <= int(text) <= most:
        raise ValueError(f"a whole number from {least} to {most}")
    return int(text)


def _one_of(*words: str) -> Callable[[str], str]:
    def read_word(text: str) -> str:
        if text not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return text

    return read_word


def _matching(pattern: str, what: str) -> Callable[[str], str]:
    def read_text(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(what)
        return text

    return read_text


def _cards(text: str) -> tuple[Card, ...]:
    try:
        return tuple(parse_card(card) for card in text.split(","))
    except UnknownCard as error:
        raise ValueError("cards with commas between them, such as 9S,KD") from error


def _yes(text: str) -> bool:
    return _one_of("yes", "no")(text) == "yes"


def _winner(text: str) -> Winner:
    return Winner(_one_of(*Winner)(text))


SHOE_VALUES: Final[Mapping[str, Callable[[str], object]]] = {
    "decks": _decks,
    "variant": _matching(r"[a-z0-9-]{1,100}", "a variant's slug, such as super-6"),
    "burn_rule": _one_of(*BURN_RULES),
    "burn_fixed": _count,
    "end_rule": _one_of(*END_RULES),
    "cards_behind_cut": _count,
    "seed": _matching(r"[^\s=*]{1,100}", "a seed of 1 to 100 characters without blanks"),
    "commitment": _matching(r"[0-9a-f]{64}", "64 hex digits"),
    "salt": _matching(r"(?:[0-9a-f]{2}){1,64}", "hex digits, two a byte"),
}
CLAIM_VALUES: Final[Mapping[str, Callable[[str], object]]] = {
    "player": _cards,
    "banker": _cards,
    "player_total": _total,
    "banker_total": _total,
    "winner": _winner,
    "player_pair": _yes,
    "banker_pair": _yes,
}


class _Word(Struct, frozen=True):
    """A word of a line; its first character stands at `column`, from 1."""

    text: str
    column: int


class _Place(Struct, frozen=True):
    """Where in the shoe a line stands: what the next card and claim must be numbered."""

    in_shoe: bool = False
    card_no: int = 1
    round_no: int = 1
    left: int = 0


class _WrongError(Exception):
    """What is wrong with a line, where in it, and what to do."""

    def __init__(self, code: str, column: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.column = column


def read(path: Path) -> Recording:
    """The recording in a file; raises BadSettings if there is no such text, and Unusable as `parse` does."""
    return parse(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a recording's file, a byte order mark left out; raises BadSettings."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadSettings(f"{path}: cannot be read ({error.strerror}); give the path of a recording") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path}: byte {error.start} is not UTF-8; a recording is a text file") from error


def is_recording(text: str) -> bool:
    """Whether this is meant as a recording of this format, whole or damaged."""
    return text.startswith("puntobanco recording")


def parse(text: str, name: str = "recording") -> Recording:
    """The facts of a recording; raises Unusable whose text says `name:line:column`, what is wrong and what to do."""
    facts: list[Fact] = []
    lines: list[int] = []
    place: _Place | None = None  # None until the version line has been read
    line_no = 0
    try:
        for line_no, line in enumerate(text.splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if place is None:
                place = _version(line)
                continue
            fact, place = _fact(_words(_checked(line)), place)
            facts.append(fact)
            lines.append(line_no)
        line_no += 1
        _finish(place)
    except _WrongError as error:
        raise Unusable(error.code, f"{name}:{line_no}:{error.column}: {error}") from error
    return Recording(tuple(facts), tuple(lines))


def _version(line: str) -> _Place:
    if not is_recording(line):
        raise _WrongError("no-version", 1, f"this is no recording; its first line must be '{VERSION_LINE}'")
    if (said := _checked(line)) != VERSION_LINE:
        raise _WrongError("unknown-version", 1, f"{said!r} is not known here; this reads '{VERSION_LINE}'")
    return _Place()


def _finish(place: _Place | None) -> None:
    if place is None:
        raise _WrongError("no-version", 1, f"nothing is recorded; the first line must be '{VERSION_LINE}'")
    if place.in_shoe:
        cards = place.card_no - 1 - place.left
        raise _WrongError("torn", 1, f"the last shoe has no end; if it is whole, add the line 'end cards={cards}'")


def _checked(line: str) -> str:
    """The line without its checksum, which must be right."""
    said, star, written = line.rstrip().rpartition(" *")
    if not star:
        remedy = f"if it is right, end it with ' *{checksum(line.rstrip())}'"
        raise _WrongError("no-checksum", len(line.rstrip()) + 1, f"the line has no checksum; {remedy}")
    if written != checksum(said):
        remedy = f"restore it from its source, or, if it is right as it stands, end it with '*{checksum(said)}'"
        raise _WrongError("bad-checksum", len(said) + 2, f"the checksum *{written} is not this line's; {remedy}")
    return said


def _words(said: str) -> tuple[_Word, ...]:
    return tuple(_Word(found.group(), found.start() + 1) for found in re.finditer(r"\S+", said))


def _fact(words: tuple[_Word, ...], place: _Place) -> tuple[Fact, _Place]:
    """The fact a line says, and the place after it."""
    kind = words[0]
    if kind.text not in READERS:
        raise _WrongError("unknown-fact", kind.column, f"no fact is {kind.text!r}; there are {', '.join(READERS)}")
    if kind.text == "shoe" and place.in_shoe:
        raise _WrongError("out-of-place", kind.column, "a shoe begins inside another; put that one's 'end' before it")
    if kind.text != "shoe" and not place.in_shoe:
        raise _WrongError("out-of-place", kind.column, "no shoe has begun; put its 'shoe' line before this one")
    return READERS[kind.text](words, place)


def _shoe(words: tuple[_Word, ...], _place: _Place) -> tuple[Shoe, _Place]:
    values = _values(words[1:], SHOE_VALUES)
    if "decks" not in values:
        raise _WrongError("missing-value", _after(words), "the shoe's decks are missing; write 'shoe decks=8'")
    return convert(values, Shoe), _Place(in_shoe=True)


def _taken(words: tuple[_Word, ...], place: _Place) -> tuple[Taken, _Place]:
    how, number, face = _exactly(words, 3, f"{words[0].text} {place.card_no} 9S")
    if number.text != str(place.card_no):
        text = f"card {number.text} is out of sequence; card {place.card_no} comes here"
        raise _WrongError("out-of-sequence", number.column, f"{text}: find the missing card or renumber")
    if how.text != "left" and place.left:
        text = "a card leaves the shoe after cards that were left in it; put the 'left' lines last"
        raise _WrongError("out-of-place", how.column, text)
    try:
        card = None if face.text == UNREAD else parse_card(face.text)
    except UnknownCard as error:
        raise _WrongError("unknown-card", face.column, f"{error}, or {UNREAD} for a face not read") from error
    left = place.left + (how.text == "left")
    return Taken(how.text, place.card_no, card), replace(place, card_no=place.card_no + 1, left=left)


def _cut(words: tuple[_Word, ...], place: _Place) -> tuple[CutCard, _Place]:
    _exactly(words, 1, "cut")
    return CutCard(), place


def _claim(words: tuple[_Word, ...], place: _Place) -> tuple[Claim, _Place]:
    if len(words) < 2 or words[1].text != str(place.round_no):
        column = words[1].column if len(words) > 1 else _after(words)
        raise _WrongError("out-of-sequence", column, f"the claim of round {place.round_no} comes here, by its number")
    values = _values(words[2:], CLAIM_VALUES)
    return convert({"round_no": place.round_no, **values}, Claim), replace(place, round_no=place.round_no + 1)


def _end(words: tuple[_Word, ...], place: _Place) -> tuple[End, _Place]:
    cards = place.card_no - 1 - place.left
    _, said = _exactly(words, 2, f"end cards={cards}")
    if said.text != f"cards={cards}":
        text = f"{cards} cards left this shoe, not {said.text}; find the missing lines, or write 'end cards={cards}'"
        raise _WrongError("torn", said.column, text)
    return End(cards), _Place()


READERS: Final[Mapping[str, Callable[[tuple[_Word, ...], _Place], tuple[Fact, _Place]]]] = {
    "shoe": _shoe,
    "burn": _taken,
    "card": _taken,
    "left": _taken,
    "cut": _cut,
    "claim": _claim,
    "end": _end,
}


def _values(words: tuple[_Word, ...], known: Mapping[str, Callable[[str], object]]) -> dict[str, object]:
    """The `name=value` words of a line, each read by what is known of its name."""
    values: dict[str, object] = {}
    for word in words:
        name, _, text = word.text.partition("=")
        if name not in known or name in values:
            what = "is said twice" if name in values else f"is not known here; there are {', '.join(known)}"
            raise _WrongError("unknown-value", word.column, f"{name!r} {what}")
        try:
            values[name] = known[name](text)
        except ValueError as error:
            column = word.column + len(name) + 1
            raise _WrongError("bad-value", column, f"{text!r} is not what {name} says: {error}") from error
    return values


def _exactly(words: tuple[_Word, ...], count: int, example: str) -> tuple[_Word, ...]:
    if len(words) != count:
        column = words[count].column if len(words) > count else _after(words)
        raise _WrongError(
            "bad-line", column, f"the line has {len(words)} words and not {count}; write it as '{example}'"
        )
    return words


def _after(words: tuple[_Word, ...]) -> int:
    return words[-1].column + len(words[-1].text)
