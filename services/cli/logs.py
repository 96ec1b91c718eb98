"""How a running service says what happens: a line each, to standard error."""

import logging
import time


def log_to_stderr(level: str) -> None:
    """Time (UTC), level, who and what; libraries are heard from WARNING on."""
    handler = logging.StreamHandler()
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("services").setLevel(level)
