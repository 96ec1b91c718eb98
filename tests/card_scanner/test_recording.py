"""The project's own recording format: what is written is read back, and what is wrong says where and what to do."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.baccarat.cards import DECK, RANK_CARDS, Winner, parse_card
from services.baccarat.errors import BadSettings, Unusable
from services.baccarat.shoe import BURN_RULES, END_RULES
from services.card_scanner import recording
from services.card_scanner.recording import (
    Claim,
    CutCard,
    End,
    Fact,
    Recording,
    Shoe,
    Taken,
    checksum,
    format_text,
    is_recording,
    parse,
)

EXAMPLE = """\
puntobanco recording 1
shoe decks=8 burn_rule=face_value_faces_10
burn 1 AC
burn 2 --
card 3 9S
card 4 3
cut
card 5 10H
card 6 2C
claim 1 winner=player player_total=9 player_pair=no
left 7 4D
end cards=6
"""

cards = st.sampled_from((*DECK, *RANK_CARDS, None))
hands = st.lists(st.sampled_from(DECK), min_size=1, max_size=3).map(tuple)


def signed(text: str) -> str:
    """Each line with its checksum."""
    return "".join(f"{line} *{checksum(line)}\n" for line in text.splitlines())


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


shoes = st.builds(
    Shoe,
    decks=st.integers(1, 12),
    variant=maybe(st.text("az09-", min_size=1, max_size=20)),
    burn_rule=maybe(st.sampled_from(BURN_RULES)),
    burn_fixed=maybe(st.integers(0, 624)),
    end_rule=maybe(st.sampled_from(tuple(END_RULES))),
    cards_behind_cut=maybe(st.integers(0, 624)),
    seed=maybe(st.text("x7!", min_size=1, max_size=9)),
    commitment=maybe(st.binary(min_size=32, max_size=32).map(bytes.hex)),
    salt=maybe(st.binary(min_size=1, max_size=64).map(bytes.hex)),
)


@st.composite
def recorded_shoes(draw: st.DrawFn) -> tuple[Fact, ...]:
    """A shoe with cards, claims and a cut card in any order that the format allows."""
    facts: list[Fact] = [draw(shoes)]
    card_no = round_no = 1
    for how in draw(st.lists(st.sampled_from(("burn", "card", "claim", "cut")), max_size=12)):
        if how == "cut":
            facts.append(CutCard())
        elif how == "claim":
            facts.append(draw(claims(round_no)))
            round_no += 1
        else:
            facts.append(Taken(how, card_no, draw(cards)))
            card_no += 1
    left = draw(st.lists(cards, max_size=4))
    facts += [Taken("left", card_no + place, card) for place, card in enumerate(left)]
    return (*facts, End(card_no - 1))


def claims(round_no: int) -> st.SearchStrategy[Claim]:
    return st.builds(
        Claim,
        round_no=st.just(round_no),
        player=maybe(hands),
        banker=maybe(hands),
        player_total=maybe(st.integers(0, 9)),
        banker_total=maybe(st.integers(0, 9)),
        winner=maybe(st.sampled_from(Winner)),
        player_pair=maybe(st.booleans()),
        banker_pair=maybe(st.booleans()),
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(recorded_shoes(), max_size=3))
def test_what_is_written_is_read_back(recorded: list[tuple[Fact, ...]]) -> None:
    facts = tuple(fact for shoe in recorded for fact in shoe)
    assert parse(format_text(Recording(facts))).facts == facts


@settings(deadline=None)
@given(st.data())
def test_any_single_changed_character_of_a_line_is_noticed(data: st.DataObject) -> None:
    text = signed(EXAMPLE)
    place = data.draw(st.sampled_from([place for place, character in enumerate(text) if character != "\n"]))
    # No new line, no comment and no blank: those would move, drop or only widen what the line says.
    character = data.draw(st.sampled_from([letter for letter in "AKQ0123456789SHDC=-z" if letter != text[place]]))
    with pytest.raises(Unusable):
        parse(text[:place] + character + text[place + 1 :])


def test_the_example_says_what_it_says() -> None:
    read = parse(signed(EXAMPLE))
    assert read.facts == (
        Shoe(decks=8, burn_rule="face_value_faces_10"),
        Taken("burn", 1, parse_card("AC")),
        Taken("burn", 2, None),
        Taken("card", 3, parse_card("9S")),
        Taken("card", 4, parse_card("3")),
        CutCard(),
        Taken("card", 5, parse_card("10H")),
        Taken("card", 6, parse_card("2C")),
        Claim(round_no=1, winner=Winner.PLAYER, player_total=9, player_pair=False),
        Taken("left", 7, parse_card("4D")),
        End(6),
    )
    assert read.lines == tuple(range(2, 13))


def test_the_docstrings_example_is_a_recording() -> None:
    lines = (recording.__doc__ or "").splitlines()
    example = "\n".join(line.strip() for line in lines if line.startswith("    "))
    assert len(parse(example).facts) == 12


def test_comments_and_empty_lines_are_free_and_keep_their_count() -> None:
    text = "# table 4, night shift\n\n" + signed(EXAMPLE).replace("cut *", "  # here\ncut *")
    assert parse(text).facts == parse(signed(EXAMPLE)).facts
    assert parse(text).lines == (4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15)


def test_a_ninth_seven_of_hearts_is_for_the_rules_to_find() -> None:
    sevens = (Taken("card", card_no, parse_card("7H")) for card_no in range(1, 10))
    facts: tuple[Fact, ...] = (Shoe(decks=8), *sevens, End(9))
    assert parse(format_text(Recording(facts))).facts == facts


@pytest.mark.parametrize(
    ("before", "after", "code", "where", "what"),
    [
        ("card 3 9S", "card 3 1S", "unknown-card", "5:8", "'1S' is no card; write rank then suit"),
        ("card 3 9S", "card 4 9S", "out-of-sequence", "5:6", "card 4 is out of sequence; card 3 comes here"),
        ("card 3 9S", "card 3", "bad-line", "5:7", "2 words and not 3; write it as 'card 3 9S'"),
        ("card 3 9S", "card 3 9S 4H", "bad-line", "5:11", "4 words and not 3"),
        ("card 3 9S", "deal 3 9S", "unknown-fact", "5:1", "no fact is 'deal'"),
        ("cut", "cut 3", "bad-line", "7:5", "write it as 'cut'"),
        ("left 7 4D", "left 7 4D\ncard 8 5D", "out-of-place", "12:1", "put the 'left' lines last"),
        ("decks=8", "decks=13", "bad-value", "2:12", "'13' is not what decks says: a whole number from 1 to 12"),
        ("decks=8", "decks=²", "bad-value", "2:12", "a whole number from 1 to 12"),
        ("decks=8 ", "", "missing-value", "2:35", "write 'shoe decks=8'"),
        ("decks=8", "decks=8 decks=6", "unknown-value", "2:14", "'decks' is said twice"),
        ("burn_rule=face_value_faces_10", "burn=3", "unknown-value", "2:14", "'burn' is not known here"),
        ("face_value_faces_10", "some", "bad-value", "2:24", "one of face_value_faces_10"),
        ("decks=8", "decks=8 seed=*", "bad-value", "2:19", "without blanks"),
        ("claim 1", "claim 2", "out-of-sequence", "10:7", "the claim of round 1 comes here"),
        ("claim 1 winner=player player_total=9 player_pair=no", "claim", "out-of-sequence", "10:6", "by its number"),
        ("winner=player", "winner=punto", "bad-value", "10:16", "one of player, banker, tie"),
        ("winner=player", "player=9S,1", "bad-value", "10:16", "cards with commas"),
        ("player_pair=no", "player_pair=0", "bad-value", "10:50", "one of yes, no"),
        ("cards=6", "cards=7", "torn", "12:5", "6 cards left this shoe, not cards=7"),
        ("cut", "shoe decks=8", "out-of-place", "7:1", "a shoe begins inside another"),
        ("shoe decks=8 burn_rule=face_value_faces_10\n", "", "out-of-place", "2:1", "no shoe has begun"),
        ("end cards=6\n", "", "torn", "12:1", "add the line 'end cards=6'"),
        ("recording 1", "recording 2", "unknown-version", "1:1", "'puntobanco recording 2' is not known here"),
        ("puntobanco", "bancopunto", "no-version", "1:1", "its first line must be 'puntobanco recording 1'"),
    ],
)
def test_what_is_wrong_says_where_and_what_to_do(before: str, after: str, code: str, where: str, what: str) -> None:
    assert before in EXAMPLE
    with pytest.raises(Unusable) as caught:
        parse(signed(EXAMPLE.replace(before, after)), "a.shoe")
    assert caught.value.code == code
    assert str(caught.value).startswith(f"a.shoe:{where}: ")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_changed_card_fails_its_checksum_and_the_error_gives_the_right_one() -> None:
    text = signed(EXAMPLE).replace("card 3 9S", "card 3 9H")
    with pytest.raises(Unusable, match=r"^recording:5:11: the checksum \*\w{4} is not this line's") as caught:
        parse(text)
    assert caught.value.code == "bad-checksum"
    mended = str(caught.value).rpartition("'*")[2].rstrip("'")
    line = text.splitlines()[4]
    assert Taken("card", 3, parse_card("9H")) in parse(text.replace(line, f"card 3 9H *{mended}")).facts


def test_a_line_without_checksum_is_refused() -> None:
    text = signed(EXAMPLE).replace(f" *{checksum('cut')}", "")
    with pytest.raises(Unusable, match=r"^recording:7:4: the line has no checksum"):
        parse(text)


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n"])
def test_nothing_is_no_recording(text: str) -> None:
    with pytest.raises(Unusable, match="nothing is recorded"):
        parse(text)


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.shoe"
    path.write_text("\ufeff" + signed(EXAMPLE), encoding="utf-8")
    assert recording.read(path).facts == parse(signed(EXAMPLE)).facts
    path.write_bytes(b"puntobanco \xff")
    with pytest.raises(BadSettings, match="byte 11 is not UTF-8"):
        recording.read(path)
    with pytest.raises(BadSettings, match="cannot be read"):
        recording.read(tmp_path / "none.shoe")


def test_a_damaged_recording_is_still_known_for_one() -> None:
    assert is_recording(EXAMPLE)
    assert not is_recording('"Coup","Player card 1"')
