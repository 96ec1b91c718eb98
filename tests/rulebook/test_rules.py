"""The rules of Punto Banco, clause by clause: each test bears the number of its clause in the rulebook.

R1, R2, R17 and R18 ask nothing that dealing could break; R6, R15 and R16 speak of betting and of the record, and are
tested with the rules decider.
"""

import inspect
from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat import tableau
from services.baccarat.cards import DECK, RANKS, SUITS, Card, Hand, UnknownCard, Winner, parse_card, total
from services.baccarat.catalogue import VARIANTS
from services.baccarat.events import CardAssigned, RoundDecided
from services.baccarat.odds import Outcomes, deals, outcomes
from services.baccarat.shoe import fresh_shoe
from services.baccarat.tableau import banker_draws, is_natural, next_hand, player_draws, winner_of
from tests.baccarat.logs import Logs

quietly = settings(derandomize=True, deadline=None)
two_cards = st.tuples(st.sampled_from(DECK), st.sampled_from(DECK))
EVERY_POINT = frozenset(range(10))
FIRST_FOUR = (Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER)

# R11 as the rulebook words it: on which points of the Player's third card the Banker draws.
BANKER_DRAWS_ON = {
    0: EVERY_POINT,
    1: EVERY_POINT,
    2: EVERY_POINT,
    3: EVERY_POINT - {8},
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset[int](),
}


def cards(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(word) for word in text.split())


def of_total(wanted: int) -> tuple[Card, ...]:
    """Two cards of this total."""
    return (parse_card(str(wanted or 10)), parse_card("K")) if wanted != 1 else cards("A K")


def of_points(points: int) -> tuple[Card, ...]:
    """Every card that counts so many points."""
    return tuple(card for card in DECK if card.points == points)


# ---- the clauses ----


def test_r3_ace_is_1_and_ten_to_king_are_0() -> None:
    points = {rank: parse_card(rank).points for rank in RANKS}
    assert points == {"A": 1} | {str(face): face for face in range(2, 10)} | dict.fromkeys(("10", "J", "Q", "K"), 0)


@pytest.mark.parametrize("rank", RANKS)
def test_r3_suit_and_colour_do_not_matter(rank: str) -> None:
    assert len({Card(rank, suit).points for suit in (*SUITS, None)}) == 1


@pytest.mark.parametrize(
    ("hand", "expected"), [("7 8", 5), ("8 2", 0), ("5 7", 2), ("6 4", 0), ("2 3 8", 3), ("K Q J", 0), ("9 9 9", 7)]
)
def test_r4_a_total_is_the_last_digit_of_the_sum(hand: str, expected: int) -> None:
    assert total(cards(hand)) == expected


@quietly
@given(two_cards, st.sampled_from(DECK))
def test_r4_the_last_digit_is_taken_again_after_the_third_card_and_no_hand_busts(
    two: tuple[Card, Card], third: Card
) -> None:
    assert total((*two, third)) == (total(two) + third.points) % 10
    assert 0 <= total((*two, third)) <= 9


@pytest.mark.parametrize("joker", ["JOKER", "Joker", "JK", "*", "X"])
def test_r5_there_are_no_jokers(joker: str) -> None:
    with pytest.raises(UnknownCard):
        parse_card(joker)
    assert {(card.rank, card.suit) for card in fresh_shoe(8)} == set(product(RANKS, SUITS))


def test_r7_cards_1_and_3_go_to_the_player_and_2_and_4_to_the_banker() -> None:
    first = cards("9S 2C KD 3S")
    assert next_hand((), ()) is Hand.PLAYER
    assert next_hand(first[:1], ()) is Hand.BANKER
    assert next_hand(first[:1], first[1:2]) is Hand.PLAYER
    assert next_hand((first[0], first[2]), first[1:2]) is Hand.BANKER


@pytest.mark.parametrize(("natural", "other"), list(product((8, 9), range(10))))
def test_r8_on_a_natural_of_either_hand_both_stand(natural: int, other: int) -> None:
    assert next_hand(of_total(natural), of_total(other)) is None
    assert next_hand(of_total(other), of_total(natural)) is None


def test_r8_nine_beats_eight_and_equal_naturals_tie() -> None:
    assert winner_of(9, 8) is Winner.PLAYER
    assert winner_of(8, 9) is Winner.BANKER
    assert winner_of(8, 8) is winner_of(9, 9) is Winner.TIE


def test_r8_eight_or_nine_on_three_cards_is_no_natural_and_stops_nobody() -> None:
    player, banker = cards("2 3 4"), cards("2 3")
    assert is_natural(of_total(9))
    assert not is_natural(player)
    assert total(player) == 9
    assert next_hand(player, banker) is Hand.BANKER


@pytest.mark.parametrize(("player_total", "banker_total"), list(product(range(8), range(8))))
def test_r9_the_player_draws_on_0_to_5_and_stands_on_6_and_7_whatever_the_banker_has(
    player_total: int, banker_total: int
) -> None:
    drawn = next_hand(of_total(player_total), of_total(banker_total)) is Hand.PLAYER
    assert drawn is (player_total <= 5)


@pytest.mark.parametrize(("player_total", "banker_total"), list(product((6, 7), range(8))))
def test_r10_when_the_player_stood_the_banker_draws_on_0_to_5_and_stands_on_6_and_7(
    player_total: int, banker_total: int
) -> None:
    assert next_hand(of_total(player_total), of_total(banker_total)) is (Hand.BANKER if banker_total <= 5 else None)


@pytest.mark.parametrize(("banker_total", "points"), list(product(range(8), range(10))))
def test_r11_the_bankers_table(banker_total: int, points: int) -> None:
    expected = Hand.BANKER if points in BANKER_DRAWS_ON[banker_total] else None
    for third in of_points(points):
        assert next_hand((*cards("2 3"), third), of_total(banker_total)) is expected


@pytest.mark.parametrize(("banker_total", "points"), list(product(range(8), range(10))))
def test_r11_goes_by_the_third_card_and_never_by_the_players_new_total(banker_total: int, points: int) -> None:
    third = of_points(points)[0]
    assert len({next_hand((*of_total(two), third), of_total(banker_total)) for two in range(6)}) == 1


@quietly
@given(st.lists(st.sampled_from(DECK), min_size=6, max_size=6))
def test_r12_no_hand_takes_a_fourth_card(order: list[Card]) -> None:
    hands: dict[Hand, tuple[Card, ...]] = {Hand.PLAYER: (), Hand.BANKER: ()}
    for card in order:
        if (hand := next_hand(hands[Hand.PLAYER], hands[Hand.BANKER])) is None:
            break
        hands[hand] = (*hands[hand], card)
    assert next_hand(hands[Hand.PLAYER], hands[Hand.BANKER]) is None
    assert {len(dealt) for dealt in hands.values()} <= {2, 3}


@pytest.mark.parametrize(("player_total", "banker_total"), list(product(range(10), range(10))))
def test_r13_the_higher_final_total_wins_and_equal_totals_tie(player_total: int, banker_total: int) -> None:
    lead = player_total - banker_total
    expected = Winner.TIE if lead == 0 else Winner.PLAYER if lead > 0 else Winner.BANKER
    assert winner_of(player_total, banker_total) is expected


def test_r14_the_third_card_table_is_asked_nothing_about_the_table_it_is_played_at() -> None:
    assert list(inspect.signature(next_hand).parameters) == ["player", "banker"]
    assert list(inspect.signature(player_draws).parameters) == ["player_total"]
    assert list(inspect.signature(banker_draws).parameters) == ["banker_total", "player_third"]
    assert isinstance(tableau.BANKER_ROWS, tuple)


@pytest.mark.parametrize("banker_total", range(8))
@pytest.mark.parametrize("variant", VARIANTS)
def test_r14_the_same_cards_are_drawn_whatever_the_variant(variant: str, banker_total: int) -> None:
    """Against every third card of the Player, and a Player who stands, all in one shoe."""
    logs, expected = Logs(f"betting=automatic variant={variant}", "rules shoe"), []
    names = ("10", "A", "2", "3", "4", "5", "6", "7", "8", "9")
    for points in range(10):
        draws = [Hand.PLAYER, *([Hand.BANKER] if points in BANKER_DRAWS_ON[banker_total] else [])]
        logs.play(" ".join(["K J Q", names[banker_total], names[points], *["9"] * (len(draws) - 1)]))
        expected += [*FIRST_FOUR, *draws]
    draws = [Hand.BANKER] if banker_total <= 5 else []
    logs.play(" ".join(["K J 6", names[banker_total], *["9"] * len(draws)]))
    expected += [*FIRST_FOUR, *draws]
    told = [record.event for record in logs.rounds]
    assert [fact.hand for fact in told if isinstance(fact, CardAssigned)] == expected
    assert sum(isinstance(fact, RoundDecided) for fact in told) == 11


def test_r18_a_round_is_read_as_totals_natural_player_banker() -> None:
    read = tableau.explain(cards("2 3 7"), cards("2 A 5"))
    assert [sentence.split()[0] for sentence in read[:2]] == ["Player:", "No"]
    assert read[2].startswith("The Player draws")
    assert read[3].startswith("The Banker draws")


# ---- the worked hands ----

# Source id, the two-card hands, the third cards in the order they come, final totals (None: a card is still to come),
# and the winner, or ? where the question is who draws next: the Banker, in all six. T is any ten-value card.
WORKED_HANDS = (
    ("E002-1", "4 5", "2 4", "", 9, 6, "P"),
    ("E002-2", "2 4", "3 A", "5", 6, 9, "B"),
    ("E002-3", "2 3", "2 A", "8", 3, 3, "T"),
    ("E002-3b", "2 3", "2 A", "7", 2, None, "?"),
    ("E002-4", "4 K", "5 Q", "6 2", 0, 7, "B"),
    ("E002-5", "A 3", "4 2", "5", 9, 6, "P"),
    ("E002-5b", "A 3", "4 2", "6", 0, None, "?"),
    ("E004-1", "4 10", "2 3", "6", 0, None, "?"),
    ("E004-1b", "4 10", "2 3", "2", 6, 5, "P"),
    ("E004-2", "5 T", "2 A", "8", 3, 3, "T"),
    ("E004-2b", "5 T", "2 A", "7", 2, None, "?"),
    ("E004-3", "6 T", "4 K", "", 6, None, "?"),
    ("E004-4", "2 3", "4 K", "9", 4, 4, "T"),
    ("E004-4b", "2 3", "4 K", "6", 1, None, "?"),
    ("E004-5", "4 A", "6 T", "7 2", 2, 8, "B"),
    ("E004-6", "7 T", "2 3", "4", 7, 9, "B"),
    ("E004-6b", "7 T", "6 T", "", 7, 6, "P"),
    ("E003-1", "9 9", "7 T", "", 8, 7, "P"),
    ("E003-3", "4 T", "3 T", "8", 2, 3, "B"),
    ("E003-4", "7 T", "7 T", "", 7, 7, "T"),
)
WINNERS = {"P": Winner.PLAYER, "B": Winner.BANKER, "T": Winner.TIE}


@pytest.mark.parametrize("ten", ["10", "J", "Q", "K"])
@pytest.mark.parametrize("worked", WORKED_HANDS, ids=lambda worked: worked[0])
def test_worked_hands(worked: tuple[str, str, str, str, int, int | None, str], ten: str) -> None:
    _source, player_two, banker_two, thirds, player_final, banker_final, winner = worked
    player = cards(player_two.replace("T", ten))
    banker = cards(banker_two.replace("T", ten))
    for third in cards(thirds):
        if next_hand(player, banker) is Hand.PLAYER:
            player = (*player, third)
        else:
            assert next_hand(player, banker) is Hand.BANKER
            banker = (*banker, third)
    assert total(player) == player_final
    if winner == "?":
        assert next_hand(player, banker) is Hand.BANKER
    else:
        assert next_hand(player, banker) is None
        assert total(banker) == banker_final
        assert winner_of(total(player), total(banker)) is WINNERS[winner]


def test_there_are_20_worked_hands_of_which_6_ask_who_draws() -> None:
    assert len(WORKED_HANDS) == len({worked[0] for worked in WORKED_HANDS}) == 20
    assert sum(worked[-1] == "?" for worked in WORKED_HANDS) == 6


# ---- what others state wrongly ----


def test_not_so_banker_4_stands_against_a_2() -> None:
    assert next_hand(cards("2 3 2"), cards("4 K")) is Hand.BANKER


def test_not_so_banker_5_and_6_draw_where_they_must_stand() -> None:
    for banker_total in (5, 6):
        inverted = {points for points in range(10) if not banker_draws(banker_total, points)}
        assert inverted == EVERY_POINT - BANKER_DRAWS_ON[banker_total]
        assert not any(banker_draws(banker_total, points) for points in (0, 1, 2, 3, 8, 9))


def test_not_so_banker_6_draws_against_7_only() -> None:
    assert next_hand(cards("2 3 6"), cards("6 K")) is next_hand(cards("2 3 7"), cards("6 K")) is Hand.BANKER


def test_not_so_banker_3_draws_against_8() -> None:
    assert next_hand(cards("2 3 8"), cards("3 K")) is None


def test_not_so_an_ace_counts_0_or_a_face_card_1() -> None:
    assert parse_card("A").points == 1
    assert {parse_card(rank).points for rank in ("J", "Q", "K")} == {0}


def test_not_so_6_and_7_tie() -> None:
    assert next_hand(cards("6 K"), cards("7 K")) is None
    assert winner_of(6, 7) is Winner.BANKER
    assert winner_of(7, 6) is Winner.PLAYER
    assert winner_of(6, 6) is winner_of(7, 7) is Winner.TIE


def test_not_so_the_lower_hand_draws_first() -> None:
    assert next_hand(cards("5 K"), cards("K K")) is Hand.PLAYER
    assert next_hand(cards("6 K"), cards("7 K")) is None


@pytest.mark.parametrize("ten", ["10", "J", "Q", "K"])
def test_not_so_a_drawn_ten_is_no_third_card(ten: str) -> None:
    """Points of 0 are not None: against a ten the Banker stands on 4 and 5, against a Player who stood it draws."""
    drew, stood = cards(f"2 3 {ten}"), cards("6 K")
    for banker_total in (4, 5):
        assert next_hand(drew, of_total(banker_total)) is None
        assert next_hand(stood, of_total(banker_total)) is Hand.BANKER


def test_not_so_banker_5_draws_against_a_natural_8() -> None:
    assert next_hand(cards("8 K"), cards("5 K")) is None


def test_not_so_banker_4_always_draws() -> None:
    assert [points for points in range(10) if not banker_draws(4, points)] == [0, 1, 8, 9]


def test_not_so_the_banker_stands_because_the_player_stood() -> None:
    assert next_hand(cards("7 K"), cards("5 K")) is Hand.BANKER


def test_not_so_the_player_may_stand_on_5() -> None:
    assert all(next_hand(cards("5 K"), of_total(banker_total)) is Hand.PLAYER for banker_total in range(8))


def test_not_so_the_banker_draws_to_five_whatever_the_third_card() -> None:
    assert next_hand(cards("2 3 3"), cards("5 K")) is None


def test_not_so_a_third_card_of_8_may_end_on_7() -> None:
    finals = {deal.player_total for deal in deals(8) if deal.player_third == 8}
    assert finals == {0, 1, 2, 3, 8, 9}


def test_not_so_banker_6_hardly_ever_draws() -> None:
    against_a_draw = [deal for deal in deals(8) if deal.banker_two == 6 and deal.player_third is not None]
    drew = sum(deal.ways for deal in against_a_draw if deal.banker_third is not None)
    assert round(Fraction(drew, sum(deal.ways for deal in against_a_draw)) * 100, 2) == Fraction("15.33")


def edges(found: Outcomes) -> dict[str, Fraction]:
    """The house's share of a unit stake in per cent."""
    lead = found.banker - found.player
    banker_loss = found.player - found.banker * Fraction(19, 20)
    return {
        "player": Fraction(lead * 100, found.ways),
        "banker": banker_loss * 100 / found.ways,
        "tie at 8": Fraction((found.ways - 9 * found.tie) * 100, found.ways),
        "tie at 9": Fraction((found.ways - 10 * found.tie) * 100, found.ways),
        "player, ties left out": Fraction(lead * 100, found.ways - found.tie),
        "banker, ties left out": banker_loss * 100 / (found.ways - found.tie),
    }


def test_not_so_the_edges_of_eight_decks_are_others() -> None:
    assert {name: round(edge, 4) for name, edge in edges(outcomes(8)).items()} == {
        "player": Fraction("1.2351"),
        "banker": Fraction("1.0579"),
        "tie at 8": Fraction("14.3596"),
        "tie at 9": Fraction("4.844"),
        "player, ties left out": Fraction("1.365"),
        "banker, ties left out": Fraction("1.1692"),
    }


def test_the_order_of_the_first_four_cards_does_not_change_the_odds() -> None:
    """Two cards to the Player and then two to the Banker give the same counts: only the record differs."""
    left = cards("4 4 5 9 K 2")
    alternating = dict.fromkeys(Winner, 0)
    in_pairs = dict.fromkeys(Winner, 0)
    for order in permutations(left):
        first, second, third, fourth, *rest = order
        alternating[_winner((first, third), (second, fourth), rest)] += 1
        in_pairs[_winner((first, second), (third, fourth), rest)] += 1
    assert alternating == in_pairs


def _winner(player: tuple[Card, ...], banker: tuple[Card, ...], rest: list[Card]) -> Winner:
    for card in rest:
        match next_hand(player, banker):
            case Hand.PLAYER:
                player = (*player, card)
            case Hand.BANKER:
                banker = (*banker, card)
            case None:
                break
    return winner_of(total(player), total(banker))
