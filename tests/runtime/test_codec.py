import json
from fractions import Fraction
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat import events as e
from services.baccarat.cards import Card, Hand, parse_card
from services.baccarat.errors import NotReady, Unfit, Unusable
from services.runtime.codec import Codec, bare, decode_state, encode_state, single_object, subject
from services.runtime.paths import SCHEMAS
from tests.runtime.release_1 import CONFIGURATION, DECIDED, OPENED, WRITTEN
from tests.runtime.samples import PLACES, placed_events, structs

IDS = {subject(topic, event_type): number for number, (topic, event_type) in enumerate(PLACES, start=300)}
SINGLE, CONFLUENT = Codec(), Codec(IDS)
CODECS = pytest.mark.parametrize("codec", [SINGLE, CONFLUENT], ids=["single-object", "confluent"])
quick = settings(derandomize=True, deadline=None, max_examples=100)

BET = e.BetPlaced(
    event_id="b",
    table_id="T1",
    bet_id="b1",
    customer_id="c",
    shoe_no=1,
    round_no=2,
    bet="tie",
    stake_minor=5,
    currency="EUR",
)
ASSIGNED = e.CardAssigned(
    event_id="a",
    table_id="T1",
    at_ms=1,
    cause_id="c",
    shoe_no=1,
    round_no=1,
    card_no=2,
    hand=Hand.PLAYER,
    place=1,
    card=parse_card("9S"),
    player_total=9,
    banker_total=None,
    next_hand=Hand.BANKER,
)
changed = msgspec.structs.replace


def code_of(codec: Codec, topic: str, raw: bytes) -> str:
    with pytest.raises(Unusable) as caught:
        codec.decode(topic, raw)
    return caught.value.code


# ---------------------------------------------------------------- there and back


@CODECS
@quick
@given(placed=placed_events())
def test_every_event_comes_back_as_it_was(codec: Codec, placed: tuple[str, e.Event]) -> None:
    topic, event = placed
    back = codec.decode(topic, codec.encode(topic, event))
    assert back == event
    assert type(back) is type(event)


@pytest.mark.parametrize(("topic", "event", "written"), WRITTEN, ids=lambda value: type(value).__name__)
def test_what_release_1_wrote_is_read_for_ever(topic: str, event: e.Event, written: str) -> None:
    raw = bytes.fromhex(written)
    assert SINGLE.decode(topic, raw) == event
    assert CONFLUENT.decode(topic, raw) == event


def test_release_1_wrote_every_event() -> None:
    assert {type(event) for _, event, _ in WRITTEN} == {event_type for _, event_type in PLACES}


def test_single_object_encoding_names_the_schema_by_its_fingerprint_low_byte_first() -> None:
    raw = SINGLE.encode(e.BETS, BET)
    assert raw[:2] == b"\xc3\x01"
    filed = json.loads((SCHEMAS / "bet_placed.avsc").read_text())
    assert raw[2:10] == rabin(json.dumps(bare(filed))).to_bytes(8, "little")


def rabin(schema: str) -> int:
    """CRC-64-AVRO of the canonical form, by the specification's own pseudo-code; the form is the official package's.

    That one leaves `{"type": "long"}` of a number with a unit as it is, against the specification; hence `bare`.
    """
    import avro.schema

    empty = 0xC15D213AA4D7A795
    print_of = empty
    for byte in avro.schema.parse(schema).canonical_form.encode():
        print_of ^= byte
        for _ in range(8):
            print_of = (print_of >> 1) ^ (empty if print_of & 1 else 0)
    return print_of


def test_the_confluent_frame_names_the_schema_by_the_number_of_its_subject() -> None:
    raw = CONFLUENT.encode(e.BETS, BET)
    assert raw[:5] == b"\x00" + IDS["bets-puntobanco.BetPlaced"].to_bytes(4, "big")
    assert raw[5:] == SINGLE.encode(e.BETS, BET)[10:]


def test_a_codec_with_ids_still_reads_single_objects() -> None:
    assert CONFLUENT.decode(e.BETS, SINGLE.encode(e.BETS, BET)) == BET


def test_another_library_reads_the_same_values() -> None:
    import avro.io
    import avro.schema

    schema = avro.schema.parse((SCHEMAS / "round_decided.avsc").read_text())
    body = BytesIO(SINGLE.encode(e.ROUNDS, DECIDED)[10:])
    plain: Any = avro.io.DatumReader(schema).read(avro.io.BinaryDecoder(body))
    assert (plain["player"], plain["winner"]) == ([str(card) for card in DECIDED.player], DECIDED.winner)
    assert plain["at_ms"].timestamp() * 1000 == DECIDED.at_ms  # it knows the logical type, and says a date


def test_cards_that_are_read_are_the_canonical_ones() -> None:
    back = SINGLE.decode(e.ROUNDS, SINGLE.encode(e.ROUNDS, changed(ASSIGNED, card=Card("9", "S"))))
    assert isinstance(back, e.CardAssigned)
    assert back.card is parse_card("9S")


# ---------------------------------------------------------------- what cannot be sent


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (changed(BET, stake_minor=True), "BetPlaced.stake_minor is a bool, not int"),
        (changed(BET, stake_minor=1.0), "BetPlaced.stake_minor is a float, not int"),
        (changed(BET, stake_minor=2**63), ""),
        (changed(BET, seat=4), "BetPlaced.seat is a int, not NoneType or str"),
        (changed(BET, bet="\ud800"), "surrogates"),
        (changed(BET, bet=None), "BetPlaced.bet is a NoneType, not str"),
        (changed(ASSIGNED, hand="player"), "CardAssigned.hand is a str, not Hand"),
        (changed(ASSIGNED, card="9S"), "CardAssigned.card is a str"),
        (changed(ASSIGNED, card=Card("11")), "rank='11'"),
        (changed(DECIDED, natural=1), "RoundDecided.natural is a int, not bool"),
        (changed(DECIDED, player=list(DECIDED.player)), "RoundDecided.player is a list, not tuple"),
        (changed(DECIDED, player=("9S",)), "(str) is not all Card"),
        (changed(DECIDED, opened=DECIDED.closed), "RoundDecided.opened is a BettingClosed"),
        (changed(DECIDED, opened=changed(OPENED, shoe_no=None)), "BettingOpened.shoe_no is a NoneType"),
    ],
)
@CODECS
def test_a_value_of_another_type_is_refused(codec: Codec, event: e.Event, says: str) -> None:
    topic = e.BETS if isinstance(event, e.BetPlaced) else e.ROUNDS
    with pytest.raises(Unfit) as caught:
        codec.encode(topic, event)
    assert caught.value.code == "cannot-encode"
    assert says in str(caught.value)


def test_an_event_that_fitted_once_does_not_let_others_pass() -> None:
    SINGLE.encode(e.BETS, BET)
    with pytest.raises(Unfit):
        SINGLE.encode(e.BETS, changed(BET, round_no=2.5))


@pytest.mark.parametrize("topic", [e.ROUNDS, e.DEAD_LETTERS, "nowhere"])
def test_an_event_is_not_sent_to_a_topic_that_it_does_not_belong_to(topic: str) -> None:
    with pytest.raises(Unfit) as caught:
        SINGLE.encode(topic, BET)
    assert caught.value.code == "cannot-encode"


@pytest.mark.parametrize("ids", [None, IDS])
def test_the_limit_holds_for_the_event_with_its_frame(ids: dict[str, int] | None) -> None:
    raw = Codec(ids).encode(e.BETS, BET)
    assert Codec(ids, limit_bytes=len(raw)).encode(e.BETS, BET) == raw
    with pytest.raises(Unfit) as caught:
        Codec(ids, limit_bytes=len(raw) - 1).encode(e.BETS, BET)
    assert caught.value.code == "too-large"


def test_ids_must_name_every_subject() -> None:
    with pytest.raises(NotReady, match=r"bets-puntobanco\.BetPlaced"):
        Codec({name: number for name, number in IDS.items() if name != "bets-puntobanco.BetPlaced"})


# ---------------------------------------------------------------- what cannot be used


@CODECS
@quick
@given(placed=placed_events(), place=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_is_another_event_or_unusable(
    codec: Codec, placed: tuple[str, e.Event], place: int, bit: int
) -> None:
    topic, event = placed
    raw = bytearray(codec.encode(topic, event))
    raw[place % len(raw)] ^= 1 << bit
    try:
        back = codec.decode(topic, bytes(raw))
    except (Unusable, NotReady):
        return
    assert type(back) in e.EVENTS_OF[topic]


@CODECS
@pytest.mark.parametrize(("topic", "event"), [(e.BETS, BET), (e.ROUNDS, DECIDED)])
def test_what_is_cut_off_is_undecodable(codec: Codec, topic: str, event: e.Event) -> None:
    raw = codec.encode(topic, event)
    assert {code_of(codec, topic, raw[:size]) for size in range(len(raw))} == {"undecodable"}


@CODECS
@pytest.mark.parametrize("rest", [b"\x00", b"more"])
def test_bytes_after_the_event_are_refused(codec: Codec, rest: bytes) -> None:
    assert code_of(codec, e.BETS, codec.encode(e.BETS, BET) + rest) == "trailing-bytes"


@CODECS
@pytest.mark.parametrize("topic", [e.ROUNDS, e.TABLE_FEED, "nowhere"])
def test_an_event_in_a_wrong_topic_is_refused(codec: Codec, topic: str) -> None:
    assert code_of(codec, topic, codec.encode(e.BETS, BET)) == "wrong-topic"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "undecodable"),
        (b"\xc3", "undecodable"),
        (b'{"bet":"tie"}', "undecodable"),
        (b"\xc3\x02" + bytes(8), "undecodable"),
        (b"\xc3\x01" + bytes(8), "unknown-schema"),
        (b"\xc3\x01" + bytes(8) + b"body", "unknown-schema"),
    ],
)
@CODECS
def test_what_names_no_schema_is_told_apart_from_an_unknown_one(codec: Codec, raw: bytes, code: str) -> None:
    assert code_of(codec, e.BETS, raw) == code


@pytest.mark.parametrize(
    ("event_type", "field", "text", "code"),
    [
        ("CardDealt", "card", "11S", "undecodable"),
        ("CardDealt", "card", "", "undecodable"),
        ("CardAssigned", "hand", "dealer", "undecodable"),
        ("TableMoved", "debts", "1/0", "undecodable"),
        ("TableMoved", "debts", "1e9", "undecodable"),
        ("TableMoved", "debts", "0.5", "undecodable"),
        ("TableMoved", "debts", " 1", "undecodable"),
        ("TableMoved", "debts", "9" * 5000, "undecodable"),
        ("BetPlaced", "table_id", "", "malformed"),
        ("BetPlaced", "bet_id", "a/b", "malformed"),
        ("CardDealt", "device", "action", "malformed"),
    ],
)
def test_values_that_the_schema_allows_and_the_game_does_not(event_type: str, field: str, text: str, code: str) -> None:
    """Written by somebody else: the codec itself would not."""
    from fastavro import schemaless_writer

    topic, event = next((topic, event) for topic, event, _ in WRITTEN if type(event).__name__ == event_type)
    kind = SINGLE._frames[topic, type(event)][1]
    plain = kind.write(event)
    plain[field] = [{"customer_id": "c", "amount_minor": text}] if field == "debts" else text
    stream = BytesIO()
    schemaless_writer(stream, kind.schema, plain)
    assert code_of(SINGLE, topic, kind.frame + stream.getvalue()) == code


# ---------------------------------------------------------------- other versions


def edited(name: str, **changes: Any) -> str:
    """A schema with one more field, or with a field of it changed."""
    schema = json.loads((SCHEMAS / f"{name}.avsc").read_text())
    for field, change in changes.items():
        schema["fields"] = [each for each in schema["fields"] if each["name"] != field]
        if change is not None:
            schema["fields"].append({"name": field, **change})
    return json.dumps(schema)


def written_by(schema: str, plain: dict[str, Any]) -> tuple[bytes, bytes]:
    """Single-object frame and body."""
    from fastavro import schemaless_writer

    from services.runtime.codec import parsed

    stream = BytesIO()
    schemaless_writer(stream, parsed(json.loads(schema)), plain)
    return single_object(parsed(json.loads(schema))), stream.getvalue()


def test_an_older_release_is_read_with_the_defaults_of_what_it_had_not(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    copytree(SCHEMAS, folder)
    older = edited("bet_placed", seat=None)
    (folder / "released" / "0").mkdir()
    (folder / "released" / "0" / "bet_placed.avsc").write_text(older)
    head, body = written_by(older, msgspec.structs.asdict(BET))
    assert Codec(schemas=folder).decode(e.BETS, head + body) == BET
    assert code_of(SINGLE, e.BETS, head + body) == "unknown-schema"
    assert code_of(Codec(schemas=folder), e.BETS, head + body + b"x") == "trailing-bytes"


NEW_NUMBER = 77
NEW_HEAD = b"\x00" + NEW_NUMBER.to_bytes(4, "big")


def test_a_number_is_unusable_only_after_the_registry_was_asked() -> None:
    codec = Codec(IDS)
    raw = NEW_HEAD + b"body"
    assert codec.missing(raw) == NEW_NUMBER
    with pytest.raises(NotReady, match="77"):
        codec.decode(e.BETS, raw)
    codec.refuse(NEW_NUMBER, "the registry has none such")
    assert codec.missing(raw) is None
    assert code_of(codec, e.BETS, raw) == "unknown-schema"


def test_without_a_registry_a_number_is_unknown() -> None:
    raw = NEW_HEAD + b"body"
    assert SINGLE.missing(raw) is None
    assert code_of(SINGLE, e.BETS, raw) == "unknown-schema"


def test_only_numbers_are_asked_for() -> None:
    for raw in (b"", b"\x00\x00", SINGLE.encode(e.BETS, BET), CONFLUENT.encode(e.BETS, BET)):
        assert CONFLUENT.missing(raw) is None


def test_a_newer_version_that_the_registry_tells_of_is_read() -> None:
    codec = Codec(IDS)
    newer = edited("bet_placed", mood={"type": "string", "default": ""})
    codec.learn(NEW_NUMBER, newer)
    _, body = written_by(newer, msgspec.structs.asdict(BET) | {"mood": "bold"})
    assert codec.decode(e.BETS, NEW_HEAD + body) == BET


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (edited("bet_placed", stake_minor={"type": {"type": "long", "unit": "major"}}), "unit is major, was minor"),
        (edited("bet_placed", stake_minor=None), "stake_minor is gone"),
        (json.dumps({"type": "record", "name": "Other", "fields": []}), "Other"),
        (json.dumps("long"), ""),
        ("{", ""),
        ("", ""),
    ],
)
def test_a_schema_that_no_event_can_be_read_by_makes_its_records_unusable(schema: str, says: str) -> None:
    codec = Codec(IDS)
    codec.learn(NEW_NUMBER, schema)
    with pytest.raises(Unusable, match="of no use") as caught:
        codec.decode(e.BETS, NEW_HEAD + b"body")
    assert caught.value.code == "unknown-schema"
    assert says in str(caught.value)


def test_numbers_out_of_broken_records_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.runtime.codec.REFUSALS_KEPT", 3)
    codec = Codec(IDS)
    for number in range(1, 12):
        codec.refuse(number, "none such")
        assert code_of(codec, e.BETS, b"\x00" + number.to_bytes(4, "big")) == "unknown-schema"
    assert len(codec._useless) <= 3


# ---------------------------------------------------------------- states


class Book(msgspec.Struct, frozen=True):
    round_no: int
    owed: Fraction = Fraction(0)
    hands: tuple[Hand, ...] = ()


class Table(msgspec.Struct, frozen=True):
    """One of everything that a decider's state may hold."""

    table_id: str
    counts: tuple[int, str, bool]
    books: dict[tuple[int, int], Book]
    raw: bytes
    card: Card | None
    cards: tuple[Card | None, ...]
    outcome: e.Outcome | None
    either: int | str | Fraction | None
    configuration: e.Configuration | None = None
    nothing: None = None
    total: int = 0


class Renamed(msgspec.Struct, frozen=True):
    round_no: int
    debt: Fraction = Fraction(0)
    hands: tuple[Hand, ...] = ()


@settings(quick, max_examples=40)
@given(state=structs(Table))
def test_every_state_comes_back_as_it_was(state: Table) -> None:
    back = decode_state(encode_state(state), Table)
    assert back == state
    assert repr(back) == repr(state)  # 1 and True are equal, and dicts in another order


@quick
@given(st.integers())
def test_states_count_beyond_64_bits(count: int) -> None:
    state = Book(count * 2**70)
    assert decode_state(encode_state(state), Book) == state


def test_a_state_of_another_shape_is_never_taken_for_this_one() -> None:
    raw = encode_state(Book(1, Fraction(1, 20), (Hand.BANKER,)))
    with pytest.raises(Unusable) as caught:
        decode_state(raw, Renamed)
    assert caught.value.code == "unknown-schema"


def test_the_digest_of_a_state_is_of_its_declaration_alone() -> None:
    declared = "Book(round_no: int, owed: Fraction, hands: (Hand, ...))"
    assert encode_state(Book(1))[:8] == sha256(declared.encode()).digest()[:8]


@pytest.mark.parametrize("cut", [0, 4, 8, 9, -1])
def test_a_broken_state_is_unusable(cut: int) -> None:
    raw = encode_state(Book(1, Fraction(1, 20), (Hand.BANKER,)))
    with pytest.raises(Unusable):
        decode_state(raw[:cut], Book)


@pytest.mark.parametrize(
    "state",
    [
        Book(True),
        Book(1, 0),  # type: ignore[arg-type]
        Book(1, Fraction(0), ("player",)),  # type: ignore[arg-type]
        Book(1, Fraction(0), [Hand.PLAYER]),  # type: ignore[arg-type]
    ],
)
def test_a_state_that_is_not_as_declared_is_refused(state: Book) -> None:
    with pytest.raises(Unfit, match="cannot be encoded"):
        encode_state(state)


def test_a_configuration_of_a_real_table_comes_back() -> None:
    make = partial(Table, "T1", (1, "", True), {}, b"", None, (), DECIDED, None)
    assert decode_state(encode_state(make(CONFIGURATION)), Table) == make(CONFIGURATION)
