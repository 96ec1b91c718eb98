"""The rules decider: what a feed comes to, situation by situation, and the laws that hold for any feed.

A situation is read from `tests/shoes/*.feed`: a title, the table's settings, the records given, the records when, and
below them every fact that rules then say. `feeds.py` beside this file is the dictionary of its words.
"""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import rounds, table
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    CardAssigned,
    CardBurned,
    CardDealt,
    CardSetAside,
    DealerOpenedBetting,
    DealerResumed,
    DeviceReported,
    Event,
    FeedEvent,
    InputNoted,
    IrregularityFound,
    RoundDecided,
    RoundRevised,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableSuspended,
)
from services.baccarat.table import Round, Rules, Slot, State
from services.baccarat.tableau import next_hand
from services.runtime.codec import decode_state, encode_state
from tests.baccarat.feeds import TABLE, Feed, configured, play, run

SHOES = Path(__file__).parent.parent / "shoes"
quietly = settings(derandomize=True, deadline=None, max_examples=60)


class Situation(Struct, frozen=True):
    name: str
    settings: str
    given: str
    when: str
    then: tuple[str, ...]


def situations() -> list[Situation]:
    return [
        situation(path.stem, block.splitlines())
        for path in sorted(SHOES.glob("*.feed"))
        for block in path.read_text(encoding="utf-8").strip().split("\n\n")
    ]


def situation(stem: str, lines: list[str]) -> Situation:
    said = dict(line.split(" ", 1) for line in lines[1:] if not line.startswith(" "))
    then = tuple(line.strip() for line in lines[1:] if line.startswith(" "))
    assert set(said) <= {"with", "given", "when"}, lines[0]
    return Situation(
        f"{stem}: {lines[0].removeprefix('# ')}", said.get("with", ""), said.get("given", ""), said["when"], then
    )


@pytest.mark.parametrize("one", situations(), ids=lambda one: one.name)
def test_what_rules_say_of_a_feed(one: Situation) -> None:
    assert play(one.settings, one.given, one.when) == [fact for fact in one.then if fact != "(nothing)"]


# ---------------------------------------------------------------- what the sentences leave out


def test_an_outcome_repeats_the_content_of_its_two_marks() -> None:
    facts = run("rules shoe open/1/1 9H 2C KD 3S correct/1/4=4S void/1/1").facts
    marks = {type(fact): fact for fact in facts if isinstance(fact, BettingOpened | BettingClosed)}
    outcomes = [fact for fact in facts if isinstance(fact, RoundDecided | RoundRevised | RoundVoided)]
    assert [type(one) for one in outcomes] == [RoundDecided, RoundRevised, RoundVoided]
    assert [one.revision for one in outcomes] == [0, 1, 2]
    for one in outcomes:
        assert (one.opened, one.closed) == (marks[BettingOpened], marks[BettingClosed])


def test_a_free_hand_has_no_marks() -> None:
    (decided,) = [fact for fact in run("rules shoe 9H 2C KD 3S").facts if isinstance(fact, RoundDecided)]
    assert decided.free
    assert (decided.opened, decided.closed) == (None, None)


def test_who_acted_and_why_stands_in_the_fact() -> None:
    *_, corrected, revised = run("rules shoe open/1/1 9H 2C KD 3S correct/1/4=4S").facts
    assert isinstance(revised, RoundRevised)
    assert (revised.by, revised.reason) == ("Ada", "misread")
    assert getattr(corrected, "by", "") == "Ada"
    *_, voided = run("rules shoe open/1/1 9H void/1/1").facts
    assert isinstance(voided, RoundVoided)
    assert (voided.by, voided.reason) == ("Ada", "a fallen card")


def test_a_fact_tells_which_record_caused_it_and_when() -> None:
    feed = run("rules shoe open/1/1")
    for fact in feed.write("9H"):
        assert getattr(fact, "cause_id", "") == "eye/1/2"
        assert getattr(fact, "at_ms", 0) == feed.now_ms
        assert fact.table_id == TABLE


def test_the_marks_go_to_bets_too_and_nothing_else_does() -> None:
    facts = run("rules shoe open/1/1 9H 2C KD 3S end/1").facts
    copied = {type(fact) for fact in facts if rounds.copies_to(fact) == ("bets",)}
    assert copied == {RulesInForce, BettingOpened, BettingClosed, ShoeClosed}
    assert {rounds.copies_to(fact) for fact in facts if type(fact) not in copied} == {()}


def test_a_shoe_carries_its_commitment() -> None:
    *_, opened = run("rules shoe").facts
    assert isinstance(opened, ShoeOpened)
    assert opened.commitment == "sealed"


def test_poison_is_remembered_by_the_record_that_could_be_read() -> None:
    feed = run("rules shoe open/1/1 9H")
    assert isinstance(feed.last, CardDealt)
    next_card = replace(feed.last, sequence=feed.last.sequence + 1)
    feed.keep(rounds.poisoned(feed.state, next_card, "too-large", "it is", feed.tick()))
    assert feed.state.suspended
    assert rounds.decide(feed.state, next_card, feed.tick()) == ()


def test_the_cause_of_a_suspension_is_what_the_poison_was() -> None:
    facts = rounds.poisoned(table.start(TABLE), None, "undecodable", "no event", 5)
    (suspended,) = facts
    assert isinstance(suspended, TableSuspended)
    assert (suspended.cause, suspended.text, suspended.cause_id) == ("undecodable", "no event", "poison")


def test_the_oldest_action_is_forgotten_and_not_the_newest() -> None:
    feed = run("rules")
    for _ in range(table.ACTIONS_REMEMBERED + 1):
        feed.write("suspend")
    assert len(feed.state.actions) == table.ACTIONS_REMEMBERED
    assert feed.state.actions[-1] == f"action/a{feed.actions}"
    assert "action/a1" not in feed.state.actions


# ---------------------------------------------------------------- what cannot be


def ruled(**fields: object) -> State:
    return replace(table.start(TABLE), in_force=Rules(1, configured(())), shoe_no=1, shoe_open=True, decks=8, **fields)


def test_a_round_that_is_over_and_was_kept_is_an_impossible_state() -> None:
    ended = run("rules shoe open/1/1 9H 2C KD").state
    (assigned, _) = rounds.decide(ended, run("rules shoe open/1/1 9H 2C KD 3S").last or pytest.fail("no card"), 9_000)
    kept = table.evolve(ended, assigned)
    feed = Feed()
    feed.sequence = 5
    with pytest.raises(InvariantBroken, match="kept a round that is over"):
        rounds.decide(kept, feed.card("4S"), 10_000)


def test_a_round_cannot_be_decided_while_a_face_is_hidden() -> None:
    hidden = Round(
        shoe_no=1, round_no=1, version=1, slots=(Slot(1, next_hand((), ()) or pytest.fail("nobody is due"), None),)
    )
    state = ruled(past=(hidden,))
    claim = DeviceReported(event_id="x", table_id=TABLE, device="eye", boot=1, sequence=1, what="claim", text="player")
    with pytest.raises(InvariantBroken, match="hidden cards"):
        rounds.decide(state, claim, 1)


def test_betting_cannot_open_at_a_table_without_rules() -> None:
    state = replace(table.start(TABLE), shoe_no=1, shoe_open=True, decks=8)
    opened = DealerOpenedBetting(event_id="a", table_id=TABLE, action_id="a", by="Ada", shoe_no=1, round_no=1)
    with pytest.raises(InvariantBroken, match="without a configuration"):
        rounds.decide(state, opened, 1)


# ---------------------------------------------------------------- laws

FACES = st.sampled_from(["9H", "2C", "KD", "3S", "8D", "7H", "5S", "6C", "10H", "AD", "4", "??"])
NUMBERS = st.integers(0, 4)
WORDS = st.one_of(
    FACES,
    FACES,
    FACES,
    st.sampled_from(
        [
            "shoe",
            "shoe/6",
            "cut",
            "again",
            "skip",
            "reboot",
            "device/hand",
            "device/eye",
            "suspend",
            "resume",
            "resume/chair",
        ]
    ),
    st.sampled_from(
        ["poison", "report/claim=player", "report/claim=tie", "report/online", "+4000", "+16000", "-3000", "moved/7"]
    ),
    st.sampled_from(["open!", "close!", "start!", "end!", "void!"]),
    st.builds("reveal/{}={}".format, st.integers(1, 12), st.sampled_from(["9H", "2C", "6S"])),
    st.builds("correct/{}/{}={}".format, st.integers(1, 2), st.integers(1, 12), st.sampled_from(["9H", "2C", "6S"])),
    st.builds("void/{}/{}".format, NUMBERS, NUMBERS),
    st.builds("open/{}/{}".format, NUMBERS, NUMBERS),
    st.builds("resume/{}/{}".format, NUMBERS, NUMBERS),
    st.builds("rules/{}/betting={}/rounds_kept={}".format, NUMBERS, st.sampled_from(["automatic", "dealer"]), NUMBERS),
    st.builds(
        "rules/{}/burn_rule={}/end_rule={}".format,
        NUMBERS,
        st.sampled_from(["none", "ace_11", "deck_count"]),
        st.sampled_from(["one_more", "finish_round", "cards_left_below_n"]),
    ),
)
TABLES = st.sampled_from(
    [
        "betting=automatic",
        "betting=automatic decks=1 burn_rule=deck_count",
        "decks=1 burn_rule=face_value_faces_10",
        "rounds_kept=0",
        "betting=automatic end_rule=cards_left_below_n cards_behind_cut=44 decks=1",
    ]
)
FEEDS = st.lists(WORDS, max_size=45)


def meant(feed: Feed, word: str) -> str:
    """`open!` and the like mean the right round or shoe, whichever it is."""
    state = feed.state
    return {
        "open!": f"open/{state.shoe_no}/{state.round_no + 1}",
        "close!": f"close/{state.shoe_no}/{state.round_no}",
        "void!": f"void/{state.shoe_no}/{state.round_no}",
        "start!": f"start/{state.shoe_no + 1}",
        "end!": f"end/{state.shoe_no}",
    }.get(word, word)


def answers(feed: Feed, words: list[str]) -> list[tuple[FeedEvent | None, State, tuple[Event, ...]]]:
    """Each record, the state before it, and its facts."""
    told = []
    for word in ["rules", "shoe", *words]:
        before = feed.state
        event, facts = feed.ask(meant(feed, word))
        told.append((event, before, facts))
    return told


def repeats(state: State, event: FeedEvent) -> bool:
    """Whether a record may be answered again: one that was refused without being remembered."""
    (fact, *_) = rounds.decide(state, event, 0) or (None,)
    return isinstance(fact, IrregularityFound) and fact.code in (
        "sequence-conflict",
        "configuration-conflict",
        "configuration-refused",
    )


@quietly
@given(TABLES, FEEDS)
def test_the_same_record_again_says_nothing(with_settings: str, words: list[str]) -> None:
    feed = Feed(with_settings.split())
    for word in ["rules", "shoe", *words]:
        event, _ = feed.ask(meant(feed, word))
        if event is not None and not repeats(feed.state, event):
            assert rounds.decide(feed.state, event, feed.now_ms + 60_000) == ()


@quietly
@given(TABLES, FEEDS)
def test_every_fact_of_a_run_has_an_id_of_its_own(with_settings: str, words: list[str]) -> None:
    feed = Feed(with_settings.split())
    answers(feed, words)
    ids = Counter(fact.event_id for fact in feed.facts)
    assert [event_id for event_id, count in ids.items() if count > 1] == []


@quietly
@given(TABLES, FEEDS)
def test_the_state_is_the_fold_of_the_facts_and_survives_a_snapshot(with_settings: str, words: list[str]) -> None:
    feed = Feed(with_settings.split())
    answers(feed, words)
    state = table.start(TABLE)
    for fact in feed.facts:
        state = table.evolve(state, fact)
    assert state == feed.state
    assert decode_state(encode_state(state), State) == state


@quietly
@given(TABLES, FEEDS)
def test_no_feed_breaks_the_decider_and_the_same_question_has_one_answer(with_settings: str, words: list[str]) -> None:
    feed = Feed(with_settings.split())
    for event, before, facts in answers(feed, words):
        if event is not None:
            assert rounds.decide(before, event, feed.now_ms) == rounds.decide(before, event, feed.now_ms)
        assert all(fact.table_id == TABLE for fact in facts)


@quietly
@given(TABLES, FEEDS)
def test_every_card_of_a_shoe_is_burned_assigned_or_set_aside_exactly_once(
    with_settings: str, words: list[str]
) -> None:
    feed = Feed(with_settings.split())
    answers(feed, words)
    placed: dict[int, list[int]] = {}
    cards = {}
    for fact in feed.facts:
        if isinstance(fact, ShoeOpened):
            placed[fact.shoe_no] = []
        if isinstance(fact, CardBurned | CardAssigned | CardSetAside) and fact.card_no is not None:
            placed[fact.shoe_no].append(fact.card_no)
        if isinstance(fact, ShoeClosed):
            cards[fact.shoe_no] = fact.cards
    for shoe_no, numbers in placed.items():
        assert numbers == list(range(1, len(numbers) + 1))
        assert cards.get(shoe_no, len(numbers)) == len(numbers)


@quietly
@given(TABLES, FEEDS)
def test_betting_closes_once_and_never_after_its_end_and_an_outcome_follows(
    with_settings: str, words: list[str]
) -> None:
    feed = Feed(with_settings.split())
    answers(feed, words)
    opened: dict[tuple[int, int], BettingOpened] = {}
    closed: set[tuple[int, int]] = set()
    for fact in feed.facts:
        if isinstance(fact, BettingOpened):
            assert set(opened) == closed, "a round opens only when the one before it has closed"
            opened[fact.shoe_no, fact.round_no] = fact
        if isinstance(fact, BettingClosed):
            place = (fact.shoe_no, fact.round_no)
            assert place not in closed
            assert fact.closed_at_ms <= opened[place].closes_at_ms
            closed.add(place)
        if isinstance(fact, RoundDecided | RoundVoided | RoundRevised) and fact.opened is not None:
            assert (fact.shoe_no, fact.round_no) in closed


@quietly
@given(TABLES, FEEDS)
def test_what_was_decided_was_dealt_by_the_tableau(with_settings: str, words: list[str]) -> None:
    feed = Feed(with_settings.split())
    answers(feed, words)
    for fact in feed.facts:
        if isinstance(fact, RoundDecided | RoundRevised):
            assert next_hand(fact.player, fact.banker) is None
            assert next_hand(fact.player[:2], fact.banker[:2]) is not None or (len(fact.player + fact.banker) == 4)


def test_resuming_what_is_no_table_and_no_book_is_an_irregularity() -> None:
    feed = run("rules")
    resumed = DealerResumed(**feed.by_dealer(), reason="", what="book", shoe_no=1)
    (found,) = feed.append(resumed)
    assert isinstance(found, IrregularityFound)
    assert found.code == "action-does-not-fit"


def test_a_noted_input_is_remembered() -> None:
    feed = run("rules suspend suspend")
    assert isinstance(feed.facts[-1], InputNoted)
    assert feed.write("again") == ()
