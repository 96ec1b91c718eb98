"""One processor as a process of its own: `python -m tests.broker.process NAME [POINT NTH]`.

With a point it stops itself (as SIGSTOP, a stalled machine) when it comes by there the nth time; and its transactions
have no deadline that could end them before the broker does, however long it was stalled.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from services.rules import RULES
from services.runtime import kafka_client
from services.runtime.processor import Processor
from services.runtime.service import run_processor, until_signal
from services.runtime.settings import read
from services.settlement import SETTLEMENT

PROCESSORS: Mapping[str, Processor[Any]] = {processor.name: processor for processor in (RULES, SETTLEMENT)}

PATIENT_S = 120.0


def stalls(point: str, nth: int) -> Callable[[str], None]:
    left = nth

    def fault(passed: str) -> None:
        nonlocal left
        if passed == point:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGSTOP)

    return fault


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    name, *held = sys.argv[1:]
    fault = stalls(held[0], int(held[1])) if held else lambda _: None
    if held:
        setattr(kafka_client, "COMMIT_WITHIN_S", PATIENT_S)  # noqa: B010 - Final for everybody else
    settings = read(os.environ)
    until_signal(lambda stop: run_processor(PROCESSORS[name], settings, stop, fault=fault))


if __name__ == "__main__":
    main()
