"""The hand that draws: what it does next and when, by what it sees; time is passed in."""

from typing import TypedDict

import pytest
from msgspec.structs import replace

from services.baccarat.cards import Hand, Winner, parse_card
from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    CardAssigned,
    CardBurned,
    CardSetAside,
    ConfigurationReceived,
    Event,
    HiddenCardRevealed,
    InputNoted,
    RoundDecided,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.card_scanner.motor import AT_ONCE, Act, Due, Pace, next_act, pace_at
from services.card_scanner.sealed import Sealed, begin_shoe, draw, fresh, open_seal
from services.card_scanner.sources import SealedShoe
from services.card_scanner.table_view import see

PACE = Pace(card_ms=1_000, burn_ms=500, shoe_ms=6_000, breath_ms=800)
CARD = parse_card("9S")
SHOE = SealedShoe(decks=8, order=(CARD,) * 9, salt="ab")
CONFIGURATION = configuration("classic")
UNUSED = fresh("T1", "log", "simulated")
DEVICE = UNUSED.view.device
STARTED = begin_shoe(UNUSED, SHOE, 0)


class Common(TypedDict):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str


def common(at_ms: int, cause: str = "other/1/1") -> Common:
    return Common(event_id="x", table_id="T1", at_ms=at_ms, cause_id=cause)


def received(at_ms: int = 100) -> Event:
    return ConfigurationReceived(**common(at_ms), version=1, configuration=CONFIGURATION)


def opened(at_ms: int = 200, cause: str = f"{DEVICE}/1/1") -> Event:
    return ShoeOpened(**common(at_ms, cause), shoe_no=1, decks=8)


def burned(at_ms: int, left: int) -> Event:
    return CardBurned(**common(at_ms), shoe_no=1, card_no=1, card=CARD, reason="new-shoe", left=left)


def betting(at_ms: int, closes_at_ms: int) -> Event:
    return BettingOpened(**common(at_ms), shoe_no=1, round_no=1, version=1, closes_at_ms=closes_at_ms, cards_dealt=0)


def closed(at_ms: int, closed_at_ms: int, cause: str = "dealer") -> Event:
    return BettingClosed(**common(at_ms), shoe_no=1, round_no=1, closed_at_ms=closed_at_ms, cause=cause)


def assigned(at_ms: int, next_hand: Hand | None) -> Event:
    return CardAssigned(
        **common(at_ms),
        shoe_no=1,
        round_no=1,
        card_no=2,
        hand=Hand.PLAYER,
        place=1,
        card=CARD,
        player_total=9,
        banker_total=0,
        next_hand=next_hand,
    )


def decided(at_ms: int) -> Event:
    return RoundDecided(
        **common(at_ms),
        shoe_no=1,
        round_no=1,
        revision=0,
        version=1,
        player=(CARD,),
        banker=(CARD,),
        player_total=9,
        banker_total=9,
        winner=Winner.TIE,
        natural=True,
        free=False,
    )


def voided(at_ms: int) -> Event:
    return RoundVoided(**common(at_ms), shoe_no=1, round_no=1, revision=0, reason="dealer")


def shoe_closed(at_ms: int) -> Event:
    return ShoeClosed(**common(at_ms), shoe_no=1, reason="cut-card", rounds=1, cards=9)


def suspended(at_ms: int) -> Event:
    return TableSuspended(**common(at_ms), cause="dealer", text="")


def resumed(at_ms: int) -> Event:
    return TableResumed(**common(at_ms), by="d", text="")


IN_SHOE = (received(), opened(), burned(300, 0))


def after(sealed: Sealed, *facts: Event) -> Sealed:
    """The shoe of a hand that has seen these facts of its table."""
    for fact in facts:
        sealed = replace(sealed, view=see(sealed.view, fact))
    return sealed


@pytest.mark.parametrize(
    ("facts", "due"),
    [
        ((received(),), None),  # the answer to its own first word is awaited
        ((received(), opened()), Due(Act.DRAW, 700)),  # the first card is turned up and burned
        ((received(), opened(), burned(300, 3)), Due(Act.DRAW, 800)),
        (IN_SHOE, None),  # betting has not opened
        ((*IN_SHOE, betting(1_000, 16_000)), Due(Act.DRAW, 16_800)),
        ((*IN_SHOE, betting(1_000, 16_000), closed(9_000, 9_000)), Due(Act.DRAW, 9_800)),
        ((*IN_SHOE, betting(1_000, 16_000), assigned(17_000, Hand.BANKER)), Due(Act.DRAW, 18_000)),
        ((*IN_SHOE, betting(1_000, 16_000), assigned(17_000, None)), None),
        ((*IN_SHOE, betting(1_000, 16_000), assigned(17_000, Hand.BANKER), decided(17_100)), None),
        ((*IN_SHOE, betting(1_000, 16_000), assigned(17_000, Hand.BANKER), voided(17_100)), None),
        ((*IN_SHOE, decided(17_000), betting(17_000, 32_000)), Due(Act.DRAW, 32_800)),
        ((*IN_SHOE, betting(1_000, 16_000), suspended(2_000)), None),
        ((*IN_SHOE, assigned(17_000, Hand.BANKER), suspended(18_000)), None),
        ((*IN_SHOE, suspended(2_000), resumed(9_000)), None),
        ((*IN_SHOE, suspended(2_000), resumed(9_000), betting(9_000, 24_000)), Due(Act.DRAW, 24_800)),
        ((received(), opened(), burned(300, 3), suspended(400), resumed(9_000)), Due(Act.DRAW, 9_500)),
        # the burned card was corrected, and nothing more is to be burned
        ((received(), opened(), burned(300, 1), betting(1_000, 16_000)), Due(Act.DRAW, 16_800)),
        ((*IN_SHOE, shoe_closed(50_000)), Due(Act.OPEN_SEAL, 50_000)),
        ((received(), opened(cause="action/start-2")), Due(Act.OPEN_SEAL, 200)),  # somebody opened another shoe
    ],
)
def test_what_is_due(facts: tuple[Event, ...], due: Due | None) -> None:
    heard = InputNoted(**common(0, f"{DEVICE}/1/1"), what="") if len(facts) > 1 else received()
    assert next_act(after(STARTED, heard, *facts), PACE) == due


def test_nothing_is_due_before_the_table_is_configured() -> None:
    assert next_act(UNUSED, PACE) is None
    assert next_act(after(UNUSED, received()), PACE) == Due(Act.BEGIN_SHOE, 100)


def test_a_new_shoe_waits_while_the_old_one_is_put_away() -> None:
    over = after(STARTED, *IN_SHOE, shoe_closed(50_000))
    opening = open_seal(over, 50_000)
    assert next_act(opening, PACE) is None, "the opened seal was not heard yet"
    noted = InputNoted(**common(50_100, f"{DEVICE}/1/2"), what="device-seal-opened")
    assert next_act(after(opening, noted), PACE) == Due(Act.BEGIN_SHOE, 56_000)
    without_seal = after(begin_shoe(UNUSED, replace(SHOE, salt=None), 0), *IN_SHOE, shoe_closed(50_000))
    assert next_act(without_seal, PACE) == Due(Act.BEGIN_SHOE, 56_000)


def test_no_card_is_drawn_before_the_last_one_was_taken_note_of() -> None:
    drawn = draw(after(STARTED, *IN_SHOE, betting(1_000, 16_000)), 16_800)
    assert next_act(drawn, PACE) is None
    aside = CardSetAside(**common(16_900, f"{DEVICE}/1/2"), shoe_no=1, card_no=2, card=CARD, reason="")
    assert next_act(after(drawn, aside), PACE) == Due(Act.DRAW, 16_800)
    elsewhere = CardSetAside(**common(16_900, f"{DEVICE}/2/2"), shoe_no=1, card_no=2, card=CARD, reason="")
    assert next_act(after(drawn, elsewhere), PACE) is None


def test_an_exhausted_shoe_is_replaced_even_in_mid_round() -> None:
    empty = begin_shoe(UNUSED, replace(SHOE, order=(), salt=None), 0)
    assert next_act(after(empty, *IN_SHOE, assigned(17_000, Hand.BANKER)), PACE) == Due(Act.BEGIN_SHOE, 23_000)


def test_a_revealed_card_moves_the_clock_and_nothing_else() -> None:
    fact = HiddenCardRevealed(**common(19_000), shoe_no=1, round_no=1, card_no=2, card=CARD)
    seen = after(STARTED, *IN_SHOE, assigned(17_000, None), fact)
    assert seen.view == replace(after(STARTED, *IN_SHOE, assigned(17_000, None)).view, at_ms=19_000)


def test_a_new_configuration_is_seen_when_received_and_when_in_force() -> None:
    other = replace(CONFIGURATION, decks=6)
    facts: list[Event] = [
        ConfigurationReceived(**common(1), version=2, configuration=other),
        RulesInForce(**common(1), version=2, configuration=other),
    ]
    for fact in facts:
        rules = after(UNUSED, received(), fact).view.rules
        assert rules is not None
        assert rules.decks == 6


def test_at_once_waits_for_nobody_but_rules() -> None:
    facts = (*IN_SHOE, betting(1_000, 16_000))
    assert next_act(after(STARTED, *facts), AT_ONCE) == Due(Act.DRAW, 1_000)
    assert next_act(after(draw(STARTED, 0), *facts), AT_ONCE) is None


def test_speed_shortens_every_wait_alike() -> None:
    assert pace_at(1) == PACE
    assert pace_at(10) == Pace(card_ms=100, burn_ms=50, shoe_ms=600, breath_ms=80)
