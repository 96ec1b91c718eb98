"""`punto deal`: one simulated shoe."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.out_file import STDOUT, write
from services.cli.output import counted, say, say_json

if TYPE_CHECKING:
    from services.baccarat.events import Event, RoundDecided
    from services.card_scanner.sources import SealedShoe

EXAMPLES = """\
\b
Examples:
  punto deal                                    by the operating system's generator
  punto deal --variant super-6 --decks 6 --seed 7
  punto deal --seed 7 --out shoe.rec && punto replay shoe.rec
"""


def command(
    *,
    variant: Annotated[
        str, typer.Option(metavar="V", help="A variant's slug; 'punto variants' lists them.")
    ] = "classic",
    decks: Annotated[int, typer.Option(metavar="N", help="1 to 12.")] = 8,
    seed: Annotated[
        str | None, typer.Option(metavar="S", help="The same shoe every time: a demonstration, never for play.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write the shoe there as a recording; '-' writes nothing else."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The shoe as one JSON object.")] = False,
) -> int:
    """Deal one simulated shoe through the rules, round by round.

    The shoe is shuffled by the operating system's generator, burned, dealt to the cut card and its last rounds. With
    --seed it is the same shoe every time, and says so.

    As JSON: variant, decks, seed, commitment (SHA-256 of the salt, a colon and the order's cards with blanks between),
    salt, order, burned, rounds (each as 'punto round --json' answers, and its round_no), cards (that left the shoe),
    reason (why it ended).
    """
    from services.baccarat.catalogue import configuration
    from services.baccarat.shoe import check_decks
    from services.card_scanner.sources import simulated_shoe
    from services.replay.deciding import facts_of, house_rules, recording_of

    check_decks(decks)
    check_out(out, as_json=as_json)
    if seed is not None and re.fullmatch(r"[^\s=*]{1,100}", seed) is None:
        raise BadSettings(f"--seed: {seed[:100]!r} must be 1 to 100 characters without blanks, '=' and '*'")
    how = configuration(variant, decks=decks)
    shoe = simulated_shoe(house_rules(how), seed, "deal/1")
    facts = tuple(facts_of(shoe, how))
    if out is not None:
        from services.card_scanner.recording import format_text

        text = format_text(recording_of(facts, shoe, how, seed))
        if out in STDOUT:
            say(text.removesuffix("\n"))
            return Code.DONE
        write(out, text, force=force)
    if as_json:
        say_json(as_object(facts, shoe, how.variant, seed))
    else:
        say(_text(facts, shoe, how.variant, seed))
    return Code.DONE


def check_out(out: str | None, *, as_json: bool) -> None:
    """Raises BadSettings for a FILE that cannot be meant."""
    if out == "":
        raise BadSettings("--out: the name of a file is missing")
    if out in STDOUT and as_json:
        raise BadSettings(f"--out {out} and --json: standard output takes one of the two")


def as_object(facts: "tuple[Event, ...]", shoe: "SealedShoe", variant: str, seed: str | None) -> dict[str, Any]:
    """The shoe as JSON writes it."""
    from services.baccarat.events import CardBurned, RoundDecided, ShoeClosed
    from services.cli.round import as_object as round_object
    from services.replay.dealing import Dealt

    closed = next(fact for fact in facts if isinstance(fact, ShoeClosed))
    return {
        "variant": variant,
        "decks": shoe.decks,
        "seed": seed,
        "commitment": shoe.commitment.partition(" ")[0] if shoe.commitment else None,
        "salt": shoe.salt,
        "order": [str(card) for card in shoe.order],
        "burned": [str(fact.card) for fact in facts if isinstance(fact, CardBurned)],
        "rounds": [
            {"round_no": fact.round_no, **round_object(Dealt(fact.player, fact.banker))}
            for fact in facts
            if isinstance(fact, RoundDecided)
        ],
        "cards": closed.cards,
        "reason": closed.reason,
    }


def _text(facts: "tuple[Event, ...]", shoe: "SealedShoe", variant: str, seed: str | None) -> str:
    """The shoe for people, a round a line."""
    from services.baccarat.cards import Winner
    from services.baccarat.events import CardBurned, CutCardSeen, RoundDecided, ShoeClosed

    lines = [
        f"{variant}, {counted(shoe.decks, 'deck')}"
        + (f": a demonstration, seed {seed}, never for play" if seed else "")
    ]
    burned = " ".join(str(fact.card) for fact in facts if isinstance(fact, CardBurned))
    winners = [fact.winner for fact in facts if isinstance(fact, RoundDecided)]
    lines.append(f"burned: {burned or 'none'}")
    for fact in facts:
        match fact:
            case RoundDecided():
                lines.append(_round(fact))
            case CutCardSeen():
                lines.append(f"     cut card before card {fact.card_no}")
            case ShoeClosed():
                counts = ", ".join(f"{winner.value.title()} {winners.count(winner)}" for winner in Winner)
                lines.append(f"{counted(fact.rounds, 'round')}, {counted(fact.cards, 'card')}: {counts}")
            case _:
                pass
    return "\n".join(lines)


def _round(decided: "RoundDecided") -> str:
    from services.cli.round import pairs_said
    from services.replay.dealing import Dealt

    dealt = Dealt(decided.player, decided.banker)
    hands = [
        f"{name} {' '.join(str(card) for card in cards):<11} {total}"
        for name, cards, total in (
            ("Player", decided.player, decided.player_total),
            ("Banker", decided.banker, decided.banker_total),
        )
    ]
    remarks = [decided.winner.value.title(), *(["natural"] if decided.natural else []), pairs_said(dealt)]
    return f"{decided.round_no:>4}  {'  '.join(hands)}  {', '.join(remark for remark in remarks if remark)}"
