"""How a running service says what happens: a line each, to standard error."""

import logging
import time
from collections.abc import Callable
from typing import Final

AGAIN_S: Final = 60.0  # how often the same trouble is said


def log_to_stderr(level: str) -> None:
    """Time (UTC), level, who and what; libraries are heard from WARNING on, and the same trouble once a minute."""
    handler = logging.StreamHandler()
    handler.addFilter(OnceAMinute())
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("services").setLevel(level)


class OnceAMinute(logging.Filter):
    """Lets the same trouble through once a minute; after good news it is news again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said_s: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno < logging.WARNING:
            self._said_s.clear()
            return True
        now_s = self._clock()
        self._said_s = {line: said_s for line, said_s in self._said_s.items() if now_s - said_s < AGAIN_S}
        line = (record.name, record.getMessage())
        if line in self._said_s and not record.exc_info:
            return False
        self._said_s[line] = now_s
        return True
