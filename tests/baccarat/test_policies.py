"""Policies: every one that exists is taken, and nothing else; what they do stands in `tests/shoes/policies.feed`."""

import pytest
from msgspec.structs import replace

from services.baccarat import catalogue
from services.baccarat.events import Policy
from services.baccarat.payouts import faults
from services.baccarat.policies import POLICIES, policy_of

PLAIN = catalogue.configuration("classic")


@pytest.mark.parametrize(("code", "policy"), [(code, policy) for code, all_of in POLICIES.items() for policy in all_of])
def test_a_table_may_choose_any_policy_there_is(code: str, policy: str) -> None:
    chosen = replace(PLAIN, policies=(Policy(code, policy),))

    assert faults(chosen) == ()
    assert policy_of(chosen, code) == policy


@pytest.mark.parametrize("code", POLICIES)
def test_the_usual_policy_holds_where_none_is_chosen(code: str) -> None:
    assert policy_of(PLAIN, code) == policy_of(None, code) == POLICIES[code][0]


def test_a_policy_that_does_not_exist_is_a_fault_that_names_those_that_do() -> None:
    chosen = replace(PLAIN, policies=(Policy("card-unread", "smile"), Policy("rain", "burn")))

    assert faults(chosen) == (
        "policy for 'card-unread' is not one of wait, burn",
        f"no policy is about 'rain'; there are {', '.join(POLICIES)}",
    )
