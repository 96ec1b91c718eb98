import logging
from collections.abc import Iterator

import pytest

from services.cli.logs import OnceAMinute, log_to_stderr


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    logging.getLogger("services").setLevel(logging.NOTSET)


def test_a_line_has_time_level_and_who(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("INFO")
    logging.getLogger("services.rules").info("starting")
    logging.getLogger("services.rules").debug("not this")
    logging.getLogger("aiokafka").info("nor this")
    logging.getLogger("aiokafka").warning("but this")
    first, second = capsys.readouterr().err.splitlines()
    assert first.split(" ", 1)[1] == "INFO services.rules: starting"
    assert first[10] == "T"
    assert first[23] == "Z"
    assert second.endswith("WARNING aiokafka: but this")


def test_the_same_trouble_is_said_once_a_minute_and_again_after_good_news() -> None:
    now_s = 0.0
    once = OnceAMinute(lambda: now_s)

    def said(level: int, text: str) -> bool:
        return once.filter(logging.LogRecord("services.rules", level, "", 0, text, None, None))

    assert said(logging.WARNING, "Kafka is away")
    now_s = 59.0
    assert not said(logging.WARNING, "Kafka is away")
    assert said(logging.WARNING, "the registry is away")
    now_s = 61.0
    assert said(logging.WARNING, "Kafka is away")
    assert not said(logging.WARNING, "Kafka is away")
    assert said(logging.INFO, "ready")
    assert said(logging.WARNING, "Kafka is away")
