"""The command `punto`: its commands, and the one place where errors become one line and an exit code."""

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from services.baccarat.errors import BadSettings, NotInstalled, NotReady, PuntoError, Unusable
from services.cli import accounts, deal, demo, local, odds, replay, run, schemas, tables, topics, variants
from services.cli import round as one_round
from services.cli.exits import Code, listed
from services.cli.output import NotWritten, Unsaid, complain, flush, say, say_json

HELP = f"""\
Live baccarat (Punto Banco): cards in, rounds decided, bets settled.

Start with 'punto demo', and open the page whose address it prints. Try the rules with 'punto round 9S KH 10D 6H'.

\b
Exit codes:
{listed()}

Errors are one line on standard error; PUNTO_DEBUG=1 adds where in the program. With --json, standard output is JSON.
"""

app = typer.Typer(
    name="punto",
    help=HELP,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


@app.callback(invoke_without_command=True)
def _without_command(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        say(f"puntobanco {version_of('puntobanco')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        say(context.get_help())


COMMANDS: Final = {
    "demo": (demo, "Play live tables, everything in this process."),
    "deal": (deal, "Deal one simulated shoe, to the terminal and as a recording."),
    "round": (one_round, "Deal these cards, and explain who draws and why."),
    "replay": (replay, "Judge recorded rounds one by one against the rules."),
    "variants": (variants, "List the variants, or show one's pay table."),
    "odds": (odds, "What every bet costs, exactly."),
    "accounts": (accounts, "What a table's settlements come to."),
}
GROUPS: Final = {
    "tables": (tables, "What is played at a table, as a file: check, diff, apply."),
    "run": (run, "One service on Kafka; several of the same share the tables."),
    "topics": (topics, "The topics as code: show what differs, and make it so."),
    "schemas": (schemas, "The events' Avro schemas: compatibility, registration."),
    "local": (local, "Kafka, registry and Valkey for a laptop without Docker."),
}
for name, (command, short) in COMMANDS.items():
    app.command(name, short_help=short, epilog=command.EXAMPLES)(command.command)
for name, (group, short) in GROUPS.items():
    app.add_typer(group.app, name=name, short_help=short)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, by default the process's own, and gives its exit code."""
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        flush()
    except BrokenPipeError:
        return _silenced(Code.PIPE)
    except Unsaid as error:
        return _silenced(_failed(error, as_json=False))
    return code


def _run(words: list[str]) -> int:
    try:
        command = typer.main.get_command(app)
        with command.make_context("punto", words) as context:
            return int(command.invoke(context) or Code.DONE)
    except typer.Exit as ended:
        return ended.exit_code
    except (BrokenPipeError, Unsaid):
        raise
    except KeyboardInterrupt:
        return Code.INTERRUPTED
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:  # of a help text, which is not said by us
            raise Unsaid(f"standard output cannot be written: {error.strerror}") from error
        return _failed(error, as_json="--json" in words)
    except Exception as error:  # noqa: BLE001 - whatever it is, it becomes one line
        return _failed(error, as_json="--json" in words)


def _silenced(code: int) -> int:
    """Nothing more is written, not even what the interpreter still holds as it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _failed(error: Exception, *, as_json: bool) -> int:
    """One line that says what and where; for machines also an object."""
    code, name, text = described(error)
    if os.environ.get("PUNTO_DEBUG"):
        traceback.print_exception(error)
    complain(text)
    if as_json:
        say_json({"error": {"code": name, "message": " ".join(text.split())}}, indent=None)
    return code


def described(error: Exception) -> tuple[Code, str, str]:
    """The exit code, the error's name and its text."""
    match error:
        case ExceptionGroup():  # of services that run side by side: the first that failed ended the others
            return described(error.exceptions[0])
        case typer.TyperException():
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "punto"
            return Code.USAGE, "usage", f"{error.format_message()} ('{path} --help' teaches)"
        case NotWritten():
            return Code.NOT_WRITTEN, "not-written", str(error)
        case NotReady() | NotInstalled():
            return Code.NOT_READY, "not-ready", str(error)
        case Unusable():
            return Code.USAGE, error.code, str(error)
        case BadSettings():
            return Code.USAGE, "bad-settings", str(error)
        case PuntoError():
            return Code.FAULT, "invariant-broken", str(error)
        case OSError():
            return Code.USAGE, "system", f"{error.filename or 'the system'}: {error.strerror or error}"
        case _:
            text = f"a fault of this program: {type(error).__name__}: {error} (PUNTO_DEBUG=1 shows where)"
            return Code.FAULT, "fault", text
