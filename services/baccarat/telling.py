"""An answer to one input as it grows: both deciders say their facts into it, and ask it what these came to."""

from collections.abc import Callable
from typing import Generic, Protocol, TypedDict, TypeVar

from services.baccarat.events import Event


class OfTable(Protocol):
    """A decider's state."""

    @property
    def table_id(self) -> str: ...


S = TypeVar("S", bound=OfTable)
F = TypeVar("F", bound=Event)


class Common(TypedDict):
    """The fields that every fact of rules and settlement has."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str


class Telling(Generic[S, F]):
    """`before` is the state that the input met, `state` has folded every fact said so far."""

    def __init__(self, before: S, evolve: Callable[[S, Event], S], cause: str, at_ms: int) -> None:
        self.before = before
        self.facts: list[F] = []
        self.cause = cause
        self.at_ms = at_ms
        self._evolve = evolve
        self._state = before
        self._folded = 0

    @property
    def state(self) -> S:
        """Folded only when it is asked for: nobody asks after the last fact."""
        for fact in self.facts[self._folded :]:
            self._state = self._evolve(self._state, fact)
        self._folded = len(self.facts)
        return self._state

    def about(self, what: str) -> Common:
        """The common fields of a fact whose id is the table's and `what`."""
        table = self.before.table_id
        return {"event_id": f"{table}/{what}", "table_id": table, "at_ms": self.at_ms, "cause_id": self.cause}

    def say(self, fact: F) -> None:
        """Adds a fact."""
        self.facts.append(fact)
