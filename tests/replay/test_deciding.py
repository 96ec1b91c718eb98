"""A shoe dealt through the real rules decider, and written down."""

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import VARIANTS, configuration
from services.baccarat.events import CardBurned, CutCardSeen, Event, RoundDecided, ShoeClosed
from services.card_scanner.recording import Claim, CutCard, End, Shoe, Taken
from services.card_scanner.sources import simulated_shoe
from services.replay.deciding import facts_of, house_rules, recording_of


def dealt(seed: str = "1", **about: object) -> tuple[Event, ...]:
    how = replace(configuration("classic"), **about)
    return tuple(facts_of(simulated_shoe(house_rules(how), seed, "test"), how))


def closing(facts: tuple[Event, ...]) -> ShoeClosed:
    last = facts[-1]
    assert isinstance(last, ShoeClosed), "nothing is dealt once the shoe is over"
    return last


def test_a_shoe_is_burned_dealt_to_the_cut_card_and_ends_one_round_later() -> None:
    facts = dealt()
    burned = [fact for fact in facts if isinstance(fact, CardBurned)]
    (cut,) = (fact for fact in facts if isinstance(fact, CutCardSeen))
    rounds = [fact for fact in facts if isinstance(fact, RoundDecided)]
    assert burned[0].card is not None
    assert len(burned) >= 2
    assert cut.card_no == 8 * 52 - 14 + 1
    assert closing(facts).reason == "cut-card"
    assert closing(facts).rounds == len(rounds) == rounds[-1].round_no


def test_a_shoe_without_cut_card_ends_when_few_cards_are_left() -> None:
    facts = dealt(end_rule="cards_left_below_n", cards_behind_cut=40, burn_rule="none")
    assert closing(facts).reason == "cards-low"
    assert 8 * 52 - 40 < closing(facts).cards <= 8 * 52 - 40 + 6


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recording_says_all_of_the_shoe(variant: str) -> None:
    how = configuration(variant, decks=1)
    shoe = simulated_shoe(house_rules(how), "2", "test")
    facts = tuple(facts_of(shoe, how))
    written = recording_of(facts, shoe, how, "2").facts
    about = written[0]
    assert isinstance(about, Shoe)
    assert (about.variant, about.decks, about.seed, about.end_rule) == (variant, 1, "2", "one_more")
    assert [fact.card for fact in written if isinstance(fact, Taken)] == list(shoe.order)
    assert sum(isinstance(fact, CutCard) for fact in written) == 1
    claims = [fact for fact in written if isinstance(fact, Claim)]
    decided = [fact for fact in facts if isinstance(fact, RoundDecided)]
    assert [(one.player, one.banker, one.winner) for one in claims] == [
        (one.player, one.banker, one.winner) for one in decided
    ]
    assert written[-1] == End(closing(facts).cards)


def test_a_shoe_by_the_operating_system_has_no_seed() -> None:
    how = configuration("classic", decks=1)
    one, other = (simulated_shoe(house_rules(how), None, "test") for _ in range(2))
    assert one.order != other.order
    about = recording_of(facts_of(one, how), one, how, None).facts[0]
    assert isinstance(about, Shoe)
    assert about.seed is None
    assert about.commitment == one.commitment
