"""Every named exception of the project, as one tree.

    PuntoError
    +-- InvariantBroken    a decider met what cannot be: its table is suspended, nothing else of it is committed
    +-- Unusable           a record or a value that cannot be used; `code` says how
    |   +-- Unfit          a fact that cannot be encoded, or is too large to send
    +-- BadSettings        a settings file, a table file or a command's argument is wrong
    |   +-- NotInstalled   what was asked for needs an optional package
    +-- NotReady           something outside (Kafka, Redis, the registry) is not there, or not as it must be

Refused bets and misdealt cards are facts, not exceptions.
"""


class PuntoError(Exception):
    """The root: its text is one sentence that says what and where."""


class InvariantBroken(PuntoError):
    """What a decider believed of its own state is not so."""


class Unusable(PuntoError):
    """A record that cannot be used; `code` is the reason a dead letter gives."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Unfit(Unusable):
    """A fact that cannot be sent."""


class BadSettings(PuntoError):
    """Settings or arguments that cannot be worked with."""


class NotInstalled(BadSettings):
    """An optional package is missing: waiting for it, as for what is not ready, would not help."""


class NotReady(PuntoError):
    """Something outside the process is missing, or is not as it must be."""
