"""The rules service: `table-feed` in, `rounds` out, and the marks in `bets`."""

from typing import Final

from services.baccarat import rounds, table
from services.baccarat.events import ROUNDS, RULES_SNAPSHOTS, TABLE_FEED
from services.runtime.processor import Processor

RULES: Final = Processor(
    name="rules",
    inputs=(TABLE_FEED,),
    output=ROUNDS,
    snapshots=RULES_SNAPSHOTS,
    start=table.start,
    decide=lambda state, _topic, event, at_ms: rounds.decide(state, event, at_ms),
    evolve=table.evolve,
    copies_to=rounds.copies_to,
    ready=lambda _state, _topic, _event: True,
    poisoned=rounds.poisoned,
    state_type=table.State,
)
