"""Recorded shoes, good and tampered with: what is said of each, and where."""

import random
from typing import Any

import pytest

from services.baccarat.cards import Card, parse_card
from services.baccarat.catalogue import configuration
from services.card_scanner.recording import Claim, CutCard, End, Fact, Recording, Shoe, Taken, format_text, parse
from services.card_scanner.sources import simulated_shoe
from services.replay.deciding import facts_of, house_rules, recording_of
from services.replay.judge import judge
from services.replay.shoes import findings_of, rounds_of, shoes_of


def shoe(*cards: str, claims: tuple[int, ...] = (), **about: Any) -> Recording:
    """A shoe of cards such as `9`, `b:K` (burned), `l:3` (left) and `cut`; after how many cards a claim stands."""
    facts: list[Fact] = [Shoe(**{"decks": 8, **about})]
    card_no = left = dealt = 0
    for word in cards:
        if word == "cut":
            facts.append(CutCard())
            continue
        how, _, face = word.rpartition(":")
        card_no += 1
        left += how == "l"
        kind = {"": "card", "b": "burn", "l": "left"}[how]
        facts.append(Taken(kind, card_no, None if face == "--" else parse_card(face)))
        dealt += kind == "card"
        if kind == "card" and dealt in claims:
            facts.append(Claim(round_no=claims.index(dealt) + 1))
    return parse(format_text(Recording((*facts, End(card_no - left)))))


def found(recording: Recording) -> list[tuple[str, int | None, int]]:
    """Code, round and line of everything that is said of the recording."""
    findings = [finding for one in shoes_of(recording) for finding in findings_of(one)]
    findings += [
        finding for one in shoes_of(recording) for row in rounds_of(one) for finding in judge(row, None).findings
    ]
    return [(finding.code, finding.round_no, finding.line) for finding in findings]


def simulated(seed: str, variant: str = "classic", decks: int = 8) -> Recording:
    how = configuration(variant, decks=decks)
    sealed = simulated_shoe(house_rules(how), seed, "test")
    return recording_of(facts_of(sealed, how), sealed, how, seed)


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_a_shoe_dealt_by_the_rules_is_found_right(decks: int) -> None:
    recording = parse(format_text(simulated("seven", decks=decks)))
    assert found(recording) == []
    (one,) = shoes_of(recording)
    assert len(rounds_of(one)) == sum(isinstance(fact, Claim) for fact in recording.facts)


def test_no_tampering_with_a_card_goes_unseen() -> None:
    """Any two unlike cards of a committed shoe exchanged: the commitment at least does not hold."""
    chance = random.Random("tampering")
    recording = simulated("eight", decks=1)
    taken = [place for place, fact in enumerate(recording.facts) if isinstance(fact, Taken)]
    for _ in range(40):
        first, second = chance.sample(taken, 2)
        facts = list(recording.facts)
        one, other = facts[first], facts[second]
        assert isinstance(one, Taken)
        assert isinstance(other, Taken)
        facts[first] = Taken(one.how, one.card_no, other.card)
        facts[second] = Taken(other.how, other.card_no, one.card)
        said = [code for code, _, _ in found(parse(format_text(Recording(tuple(facts)))))]
        assert "commitment-mismatch" in said


def test_rounds_without_claims_end_by_the_rules() -> None:
    (one,) = shoes_of(shoe("9", "2", "K", "3", "2", "2", "3", "A", "8"))
    assert [(row.claim.round_no, row.line, row.card_nos) for row in rounds_of(one)] == [
        (1, 3, (1, 2, 3, 4)),
        (2, 7, (5, 6, 7, 8, 9)),
    ]


def test_rounds_with_claims_end_where_they_stand() -> None:
    assert found(shoe("9", "2", "K", "3", "5", claims=(5,))) == [("illegal-draw", 1, 3)]
    assert found(shoe("2", "2", "3", "A", "9", "2", "K", "3", claims=(4, 8))) == [("not-enough-cards", 1, 3)]


def test_a_claim_without_cards_has_its_own_line() -> None:
    recording = Recording((Shoe(decks=8), Claim(round_no=1), End(0)))
    assert found(parse(format_text(recording))) == [("not-enough-cards", 1, 3)]


def test_after_an_unread_face_nobody_can_say_where_rounds_end() -> None:
    assert found(shoe("9", "2", "K", "3", "2", "--", "3", "A", "8")) == [("unread-card", 2, 7)]


def test_a_ninth_seven_of_hearts_in_eight_decks() -> None:
    ninth = ["7H"] * 9
    assert ("too-many-of-a-card", 2, 11) in found(shoe(*ninth))
    assert not [code for code, _, _ in found(shoe(*["7H"] * 8)) if code == "too-many-of-a-card"]


@pytest.mark.parametrize(
    ("burned", "about", "wrong"),
    [
        (("b:3", "b:K", "b:K", "b:K"), {"burn_rule": "face_value_faces_10"}, False),
        (("b:3", "b:K", "b:K"), {"burn_rule": "face_value_faces_10"}, True),
        (("b:3", "b:K", "b:K", "b:K", "b:K"), {"burn_rule": "face_value_faces_10"}, True),
        ((), {"burn_rule": "face_value_faces_10"}, True),
        (("b:--", "b:K"), {"burn_rule": "face_value_faces_10"}, False),  # nobody can say
        (("b:--", "b:--"), {"burn_rule": "fixed_n", "burn_fixed": 2}, False),
        (("b:--",), {"burn_rule": "fixed_n", "burn_fixed": 2}, True),
        (("b:--",), {"burn_rule": "none"}, True),
        (("b:--",), {}, False),  # the record does not say by which rule
    ],
)
def test_the_burn_is_compared_with_its_rule(burned: tuple[str, ...], about: dict[str, Any], *, wrong: bool) -> None:
    said = found(shoe(*burned, "9", "2", "K", "3", **about))
    assert said == ([("wrong-burn", 1, 3 + len(burned))] if wrong else [])


ROUND = ("9", "2", "K", "3")


@pytest.mark.parametrize(
    ("cards", "rule", "last"),
    [
        ((*ROUND[:2], "cut", *ROUND[2:]), "finish_round", 1),
        ((*ROUND, "cut"), "finish_round", 2),
        ((*ROUND[:2], "cut", *ROUND[2:]), "one_more", 2),
        ((*ROUND, "cut"), "one_more", 2),
        ((*ROUND, "cut"), "always_one_more", 3),
    ],
)
def test_no_round_begins_after_the_last_one(cards: tuple[str, ...], rule: str, last: int) -> None:
    said = found(shoe(*cards, *ROUND * 3, end_rule=rule))
    assert said == [("dealt-after-end", round_no, 4 * round_no) for round_no in range(last + 1, 5)]


def test_a_shoe_without_cut_card_ends_when_few_cards_are_left() -> None:
    said = found(shoe(*ROUND * 3, decks=1, end_rule="cards_left_below_n", cards_behind_cut=45))
    assert said == [("dealt-after-end", 3, 11)]


def test_a_second_cut_card_is_told() -> None:
    assert found(shoe("cut", *ROUND, "cut", end_rule="always_one_more")) == [("dealt-after-end", None, 8)]
    assert found(shoe("cut", *ROUND, "cut")) == [], "no rule is stated"


def test_shoes_of_one_file_are_numbered() -> None:
    first, second = shoe(*ROUND), shoe(*ROUND, "5")
    both = parse(format_text(Recording((*first.facts, *second.facts))))
    assert [one.shoe_no for one in shoes_of(both)] == [1, 2]
    assert found(both) == [("not-enough-cards", 2, 13)]


def test_a_card_burned_between_rounds_is_of_no_round() -> None:
    (one,) = shoes_of(shoe(*ROUND, "b:5", *ROUND))
    assert [row.card_nos for row in rounds_of(one)] == [(1, 2, 3, 4), (6, 7, 8, 9)]


def test_the_cards_of_a_recording_are_cards() -> None:
    assert all(isinstance(fact.card, Card) for fact in simulated("nine", decks=1).facts if isinstance(fact, Taken))
