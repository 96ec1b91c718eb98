from pathlib import Path

import pytest

from services.baccarat.errors import BadSettings
from services.runtime.settings import VARIABLES, Settings, read


def test_nothing_said_gives_what_stands_in_the_code() -> None:
    assert read({}) == Settings()


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "punto.toml"
    file.write_text('kafka = "a:1,b:2"\npartitions = 6\nstate_dir = "/tmp/x"\n')
    found = read({"PUNTO_SETTINGS": str(file), "PUNTO_PARTITIONS": "24"})
    assert (found.kafka, found.partitions, found.state_dir) == ("a:1,b:2", 24, Path("/tmp/x"))  # noqa: S108


def test_every_setting_has_a_variable() -> None:
    assert set(VARIABLES) == set(Settings.__struct_fields__)
    assert VARIABLES["topic_prefix"] == "PUNTO_TOPIC_PREFIX"
    assert VARIABLES["kafka"] == "KAFKA_BOOTSTRAP_SERVERS"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('# ours\n\nkafak = "a:1"\n', 3, "kafak: there is no such setting; did you mean 'kafka'?"),
        ("zzz = 1\n", 1, "zzz: there is no such setting; known are kafka, registry"),
        ('kafka = "a:1"\npartitions = "12"\n', 2, "partitions: must be a whole number, without quotes, not '12'"),
        ("partitions = true\n", 1, "partitions: must be a whole number, without quotes, not True"),
        ("\nkafka = 9092\n", 2, "kafka: must be text in quotes, not 9092"),
        ('kafka = "localhost"\n', 1, "kafka: must be host:port, several with commas between, not 'localhost'"),
        ("partitions = 0\n", 1, "partitions: must be from 1 to 10000, not 0"),
        ("http_port = 70000\n", 1, "http_port: must be from 0 to 65535, not 70000"),
        ('topic_prefix = "a b"\n', 1, "topic_prefix: must be letters, digits, '.', '_' and '-' only, not 'a b'"),
        ('registry = "localhost:8080"\n', 1, "registry: must begin with http:// or https://, not 'localhost:8080'"),
        ('redis = "localhost"\n', 1, "redis: must begin with redis:// or"),
        ('kafka = "a:1"\n[topics]\nx = 1\n', 2, "topics: there is no such setting"),
        ('kafka = "a:1"\n"partitions" = "x"\n', 2, "partitions: must be a whole number"),
        ('kafka = "a:1"\npartitions = twelve\n', 2, "not TOML: "),
        ('kafka = "a:1\n', 1, "not TOML: "),
        ("partitions", 1, "not TOML: "),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_one_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    file = tmp_path / "punto.toml"
    file.write_text(text)
    with pytest.raises(BadSettings) as wrong:
        read({"PUNTO_SETTINGS": str(file)})
    message = str(wrong.value)
    assert message.startswith(f"{file}:{line}: {what}")
    assert "\n" not in message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"none\.toml: cannot be read .*; PUNTO_SETTINGS names"):
        read({"PUNTO_SETTINGS": str(tmp_path / "none.toml")})


@pytest.mark.parametrize("text", ["twelve", "1.5", "", "1e3", "١٢"])
def test_what_is_wrong_in_the_environment_names_the_variable(text: str) -> None:
    with pytest.raises(BadSettings, match=r"^PUNTO_PARTITIONS: must be a whole number, not "):
        read({"PUNTO_PARTITIONS": text})
