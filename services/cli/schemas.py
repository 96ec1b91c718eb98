"""`punto schemas`: the Avro schemas of the events."""

import os
from pathlib import Path
from typing import Annotated

import typer

from services.baccarat.errors import BadSettings
from services.cli.exits import Code
from services.cli.output import say, say_json

app = typer.Typer(
    name="schemas",
    help="The Avro schemas of the events: compatibility with every released version, and registration.",
    rich_markup_mode=None,
)


@app.command(
    epilog="""\
\b
Examples:
  punto schemas check
  punto schemas check --folder schemas --json
"""
)
def check(
    *,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the .avsc files are; default: those of this program.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list of file, field and what.")] = False,
) -> int:
    """Check, offline, that every version of each schema can read what every other version wrote.

    Also refused: a changed logical type, scale or unit, and a released file that is no longer what was released. Exit
    code 1 if anything is found.
    """
    from services.runtime import compatibility
    from services.runtime.paths import SCHEMAS

    schemas = folder or SCHEMAS
    if not any(schemas.glob("*.avsc")):
        raise BadSettings(f"{schemas}: no .avsc file is here; give the folder of the schemas")
    findings = compatibility.check(schemas)
    if as_json:
        say_json([{"file": one.file, "field": one.field, "what": one.what} for one in findings])
    else:
        lines = [f"{one.file}: {one.field + ': ' if one.field else ''}{one.what}" for one in findings]
        say("\n".join(lines) or f"{len(list(schemas.glob('*.avsc')))} schemas, each compatible with all its versions")
    return Code.FOUND if findings else Code.DONE


@app.command(
    epilog="""\
\b
Examples:
  SCHEMA_REGISTRY_URL=http://127.0.0.1:8081 punto schemas register
  punto schemas register --url http://127.0.0.1:8081 --json
"""
)
def register(
    *,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The registry; default: the setting SCHEMA_REGISTRY_URL.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Subject to id.")] = False,
) -> int:
    """Register every schema at a registry; what is there already stays and keeps its id."""
    from services.runtime import settings

    known = settings.read(os.environ)
    address = url or known.registry
    if not address:
        raise BadSettings("no registry is named; set SCHEMA_REGISTRY_URL or give --url")
    from services.runtime.registry import Registry

    with Registry(address, topic_prefix=known.topic_prefix) as registry:
        ids = registry.register()
    if as_json:
        say_json(dict(ids))
    else:
        say("\n".join(f"{number:>6}  {subject}" for subject, number in ids.items()))
    return Code.DONE
