"""`punto replay`: a recording judged round by round."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.output import counted, say, say_json, tracked, waiting

if TYPE_CHECKING:
    from services.replay.report import Report

EXAMPLES = """\
\b
Examples:
  punto deal --seed 7 --out shoe.rec && punto replay shoe.rec
  punto replay rounds.csv --variant super-6 --json
  punto replay rounds.csv --decks 8             all rounds are of one shoe: count its cards too
  punto replay ~/.local/state/puntobanco/demo/log-1/log.sqlite
"""


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording, a CSV with three cards a hand, or a log.")],
    *,
    variant: Annotated[
        str | None,
        typer.Option(metavar="V", help="Whose pay table prices the unit stakes; default: the recording's, or classic."),
    ] = None,
    decks: Annotated[int | None, typer.Option(metavar="N", help="A CSV is one shoe of so many decks.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON object.")] = False,
) -> int:
    """Judge recorded rounds one by one against the rules.

    The cards are dealt again; third cards, totals, winners and pairs in the record are claims and are compared. Nothing
    is repaired. Each finding names its round and line; the exit code is 1 if there is any.

    As JSON: rounds, legal, left_out (rounds that the rules cannot deal, which are in no count), findings (shoe, round,
    line, code, message), inventory (checked or unknown), winners, player_pairs, banker_pairs (null where not known),
    and settled: what one unit on each bet in every round returned in all, stakes included, exact, as decimal text.

    A log of the demonstration (log.sqlite, while nothing runs it) is decided again from its recorded inputs, and every
    fact compared. As JSON: inputs, facts, pending (of the last inputs, not decided before the log ended), and
    differences (topic, event_id, message); exit code 1 if there is any.
    """
    from services.replay import logs, report

    if file.is_dir():
        raise BadSettings(f"{file}: is a folder; name a recording, a CSV or a log in it{example(file)}")
    if logs.is_log(file):
        for option, given in (("--variant", variant), ("--decks", decks)):
            if given is not None:
                raise BadSettings(f"{file}: a log states its tables itself; leave {option} out")
        return _audit(file, as_json=as_json)
    source = report.read(file, decks)
    found = report.report(source, variant, lambda rounds, total: tracked(rounds, total, "judging"))
    if as_json:
        say_json(report.as_object(found))
    else:
        say(_text(file, found))
    return Code.FOUND if found.findings else Code.DONE


def example(folder: Path) -> str:
    """The log of a state folder, where it is one."""
    from services.cli.log_of import log_file

    try:
        return f", such as {log_file(folder)}"
    except BadSettings:
        return ""


def _audit(file: Path, *, as_json: bool) -> int:
    """A log's facts against what its inputs come to now."""
    import sqlite3

    from services.replay import facts, logs
    from services.runtime.codec import Codec

    try:
        with waiting("deciding again"):
            found = facts.audit(logs.read_log(file), Codec().encode)
    except sqlite3.DatabaseError as error:
        raise BadSettings(f"{file}: this log is damaged ({error}); replay a copy from before") from error
    if as_json:
        say_json(
            {
                "inputs": found.inputs,
                "facts": found.facts,
                "pending": found.pending,
                "differences": [
                    {"topic": one.topic, "event_id": one.event_id, "message": str(one)} for one in found.differences
                ],
            }
        )
    else:
        counts = f"{counted(found.inputs, 'input')}, {counted(found.facts, 'fact')}, {found.pending} pending"
        differences = counted(len(found.differences), "difference")
        say("\n".join((*map(str, found.differences), f"{counts}: {differences}")))
    return Code.FOUND if found.differences else Code.DONE


def _text(file: Path, found: "Report") -> str:
    """The report for people: findings first, each with the line of the file."""
    from services.replay.report import exact

    pairs = [
        f"{hand} {'unknown' if count is None else count}"
        for hand, count in (("Player", found.player_pairs), ("Banker", found.banker_pairs))
    ]
    settled = [f"  {bet:<12} {'unknown' if amount is None else exact(amount)}" for bet, amount in found.settled.items()]
    lines = [f"{file}:{one.line}: round {one.round_no or '-'}: {one.code}: {one.message}" for one in found.findings]
    left_out = f", {found.left_out} left out of what follows" if found.left_out else ""
    lines += [
        f"{counted(found.rounds, 'round')}: {found.legal} legal, {counted(len(found.findings), 'finding')}{left_out}",
        "winners: " + ", ".join(f"{winner.value.title()} {count}" for winner, count in found.winners.items()),
        "pairs: " + ", ".join(pairs),
        f"inventory: {found.inventory}",
        f"one unit on each bet of {found.variant} in every round returned in all:",
        *settled,
    ]
    return "\n".join(lines)
