"""Settings of a service: the environment first, then the file that PUNTO_SETTINGS names, then what stands here.

The file is TOML and its keys are the names of the fields. Whatever is wrong is said in one line: where, what, remedy.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_type_hints

from msgspec import Struct, field

from services.baccarat import toml_lines
from services.baccarat.errors import BadSettings
from services.runtime.local import default_state_dir


class Settings(Struct, frozen=True, kw_only=True):
    """Empty text means none; a port of 0 means that nothing is served there."""

    kafka: str = "127.0.0.1:9092"
    registry: str = ""
    redis: str = "redis://127.0.0.1:6379/0"
    state_dir: Path = field(default_factory=default_state_dir)
    topic_prefix: str = ""
    partitions: int = 12
    instance: str = ""  # a name of this process that outlives it: restarted, it gets its tables back at once
    host: str = "127.0.0.1"
    http_port: int = 0
    dashboard_port: int = 8000
    session_timeout_ms: int = 6_000
    snapshot_every_ms: int = 30_000
    batch_records: int = 500
    rest_ms: int = 10


VARIABLES: Final[Mapping[str, str]] = {
    "kafka": "KAFKA_BOOTSTRAP_SERVERS",
    "registry": "SCHEMA_REGISTRY_URL",
    "redis": "REDIS_URL",
    **{
        name: f"PUNTO_{name.upper()}"
        for name in Settings.__struct_fields__
        if name not in ("kafka", "registry", "redis")
    },
}
TYPES: Final = get_type_hints(Settings)
RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "partitions": (1, 10_000),
    "http_port": (0, 65_535),
    "dashboard_port": (0, 65_535),
    "session_timeout_ms": (1_000, 1_800_000),
    "snapshot_every_ms": (100, 86_400_000),
    "batch_records": (1, 100_000),
    "rest_ms": (0, 1_000),
}
PREFIX: Final = re.compile(r"[a-zA-Z0-9._-]{0,100}")  # what Kafka takes in a topic's name


def read(environment: Mapping[str, str]) -> Settings:
    """Raises BadSettings, one line."""
    file = environment.get("PUNTO_SETTINGS", "")
    found = from_file(Path(file)) if file else {}
    for name, variable in VARIABLES.items():
        if variable in environment:
            found[name] = of_text(name, environment[variable], variable)
    return Settings(**found)


def from_file(path: Path) -> dict[str, Any]:
    """The settings of a file, checked; `path:line: key: what is wrong and how to mend it` otherwise."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path}: cannot be read ({one_line(error)}); PUNTO_SETTINGS names a TOML file") from error
    try:
        found = toml_lines.parse(text)
    except toml_lines.NotToml as error:
        raise BadSettings(f"{path}:{error.line}: not TOML: {error}") from error
    return {
        name: of_value(name, value, f"{path}:{found.line((name,))}: {name}") for name, value in found.values.items()
    }


def of_text(name: str, text: str, where: str) -> Any:
    """An environment variable's text as the field's type."""
    if TYPES[name] is int:
        if not re.fullmatch(r"-?[0-9]{1,10}", text):
            raise BadSettings(f"{where}: must be a whole number, not {text!r}")
        return checked(name, int(text), where)
    return checked(name, Path(text) if TYPES[name] is Path else text, where)


def of_value(name: str, value: Any, where: str) -> Any:
    """A file's value as the field's type."""
    if name not in TYPES:
        near = get_close_matches(name, TYPES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(TYPES)}"
        raise BadSettings(f"{where}: there is no such setting; {hint}")
    wanted = int if TYPES[name] is int else str
    if type(value) is not wanted:
        what = "a whole number, without quotes" if wanted is int else "text in quotes"
        raise BadSettings(f"{where}: must be {what}, not {value!r}")
    return checked(name, Path(str(value)) if TYPES[name] is Path else value, where)


def checked(name: str, value: Any, where: str) -> Any:
    """The value, if it lies within what the setting can mean."""
    if name in RANGES:
        low, high = RANGES[name]
        if not low <= value <= high:
            raise BadSettings(f"{where}: must be from {low} to {high}, not {value}")
    if name == "topic_prefix" and not PREFIX.fullmatch(value):
        raise BadSettings(f"{where}: must be letters, digits, '.', '_' and '-' only, not {value!r}")
    if name == "kafka" and not all(re.fullmatch(r".+:[0-9]{1,5}", server) for server in value.split(",")):
        raise BadSettings(f"{where}: must be host:port, several with commas between, not {value!r}")
    for_url = {"registry": ("http://", "https://"), "redis": ("redis://", "rediss://", "unix://")}
    if name in for_url and value and not value.startswith(for_url[name]):
        raise BadSettings(f"{where}: must begin with {' or '.join(for_url[name])}, not {value!r}")
    return value


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())
