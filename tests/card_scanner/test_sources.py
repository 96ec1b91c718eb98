"""Shoes: every order as likely as any other, sealed by a commitment that can be opened, recorded ones as they were."""

import hashlib
import itertools
import random
from collections import Counter

import pytest

from services.baccarat.cards import Card, parse_card
from services.baccarat.shoe import END_RULES, fresh_shoe, shuffle
from services.card_scanner import recording
from services.card_scanner.recording import Claim, CutCard, End, Recording, Shoe, Taken
from services.card_scanner.sources import HouseRules, Recorded, SealedShoe, Simulated, next_shoe, recorded

RULES = HouseRules(decks=8, burn_rule="none", burn_fixed=0, end_rule="one_more", cards_behind_cut=14)


def orders(cards: tuple[Card, ...]) -> Counter[tuple[Card, ...]]:
    """The shuffles for every way in which chance can answer, each way equally likely."""
    sizes = range(len(cards), 1, -1)
    found: Counter[tuple[Card, ...]] = Counter()
    for answers in itertools.product(*(range(size) for size in sizes)):
        given = dict(zip(sizes, answers, strict=True))
        found[shuffle(cards, given.__getitem__)] += 1  # asks once below each size, or one is missing here
    return found


@pytest.mark.parametrize("count", range(1, 7))
def test_chance_reaches_every_order_once(count: int) -> None:
    cards = fresh_shoe(1)[:count]
    found = orders(cards)
    assert set(found) == set(itertools.permutations(cards))
    assert set(found.values()) == {1}


def test_every_card_is_as_likely_at_every_place() -> None:
    """Chi-square over 13 cards and 13 places; with 144 degrees of freedom, 99.9% of fair shuffles stay below 199.4."""
    seed, count, cards = 20_260_101, 6_000, fresh_shoe(1)[:13]
    chance = random.Random(seed)
    seen: Counter[tuple[int, Card]] = Counter()
    for _ in range(count):
        seen.update(enumerate(shuffle(cards, chance.randrange)))
    expected = count / 13
    chi_square = sum((seen[place, card] - expected) ** 2 / expected for place in range(13) for card in cards)
    assert chi_square < 199.4, f"seed {seed}"


def test_a_naive_shuffle_would_fail_the_count() -> None:
    """Swapping each card with any other has 27 ways for 6 orders: the test above must see such a fault."""
    cards = fresh_shoe(1)[:3]
    found: Counter[tuple[Card, ...]] = Counter()
    for answers in itertools.product(range(3), repeat=3):
        order = list(cards)
        for place, chosen in enumerate(answers):
            order[place], order[chosen] = order[chosen], order[place]
        found[tuple(order)] += 1
    assert set(found.values()) == {4, 5}


def simulated(seed: str | None, table_id: str = "T1", begun: int = 0, rules: HouseRules = RULES) -> SealedShoe:
    shoe = next_shoe(Simulated(seed), table_id, begun, rules)
    assert shoe is not None
    return shoe


@pytest.mark.parametrize("seed", [None, "7"])
def test_a_simulated_shoe_holds_its_decks_and_its_commitment_can_be_opened(seed: str | None) -> None:
    shoe = simulated(seed)
    assert Counter(shoe.order) == Counter(fresh_shoe(8))
    assert shoe.cut_at == 416 - 14
    assert shoe.commitment is not None
    digest = hashlib.sha256(f"{shoe.salt}:{' '.join(str(card) for card in shoe.order)}".encode("ascii")).hexdigest()
    assert shoe.commitment.split() == [digest] if seed is None else [digest, "demonstration,", "seed", "7"]


def test_shoes_differ_unless_a_seed_says_otherwise() -> None:
    assert simulated(None) != simulated(None)
    assert simulated("7") == simulated("7")
    different = [simulated("7"), simulated("8"), simulated("7", "T2"), simulated("7", begun=1)]
    assert len({shoe.order for shoe in different}) == 4
    assert len({shoe.salt for shoe in different}) == 4


def test_only_a_rule_that_heeds_a_cut_card_gets_one() -> None:
    for end_rule in END_RULES:
        rules = HouseRules(decks=6, burn_rule="none", burn_fixed=0, end_rule=end_rule, cards_behind_cut=20)
        assert simulated(None, rules=rules).cut_at == (None if end_rule == "cards_left_below_n" else 312 - 20)


def test_a_recorded_shoe_is_dealt_as_it_was_and_claims_are_not_fed() -> None:
    cards = tuple(parse_card(text) for text in ("9S", "KD", "3"))
    facts = (
        Shoe(decks=8, commitment="ab" * 32),
        Taken("burn", 1, cards[0]),
        Taken("card", 2, None),
        CutCard(),
        Taken("card", 3, cards[1]),
        Claim(round_no=1),
        Taken("left", 4, cards[2]),
        End(3),
        Shoe(decks=1),
        Taken("card", 1, cards[2]),
        End(1),
    )
    source = recorded(recording.parse(recording.format_text(Recording(facts))))
    first = SealedShoe(decks=8, order=(cards[0], None, cards[1]), cut_at=2, commitment="ab" * 32)
    second = SealedShoe(decks=1, order=(cards[2],))
    assert source == Recorded((first, second))
    assert [next_shoe(source, "T1", begun, RULES) for begun in range(3)] == [first, second, None]
    assert (source.name, Simulated().name) == ("recording", "simulated")
