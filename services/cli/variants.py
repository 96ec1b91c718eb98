"""`punto variants`: the games by name, and what a player at such a table reads."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.output import say, say_json

if TYPE_CHECKING:
    from services.baccarat.catalogue import SideBet, Variant
    from services.baccarat.events import Line

EXAMPLES = """\
\b
Examples:
  punto variants
  punto variants super-6
  punto variants "Punto 2000"                   by another name of the same game
  punto variants side-bets                      the side bets that any game may offer, and their menus
  punto variants dragon_7
  punto variants --json
"""
SIDE = "side-bets"


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A game or a side bet, by any of its names; or 'side-bets'.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """List the variants, or show one's rules and pay table as a player at the table reads them.

    As JSON: a list of variant and name; of one variant: variant, name, aliases, source, memory (what was not read in
    print, or empty) and pay_table, by bet a list of lines (when, odds 'to one' or null for a push, commission on the
    winnings), of which the first that holds pays. Of a side bet the same with bet in place of variant; of 'side-bets' a
    list of them all.
    """
    from services.baccarat.catalogue import SIDE_BETS, VARIANTS, called

    if name is None:
        listed = [{"variant": slug, "name": variant.name} for slug, variant in VARIANTS.items()]
        _say(listed, "\n".join(f"{one['variant']:<14} {one['name']}" for one in listed), as_json=as_json)
    elif name == SIDE:
        _say([bet_object(bet) for bet in SIDE_BETS.values()], _side_bets(), as_json=as_json)
    elif called(name, VARIANTS) or not (bets := called(name, SIDE_BETS)):
        variant = named(name)
        _say(as_object(variant), _text(variant), as_json=as_json)
    else:
        found: Any = bet_object(bets[0]) if len(bets) == 1 else [bet_object(bet) for bet in bets]
        _say(found, "\n".join(map(_bet_text, bets)), as_json=as_json)
    return Code.DONE


def named(name: str) -> "Variant":
    """A variant by any of its names. Raises BadSettings that knows the names of side bets too."""
    from difflib import get_close_matches

    from services.baccarat.catalogue import SIDE_BETS, VARIANTS, called, plain

    if found := called(name, VARIANTS):
        return found[0]
    rows: tuple[SideBet | Variant, ...] = (*SIDE_BETS.values(), *VARIANTS.values())
    slugs = {plain(known): row.slug for row in rows for known in (row.slug, row.name, *row.aliases)}
    near = get_close_matches(plain(name), slugs, 1, cutoff=0.75)
    remedy = (
        f"did you mean {slugs[near[0]]}?" if near else f"there are {', '.join(VARIANTS)}; {SIDE!r} lists the side bets"
    )
    raise BadSettings(f"no variant is called {name!r}, and no side bet; {remedy}")


def _say(value: object, text: str, *, as_json: bool) -> None:
    if as_json:
        say_json(value)
    else:
        say(text)


# ---------------------------------------------------------------- for machines


def as_object(variant: "Variant") -> dict[str, Any]:
    """A pay table as JSON writes it: odds and commission are exact fractions as text."""
    return {
        "variant": variant.slug,
        "name": variant.name,
        "aliases": list(variant.aliases),
        "source": variant.source,
        "memory": variant.memory,
        "pay_table": {bet: [line_object(line) for line in lines] for bet, lines in variant.bets.items()},
        "sources": {bet: source for bet, (_, source) in _offers(variant).items()},
    }


def bet_object(bet: "SideBet") -> dict[str, Any]:
    """A side bet in the same way."""
    return {
        "bet": bet.slug,
        "name": bet.name,
        "aliases": list(bet.aliases),
        "source": bet.source,
        "memory": bet.memory,
        "pay_table": [line_object(line) for line in bet.lines],
    }


def line_object(line: "Line") -> dict[str, Any]:
    """One line of a pay table."""
    return {
        "when": {condition.fact: list(condition.among) for condition in line.when},
        "odds": None if line.odds is None else str(line.odds),
        "commission": str(line.commission),
    }


# ---------------------------------------------------------------- for people


def short(line: "Line") -> str:
    """What a line pays, in a few characters: `8:1`, `1:1 less 5%`, `0.54:1`, `push`."""
    if line.odds is None:
        return "push"
    commission = f" less {decimal(line.commission * 100)}%" if line.commission else ""
    odds = decimal(line.odds) if line.odds.denominator > 2 else str(line.odds.numerator)
    return f"{odds}:{1 if line.odds.denominator > 2 else line.odds.denominator}{commission}"


def short_lines(lines: "Iterable[Line]") -> str:
    """What a bet's lines pay, each once."""
    return ", ".join(dict.fromkeys(map(short, lines)))


def decimal(amount: Fraction) -> str:
    """Exact where it has up to six decimals, else the fraction."""
    if 10**6 % amount.denominator:
        return str(amount)
    whole, rest = divmod(amount.numerator * (10**6 // amount.denominator), 10**6)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


def _offers(variant: "Variant") -> Mapping[str, tuple[tuple["Line", ...], str]]:
    """Every bet of a game with its lines and who wrote them down."""
    from services.baccarat.catalogue import SIDE_BETS

    return {
        bet: (lines, SIDE_BETS[bet].source if bet in SIDE_BETS else variant.source)
        for bet, lines in variant.bets.items()
    }


def _text(variant: "Variant") -> str:
    """The panel at the table: the rules of the game, then each bet's lines with their source by number."""
    offers = _offers(variant)
    sources = list(dict.fromkeys(source for _, source in offers.values()))
    head = [f"{variant.name} ({variant.slug})"]
    if variant.aliases:
        head.append(f"also called {', '.join(variant.aliases)}")
    notes = [text for text in (variant.note, variant.memory) if text]
    paid = [
        line
        for bet, (lines, source) in offers.items()
        for line in _rows(bet, lines, f"[{sources.index(source) + 1}]", _width(offers))
    ]
    return "\n".join(
        (
            *head,
            *notes,
            "",
            *_rules(),
            "",
            *paid,
            "  The first line that holds pays; where none holds, the bet is lost.",
            "",
            *(f"  [{number}] {source}" for number, source in enumerate(sources, start=1)),
        )
    )


def _bet_text(bet: "SideBet") -> str:
    """A side bet's part of a panel."""
    also = f", also called {', '.join(bet.aliases)}" if bet.aliases else ""
    notes = [f"  {text}" for text in (bet.note, bet.memory) if text]
    return "\n".join(
        (
            f"{bet.name} ({bet.slug}{also})",
            *_rows(bet.slug, bet.lines, "", _width([bet.slug])),
            *notes,
            f"  {bet.source}",
        )
    )


def _width(bets: "Iterable[str]") -> int:
    """Of the column of names: the longest fits."""
    from services.dashboard.words import bet_title

    return max(24, *(len(bet_title(bet)) + 1 for bet in bets))


def _rows(bet: str, lines: "Iterable[Line]", source: str, width: int) -> list[str]:
    """A bet's lines as they are read, and where they are from."""
    from services.dashboard.words import bet_title, line_in_words

    return [
        f"  {bet_title(bet) if number == 0 else '':<{width}} {line_in_words(line)} {source}".rstrip()
        for number, line in enumerate(lines)
    ]


def _side_bets() -> str:
    """All side bets in a line each, and the menus."""
    from services.baccarat.catalogue import MENUS, SIDE_BETS

    bets = [
        f"{bet.slug:<24} {short_lines(bet.lines):<40} {bet.name}{' (*)' if bet.memory else ''}"
        for bet in SIDE_BETS.values()
    ]
    menus = [f"  {menu:<16} {', '.join(of_menu) or 'no side bet'}" for menu, of_menu in MENUS.items()]
    return "\n".join((*bets, "", "(*) not read in print", "", "menus:", *menus))


def _rules() -> list[str]:
    """How a round goes, the same at every table, from the tableau itself."""
    from services.baccarat.tableau import BANKER_ROWS, PLAYER_ROW, STOOD, spans

    stood = "".join(row[STOOD] for row in BANKER_ROWS)
    by_row = [(total, spans(row, "D")) for total, row in enumerate(BANKER_ROWS[:7])]
    always = [str(total) for total, draws in by_row if draws == "0-9"]
    rest = [f"on {total} against {draws}" for total, draws in by_row if draws != "0-9"]
    return [
        "  Two cards each, the Player's first. Aces count 1, tens and faces 0; the last digit of the sum is the total.",
        "  8 or 9 on two cards is a natural: nobody draws.",
        f"  Otherwise the Player draws on {spans(PLAYER_ROW, 'D')} and stands on {spans(PLAYER_ROW, '-')}.",
        f"  If the Player stood, the Banker draws on {spans(stood, 'D')}.",
        f"  If the Player drew, the Banker goes by that card's points: it draws on {', '.join(always)},",
        f"  {', '.join(rest)}.",
        "  The higher total wins.",
    ]
