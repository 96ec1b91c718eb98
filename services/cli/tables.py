"""`punto tables`: what is played at a table, as a file: checked, compared with what is in force, and published."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.errors import BadSettings
from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    ConfigurationReceived,
    Event,
    IrregularityFound,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableConfigured,
    cause_id,
)
from services.cli.exits import Code
from services.cli.output import complain, counted, say, say_json
from services.demo.published import Published, newest, published

if TYPE_CHECKING:
    from services.baccarat.tables import Described, Difference
    from services.demo.following import Follower

app = typer.Typer(
    name="tables",
    help="What is played at a table, as a file: check it, compare it with what is in force, publish it.",
    rich_markup_mode=None,
    no_args_is_help=False,
)
FILE = Annotated[Path, typer.Argument(metavar="FILE", help="A table file; docs/tables.md describes it.")]
TABLE = Annotated[str | None, typer.Option(metavar="NAME", help="The table's name; default: the file's.")]
STATE = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The embedded log of this folder; default: Kafka, by the settings.")
]
JSON = Annotated[bool, typer.Option("--json", help="As JSON.")]
NEXT: Final = "it takes force at the next opening, never in a window; decks at the next shoe"


class Known(Struct, frozen=True):
    """A table as its log has it: its configurations, the version in force, and the shoe in play.

    `shoe_no` and `decks` are of the open shoe; 0 where none is.
    """

    published: Published = Published()
    in_force: int = 0
    shoe_no: int = 0
    decks: int = 0


def learnt(known: Known, event: Event) -> Known:
    """Folds a record of `rounds` or of `table-feed`."""
    match event:
        case ShoeOpened():
            return replace(known, shoe_no=event.shoe_no, decks=event.decks)
        case ShoeClosed():
            return replace(known, shoe_no=0, decks=0)
        case _:
            in_force = event.version if isinstance(event, RulesInForce) else known.in_force
            return replace(known, published=published(known.published, event), in_force=in_force)


# ---------------------------------------------------------------- commands


@app.command(epilog="\b\nExamples:\n  punto tables check house.toml\n  punto tables check house.toml --json")
def check(file: FILE, *, as_json: JSON = False) -> int:
    """Read a table file: one line for each mistake, with its line and its remedy. Exit code 2 if there is any.

    As JSON: table, variant, decks, bets (names) and faults, a list of line and message.
    """
    from services.cli.table_files import read

    found = read(file)
    if as_json:
        say_json(as_object(found))
    elif found.configuration is not None:
        how = found.configuration
        bets = ", ".join(terms.bet for terms in how.pay_table)
        say(f"{file}: {how.name} ({how.variant}), {counted(how.decks, 'deck')}, {how.currency}: {bets}")
    return refused(file, found)


def refused(file: Path, found: "Described") -> Code:
    """Says each fault in a line of its own."""
    for fault in found.faults:
        complain(f"{file}:{fault.line}: {fault.text}")
    return Code.USAGE if found.faults else Code.DONE


def as_object(found: "Described") -> dict[str, Any]:
    how = found.configuration
    return {
        "table": found.table_id,
        "variant": how.variant if how else None,
        "decks": how.decks if how else None,
        "bets": [terms.bet for terms in how.pay_table] if how else [],
        "faults": [{"line": fault.line, "message": fault.text} for fault in found.faults],
    }


@app.command(
    epilog="""\
\b
Examples:
  punto tables diff house.toml                  against Kafka, by the settings
  punto tables diff house.toml --state ~/.local/state/puntobanco/demo --table classic-1
"""
)
def diff(file: FILE, *, table: TABLE = None, state: STATE = None, as_json: JSON = False) -> int:
    """Show what 'apply' would change against the newest configuration published. Exit code 1 if anything differs.

    One that rules refused does not count; one that they have not answered yet does.

    As JSON: table, version (the newest, 0 for none), in_force, and differences: what, before, after.
    """
    import asyncio

    from services.baccarat.tables import differences
    from services.cli.table_files import read

    found = read(file)
    if found.configuration is None:
        return refused(file, found)
    name = table_of(file, found, table)
    known = asyncio.run(_known(name, state))
    version, before = newest(known.published)
    changes = differences(before, found.configuration)
    if as_json:
        say_json({"table": name, "version": version, "in_force": known.in_force, "differences": told(changes)})
    else:
        say("\n".join(map(in_words, told(changes))) or f"{name}: nothing differs from version {version}")
    return Code.FOUND if changes else Code.DONE


@app.command(
    epilog="""\
\b
Examples:
  punto tables apply house.toml --by ann --reason "side bets for the weekend"
  punto tables apply six-decks.toml --nextshoe  decks change with the next shoe
"""
)
def apply(
    file: FILE,
    *,
    table: TABLE = None,
    state: STATE = None,
    by: Annotated[str, typer.Option(metavar="WHO", help="Who changes it; stands in the log for ever.")] = "punto",
    reason: Annotated[str, typer.Option(metavar="WHY", help="And why.")] = "",
    nextshoe: Annotated[
        bool, typer.Option("--nextshoe", help="Also in mid-shoe: new decks from the next shoe.")
    ] = False,
    wait: Annotated[float, typer.Option(metavar="S", help="For the answer of rules; not with --state.")] = 10.0,
    as_json: JSON = False,
) -> int:
    """Publish the table's configuration under the next version.

    It takes force at the next opening, never in a window. Nothing is published if anything is wrong with the file, or
    if nothing differs; a change of decks in mid-shoe is refused without --nextshoe. Exit code 1 if rules refuse it.

    As JSON: table, version, published, answer (received, refused, or none yet), text, differences.
    """
    import asyncio

    from services.cli.table_files import read

    found = read(file)
    if found.configuration is None:
        return refused(file, found)
    name = table_of(file, found, table)
    said = TableConfigured(
        event_id="", table_id=name, version=0, configuration=found.configuration, by=by, reason=reason
    )
    done = asyncio.run(_apply(said, state, 0.0 if state else wait, lambda key: at_line(file, found, key), nextshoe))
    if as_json:
        say_json(done)
    else:
        say("\n".join((*map(in_words, done["differences"]), done["text"])))
    return Code.FOUND if done["answer"] == "refused" else Code.DONE


def table_of(file: Path, found: "Described", table: str | None) -> str:
    """The table that is meant. Raises BadSettings."""
    name = found.table_id if table is None else table
    if not name or "/" in name:
        raise BadSettings(f'{file}:1: table: no table is named; write table = "T1" in the file, or --table T1')
    return name


# ---------------------------------------------------------------- the log


async def _known(table: str, state: Path | None) -> Known:
    from services.cli.log_of import log_of
    from services.demo.following import following

    async with log_of(state) as log, following(log, [ROUNDS, TABLE_FEED], [table]) as follower:
        return await _learn(follower)


async def _learn(follower: "Follower") -> Known:
    """All that the log has of the table."""
    known = Known()
    while not follower.is_live:
        for event in await follower.next():
            known = learnt(known, event)
    return known


async def _apply(
    said: TableConfigured, state: Path | None, wait_s: float, where: Callable[[str], str], nextshoe: bool
) -> dict[str, Any]:
    """Publishes under the next version, and waits for the answer. Raises BadSettings for what cannot change now."""
    from services.baccarat.tables import differences
    from services.cli.log_of import log_of
    from services.demo.following import following

    table, wanted = said.table_id, said.configuration
    async with log_of(state) as log, following(log, [ROUNDS, TABLE_FEED], [table]) as follower:
        known = await _learn(follower)
        version, before = newest(known.published)
        changes = told(differences(before, wanted))
        answer = {"table": table, "version": version, "differences": changes}
        if not changes:
            return {**answer, "published": False, "answer": "none", "text": f"{table}: nothing to change"}
        if (refusal := refusal_of(known, said, nextshoe)) is not None:
            raise BadSettings(f"{where(refusal[0])}: {refusal[1]}")
        version = known.published.next_version
        said = replace(said, event_id=f"{table}/configured/{version}", version=version)
        await log.append(TABLE_FEED, [said])
        code, text = await _answer(follower, said, wait_s)
    return {
        **answer,
        "version": version,
        "published": True,
        "answer": code,
        "text": f"{table}: version {version} {text}",
    }


def refusal_of(known: Known, said: TableConfigured, nextshoe: bool) -> tuple[str, str] | None:
    """Why a right configuration still cannot be published at this table: the setting, and the sentence."""
    wanted, (_, before) = said.configuration, newest(known.published)
    if before is not None and (wanted.currency, wanted.exponent) != (before.currency, before.exponent):
        text = (
            f"table {said.table_id} plays in {before.currency} of {before.exponent} decimals, and its debts are in it"
        )
        return "currency", f"{text}; open another table for {wanted.currency}"
    if known.shoe_no and wanted.decks != known.decks and not nextshoe:
        text = f"table {said.table_id} is in the middle of shoe {known.shoe_no} of {counted(known.decks, 'deck')}"
        remedy = "apply this once the shoe has closed, or with --nextshoe: decks then change with the next shoe"
        return "decks", f"{text}; {remedy}"
    return None


def at_line(file: Path, found: "Described", key: str) -> str:
    """`FILE:LINE: key`; the first line where the key is not written."""
    return f"{file}:{found.document.line((key,)) if found.document else 1}: {key}"


async def _answer(follower: "Follower", said: TableConfigured, wait_s: float) -> tuple[str, str]:
    """What rules said of it, within so long: code and words."""
    import asyncio

    try:
        async with asyncio.timeout(wait_s):
            while True:
                for event in await follower.next():
                    if getattr(event, "cause_id", "") != cause_id(said):
                        continue
                    if isinstance(event, ConfigurationReceived):
                        return "received", f"is received: {NEXT}"
                    if isinstance(event, IrregularityFound):
                        return "refused", f"is refused by rules: {event.text}"
    except TimeoutError:
        return "none", f"is published, and rules will answer: {NEXT}"


def told(changes: "tuple[Difference, ...]") -> list[Mapping[str, str]]:
    return [{"what": one.what, "before": one.before, "after": one.after} for one in changes]


def in_words(one: Mapping[str, str]) -> str:
    """`decks: 8 -> 6`; what is new or gone has one side only."""
    what, before, after = one["what"], one["before"], one["after"]
    if not before:
        return f"+ {what}: {after}"
    return f"  {what}: {before} -> {after}" if after else f"- {what}: {before}"
