import logging
from collections.abc import Iterator

import pytest

from services.cli.logs import log_to_stderr


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
