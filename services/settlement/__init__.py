"""The settlement service: `bets` and `rounds` in, `settlements` out."""

from typing import Final

from services.baccarat import bets, books
from services.baccarat.events import BETS, ROUNDS, SETTLEMENT_SNAPSHOTS, SETTLEMENTS
from services.runtime.processor import Processor

SETTLEMENT: Final = Processor(
    name="settlement",
    inputs=(ROUNDS, BETS),
    output=SETTLEMENTS,
    snapshots=SETTLEMENT_SNAPSHOTS,
    start=books.start,
    decide=bets.decide,
    evolve=books.evolve,
    copies_to=lambda _fact: (),
    ready=bets.ready,
    poisoned=bets.poisoned,
    state_type=books.State,
    writers={ROUNDS: "rules"},
    uncommitted=(BETS,),
)
