"""`punto variants`: the pay tables by name."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.exits import Code
from services.cli.output import say, say_json

if TYPE_CHECKING:
    from services.baccarat.catalogue import Variant
    from services.baccarat.events import Line

EXAMPLES = """\
\b
Examples:
  punto variants
  punto variants super-6
  punto variants --json
"""


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A variant's slug: show its pay table.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """List the variants, or show the pay table of one as a player reads it.

    As JSON: a list of variant and name; of one variant: variant, name, source and pay_table, by bet a list of lines
    (when, odds 'to one' or null for a push, commission on the winnings), of which the first that holds pays.
    """
    from services.baccarat.catalogue import VARIANTS, variant_of

    if name is None:
        listed = [{"variant": slug, "name": variant.name} for slug, variant in VARIANTS.items()]
        if as_json:
            say_json(listed)
        else:
            say("\n".join(f"{one['variant']:<14} {one['name']}" for one in listed))
        return Code.DONE
    variant = variant_of(name)
    if as_json:
        say_json(as_object(variant))
    else:
        say(_text(variant))
    return Code.DONE


def as_object(variant: "Variant") -> dict[str, Any]:
    """A pay table as JSON writes it: odds and commission are exact fractions as text."""
    return {
        "variant": variant.slug,
        "name": variant.name,
        "source": variant.source,
        "pay_table": {
            bet: [
                {
                    "when": {condition.fact: list(condition.among) for condition in line.when},
                    "odds": None if line.odds is None else str(line.odds),
                    "commission": str(line.commission),
                }
                for line in lines
            ]
            for bet, lines in variant.bets.items()
        },
    }


def _text(variant: "Variant") -> str:
    """The pay table in words."""
    lines = [f"{variant.name} ({variant.slug})"]
    for bet, bet_lines in variant.bets.items():
        lines += [
            f"  {bet if number == 0 else '':<12}  {_pays(line):<24} {_when(line)}"
            for number, line in enumerate(bet_lines)
        ]
    return "\n".join((*lines, "  The first line that holds pays; where none holds, the bet is lost."))


def _pays(line: "Line") -> str:
    from services.replay.report import exact

    if line.odds is None:
        return "stake back"
    commission = f" less {exact(line.commission * 100)}%" if line.commission else ""
    return f"{line.odds.numerator}:{line.odds.denominator}{commission}"


PHRASES = {
    ("winner", "player"): "Player wins",
    ("winner", "banker"): "Banker wins",
    ("winner", "tie"): "tie",
    ("natural", "yes"): "natural",
    ("player_pair", "yes"): "Player's first two cards are of one rank",
    ("banker_pair", "yes"): "Banker's first two cards are of one rank",
}
WORDS = {
    "player_total": "Player has {}",
    "banker_total": "Banker has {}",
    "player_cards": "Player has {} cards",
    "banker_cards": "Banker has {} cards",
}


def _when(line: "Line") -> str:
    """The conditions of a line as a sentence reads them; a feature without a phrase of its own by its name."""
    return ", ".join(_said(condition.fact, condition.among) for condition in line.when)


def _said(fact: str, among: tuple[str, ...]) -> str:
    if len(among) == 1 and (fact, among[0]) in PHRASES:
        return PHRASES[fact, among[0]]
    return WORDS.get(fact, f"{fact.replace('_', ' ')} is {{}}").format(" or ".join(among))
