"""`punto odds`: what every bet costs, exactly."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec.structs import replace

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.output import counted, say, say_json
from services.cli.variants import SIDE, named

if TYPE_CHECKING:
    from services.baccarat.cards import Card
    from services.baccarat.events import Line
    from services.baccarat.odds import BetOdds, Outcomes

EXAMPLES = """\
\b
Examples:
  punto odds                                    Classic, eight decks
  punto odds super-6 --decks 6 --format json
  punto odds lucky_6                            one side bet
  punto odds side-bets                          all of them; 'all': every game too
  punto odds --removed "9S 9S KD"               a shoe from which these cards are gone
  punto odds --stake 5 --rounding up            what rounding the commission costs on a stake of 5 minor units
  punto odds house.toml                         the bets of a table file, at its decks and roundings
"""
ALL: Final = "all"
FORMATS: Final = ("table", "json", "csv")
COLUMNS: Final = ("variant", "decks", "bet", "pays", "win", "push", "loss", "return", "edge", "edge_pct", "sd")
EXACT: Final = ("win", "push", "loss", "return")
AT_STAKE: Final = ("stake_minor", "edge_at_stake", "edge_at_stake_pct", "commission_pct")


class Asked:
    """What is to be counted: bets by name, the shoe, and how amounts are rounded."""

    def __init__(self, variant: str, bets: "Mapping[str, tuple[Line, ...]]", decks: int = 8) -> None:
        from services.baccarat.odds import Paying

        self.variant = variant
        self.bets = bets
        self.decks = decks
        self.paying = Paying()
        self.removed: tuple[Card, ...] = ()
        self.stake_minor: int | None = None


def command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A game or side bet by any name, 'side-bets', 'all', or a table file.")
    ] = "classic",
    *,
    decks: Annotated[int | None, typer.Option(metavar="N", help="1 to 12; default: the table file's, or 8.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="F", help="table, json or csv.")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    removed: Annotated[str, typer.Option(metavar="CARDS", help="Cards that are gone, such as '9S 9S KD'.")] = "",
    stake: Annotated[
        int | None, typer.Option(metavar="MINOR", help="Also the cost of rounding on this stake, in minor units.")
    ] = None,
    rounding: Annotated[
        str | None,
        typer.Option(metavar="R", help="Of commission, with --stake: down, up, half_up, half_down or half_even."),
    ] = None,
) -> int:
    """Win, push and loss of every bet, its return, house edge and standard deviation, over every deal there is.

    As JSON: variant, decks, removed, outcomes (player, banker, tie: ways, probability) and bets, a list of bet, pays
    (its lines: when, odds, commission, ways), win, push, loss, return with the stake, edge as "a/b", edge_pct, sd, and
    exact, the same as fractions. Win is what pays more than the stake, loss what returns less. With --stake also
    at_stake: edge and edge_pct in whole minor units, commission_pct of the winnings, null where none is taken.
    """
    from services.baccarat.odds import left_in_shoe, outcomes

    form = checked_form(form, as_json=as_json)
    asked = asked_of(game)
    asked.decks = asked.decks if decks is None else decks
    asked.removed = cards_of(removed)
    asked.stake_minor = checked_stake(stake)
    if (checked := checked_rounding(rounding, stake)) is not None:
        asked.paying = replace(asked.paying, commission_rounding=checked)
    left_in_shoe(asked.decks, asked.removed, suits_count=False)  # says what cannot be of the shoe, not of some bet
    ways = outcomes(asked.decks, asked.removed)
    rows = [row_of(asked, bet, lines) for bet, lines in asked.bets.items()]
    if form == "json":
        say_json(as_object(asked, ways, rows))
    else:
        say(table(asked, ways, rows) if form == "table" else as_csv(asked, rows))
    return Code.DONE


# ---------------------------------------------------------------- what is asked


def asked_of(game: str) -> Asked:
    """The bets of a game with its menu, of one side bet, of the whole catalogue, or of a table file."""
    if is_file(game):
        return of_file(Path(game))
    from services.baccarat.catalogue import SIDE_BETS, VARIANTS, called

    if game in {ALL, SIDE}:
        mains = {f"{slug}/{bet}": lines for slug, one in VARIANTS.items() for bet, lines in one.mains.items()}
        return Asked(game, {**(mains if game == ALL else {}), **{slug: bet.lines for slug, bet in SIDE_BETS.items()}})
    if not called(game, VARIANTS) and (bets := called(game, SIDE_BETS)):
        return Asked(", ".join(bet.slug for bet in bets), {bet.slug: bet.lines for bet in bets})
    variant = named(game)
    return Asked(variant.slug, variant.bets)


def is_file(game: str) -> bool:
    """A name with a suffix or a folder is a path, whether anything is there or not."""
    return game.endswith(".toml") or "/" in game


def of_file(path: Path) -> Asked:
    """The bets of a table file."""
    from services.baccarat.odds import paying_of
    from services.cli.table_files import configuration_of

    how = configuration_of(path)
    asked = Asked(how.variant, {terms.bet: terms.lines for terms in how.pay_table}, how.decks)
    asked.paying = paying_of(how)
    return asked


def cards_of(text: str) -> "tuple[Card, ...]":
    """The cards that are gone."""
    from services.baccarat.cards import UnknownCard, parse_card

    try:
        return tuple(parse_card(word) for word in text.replace(",", " ").split())
    except UnknownCard as error:
        raise BadSettings(f"--removed: {error}") from error


def checked_stake(stake: int | None) -> int | None:
    if stake is not None and stake < 1:
        raise BadSettings(f"--stake is {stake}: write the stake in minor units, 1 or more")
    return stake


def checked_form(form: str, *, as_json: bool) -> str:
    if form not in FORMATS:
        raise BadSettings(f"--format is {form!r}: write {', '.join(FORMATS)}")
    if as_json and form == "csv":
        raise BadSettings("--json and --format csv: write one of the two")
    return "json" if as_json else form


def checked_rounding(rounding: str | None, stake: int | None) -> str | None:
    from services.baccarat.payouts import ROUNDINGS

    if rounding is not None and rounding not in ROUNDINGS:
        raise BadSettings(f"--rounding is {rounding!r}: write {', '.join(ROUNDINGS)}")
    if rounding is not None and stake is None:
        raise BadSettings("--rounding changes nothing without a stake: add --stake 5, or leave it out")
    return rounding


# ---------------------------------------------------------------- the answer


def row_of(asked: Asked, bet: str, lines: "tuple[Line, ...]") -> dict[str, Any]:
    """A bet's row. Raises BadSettings, with the bet's name, where its odds cannot be counted."""
    from services.baccarat.odds import bet_odds
    from services.cli.variants import line_object

    try:
        odds = bet_odds(bet, lines, asked.decks, asked.removed)
    except BadSettings as error:
        raise BadSettings(f"{bet}: {error}") from error
    exact = {"win": odds.win, "push": odds.push, "loss": odds.loss, "return": odds.expected_return}
    ways = {one.line: one.ways for one in odds.lines}
    row = {
        "bet": bet,
        "pays": [{**line_object(line), "ways": ways[number]} for number, line in enumerate(lines, start=1)],
        **{name: float(value) for name, value in exact.items()},
        "edge": fraction(odds.edge),
        "edge_pct": float(odds.edge * 100),
        "sd": math.sqrt(odds.variance),
        "exact": {name: fraction(value) for name, value in exact.items()},
    }
    return row if asked.stake_minor is None else {**row, "at_stake": at_stake(asked, lines, odds, asked.stake_minor)}


def at_stake(asked: Asked, lines: "tuple[Line, ...]", odds: "BetOdds", stake_minor: int) -> dict[str, Any]:
    """What the bet costs on this stake, paid in whole minor units; commission kept as a debt is not rounded here."""
    from services.baccarat.odds import commission_at, return_at

    edge = 1 - return_at(odds, lines, stake_minor, asked.paying) / stake_minor
    share = commission_at(odds, lines, stake_minor, asked.paying)
    return {
        "stake_minor": stake_minor,
        "edge": fraction(edge),
        "edge_pct": float(edge * 100),
        "commission_pct": None if share is None else float(share * 100),
    }


def fraction(value: Fraction) -> str:
    """Always `a/b`, a whole number too."""
    return f"{value.numerator}/{value.denominator}"


def as_object(asked: Asked, ways: "Outcomes", rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole answer."""
    return {
        "variant": asked.variant,
        "decks": asked.decks,
        "removed": [str(card) for card in asked.removed],
        "outcomes": {
            winner: {"ways": count, "probability": count / ways.ways} for winner, count in by_winner(ways).items()
        },
        "bets": rows,
    }


def by_winner(ways: "Outcomes") -> dict[str, int]:
    return {"player": ways.player, "banker": ways.banker, "tie": ways.tie}


def pays(row: Mapping[str, Any]) -> str:
    """The lines in a few characters, each once."""
    from services.baccarat.events import Line
    from services.cli.variants import short_lines

    return short_lines(
        Line((), None if one["odds"] is None else Fraction(one["odds"]), Fraction(one["commission"]))
        for one in row["pays"]
    )


def table(asked: Asked, ways: "Outcomes", rows: Iterable[Mapping[str, Any]]) -> str:
    """In columns: probabilities and edge in percent, the return and its standard deviation in stakes."""
    gone = f", {counted(len(asked.removed), 'card')} gone" if asked.removed else ""
    shares = ", ".join(f"{winner.title()} {count / ways.ways:.4%}" for winner, count in by_winner(ways).items())
    heads = ["bet", "pays", "win %", "push %", "loss %", "return", "edge %", "sd"]
    if asked.stake_minor is not None:
        heads += [f"edge % at {asked.stake_minor}", "commission %"]
    cells = [heads, *(cells_of(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join((f"{asked.variant}, {counted(asked.decks, 'deck')}{gone}: {shares}", *lines))


def cells_of(row: Mapping[str, Any]) -> list[str]:
    shares = [f"{row[name] * 100:.4f}" for name in ("win", "push", "loss")]
    cells = [row["bet"], pays(row), *shares, f"{row['return']:.6f}", f"{row['edge_pct']:.4f}", f"{row['sd']:.4f}"]
    if (here := row.get("at_stake")) is None:
        return cells
    share = here["commission_pct"]
    return [*cells, f"{here['edge_pct']:.4f}", "-" if share is None else f"{share:.4f}"]


def as_csv(asked: Asked, rows: Iterable[Mapping[str, Any]]) -> str:
    """The same with every digit, probabilities and return as fractions too; what is paid is written short."""
    import csv
    import io

    columns = (*COLUMNS, *(f"{name}_exact" for name in EXACT), *(AT_STAKE if asked.stake_minor is not None else ()))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        here = row.get("at_stake", {})
        writer.writerow(
            [
                asked.variant,
                asked.decks,
                row["bet"],
                pays(row),
                *(row[name] for name in COLUMNS[4:]),
                *(row["exact"][name] for name in EXACT),
                *here.values(),
            ]
        )
    return written.getvalue().rstrip("\n")
