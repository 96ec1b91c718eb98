"""Facts are folded when their state is asked for, each once and in order."""

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import Event, ShoeOpened
from services.baccarat.telling import Telling


class Shoes(Struct, frozen=True):
    """A state that remembers which shoes were folded."""

    table_id: str
    opened: tuple[int, ...] = ()


def evolve(state: Shoes, fact: Event) -> Shoes:
    assert isinstance(fact, ShoeOpened)
    return replace(state, opened=(*state.opened, fact.shoe_no))


def telling() -> Telling[Shoes, ShoeOpened]:
    return Telling(Shoes("T1"), evolve, "shoe-1/1/1", 7)


def open_shoe(told: Telling[Shoes, ShoeOpened], shoe_no: int) -> None:
    told.say(ShoeOpened(**told.about(f"{shoe_no}/opened"), shoe_no=shoe_no, decks=8))


def test_every_fact_names_its_table_its_time_and_its_cause() -> None:
    assert telling().about("1/opened") == {
        "event_id": "T1/1/opened", "table_id": "T1", "at_ms": 7, "cause_id": "shoe-1/1/1",
    }  # fmt: skip


def test_the_state_has_folded_every_fact_once_and_in_order() -> None:
    told = telling()
    assert told.state == Shoes("T1")
    open_shoe(told, 1)
    open_shoe(told, 2)
    after_two = told.state
    open_shoe(told, 3)
    after_three, again = told.state, told.state
    assert (after_two.opened, after_three.opened) == ((1, 2), (1, 2, 3))
    assert again is after_three
    assert [fact.shoe_no for fact in told.facts] == [1, 2, 3]
    assert told.before == Shoes("T1")
