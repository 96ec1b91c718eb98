"""The exit codes of `punto`, and what they mean: one list for the code, `--help` and the documentation."""

from enum import IntEnum


class Code(IntEnum):
    """What a command line came to."""

    DONE = 0
    FOUND = 1
    USAGE = 2
    NOT_READY = 3
    FAULT = 70
    NOT_WRITTEN = 74
    INTERRUPTED = 130
    PIPE = 141


MEANINGS = {
    Code.DONE: "done, and nothing to say against it",
    Code.FOUND: "done, and something is not as it should be: findings, differences, cards that make no round",
    Code.USAGE: "the command line, a settings file or an input file cannot be used",
    Code.NOT_READY: "something outside (Kafka, the registry, Redis, an optional package) is not there",
    Code.FAULT: "a fault of this program; PUNTO_DEBUG=1 shows where",
    Code.NOT_WRITTEN: "the output could not be written: a full disk, or a standard output that is closed",
    Code.INTERRUPTED: "interrupted with Ctrl-C",
    Code.PIPE: "whoever read the output has closed it",
}


def listed() -> str:
    """The codes as the lines of a help text."""
    return "\n".join(f"{code:>3}  {meaning}" for code, meaning in MEANINGS.items())
