"""The settlement decider: what is taken and refused, what is paid, and that no order of reading changes any of it."""

from collections import Counter, defaultdict
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat import bets, books
from services.baccarat.catalogue import configuration
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetAccepted,
    BetIgnored,
    BetRejected,
    BetReversed,
    BetSettled,
    BettingClosed,
    BettingOpened,
    BetVoided,
    BookClosed,
    BookOpened,
    BookResumed,
    BookSuspended,
    CancelNoted,
    CancelRefused,
    CommissionCollected,
    CustomerNoted,
    Event,
    InputNoted,
    Mark,
    PayTableInForce,
    RoundDecided,
    RoundRevised,
    RoundSettled,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
)
from services.baccarat.shoe import fresh_shoe
from services.baccarat.telling import Telling
from services.runtime.codec import decode_state, encode_state
from tests.baccarat import oracle
from tests.baccarat.feeds import TABLE
from tests.baccarat.logs import Logs, Reading, at_random, bets_first, by_id, of, read_all, rounds_first

PLAYER_WINS = "9H 2C KD 3S"
BANKER_WINS = "2H 9C KD KS"
TIE = "9H 9C KD KS"
quietly = settings(derandomize=True, deadline=None, max_examples=100)


def table(extra: str = "", words: str = "rules shoe") -> Logs:
    """A table that opens by itself; rules, a shoe, and round 1 open."""
    return Logs(f"betting=automatic {extra}", words)


def outcomes(logs: Logs) -> list[Any]:
    return [
        record.event for record in logs.rounds if isinstance(record.event, RoundDecided | RoundRevised | RoundVoided)
    ]


def only(facts: list[Event], kind: type[Any]) -> Any:
    """The only fact of this kind."""
    (fact,) = [fact for fact in facts if isinstance(fact, kind)]
    return fact


def codes(facts: list[Event]) -> list[str]:
    return [fact.code for fact in facts if isinstance(fact, BetRejected | BetIgnored | CancelRefused)]


def causes(facts: list[Event]) -> list[str]:
    return [fact.cause for fact in facts if isinstance(fact, BookSuspended)]


def void_reasons(facts: list[Event]) -> list[str]:
    return [fact.reason for fact in facts if isinstance(fact, BetVoided)]


# ---------------------------------------------------------------- taking bets


def test_a_bet_between_the_two_marks_is_taken_and_paid() -> None:
    logs = table()
    bet_id = logs.bet("player", 1_055, seat="3")
    facts = read_all(logs.play(PLAYER_WINS))
    accepted, settled, total = only(facts, BetAccepted), only(facts, BetSettled), only(facts, RoundSettled)
    assert (accepted.bet_id, accepted.seat, accepted.version, accepted.stake_minor) == (bet_id, "3", 1, 1_055)
    assert (settled.line, settled.winnings_minor, settled.commission_minor, settled.return_minor) == (
        1,
        1_055,
        0,
        2_110,
    )
    assert (total.count, total.stakes_minor, total.returns_minor, total.house_win_minor) == (1, 1_055, 2_110, -1_055)
    assert only(facts, PayTableInForce).configuration == logs.feed.configuration
    assert [type(fact) for fact in facts if isinstance(fact, BookOpened | BookClosed)] == [
        BookOpened,
        BookClosed,
        BookOpened,
    ]


@pytest.mark.parametrize(
    ("code", "extra", "bet"),
    [
        ("bet-unknown", "", {"bet": "dragon"}),
        ("wrong-currency", "", {"currency": "USD"}),
        ("stake-not-positive", "", {"stake_minor": 0}),
        ("stake-not-positive", "", {"stake_minor": -100}),
        ("under-minimum", "", {"stake_minor": 99}),
        ("over-maximum", "", {"stake_minor": 500_001}),
        ("seat-unknown", "seats=7", {"seat": "8"}),
        ("late", "", {"at_ms": 17_000}),
    ],
)
def test_a_bet_that_cannot_be_taken_is_rejected_by_a_code(code: str, extra: str, bet: dict[str, Any]) -> None:
    logs = table(extra)
    logs.bet(**bet)
    facts = read_all(logs.play(PLAYER_WINS))
    assert codes(facts) == [code]
    assert only(facts, RoundSettled).count == 0
    assert only(facts, BetRejected).text


def test_limits_go_by_what_the_customer_has_staked_already() -> None:
    logs = table()
    logs.bet("tie", 30_000)
    logs.bet("tie", 20_000)
    logs.bet("tie", 100)
    logs.bet("tie", 100, customer="Di")
    assert codes(read_all(logs)) == ["over-maximum"]


def test_a_bet_at_the_very_end_is_late_and_one_a_millisecond_earlier_is_not() -> None:
    logs = table()  # open until 17,000
    logs.bet(at_ms=16_999)
    logs.bet(at_ms=17_000)
    logs.play("+20000 report/online")
    facts = read_all(logs)
    assert codes(facts) == ["late"]
    assert void_reasons(facts) == []


def test_a_bet_after_the_mark_is_late_whatever_its_append_time() -> None:
    logs = table(words="rules shoe close/1/1")
    logs.bet(at_ms=2_500)
    facts = read_all(logs)
    assert codes(facts) == ["late"]
    assert "3000" in only(facts, BetRejected).text


def test_a_bet_before_the_table_is_known_and_one_for_a_round_that_has_not_opened_are_ignored() -> None:
    logs = Logs("betting=automatic")
    logs.bet(place=(1, 1))
    logs.play("rules shoe")
    logs.bet(place=(1, 2))
    facts = read_all(logs)
    assert codes(facts) == ["table-unknown", "round-unknown"]
    assert [fact.number for fact in facts if isinstance(fact, BetIgnored)] == [1, 2]


def test_a_bet_of_a_forgotten_round_is_ignored_though_it_was_taken() -> None:
    logs = table("openings_remembered=1 rounds_kept=1")
    logs.bet(bet_id="once")
    logs.play(PLAYER_WINS)
    logs.bet(bet_id="once", place=(1, 1))
    facts = read_all(logs)
    assert codes(facts) == ["round-unknown"]
    assert len(of(facts, BetAccepted)) == 1


def test_the_same_bet_again_says_nothing_and_another_under_its_id_is_ignored() -> None:
    logs = table()
    for stake in (100, 100, 200, 100):
        logs.bet("tie", stake, bet_id="one")
    logs.bet("dragon", bet_id="two")
    logs.bet("dragon", bet_id="two")
    logs.bet("player", bet_id="two")
    logs.play(PLAYER_WINS)
    logs.bet("tie", 100, bet_id="one", place=(1, 1))
    facts = read_all(logs)
    assert len(of(facts, BetAccepted)) == 1
    assert codes(facts) == ["id-reused", "bet-unknown", "id-reused"]


def test_another_seat_or_customer_is_other_content() -> None:
    logs = table()
    logs.bet(bet_id="one")
    logs.bet(bet_id="one", seat="1")
    logs.bet(bet_id="one", customer="Di")
    assert codes(read_all(logs)) == ["id-reused", "id-reused"]


# ---------------------------------------------------------------- cancels


def test_a_cancel_takes_effect_at_the_close_and_counts_against_limits_until_then() -> None:
    logs = table()
    logs.bet("tie", 50_000, bet_id="one")
    logs.cancel("one")
    logs.cancel("one")
    logs.bet("tie", 50_000)
    facts = read_all(logs.play(PLAYER_WINS))
    assert len(of(facts, CancelNoted)) == 1
    assert codes(facts) == ["over-maximum"]
    assert void_reasons(facts) == ["cancelled"]
    assert of(facts, BetSettled) == []


def test_a_cancel_before_its_bet_refuses_it() -> None:
    logs = table()
    logs.cancel("one")
    logs.bet(bet_id="one")
    logs.bet(bet_id="one", customer="Di")
    facts = read_all(logs)
    assert codes(facts) == ["cancelled", "id-reused"]


def test_a_cancel_of_another_customer_before_a_bet_does_not_touch_it() -> None:
    logs = table()
    logs.cancel("one", customer="Di")
    logs.bet(bet_id="one")
    facts = read_all(logs.play(PLAYER_WINS))
    assert len(of(facts, BetSettled)) == 1


def test_a_cancel_that_was_appended_after_the_close_comes_to_nothing() -> None:
    logs = table()
    logs.bet(bet_id="one", at_ms=2_500)
    logs.cancel("one", at_ms=2_750)  # the first card closes at 2,750
    facts = read_all(logs.play(PLAYER_WINS))
    assert len(of(facts, CancelNoted)) == 1
    assert len(of(facts, BetSettled)) == 1


def test_a_refused_cancel_has_a_code_and_says_so_each_time_where_nothing_is_remembered() -> None:
    logs = table()
    logs.cancel("one", place=(1, 9))
    logs.cancel("one", place=(1, 9))
    logs.bet(bet_id="one")
    logs.cancel("one", customer="Di")
    logs.cancel("one", customer="Di")
    logs.bet("dragon", bet_id="two")
    logs.cancel("two")
    logs.cancel("one", at_ms=17_000)
    logs.play("close/1/1")
    logs.cancel("three")
    facts = read_all(logs)
    assert codes(facts) == [
        "round-unknown",
        "round-unknown",
        "not-yours",
        "bet-unknown",
        "not-accepted",
        "late",
        "late",
    ]


def test_a_refused_cancel_refuses_no_later_bet() -> None:
    logs = table()
    logs.cancel("one", at_ms=17_000)
    logs.bet(bet_id="one", at_ms=3_000)  # the log's clock has stepped back
    facts = read_all(logs)
    assert len(of(facts, BetAccepted)) == 1


def test_a_cancel_of_a_voided_bet_is_noted_or_late_like_any_other() -> None:
    logs = table(words="rules shoe")
    logs.bet(bet_id="one")
    logs.play("void/1/1")
    logs.cancel("one", place=(1, 1))
    assert codes(read_all(logs)) == ["late"]


# ---------------------------------------------------------------- the close


def test_a_bet_found_later_than_the_close_is_voided_by_the_mark() -> None:
    logs = table()
    logs.bet(bet_id="in-time", at_ms=2_749)
    logs.bet(bet_id="late", at_ms=2_750)
    facts = read_all(logs.play(PLAYER_WINS))
    assert void_reasons(facts) == ["late"]
    assert only(facts, BetSettled).bet_id == "in-time"
    sums = of(facts, BookClosed)[0].sums
    assert [(one.bet, one.count, one.stakes_minor) for one in sums] == [("player", 1, 1_000)]


def test_limits_are_judged_again_at_the_close() -> None:
    logs = table("side_above_main=0")
    logs.bet("player", 1_000, bet_id="main")
    logs.bet("player_pair", 1_000, bet_id="side")
    logs.bet("banker", 500, customer="Di")
    logs.cancel("main")
    facts = read_all(logs.play(PLAYER_WINS))
    assert void_reasons(facts) == ["cancelled", "limit_at_close"]
    assert only(facts, BetSettled).customer_id == "Di"


def test_the_table_differential_is_judged_again_at_the_close() -> None:
    logs = table("differential_max_minor=1000")
    logs.bet("banker", 1_000, bet_id="first", customer="Di")
    logs.bet("player", 1_500, bet_id="second")
    logs.bet("player", 500, bet_id="third")
    logs.cancel("first", customer="Di")
    facts = read_all(logs.play(PLAYER_WINS))
    assert void_reasons(facts) == ["cancelled", "limit_at_close", "limit_at_close"]
    logs = table("differential_max_minor=1000")
    logs.bet("player", 1_000)
    logs.bet("banker", 1_500)
    assert void_reasons(read_all(logs.play(PLAYER_WINS))) == []


# ---------------------------------------------------------------- what is paid: an oracle

STAKES = (100, 101, 110, 130, 190, 333, 1_055, 4_999, 12_345, 50_000)


@pytest.mark.parametrize("variant", oracle.VARIANTS)
@pytest.mark.parametrize("rounding", oracle.ROUNDINGS)
def test_every_bet_comes_to_what_the_rulebook_says(variant: str, rounding: str) -> None:
    random = Random(f"{variant} {rounding}")
    logs = table(f"variant={variant} winnings_rounding={rounding} commission_rounding={rounding}")
    order = [str(card) for card in fresh_shoe(8)]
    random.shuffle(order)
    for card in order[:330]:
        current = logs.feed.state.current
        if current is not None and not current.slots:
            for bet in oracle.BETS:
                logs.bet(bet, random.choice(STAKES))
        logs.play(card)
    facts = read_all(logs)
    cards = {(one.shoe_no, one.round_no): one for one in outcomes(logs) if isinstance(one, RoundDecided)}
    settled = [fact for fact in facts if isinstance(fact, BetSettled)]
    assert len(settled) >= 5 * 60
    for fact in settled:
        dealt = cards[fact.shoe_no, fact.round_no]
        expected = oracle.comes_to(
            variant,
            fact.bet,
            fact.stake_minor,
            [card.rank for card in dealt.player],
            [card.rank for card in dealt.banker],
            rounding,
            rounding,
        )
        assert (fact.winnings_minor, fact.commission_minor, fact.return_minor) == expected
        assert fact.return_minor == 0 if fact.line is None else fact.return_minor >= fact.stake_minor
    check_balance(facts)


def check_balance(facts: list[Event]) -> None:
    """Stakes = returns + house win, per bet, per bet name and per round; every bet taken ends once."""
    per_round: dict[tuple[int, int, int], list[BetSettled]] = defaultdict(list)
    taken: Counter[tuple[int, int, str]] = Counter()
    for fact in facts:
        if isinstance(fact, BetSettled):
            per_round[fact.shoe_no, fact.round_no, fact.revision].append(fact)
            assert fact.return_minor == (
                0 if fact.line is None else fact.stake_minor + fact.winnings_minor - fact.commission_minor
            )
        if isinstance(fact, BetAccepted | BetReversed):
            taken[fact.shoe_no, fact.round_no, fact.bet_id] += 1
        if isinstance(fact, BetSettled | BetVoided):
            taken[fact.shoe_no, fact.round_no, fact.bet_id] -= 1
    assert all(count in (0, 1) for count in taken.values())
    for fact in facts:
        if isinstance(fact, RoundSettled):
            paid = per_round[fact.shoe_no, fact.round_no, fact.revision]
            assert fact.count == len(paid) == sum(one.count for one in fact.sums)
            assert fact.stakes_minor == sum(one.stake_minor for one in paid)
            assert fact.returns_minor == sum(one.return_minor for one in paid)
            assert fact.commission_minor == sum(one.commission_minor for one in paid)
            assert fact.stakes_minor == fact.returns_minor + fact.house_win_minor
            assert fact.owed_exact == sum(one.owed_exact for one in paid)
            for one in fact.sums:
                of_name = [bet for bet in paid if bet.bet == one.bet]
                assert one.stakes_minor == sum(bet.stake_minor for bet in of_name)
                assert one.returns_minor == sum(bet.return_minor for bet in of_name)
                assert one.winnings_minor == sum(bet.winnings_minor for bet in of_name)
            assert not (fact.void and fact.count)


def test_commission_kept_as_a_debt_is_exact_and_collected_at_the_end_of_the_shoe() -> None:
    logs = table("commission_mode=owed")
    for _ in range(3):
        logs.bet("banker", 130)
        logs.play(BANKER_WINS)
    logs.bet("player", 130)
    logs.play("end/1")
    facts = read_all(logs)
    settled = [fact for fact in facts if isinstance(fact, BetSettled)]
    assert [(fact.commission_minor, fact.return_minor, fact.commission_owed) for fact in settled] == [
        (0, 260, True)
    ] * 3
    assert {str(fact.owed_exact) for fact in settled} == {"13/2"}
    collected = only(facts, CommissionCollected)
    assert (str(collected.owed_exact), collected.amount_minor, collected.number) == ("39/2", 20, 0)
    check_balance(facts)


def test_whoever_leaves_pays_what_he_owes_once_and_a_correction_is_settled_at_the_end_of_the_shoe() -> None:
    logs = table("commission_mode=owed")
    logs.bet("banker", 200)
    logs.bet("banker", 400, customer="Di")
    logs.play(BANKER_WINS)
    logs.leave()
    logs.append(logs.bets[-1].event or pytest.fail("nobody left"))
    logs.play("correct/1/2=2C")  # the Banker has 2 and the Player 2: a third card was due, and the round is void
    logs.play("end/1")
    facts = read_all(logs)
    assert len(of(facts, CustomerNoted)) == 1
    collected = [
        (one.customer_id, one.amount_minor, one.number) for one in facts if isinstance(one, CommissionCollected)
    ]
    assert sorted(collected) == [("Cy", -10, 0), ("Cy", 10, 1), ("Di", 0, 0)]


def test_leaving_where_nothing_is_owed_is_nothing() -> None:
    logs = Logs("betting=automatic")
    logs.leave()
    logs.play("rules shoe")
    logs.leave()
    facts = read_all(logs)
    assert of(facts, CustomerNoted, CommissionCollected) == []


def test_whoever_leaves_before_any_round_owes_nothing_and_it_is_said() -> None:
    logs = Logs("betting=dealer commission_mode=owed", "rules shoe open/1/1")
    logs.bets.pop()  # the opening has not come yet, here or there
    logs.rounds.pop()
    logs.leave()
    noted, collected = read_all(logs)[-2:]
    assert isinstance(noted, CustomerNoted)
    assert noted.shoe_no == 0
    assert isinstance(collected, CommissionCollected)
    assert collected.amount_minor == 0


def test_whoever_leaves_in_a_round_pays_for_the_rounds_before_it() -> None:
    logs = table("commission_mode=owed")
    logs.bet("banker", 200)
    logs.play(BANKER_WINS)
    logs.bet("banker", 200)
    logs.leave()
    logs.play(BANKER_WINS)
    logs.play("end/1")
    facts = read_all(logs, bets_first(logs))
    collected = [(one.amount_minor, one.number) for one in facts if isinstance(one, CommissionCollected)]
    assert collected == [(10, 1), (10, 0)]


# ---------------------------------------------------------------- free hands, revisions and voids


def test_a_free_hand_is_nothing_to_settlement() -> None:
    facts = read_all(Logs("betting=dealer", f"rules shoe {PLAYER_WINS} void/1/1"))
    assert facts == []


def test_a_corrected_round_is_reversed_and_settled_again_twice_over() -> None:
    logs = table()
    logs.bet("player", 1_000, bet_id="p")
    logs.bet("banker", 1_000, bet_id="b")
    logs.bet("player_pair", 1_000, bet_id="pp")
    logs.play(PLAYER_WINS)
    logs.play("correct/1/4=7S correct/1/4=6S")  # a tie at 9, and then the Player's 9 to 8
    facts = read_all(logs)
    returns = {
        (fact.revision, fact.bet_id): fact.return_minor for fact in facts if isinstance(fact, BetSettled | BetReversed)
    }
    assert returns == {
        (0, "p"): 2_000, (0, "b"): 0, (0, "pp"): 0,
        (1, "p"): 1_000, (1, "b"): 1_000, (1, "pp"): 0,
        (2, "p"): 2_000, (2, "b"): 0, (2, "pp"): 0,
    }  # fmt: skip
    assert [fact.revision for fact in facts if isinstance(fact, BetReversed)] == [0, 0, 0, 1, 1, 1]
    assert [fact.revision for fact in facts if isinstance(fact, RoundSettled)] == [0, 1, 2]
    check_balance(facts)


def test_a_round_voided_after_settlement_takes_back_and_gives_every_stake_back_those_that_won_included() -> None:
    logs = table()
    logs.bet("player", 1_000, bet_id="won")
    logs.bet("banker", 700, bet_id="lost")
    logs.play(PLAYER_WINS)
    logs.play("void/1/1")
    facts = read_all(logs)
    taken_back = {fact.bet_id: fact.return_minor for fact in facts if isinstance(fact, BetReversed)}
    assert taken_back == {"won": 2_000, "lost": 0}
    assert {fact.bet_id: fact.stake_minor for fact in facts if isinstance(fact, BetVoided)} == {
        "won": 1_000,
        "lost": 700,
    }
    assert [(fact.revision, fact.void) for fact in facts if isinstance(fact, RoundSettled)] == [(0, False), (1, True)]
    check_balance(facts)


def test_a_round_voided_before_its_end_gives_every_stake_back() -> None:
    logs = table()
    logs.bet()
    logs.play("9H void/1/1")
    facts = read_all(logs)
    assert void_reasons(facts) == ["round_void"]
    total = only(facts, RoundSettled)
    assert (total.void, total.claimed, total.count, total.stakes_minor) == (True, True, 0, 0)


def test_the_same_records_again_say_nothing() -> None:
    logs = table("commission_mode=owed")
    logs.bet(bet_id="one")
    logs.cancel("two")
    logs.bet("banker", 990, bet_id="three")
    logs.play(f"{BANKER_WINS} correct/1/2=8C void/1/1 rules/2 {BANKER_WINS} shoe")
    reading = Reading(logs)
    while not reading.is_done():
        reading.step({ROUNDS: 1, BETS: 1})
    state = reading.states[TABLE]
    assert isinstance(state, books.State)
    for topic, queue in ((BETS, logs.bets), (ROUNDS, logs.rounds)):
        for record in queue:
            assert record.event is not None
            assert bets.decide(state, topic, record.event, record.at_ms) == ()


# ---------------------------------------------------------------- forged marks


def paid_rounds(facts: list[Event]) -> set[tuple[int, int]]:
    return {(fact.shoe_no, fact.round_no) for fact in facts if isinstance(fact, BetSettled)}


def forged(how: str) -> Logs:
    """Round 1 is played by the rules; round 2 is bet on, forged, bet on and dealt; rounds 3 and 4 are by the rules."""
    logs = table()
    logs.bet("player")
    logs.play(PLAYER_WINS)
    logs.bet("player")
    FORGERIES[how](logs)
    logs.bet("player", place=(1, 2))
    logs.play(PLAYER_WINS)
    for _ in range(2):
        logs.bet("player")
        logs.play(PLAYER_WINS)
    return logs


FORGERIES = {
    "an opening of a far round": lambda logs: logs.forge_opening((99, 99)),
    "an opening of the next round": lambda logs: logs.forge_opening((1, 3)),
    "a close, early": lambda logs: logs.forge_close((1, 2), 0),
    "a close, at another time": lambda logs: logs.forge_close((1, 2), logs.feed.now_ms),
    "a shoe's end": lambda logs: logs.forge_shoe_end(1),
    "the end of a far shoe": lambda logs: logs.forge_shoe_end(99),
    "the end of the next shoe": lambda logs: logs.forge_shoe_end(2),
}


@pytest.mark.parametrize("how", FORGERIES)
def test_nothing_of_a_forged_round_is_paid_and_the_others_are_untouched(how: str) -> None:
    logs = forged(how)
    facts = read_all(logs)
    untouched = {(1, 1), (1, 3), (1, 4)} - ({(1, 3)} if how == "an opening of the next round" else set())
    assert paid_rounds(facts) == untouched
    assert set(causes(facts)) <= {"opening-while-open", "shoe-closed-while-open", "marks-differ"}
    suspended = {(fact.shoe_no, fact.round_no) for fact in facts if isinstance(fact, BookSuspended)}
    assert suspended & untouched == set()


@pytest.mark.parametrize("how", FORGERIES)
def test_resuming_a_forged_book_gives_every_stake_back(how: str) -> None:
    logs = forged(how)
    logs.play("resume/1/2 resume/1/3 resume/99/99 resume/1/2")
    facts = read_all(logs)
    assert of(facts, BookResumed)
    assert (1, 2) not in paid_rounds(facts)
    back = Counter((fact.shoe_no, fact.round_no) for fact in facts if isinstance(fact, BetVoided))
    taken = Counter((fact.shoe_no, fact.round_no) for fact in facts if isinstance(fact, BetAccepted))
    assert back[1, 2] == taken[1, 2]
    check_balance(facts)


@pytest.mark.parametrize("how", FORGERIES)
def test_no_mark_of_rounds_waits_for_ever_and_the_shoe_ends_with_every_stake_accounted_for(how: str) -> None:
    logs = forged(how)
    logs.play("shoe")
    logs.bet("player")
    logs.play(f"{PLAYER_WINS} end/2 resume/1/2 resume/1/3 resume/2/2")
    facts = read_all(logs)
    ended = {(fact.shoe_no, fact.round_no, fact.bet_id) for fact in facts if isinstance(fact, BetSettled | BetVoided)}
    taken = {(fact.shoe_no, fact.round_no, fact.bet_id) for fact in facts if isinstance(fact, BetAccepted)}
    assert ended == taken
    assert (2, 1) in paid_rounds(facts)


def test_a_forged_round_that_no_outcome_claims_is_voided_at_the_end_of_the_shoe() -> None:
    logs = table()
    logs.play(PLAYER_WINS)
    logs.play("close/1/2")
    logs.forge_opening((7, 7))
    logs.bet("player", 5_000, place=(7, 7), bet_id="duped")
    logs.forge_close((7, 7), 10**11)
    logs.forge_shoe_end(50)
    logs.play("end/1")
    facts = read_all(logs)
    (voided,) = [fact for fact in facts if isinstance(fact, BetVoided) and fact.bet_id == "duped"]
    assert (voided.reason, voided.stake_minor) == ("unclaimed", 5_000)
    unclaimed = [fact for fact in facts if isinstance(fact, RoundSettled) and not fact.claimed]
    assert [(fact.shoe_no, fact.round_no, fact.void) for fact in unclaimed] == [(7, 7, True)]


def test_forged_rules_price_nothing_that_is_paid() -> None:
    logs = table()
    logs.play(PLAYER_WINS)
    logs.forge_rules(2, pay_table=configuration("classic-tie-9").pay_table)
    logs.play("rules/2 void/1/2")  # the rules' own version 2 takes force with round 3
    logs.bet("tie")
    logs.play(TIE)
    facts = read_all(logs)
    assert causes(facts) == ["rules-differ"]
    assert [fact.what for fact in facts if isinstance(fact, InputNoted)] == ["rules-disputed"]
    assert paid_rounds(facts) == set()
    logs.play("resume/1/3 rules/3 void/1/4")
    logs.bet("tie")
    logs.play(TIE)
    facts = read_all(logs)
    assert paid_rounds(facts) == {(1, 5)}
    assert void_reasons(facts) == ["book_suspended"]
    assert causes(facts) == ["rules-differ", "rules-differ"]  # the round that was open meanwhile


def test_a_forged_version_far_ahead_hides_no_forged_version_before_it() -> None:
    logs = table()
    logs.forge_rules(999)
    logs.forge_rules(2, currency="USD")
    logs.play("rules/2 void/1/1")
    logs.bet("player", currency="USD")
    logs.play(PLAYER_WINS)
    for how in (None, bets_first(logs), rounds_first()):
        assert paid_rounds(read_all(logs, how)) == set()


def test_an_opening_under_rules_that_were_never_in_force_takes_no_bet() -> None:
    logs = table(words="rules shoe close/1/1")
    logs.forge_opening((8, 8), version=7)
    logs.bet(place=(8, 8))
    logs.forge_close((8, 8))
    facts = read_all(logs)
    assert causes(facts) == ["rules-unknown"]
    assert codes(facts) == ["bet-unknown"]
    assert of(facts, BookClosed)[-1].sums == ()


def test_an_opening_before_any_rules_takes_no_bet() -> None:
    logs = Logs("betting=automatic")
    logs.forge_opening((1, 1))
    logs.bet(place=(1, 1))
    facts = read_all(logs)
    assert causes(facts) == ["rules-unknown"]
    assert codes(facts) == ["table-unknown"]


def test_an_opening_under_the_name_of_another_round_is_taken_for_the_round_it_is_about() -> None:
    logs = table()
    logs.forge_opening((1, 5), event_id=f"{TABLE}/1/2/opened")
    logs.bet(place=(1, 1))
    logs.play(PLAYER_WINS)
    logs.bet("player")
    logs.play(PLAYER_WINS)
    facts = read_all(logs)
    assert paid_rounds(facts) == {(1, 2)}


def test_the_marks_of_an_aborted_transaction_change_nothing_when_they_come_again() -> None:
    logs = table()
    logs.bet()
    logs.play(PLAYER_WINS)
    logs.bet()
    logs.play(f"{PLAYER_WINS} shoe")
    plain = by_id(read_all(logs))
    marks = [record for record in logs.bets if isinstance(record.event, Mark)]
    for record in marks:
        whole = logs.bets
        logs.bets = [*whole[: record.offset + 1], record, *whole[record.offset + 1 :]]  # one mark twice
        assert by_id(read_all(logs)) == plain
        logs.bets = whole


def test_a_forged_book_stays_forged_though_its_outcome_was_poison() -> None:
    logs = table()
    logs.bet()
    logs.forge_opening((5, 5))
    logs.play(PLAYER_WINS)
    reading = Reading(logs)
    while not isinstance(logs.rounds[reading.next[ROUNDS]].event, RoundDecided):
        reading.step({ROUNDS: 1, BETS: 1})
    decided = logs.rounds[reading.next[ROUNDS]].event
    state = reading.states[TABLE]
    assert isinstance(state, books.State)
    for fact in bets.poisoned(state, decided, "too-large", "the facts are", 9_000):
        state = books.evolve(state, fact)
    logs.play("resume/1/1")
    resumed = bets.decide(state, ROUNDS, logs.rounds[-1].event or pytest.fail("no order"), 10_000)
    assert [type(fact) for fact in resumed] == [BookResumed, BetVoided, RoundSettled]


# ---------------------------------------------------------------- suspended books


def test_a_round_that_could_not_be_settled_waits_inside_the_fact_and_resuming_settles_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = table()
    logs.bet("player", 1_000)
    logs.play(PLAYER_WINS)
    reading = Reading(logs)
    with monkeypatch.context() as broken:
        broken.setattr("services.baccarat.payouts.amounts", lambda *_: 1 // 0)
        while not reading.is_done():
            reading.step({ROUNDS: 9, BETS: 9})
    suspended = only(reading.facts, BookSuspended)
    assert (suspended.cause, suspended.outcome) == ("decider-failed", outcomes(logs)[0])
    assert "ZeroDivisionError" in suspended.text
    logs.play("resume/1/1")
    while not reading.is_done():
        reading.step({ROUNDS: 9, BETS: 9})
    settled = only(reading.facts, BetSettled)
    assert (settled.return_minor, settled.revision) == (2_000, 0)
    assert reading.facts.index(only(reading.facts, BookResumed)) < reading.facts.index(settled)


def test_the_newest_outcome_of_a_waiting_book_is_the_one_that_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = table()
    logs.bet("player", 1_000)
    logs.play(PLAYER_WINS)
    reading = Reading(logs)
    with monkeypatch.context() as broken:
        broken.setattr("services.baccarat.payouts.amounts", lambda *_: 1 // 0)
        while not reading.is_done():
            reading.step({ROUNDS: 9, BETS: 9})
    logs.play("correct/1/4=7S resume/1/1")
    while not reading.is_done():
        reading.step({ROUNDS: 9, BETS: 9})
    assert [fact.event_id for fact in of(reading.facts, BookSuspended)] == ["T1/1/1/suspended/1", "T1/1/1/suspended/2"]
    settled = only(reading.facts, BetSettled)
    assert (settled.return_minor, settled.revision) == (1_000, 1)
    (outcome,) = [record.event for record in logs.rounds if isinstance(record.event, RoundRevised)]
    state = reading.states[TABLE]
    assert isinstance(state, books.State)
    assert bets.decide(state, ROUNDS, outcome, 1) == ()


def test_a_void_that_waits_is_a_void_when_resumed() -> None:
    logs = table()
    logs.bet("player", 1_000)
    logs.play(PLAYER_WINS)
    logs.play("void/1/1 resume/1/1")
    reading = Reading(logs)
    while not isinstance(logs.rounds[reading.next[ROUNDS]].event, RoundVoided):
        reading.step({ROUNDS: 1, BETS: 9})
    voided = logs.rounds[reading.next[ROUNDS]].event
    state = reading.states[TABLE]
    assert isinstance(state, books.State)
    for fact in bets.poisoned(state, voided, "decider-failed", "it did", 9_000):
        state = books.evolve(state, fact)
    assert voided is not None
    assert bets.decide(state, ROUNDS, voided, 9_000) == ()
    resumed = bets.decide(state, ROUNDS, logs.rounds[-1].event or pytest.fail("no order"), 10_000)
    assert [type(fact) for fact in resumed] == [BookResumed, BetReversed, BetVoided, RoundSettled]


def test_resuming_a_book_that_is_not_suspended_or_not_known_says_nothing() -> None:
    logs = table()
    logs.bet()
    logs.play(f"{PLAYER_WINS} resume/1/1 resume/4/4")
    assert of(read_all(logs), BookResumed, BookSuspended) == []


def test_the_running_round_is_not_resumed() -> None:
    logs = table()
    logs.forge_opening((5, 5))
    logs.play(f"resume/1/1 {PLAYER_WINS}")
    assert of(read_all(logs, bets_first(logs)), BookResumed) == []


def test_poison_that_is_no_outcome_suspends_no_book() -> None:
    logs = table()
    logs.bet()
    state = books.start(TABLE)
    assert bets.poisoned(state, logs.bets[-1].event, "malformed", "it is", 1) == ()
    assert bets.poisoned(state, None, "undecodable", "it is", 1) == ()
    free = only([record.event for record in Logs("", f"rules shoe {PLAYER_WINS}").rounds if record.event], RoundDecided)
    assert bets.poisoned(state, free, "decider-failed", "it did", 1) == ()


def test_an_outcome_without_a_book_waits_and_each_revision_says_so_once() -> None:
    logs = table()
    logs.play(f"{PLAYER_WINS} correct/1/4=7S")
    state = books.start(TABLE)
    told = []
    for outcome in outcomes(logs):
        facts = bets.decide(state, ROUNDS, outcome, 1)
        told += [fact.event_id for fact in facts]
        assert causes(list(facts)) == ["book-unknown"]
        for fact in facts:
            state = books.evolve(state, fact)
    assert told == ["T1/1/1/suspended/1", "T1/1/1/suspended/2"]


def test_a_table_without_any_bet_is_settled_all_the_same() -> None:
    facts = read_all(table(words=f"rules shoe {PLAYER_WINS} shoe"))
    totals = [fact for fact in facts if isinstance(fact, RoundSettled)]
    assert [(fact.round_no, fact.count, fact.void) for fact in totals] == [(1, 0, False), (2, 0, True)]


# ---------------------------------------------------------------- what cannot be


def test_a_shoe_is_not_claimed_before_its_end_in_bets() -> None:
    logs = table(words="rules shoe end/1")
    closed = logs.rounds[-1].event
    assert isinstance(closed, ShoeClosed)
    with pytest.raises(InvariantBroken, match="before its end"):
        bets.decide(books.start(TABLE), ROUNDS, closed, 1)


def test_a_book_without_a_pay_table_is_never_settled() -> None:
    logs = table(words=f"rules shoe {PLAYER_WINS}")
    (decided,) = outcomes(logs)
    book = books.Book(shoe_no=1, round_no=1, order=1, version=9, opened=decided.opened, priced=False)
    with pytest.raises(InvariantBroken, match="no pay table"):
        bets.settle(Telling(books.start(TABLE), books.evolve, "x", 1), book, decided)


# ---------------------------------------------------------------- laws

WEIGHTS = {
    "deal": 24, "bet": 16, "cancel": 4, "open": 4, "close": 2, "end": 1, "shoe": 3, "void": 2, "correct": 4, "again": 3,
    "suspend": 1, "resume": 4, "book": 5, "opening": 4, "closing": 3, "shoe end": 2, "forged rules": 2, "rules": 3,
    "time": 2, "leave": 3,
}  # fmt: skip
MOVES = st.tuples(
    st.sampled_from([name for name, weight in WEIGHTS.items() for _ in range(weight)]),
    st.integers(0, 5),
    st.integers(0, 5),
)
PLAYS = st.lists(MOVES, min_size=10, max_size=60)
TABLES = st.sampled_from(
    [
        "betting=automatic",
        "betting=dealer rounds_kept=1 openings_remembered=1",
        "betting=automatic rounds_kept=0 openings_remembered=1 commission_mode=owed",
        "betting=automatic rounds_kept=3 openings_remembered=3 commission_mode=owed variant=super-6",
        "betting=automatic rounds_kept=2 side_above_main=0 differential_max_minor=3000",
    ]
)
FACES = ("9H", "2C", "KD", "3S", "8D", "7H")
NAMES = ("player", "banker", "tie", "player_pair", "banker", "dragon")
SHIFTS = (0, 0, 1, -1, 2, -2)


def near(logs: Logs, first: int, second: int) -> tuple[int, int]:
    """A round that is, was, will be, or is far."""
    if first == second == 5:
        return 99, 9
    return max(1, logs.place[0] + SHIFTS[first] // 2), max(0, logs.place[1] + SHIFTS[second])


def move(logs: Logs, what: str, first: int, second: int) -> None:
    shoe_no, round_no = logs.place
    match what:
        case "deal":
            logs.play(" ".join(FACES[(first + step * second) % 6] for step in range(1 + first)))
        case "bet":
            logs.bet(
                NAMES[first],
                (100, 1_055, 1_999, 101, 1, 333)[second],
                bet_id=("", "", "a", "b", "", "c")[second],
                customer="AB"[first % 2],
                place=near(logs, first, second) if first > 3 else None,
                at_ms=logs.feed.now_ms + second * 3_000 if first == 2 else None,
            )
        case "cancel":
            logs.cancel(("a", "b", "c", f"b{logs.count}", "a", "b")[first], customer="AB"[second % 2])
        case "open" | "close":
            logs.play(f"{what}/{shoe_no}/{round_no + (what == 'open')}")
        case "void":
            logs.play(f"void/{shoe_no}/{max(0, round_no - first % 3)}")
        case "correct":
            logs.play(f"correct/{shoe_no}/{max(1, len(logs.feed.state.dealt) - 2 * first)}={FACES[second]}")
        case "book":
            logs.play("resume/{}/{}".format(*near(logs, first, second)))
        case "rules":
            kept = first % 4
            version = (logs.feed.state.received or logs.feed.state.in_force or pytest.fail("no rules")).version + 1
            logs.play(f"rules/{version}/rounds_kept={kept}/openings_remembered={max(1, kept, second)}")
        case "time":
            logs.play(("+5000", "+20000", "-4000")[first % 3])
        case "suspend" | "resume" | "shoe":
            logs.play(what)
        case "end":
            logs.play(f"end/{shoe_no}")
        case _:
            forge(logs, what, first, second)


def forge(logs: Logs, what: str, first: int, second: int) -> None:
    shoe_no, round_no = logs.place
    match what:
        case "opening":
            name = f"{TABLE}/{shoe_no}/{round_no + 1}/opened" if first == 4 else ""
            logs.forge_opening(near(logs, first, second), version=(1, 1, 2, 3, 9, 1)[second], event_id=name)
        case "closing":
            logs.forge_close(near(logs, first, second), (0, logs.feed.now_ms, 10**12)[first % 3])
        case "shoe end":
            logs.forge_shoe_end((shoe_no, shoe_no + 1, shoe_no - 1, 99, 0, shoe_no)[first])
        case "forged rules":
            logs.forge_rules((1, 2, 3, 4, 9, 99)[first], rounds_kept=second % 2, openings_remembered=1 + second % 2)
        case "again":
            logs.repeat(first + second)
        case "leave":
            logs.leave("AB"[first % 2])
        case _:
            pytest.fail(what)


def played(with_settings: str, moves: list[tuple[str, int, int]]) -> Logs:
    logs = Logs(with_settings, "rules shoe")
    for what, first, second in moves:
        move(logs, what, first, second)
    return logs.play("resume shoe shoe")


@settings(derandomize=True, deadline=None, max_examples=120)
@given(TABLES, PLAYS, st.integers(0, 2**32))
def test_any_interleaving_and_any_batching_come_to_the_same_facts(
    with_settings: str, moves: list[tuple[str, int, int]], seed: int
) -> None:
    logs = played(with_settings, moves)
    expected = by_id(read_all(logs, bets_first(logs)))
    for portions in (None, rounds_first(), at_random(seed), at_random(seed, 1), at_random(seed, 12)):
        assert by_id(read_all(logs, portions)) == expected


@quietly
@given(TABLES, PLAYS, st.integers(0, 2**32))
def test_what_was_paid_was_priced_by_genuine_marks_and_balances(
    with_settings: str, moves: list[tuple[str, int, int]], seed: int
) -> None:
    logs = played(with_settings, moves)
    facts = read_all(logs, at_random(seed))
    check_balance(facts)
    genuine = {record.event.event_id: record.event for record in logs.rounds if record.event is not None}
    marks = {
        (fact.shoe_no, fact.round_no, type(fact)): fact.mark
        for fact in facts
        if isinstance(fact, BookOpened | BookClosed)
    }
    for shoe_no, round_no in paid_rounds(facts):
        for kind, name in ((BookOpened, "opened"), (BookClosed, "closed")):
            assert marks[shoe_no, round_no, kind] == genuine[f"{TABLE}/{shoe_no}/{round_no}/{name}"]


@quietly
@given(TABLES, PLAYS, st.integers(0, 2**32))
def test_the_state_is_the_fold_of_the_facts_and_survives_a_snapshot(
    with_settings: str, moves: list[tuple[str, int, int]], seed: int
) -> None:
    logs = played(with_settings, moves)
    reading = Reading(logs)
    portions = at_random(seed)
    state = books.start(TABLE)
    while not reading.is_done():
        told = len(reading.facts)
        reading.step(portions())
        for fact in reading.facts[told:]:
            state = books.evolve(state, fact)
        assert state == reading.states.get(TABLE, books.start(TABLE))
    assert decode_state(encode_state(state), books.State) == state


@quietly
@given(TABLES, PLAYS, st.randoms(use_true_random=False))
def test_no_order_of_records_breaks_the_decider(
    with_settings: str, moves: list[tuple[str, int, int]], random: Random
) -> None:
    """Even where `ready` was not asked: what cannot be is named, and nothing else is raised."""
    logs = played(with_settings, moves)
    records = [*logs.bets, *logs.rounds]
    random.shuffle(records)
    state = books.start(TABLE)
    for record in records:
        assert record.event is not None
        try:
            facts = bets.decide(state, record.topic, record.event, record.at_ms)
        except InvariantBroken:
            facts = bets.poisoned(state, record.event, "invariant-broken", "it was", record.at_ms)
        for fact in facts:
            state = books.evolve(state, fact)


def test_what_settlement_reads_of_rounds_besides_marks_and_outcomes_is_nothing() -> None:
    facts = read_all(table(words="rules shoe 9H suspend"))
    assert {type(fact) for fact in facts} == {PayTableInForce, BookOpened, BookClosed}


def test_a_mark_of_rounds_waits_for_its_twin_in_bets_and_nothing_else_waits() -> None:
    logs = table(words=f"rules shoe {PLAYER_WINS} end/1")
    nothing_read = books.start(TABLE)
    waiting = {type(one.event) for one in logs.rounds if one.event and not bets.ready(nothing_read, ROUNDS, one.event)}
    assert waiting == {RulesInForce, BettingOpened, BettingClosed, ShoeClosed}
    assert all(bets.ready(nothing_read, BETS, record.event) for record in logs.bets if record.event)


# ---------------------------------------------------------------- suits that were not recorded


@pytest.mark.parametrize(
    ("backed", "settled", "suspended"), [("player", 1, []), ("fabulous_pair_player", 0, ["invariant-broken"])]
)
def test_suits_that_were_not_recorded_matter_to_a_bet_on_suits_only(
    backed: str, settled: int, suspended: list[str]
) -> None:
    logs = table("variant=fabulous-4")
    logs.bet(backed, 1_000)
    facts = read_all(logs.play("9 2 K 3"))
    assert len([fact for fact in facts if isinstance(fact, BetSettled)]) == settled
    assert causes(facts) == suspended
