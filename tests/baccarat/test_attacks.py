"""What one sender can do to a whole partition: the decider answers all of it, in time, and no record waits for ever."""

from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat import bets, limits, payouts
from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    BetAccepted,
    BetRejected,
    BetSettled,
    BetVoided,
    CommissionCollected,
    Configuration,
    RoundSettled,
    RulesInForce,
    TableConfigured,
    malformed,
)
from services.baccarat.limits import MOST_COUNTED_MINOR
from services.runtime.codec import Codec
from tests.baccarat.feeds import TABLE
from tests.baccarat.logs import Logs, bets_first, of, read_all

PLAYER_WINS = "9H 2C KD 3S"
LONG = 2**63 - 1


def without_maximum(**changes: Any) -> Configuration:
    """A house that writes the largest number there is where it means no maximum."""
    how = configuration("classic")
    offered = tuple(replace(terms, max_minor=LONG, step_minor=1) for terms in how.pay_table)
    return replace(how, pay_table=offered, betting="automatic", burn_rule="none", **changes)


def playing(how: Configuration) -> Logs:
    logs = Logs()
    logs.feed.configuration = how
    return logs.play("rules shoe")


def test_stakes_that_no_total_could_hold_are_refused_and_the_rest_is_settled() -> None:
    logs = playing(without_maximum())
    for customer in ("Ann", "Bob", "Cy"):
        logs.bet("player", 2**62, customer=customer)
    logs.bet("player", 1_000, customer="Di")
    logs.play(PLAYER_WINS)
    facts = read_all(logs)
    assert {fact.code for fact in of(facts, BetRejected)} == {"beyond-count"}
    assert [fact.customer_id for fact in of(facts, BetSettled)] == ["Di"]
    for fact in facts:
        Codec().encode("settlements", fact)


def test_what_all_customers_can_win_together_is_counted_before_it_is_taken() -> None:
    logs = playing(without_maximum())
    for number in range(8):
        logs.bet("tie", 10**16, customer=f"c{number}")
    logs.play("9H 9C KD KS")
    facts = read_all(logs)
    assert len(of(facts, BetAccepted)) == 8
    total = of(facts, RoundSettled)[0]
    assert total.returns_minor == 8 * 9 * 10**16 <= MOST_COUNTED_MINOR
    logs = playing(without_maximum())
    for number in range(12):
        logs.bet("tie", 10**16, customer=f"c{number}")
    assert len(of(read_all(logs), BetAccepted)) == 11  # stake and winnings: 9 times 11, and 12 times would be too much


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"betting_window_ms": LONG}, "betting_window_ms is"),
        ({"close_margin_ms": LONG}, "close_margin_ms is"),
        ({"openings_remembered": LONG}, "openings_remembered is"),
        ({"name": "n" * 899_000}, "characters when written out"),
    ],
)
def test_a_configuration_by_which_some_later_fact_could_not_be_sent_is_refused(
    changes: dict[str, Any], said: str
) -> None:
    (fault,) = payouts.faults(replace(configuration("classic"), **changes))
    assert said in fault


def test_every_fact_with_the_largest_configuration_can_be_sent() -> None:
    how = configuration("classic")
    room = payouts.MOST_CHARACTERS - len(ascii(how))
    largest = replace(how, name="n" * room)
    assert payouts.faults(largest) == ()
    mark = RulesInForce(
        event_id="e" * 500, table_id="t" * 200, at_ms=0, cause_id="c" * 500, version=1, configuration=largest
    )
    assert len(Codec().encode("bets", mark)) < 900_000


def test_a_text_from_outside_is_short_enough_to_be_repeated() -> None:
    placed = Logs(words="rules shoe")
    placed.bet(seat="1" * 5_000)
    assert "seat has 5000 characters" in (malformed(placed.bets[-1].event or pytest.fail("no bet")) or "")
    applied = TableConfigured(
        event_id="c", table_id=TABLE, version=1, configuration=configuration("classic"), by="a", reason="r" * 4_001
    )
    assert "reason has 4001 characters" in (malformed(applied) or "")
    assert malformed(replace(applied, reason="r" * 4_000)) is None


def test_a_seat_of_more_digits_than_python_reads_is_a_seat_unknown() -> None:
    logs = Logs("betting=automatic seats=7", "rules shoe")
    logs.bet(seat="7" * 4_400)
    logs.bet(seat="7")
    facts = read_all(logs)
    assert [fact.code for fact in of(facts, BetRejected)] == ["seat-unknown"]
    assert len(of(facts, BetAccepted)) == 1


class Counted:
    """How often a function was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.calls = 0
        self._asked = getattr(module, name)
        monkeypatch.setattr(module, name, self)

    def __call__(self, *asked: Any) -> Any:
        self.calls += 1
        return self._asked(*asked)


def test_a_close_that_voids_many_side_bets_looks_at_each_customer_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = Logs("betting=automatic side_above_main=0", "rules shoe")
    for number in range(20):
        logs.bet("player", 1_000, bet_id=f"main{number}", customer=f"c{number}")
        logs.bet("player_pair", 500, customer=f"c{number}")
        logs.cancel(f"main{number}", customer=f"c{number}")
    for number in range(20, 200):
        logs.bet("player", 1_000, customer=f"c{number}")
        logs.bet("player_pair", 500, customer=f"c{number}")
    logs.play(PLAYER_WINS)
    summed = Counted(monkeypatch, limits, "main_stakes")
    facts = read_all(logs)
    assert [fact.reason for fact in of(facts, BetVoided)] == ["cancelled"] * 20 + ["limit_at_close"] * 20
    assert summed.calls < 4 * 200  # once for every void and every bet would be thousands, and minutes at a large table


def test_many_who_leave_in_a_round_are_not_all_looked_at_again_with_every_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = Logs("betting=automatic commission_mode=owed", "rules shoe 9H 2C")
    for number in range(100):
        logs.leave(f"c{number}")
    logs.play("KD 3S")
    looked = Counted(monkeypatch, bets, "is_done")
    facts = read_all(logs, bets_first(logs))
    assert len(of(facts, CommissionCollected)) == 100
    assert looked.calls <= 2 * 100


def test_rules_that_somebody_else_wrote_round_no_debt() -> None:
    logs = Logs("betting=automatic commission_mode=owed", "rules shoe")
    logs.bet("banker", 130)
    logs.forge_rules(2, commission_rounding="by the moon")
    logs.play("2H 9C")
    logs.leave()
    logs.play("KD KS")
    logs.play("end/1")
    facts = read_all(logs, bets_first(logs))
    assert [(str(one.owed_exact), one.amount_minor, one.number) for one in of(facts, CommissionCollected)] == [
        ("13/2", 7, 1)
    ]
    assert len(of(facts, RoundSettled)) == 2
