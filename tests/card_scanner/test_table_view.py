"""The view of a table is a fold of `rounds`: of the answers to this device, and of nobody else's."""

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import ConfigurationReceived, InputNoted, ShoeOpened
from services.baccarat.shoe import BURN_RULES
from services.card_scanner.sources import HouseRules
from services.card_scanner.table_view import View, house_rules, see

UNUSED = View(table_id="T1", device="shoe-1")


def noted(cause: str) -> InputNoted:
    return InputNoted(event_id="x", table_id="T1", at_ms=5, cause_id=cause, what="")


@pytest.mark.parametrize(
    ("cause", "heard"),
    [
        ("shoe-1/1/8", 8),
        ("shoe-1/1/6", 7),  # an old answer
        ("shoe-1/2/8", 7),  # another boot
        ("shoe-10/1/8", 7),
        ("action/8", 7),
        ("configuration/8", 7),
        ("", 7),
    ],
)
def test_only_answers_to_its_own_sentences_are_heard(cause: str, heard: int) -> None:
    assert see(replace(UNUSED, heard=7), noted(cause)) == replace(UNUSED, heard=heard)


@pytest.mark.parametrize("rule", BURN_RULES)
def test_the_burn_is_known_from_the_configuration(rule: str) -> None:
    told = replace(configuration("classic", decks=6), burn_rule=rule, burn_fixed=3)
    received = ConfigurationReceived(
        event_id="x", table_id="T1", at_ms=1, cause_id="configuration/1", version=1, configuration=told
    )
    opened = ShoeOpened(event_id="x", table_id="T1", at_ms=2, cause_id="shoe-1/1/1", shoe_no=1, decks=6)
    view = see(see(UNUSED, received), opened)
    assert (view.in_shoe, view.heard, view.at_ms) == (True, 1, 2)
    assert view.burns_left == {"fixed_n": 3, "deck_count": 6, "none": 0}.get(rule, 1)
    assert see(UNUSED, opened).burns_left == 0


def test_the_house_rules_are_what_concerns_the_shoe() -> None:
    assert house_rules(configuration("ez")) == HouseRules(
        decks=8, burn_rule="face_value_faces_10", burn_fixed=0, end_rule="one_more", cards_behind_cut=14
    )
