"""`punto topics`: the topics as code."""

import os
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from services.cli.exits import Code
from services.cli.output import say, say_json, waiting

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from services.runtime.topics import Difference

app = typer.Typer(
    name="topics",
    help="The topics as code: show what differs from what the services insist on, and make it so.",
    rich_markup_mode=None,
    no_args_is_help=False,
)
T = TypeVar("T")
JSON = Annotated[bool, typer.Option("--json", help="A list of topic, what, found and wanted.")]


@app.command(
    epilog="""\
\b
Examples:
  punto topics plan
  KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:9092 punto topics plan --json
"""
)
def plan(*, as_json: JSON = False) -> int:
    """Show what 'apply' would change, or refuse to; changes nothing. Exit code 1 if anything differs."""
    from services.runtime import settings, topics

    found = _waited(topics.plan(settings.read(os.environ)))
    _show(found, "all topics are as they must be", "", as_json=as_json)
    return Code.FOUND if found else Code.DONE


@app.command(
    epilog="""\
\b
Examples:
  punto topics apply
  PUNTO_PARTITIONS=48 punto topics apply        on a new cluster: the count can never grow later
"""
)
def apply(*, as_json: JSON = False) -> int:
    """Create missing topics and set what is set wrongly.

    Refuses, before any change, where a partition count or the number of replicas differs: a table would change its
    partition. Exit code 2 then.
    """
    from services.runtime import settings, topics

    changed = _waited(topics.apply(settings.read(os.environ)))
    _show(changed, "nothing to do: all topics are as they must be", "done: ", as_json=as_json)
    return Code.DONE


def _waited(asked: "Coroutine[object, object, T]") -> T:
    """The answer; what the client says of its attempts is left out, for the error says it in one line."""
    import asyncio
    import logging

    logging.getLogger("aiokafka").addHandler(logging.NullHandler())
    logging.getLogger("aiokafka").propagate = False
    with waiting("asking Kafka"):
        return asyncio.run(asked)


def _show(differences: "list[Difference]", none: str, before: str, *, as_json: bool) -> None:
    if as_json:
        fields = ("topic", "what", "found", "wanted")
        say_json([{name: getattr(one, name) for name in fields} for one in differences])
    else:
        say("\n".join(f"{before}{one}" for one in differences) or none)
