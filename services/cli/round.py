"""`punto round`: cards in, and who draws and why."""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import typer

from services.baccarat.cards import Card, UnknownCard, parse_card
from services.baccarat.errors import Unusable
from services.baccarat.tableau import explain
from services.cli.exits import Code
from services.cli.output import complain, say, say_json
from services.replay.dealing import Dealt, deal

EXAMPLES = """\
\b
Examples:
  punto round 9S KH 10D 6H                      a natural: nobody draws
  punto round 2 2 3 A 8                         ranks alone will do; the Banker stands on 3 against an 8
  punto round 4H 5D KS QC 6S 2H --json          for machines
  printf '9 K 10 6\\n2 2 3 A 8\\n' | punto round --json -
"""

SYMBOLS: Final = str.maketrans("\u2660\u2665\u2666\u2663\u2664\u2661\u2662\u2667", "SHDCSHDC", "\ufe0e\ufe0f")


def command(
    cards: Annotated[
        list[str],
        typer.Argument(
            metavar="CARD...",
            help="Rank, then suit if known: 9S KH 10D AC (T and 0 also mean ten); or '-': one round a line.",
            show_default=False,
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a round.")] = False,
) -> int:
    """Deal cards in the order they leave the shoe, and explain who draws and why.

    The first four go Player, Banker, Player, Banker; then the tableau decides.

    As JSON: player, banker, player_total, banker_total, winner (player, banker or tie), natural, player_pair,
    banker_pair; or error, with code (too-few-cards, too-many-cards, unknown-card) and message.

    With '-' each line is a round and gets its answer, wrong ones an error, and the exit code is 0; empty lines are
    skipped. Without it, cards that make no round end with exit code 1.
    """
    if cards == ["-"]:
        for line_no, line in _lines():
            if not as_json:
                say(f"line {line_no}: {line}")
            _answer(line.split(), f"line {line_no}: ", as_json=as_json)
        return Code.DONE
    is_round = _answer([word for card in cards for word in card.split()], "", as_json=as_json)
    return Code.DONE if is_round else Code.FOUND


def round_of(words: Iterable[str]) -> Dealt:
    """The round that exactly these cards make; raises Unusable."""
    cards = tuple(_card(word) for word in words)
    dealt = deal(cards)
    if dealt.rest:
        text = f"the round is over after {len(cards) - len(dealt.rest)} cards, and {len(cards)} were given"
        raise Unusable("too-many-cards", text)
    if dealt.awaited is not None:
        text = f"{len(cards)} cards were given, and the {dealt.awaited.value.title()}'s next one is missing"
        raise Unusable("too-few-cards", text)
    return dealt


def as_object(dealt: Dealt) -> dict[str, Any]:
    """The round as JSON writes it."""
    return {
        "player": [str(card) for card in dealt.player],
        "banker": [str(card) for card in dealt.banker],
        "player_total": dealt.player_total,
        "banker_total": dealt.banker_total,
        "winner": dealt.winner.value,
        "natural": dealt.natural,
        "player_pair": dealt.player_pair,
        "banker_pair": dealt.banker_pair,
    }


def pairs_said(dealt: Dealt) -> str:
    """The pairs in words; empty if there is none."""
    names = [name for name, pair in (("Player", dealt.player_pair), ("Banker", dealt.banker_pair)) if pair]
    return " and ".join(f"{name} pair" for name in names)


def _card(word: str) -> Card:
    try:
        return parse_card(word)
    except UnknownCard as error:
        raise Unusable("unknown-card", f"{error}{hint(word)}") from error


def hint(word: str) -> str:
    """What was probably meant; empty where nobody can say."""
    letters = word.upper().translate(SYMBOLS)
    meant = "A" + letters[1:] if re.fullmatch("1[SHDC]?", letters) else letters
    try:
        card = parse_card(meant)
    except UnknownCard:
        return ""
    return "" if word.upper() == meant else f"; did you mean {card}?"


def _answer(words: list[str], place: str, *, as_json: bool) -> bool:
    """Answers one round; whether it was one."""
    try:
        dealt = round_of(words)
    except Unusable as error:
        if as_json:
            say_json({"error": {"code": error.code, "message": str(error)}}, indent=None)
        else:
            complain(f"{place}{error}")
        return False
    if as_json:
        say_json(as_object(dealt), indent=None)
        return True
    pairs = pairs_said(dealt)
    say("\n".join((*explain(dealt.player, dealt.banker), *((f"{pairs}.",) if pairs else ()))))
    return True


def _lines() -> Iterator[tuple[int, str]]:
    """The lines of standard input that say something, from 1; bytes that are no text stay visible, and are no card."""
    for line_no, raw in enumerate(sys.stdin.buffer, start=1):
        if line := raw.decode("utf-8", "backslashreplace").strip():
            yield line_no, line
