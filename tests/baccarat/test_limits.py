"""Limits as houses have them: refused with a code and the bound, and judged again at the close."""

from itertools import permutations
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat import limits, payouts
from services.baccarat.catalogue import SIDE_BETS, VARIANTS, configuration, line
from services.baccarat.events import BetAccepted, BetRejected, BetSettled, BetVoided, BookClosed, Configuration, Terms
from services.baccarat.limits import LIMITS, Asked, joint_lines, most, refusal, worst_minor
from tests.baccarat.enumeration import cards
from tests.baccarat.logs import Logs, Reading, at_random, bets_first, by_id, of, read_all, rounds_first

MANY = 1_000_000
BETS = ("player", "banker", "tie", "player_pair", "dragon_7", "lucky_6", "super_tie")


def table(slug: str = "classic", **changes: Any) -> Configuration:
    """Stakes from 10 to a million; `terms` changes those of a bet."""
    of_bets: dict[str, dict[str, Any]] = changes.pop("terms", {})
    lines = {**VARIANTS[slug].mains, **{bet: SIDE_BETS[bet].lines for bet in BETS if bet in SIDE_BETS}}
    pay_table = tuple(
        replace(Terms(bet, own, min_minor=10, max_minor=MANY, main=bet in VARIANTS[slug].mains), **of_bets.get(bet, {}))
        for bet, own in lines.items()
    )
    return replace(configuration(slug), pay_table=pay_table, betting="automatic", burn_rule="none", **changes)


def playing(how: Configuration, words: str = "rules shoe") -> Logs:
    logs = Logs()
    logs.feed.configuration = how
    return logs.play(words)


def answers(logs: Logs) -> dict[str, str]:
    """Each bet's code, or `accepted`."""
    facts = read_all(logs)
    found = {fact.bet_id: "accepted" for fact in of(facts, BetAccepted)}
    found |= {fact.bet_id: fact.code for fact in of(facts, BetRejected)}
    return found


def text_of(logs: Logs, bet_id: str) -> str:
    return next(fact.text for fact in of(read_all(logs), BetRejected) if fact.bet_id == bet_id)


# ---- each refusal has a code and says the bound


@pytest.mark.parametrize(
    ("how", "before", "bet", "code", "said"),
    [
        (table(), [], ("player", 0), "stake-not-positive", "a stake is more than 0, not 0"),
        (table(), [], ("player", -5), "stake-not-positive", "a stake is more than 0, not -5"),
        (table(), [], ("player", 9), "under-minimum", "the least stake on player is 10"),
        (table(terms={"tie": {"step_minor": 20}}), [], ("tie", 50), "off-step", "stakes on tie are multiples of 20"),
        (
            table(terms={"tie": {"max_minor": 100}}),
            [("tie", 60), ("tie", 40)],
            ("tie", 10),
            "over-maximum",
            "the most on tie is 100, and 100 is staked already",
        ),
        (
            table(terms={"tie": {"last_round_no": 0}}),
            [],
            ("tie", 50),
            "closed-for-shoe",
            "tie is taken up to round 0 of a shoe",
        ),
        (
            table(opposite_mains=False),
            [("player", 50)],
            ("banker", 50),
            "opposite-main",
            "this table does not take banker with player",
        ),
        (
            table(side_above_main=False),
            [("player", 50), ("player_pair", 30)],
            ("player_pair", 21),
            "side-above-main",
            "a side bet is at most the 50 on the main bets, and 30 is staked already",
        ),
        (
            table(win_max_minor=1_000),
            [("tie", 100)],
            ("tie", 26),
            "over-win",
            "a customer can win at most 1000 in a round, not 1008",
        ),
        (
            table(terms={"tie": {"payout_max_minor": 1_000}}),
            [("tie", 100)],
            ("tie", 26),
            "over-bet-payout",
            "tie can win at most 1000 in a round, not 1008",
        ),
        (
            table(payout_max_minor=1_000),
            [("tie", 100)],
            ("tie", 26),
            "over-table-payout",
            "the table can pay at most 1000 in a round, not 1008",
        ),
        (
            table(differential_max_minor=100),
            [("player", 50), ("banker", 20)],
            ("player", 71),
            "over-differential",
            "player can lead banker by at most 100, not 101",
        ),
    ],
)
def test_a_bet_over_a_limit_is_refused_with_a_code_and_the_bound(
    how: Configuration, before: list[tuple[str, int]], bet: tuple[str, int], code: str, said: str
) -> None:
    logs = playing(how)
    for name, stake in before:
        logs.bet(name, stake)
    refused = logs.bet(*bet)
    found = answers(logs)
    assert found.pop(refused) == code
    assert set(found.values()) <= {"accepted"}
    assert text_of(logs, refused) == said


@pytest.mark.parametrize(
    ("how", "bets"),
    [
        (table(terms={"tie": {"step_minor": 20, "max_minor": 100}}), [("tie", 60), ("tie", 40)]),
        (table(opposite_mains=False), [("player", 50), ("tie", 50), ("player", 50)]),
        (table(side_above_main=False), [("player", 30), ("banker", 20), ("player_pair", 50), ("dragon_7", 50)]),
        (table(win_max_minor=1_000), [("tie", 125)]),
        (table(terms={"tie": {"payout_max_minor": 1_000}}), [("tie", 100), ("tie", 25), ("player", 5_000)]),
        (table(differential_max_minor=100), [("player", 100), ("banker", 200), ("player", 200), ("tie", 9_999)]),
        (table(terms={"tie": {"last_round_no": 1, "cards_dealt_max": 0}}), [("tie", 100)]),
    ],
)
def test_up_to_the_bound_bets_are_taken(how: Configuration, bets: list[tuple[str, int]]) -> None:
    logs = playing(how)
    for bet in bets:
        logs.bet(*bet)
    assert set(answers(logs).values()) == {"accepted"}


@pytest.mark.parametrize(
    ("seats", "seat", "code"),
    [
        (0, "anything", "accepted"),
        (7, None, "accepted"),
        (7, "7", "accepted"),
        (7, "1", "accepted"),
        (7, "0", "seat-unknown"),
        (7, "8", "seat-unknown"),
        (7, "²", "seat-unknown"),
        (7, "window", "seat-unknown"),
    ],
)
def test_seats(seats: int, seat: str | None, code: str) -> None:
    logs = playing(table(seats=seats))
    bet_id = logs.bet("player", 100, seat=seat)
    assert answers(logs)[bet_id] == code
    if code != "accepted":
        assert text_of(logs, bet_id) == f"the table has seats 1 to 7, not {seat!r}"


def test_caps_price_summed_stakes_and_rounding_each_bet_may_pay_a_little_more() -> None:
    """5% of 26 is 1.3, and 1 is taken; of 13 it is 0.65, and nothing is."""
    logs = playing(table(commission_rounding="down", win_max_minor=25))
    logs.bet("banker", 13)
    logs.bet("banker", 13)
    assert set(answers(logs).values()) == {"accepted"}
    paid = of(read_all(logs.play("2H 9C KD KS")), BetSettled)
    over = sum(fact.winnings_minor - fact.commission_minor for fact in paid) - 25
    assert 0 < over < 2 * len(paid)


def test_of_a_maximum_off_the_step_only_whole_steps_can_be_staked() -> None:
    logs = playing(table(terms={"tie": {"step_minor": 10, "max_minor": 25}}))
    for bet_id, stake_minor in (("over", 25), ("most", 20), ("more", 10)):
        logs.bet("tie", stake_minor, bet_id=bet_id)
    assert answers(logs) == {"over": "off-step", "most": "accepted", "more": "over-maximum"}


def test_the_tie_is_among_the_main_bets_that_a_side_bet_may_not_exceed() -> None:
    logs = playing(table(side_above_main=False))
    logs.bet("tie", 20)
    logs.bet("dragon_7", 20)
    assert set(answers(logs).values()) == {"accepted"}


def test_limits_are_each_customers_own_but_those_of_the_table() -> None:
    how = table(
        terms={"tie": {"max_minor": 100, "payout_max_minor": 1_200}}, opposite_mains=False, side_above_main=False
    )
    logs = playing(how)
    ids = [
        logs.bet("player", 100, customer="Cy"),
        logs.bet("banker", 100, customer="Di"),
        logs.bet("tie", 100, customer="Cy"),
        logs.bet("tie", 60, customer="Di"),  # the bet may win 1,200 over all customers
        logs.bet("tie", 50, customer="Di"),
    ]
    found = answers(logs)
    assert [found[one] for one in ids] == ["accepted", "accepted", "accepted", "over-bet-payout", "accepted"]


def test_the_first_limit_in_order_is_the_one_that_is_said() -> None:
    how = table(terms={"tie": {"max_minor": 1, "step_minor": 7, "payout_max_minor": 1}}, win_max_minor=1, seats=1)
    asked = Asked(how.pay_table[2], how, 5, "9", {}, {}, 1, 0)
    assert refusal(asked) == ("under-minimum", "the least stake on tie is 10")
    assert list(LIMITS)[:4] == ["stake-not-positive", "under-minimum", "off-step", "over-maximum"]
    assert refusal(replace(asked, stake_minor=10)) == ("off-step", "stakes on tie are multiples of 7")


# ---- side bets that close during a shoe


def test_side_bets_close_after_a_round_of_the_shoe_and_open_again_with_the_next() -> None:
    logs = playing(table(terms={"player_pair": {"last_round_no": 1}}))
    first = logs.bet("player_pair", 100)
    logs.play("9H 2C KD 3S")
    second = logs.bet("player_pair", 100)
    logs.play("9H 2C KD 3S end/1 shoe")
    third = logs.bet("player_pair", 100)
    found = answers(logs)
    assert [found[one] for one in (first, second, third)] == ["accepted", "closed-for-shoe", "accepted"]


def test_side_bets_close_after_so_many_cards() -> None:
    logs = playing(table(terms={"player_pair": {"cards_dealt_max": 4}}))
    logs.play("9H 2C KD 3S")
    second = logs.bet("player_pair", 100)
    logs.play("9H 2C KD 3S")
    third = logs.bet("player_pair", 100)
    found = answers(logs)
    assert [found[one] for one in (second, third)] == ["accepted", "closed-for-shoe"]
    assert text_of(logs, third) == "player_pair is taken while at most 4 cards are dealt, and 8 are"


# ---- the worst joint outcome


def test_the_worst_outcome_is_one_that_can_be() -> None:
    """Dragon 7 wins only with the Banker, and a tie with neither."""
    how = table("ez")
    assert worst_minor({}, how) == 0
    assert worst_minor({"player": 100}, how) == 100
    assert worst_minor({"player": 100, "banker": 100}, how) == 100
    assert worst_minor({"player": 1_000, "dragon_7": 10}, how) == 1_000
    assert worst_minor({"banker": 500, "dragon_7": 10}, how) == 500  # a Dragon 7 pushes the Banker bet, and wins 400
    assert worst_minor({"banker": 300, "dragon_7": 10}, how) == 400
    assert worst_minor({"tie": 100, "player": 500, "dragon_7": 10}, how) == 800


def test_commission_is_taken_off_what_can_be_won() -> None:
    assert worst_minor({"banker": 1_000}, table()) == 950


def test_commission_kept_as_a_debt_is_not_taken_off_what_a_round_pays() -> None:
    logs = playing(table(commission_mode="owed", payout_max_minor=1_000))
    assert worst_minor({"banker": 1_000}, table(commission_mode="owed")) == 1_000
    refused = logs.bet("banker", 1_001)
    assert text_of(logs, refused) == "the table can pay at most 1000 in a round, not 1001"
    logs.bet("banker", 1_000)
    logs.play("2H 9C KD KS")
    assert [fact.winnings_minor for fact in of(read_all(logs), BetSettled)] == [1_000]


def test_bets_on_pairs_and_colours_are_added_to_the_worst_of_the_others() -> None:
    how = table()
    assert worst_minor({"player_pair": 10}, how) == 110
    assert worst_minor({"player_pair": 10, "tie": 100}, how) == 110 + 800
    assert worst_minor({"super_tie": 10, "player": 100}, how) == 1_000 + 100


def test_no_round_wins_more_than_the_worst() -> None:
    """Random stakes on random rounds, at the worst outcome's mercy."""
    how = table()
    chance = Random(7)
    texts = ["9H 2C KD 3S", "2H 2C 2D 2S KH KC", "3S 3S 4D KC", "KH KC KD JC 6S 6H", "7C 2D 7C 2S", "4H 7C 5D KS"]
    for _ in range(200):
        stakes = {bet: chance.randrange(10, 500) for bet in chance.sample(BETS, 3)}
        worst = worst_minor(stakes, how)
        for text in texts:
            deal = cards(text)
            player, banker = (deal[0], deal[2], *deal[4:5]), (deal[1], deal[3], *deal[5:6])
            won = 0
            for terms in how.pay_table:
                if terms.bet in stakes:
                    number = payouts.line_of(terms.lines, player, banker)
                    won += limits.winnings(terms, number, stakes[terms.bet], how)
            assert won <= worst, (stakes, text)


def test_what_a_bet_can_win_at_most() -> None:
    how = table()
    lucky = next(terms for terms in how.pay_table if terms.bet == "lucky_6")
    assert most(lucky, 10, how) == 200
    assert set(joint_lines((lucky,), 8)) == {(None,), (1,), (2,)}
    always = replace(lucky, lines=(line(3),))
    assert set(joint_lines((always, lucky), 8)) == {(1, None), (1, 1), (1, 2)}


# ---- judged again at the close


def voided(logs: Logs) -> dict[str, str]:
    return {fact.bet_id: fact.reason for fact in of(read_all(logs), BetVoided)}


def test_a_side_bet_that_a_cancel_left_above_the_main_bets_is_voided_at_the_close() -> None:
    logs = playing(table(side_above_main=False))
    main = logs.bet("player", 100)
    kept = logs.bet("player", 30)
    first = logs.bet("player_pair", 30)
    second = logs.bet("player_pair", 70)
    other = logs.bet("player_pair", 50, customer="Di")
    logs.cancel(main)
    logs.play("9H 2C KD 3S")
    assert answers(logs)[other] == "side-above-main"
    assert voided(logs) == {main: "cancelled", second: "limit_at_close"}
    assert {fact.bet_id for fact in of(read_all(logs), BetSettled)} == {kept, first}
    closed = of(read_all(logs), BookClosed)[0]
    assert [(one.bet, one.count, one.stakes_minor) for one in closed.sums] == [
        ("player", 1, 30),
        ("player_pair", 1, 30),
    ]


def test_every_side_bet_is_judged_by_itself_newest_first() -> None:
    logs = playing(table(side_above_main=False))
    main = logs.bet("banker", 100)
    sides = [logs.bet("dragon_7", 60), logs.bet("player_pair", 100), logs.bet("dragon_7", 40)]
    logs.bet("tie", 50)  # of the game itself: it carries side bets too
    logs.cancel(main)
    logs.play("9H 2C KD 3S")
    assert voided(logs) == {main: "cancelled", **dict.fromkeys(reversed(sides), "limit_at_close")}
    assert list(voided(logs)) == [main, sides[2], sides[1], sides[0]]


def test_the_differential_is_judged_in_log_order_and_again_after_cancels_newest_first() -> None:
    logs = playing(table(differential_max_minor=100))
    banker = logs.bet("banker", 80, customer="Di")
    ids = [logs.bet("player", 100), logs.bet("player", 50), logs.bet("player", 30, customer="Ed")]
    refused = logs.bet("player", 10)
    logs.cancel(banker, customer="Di")
    logs.play("9H 2C KD 3S")
    assert answers(logs)[refused] == "over-differential"
    assert voided(logs) == {banker: "cancelled", ids[2]: "limit_at_close", ids[1]: "limit_at_close"}
    assert {fact.bet_id for fact in of(read_all(logs), BetSettled)} == {ids[0]}


def test_a_late_bet_that_is_voided_counts_no_more_at_the_close() -> None:
    """The close is found earlier than a bet on the other side: what that bet carried breaks the limit."""
    logs = playing(table(differential_max_minor=100))
    first = logs.bet("player", 100)
    late = logs.bet("banker", 100, at_ms=logs.feed.now_ms + 900)
    carried = logs.bet("player", 100, at_ms=logs.feed.now_ms + 400)
    logs.play("9H 2C KD 3S")
    found = answers(logs)
    assert set(found.values()) == {"accepted"}
    assert voided(logs) == {late: "late", carried: "limit_at_close"}
    assert {fact.bet_id for fact in of(read_all(logs), BetSettled)} == {first}


def test_a_void_for_the_differential_may_leave_a_side_bet_above_the_main_bets() -> None:
    logs = playing(table(differential_max_minor=100, side_above_main=False))
    banker = logs.bet("banker", 100, customer="Di")
    first = logs.bet("player", 50, customer="Di")
    main = logs.bet("player", 100)
    side = logs.bet("player_pair", 100)
    logs.cancel(banker, customer="Di")
    logs.play("9H 2C KD 3S")
    assert voided(logs) == {banker: "cancelled", main: "limit_at_close", side: "limit_at_close"}
    assert first not in voided(logs)


def test_what_keeps_to_its_limits_is_not_voided() -> None:
    logs = playing(table(differential_max_minor=100, side_above_main=False))
    for bet, stake in (("player", 100), ("banker", 100), ("player_pair", 100)):
        logs.bet(bet, stake)
    logs.play("9H 2C KD 3S")
    assert voided(logs) == {}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_limits_hold_whatever_order_bets_come_in(order: tuple[int, ...]) -> None:
    """In log order the first are taken as long as the bound holds: never more than it, and never without reason."""
    stakes = (60, 50, 40)
    logs = playing(table(differential_max_minor=100))
    for place in order:
        logs.bet("player", stakes[place], bet_id=f"b{stakes[place]}")
    total = 0
    for place in order:
        code = answers(logs)[f"b{stakes[place]}"]
        assert (code == "accepted") == (total + stakes[place] <= 100)
        total += stakes[place] * (code == "accepted")


@pytest.mark.parametrize("seed", range(8))
def test_limits_are_judged_alike_however_the_logs_are_read(seed: int) -> None:
    """Random bets and cancels under every limit at once; the facts are the same by id and by content."""
    chance = Random(f"limits {seed}")
    how = table(
        side_above_main=False,
        opposite_mains=bool(seed % 2),
        win_max_minor=8_000,
        payout_max_minor=20_000,
        differential_max_minor=300,
        terms={"tie": {"payout_max_minor": 4_000}, "player_pair": {"last_round_no": 3}},
    )
    logs = playing(how)
    for _ in range(6):
        placed = []
        for _ in range(12):
            customer = chance.choice("ABC")
            placed.append((logs.bet(chance.choice(BETS), chance.randrange(5, 300), customer=customer), customer))
        for bet_id, customer in chance.sample(placed, 4):
            logs.cancel(bet_id, customer=customer)
        logs.play(chance.choice(["9H 2C KD 3S", "2H 9C KD KS", "9H 9C KD KS"]))
    facts = by_id(read_all(logs))
    assert {fact.reason for fact in of(facts.values(), BetVoided)} >= {"cancelled"}
    for portions in (bets_first(logs), rounds_first(), at_random(seed)):
        assert by_id(read_all(logs, portions)) == facts
    for fact in of(facts.values(), BookClosed):
        sums = {one.bet: one.stakes_minor for one in fact.sums}
        assert abs(sums.get("player", 0) - sums.get("banker", 0)) <= 300
    assert Reading(logs).facts == []
