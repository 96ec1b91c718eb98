"""`punto accounts`: what a table's settlements come to."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from services.baccarat import accounts as books
from services.baccarat.errors import BadSettings
from services.baccarat.events import ROUNDS, SETTLEMENTS
from services.cli.exits import Code
from services.cli.output import complain, say, say_json

if TYPE_CHECKING:
    from services.baccarat.accounts import Accounts, Result
    from services.baccarat.events import Configuration

EXAMPLES = """\
\b
Examples:
  punto accounts T1                             the house's result by gaming day, from Kafka by the settings
  punto accounts classic-1 --by customer --state ~/.local/state/puntobanco/demo
  punto accounts T1 --by round --json
"""
COLUMNS: Final = ("bets", "stakes", "returns", "commission", "collected", "house win")


def command(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table's name.")],
    *,
    by: Annotated[str, typer.Option(metavar="WHAT", help="day, shoe, round or customer.")] = "day",
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The embedded log of this folder; default: Kafka.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, amounts in minor units.")] = False,
) -> int:
    """What was staked, returned and won at a table, and what customers still owe. Voided bets are no turnover.

    Amounts are in minor units. A round counts to the gaming day on which its betting opened. Exit code 1 if a round's
    stakes less returns are not what settlement said the house won.

    As JSON: table, by, currency, exponent (its decimals), results (of each: bets, stakes_minor, winnings_minor,
    commission_minor, returns_minor, owed_exact, collected_minor, net_minor, house_win_minor; by round also customers:
    each one's, in the same words), all (the same, in all), debts and imbalances.
    """
    import asyncio

    splits = {"day": _by_day, "shoe": _by_shoe, "round": _by_round, "customer": _by_customer}
    if by not in splits:
        raise BadSettings(f"--by is {by!r}: write {', '.join(splits)}")
    found = asyncio.run(_accounts(table, state))
    results = splits[by](found)
    wrong = {f"{shoe_no}/{round_no}": left for (shoe_no, round_no), left in books.imbalances(found).items()}
    if as_json:
        how = latest(found)
        customers: Mapping[str, dict[str, Any]] = _customers(found) if by == "round" else {}
        say_json(
            {
                "table": table,
                "by": by,
                "currency": how.currency if how else None,
                "exponent": how.exponent if how else None,
                "results": {name: as_object(result) | customers.get(name, {}) for name, result in results.items()},
                "all": as_object(books.in_all(found)),
                "debts": {customer: str(debt) for customer, debt in books.debts(found).items()},
                "imbalances": wrong,
            }
        )
    else:
        say(f"{table}, {unit(found)}")
        say(_text(by, {**results, "all": books.in_all(found)}))
    for name, left in wrong.items():
        complain(f"{table}: round {name} does not balance: {left} minor units are left")
    return Code.FOUND if wrong else Code.DONE


async def _accounts(table: str, state: Path | None) -> "Accounts":
    from services.cli.log_of import log_of
    from services.demo.following import following, tables_in
    from services.runtime.gaming_day import gaming_day

    found = books.Accounts()
    async with log_of(state) as log, following(log, [SETTLEMENTS], [table]) as follower:
        while not follower.is_live:
            found = books.fold(found, await follower.next(), gaming_day)
        if found == books.Accounts() and table not in (tables := await tables_in(log, [ROUNDS, SETTLEMENTS])):
            raise BadSettings(f"the log has no table {table!r}; there are {', '.join(tables) or 'none yet'}")
    return found


def latest(found: "Accounts") -> "Configuration | None":
    """By what the table is priced now, and in whose currency it always was; None where no price is known."""
    return found.prices[max(found.prices)] if found.prices else None


def unit(found: "Accounts") -> str:
    """What the amounts count."""
    if (how := latest(found)) is None:
        return "amounts in minor units of its currency"
    return f"amounts in minor units of {how.currency}: 1 is {Decimal(1).scaleb(-how.exponent):f} {how.currency}"


def _by_day(found: "Accounts") -> "Mapping[str, Result]":
    return books.by_day(found)


def _by_shoe(found: "Accounts") -> "Mapping[str, Result]":
    return {str(shoe_no): result for shoe_no, result in books.by_shoe(found).items()}


def _by_round(found: "Accounts") -> "Mapping[str, Result]":
    return {f"{shoe_no}/{round_no}": result for (shoe_no, round_no), result in books.by_round(found).items()}


def _by_customer(found: "Accounts") -> "Mapping[str, Result]":
    return books.by_customer(found)


def _customers(found: "Accounts") -> Mapping[str, dict[str, Any]]:
    """Of every round, what it came to for each customer who bet in it."""
    return {
        f"{shoe_no}/{round_no}": {
            "customers": {name: as_object(result) for name, result in books.of_customers(one).items()}
        }
        for (shoe_no, round_no), one in found.rounds.items()
    }


def as_object(result: "Result") -> dict[str, Any]:
    """Every amount in minor units; what is owed as an exact fraction."""
    return {
        "bets": result.bets,
        "stakes_minor": result.stakes_minor,
        "winnings_minor": result.winnings_minor,
        "commission_minor": result.commission_minor,
        "returns_minor": result.returns_minor,
        "owed_exact": str(result.owed_exact),
        "collected_minor": result.collected_minor,
        "net_minor": result.net_minor,
        "house_win_minor": result.house_win_minor,
    }


def _text(by: str, results: "Mapping[str, Result]") -> str:
    """In columns."""
    rows = [
        [by, *COLUMNS],
        *(
            [
                name,
                *(
                    f"{amount:,}"
                    for amount in (
                        one.bets,
                        one.stakes_minor,
                        one.returns_minor,
                        one.commission_minor,
                        one.collected_minor,
                        one.house_win_minor,
                    )
                ),
            ]
            for name, one in results.items()
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
