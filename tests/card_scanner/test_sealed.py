"""What a shoe must not forget: written before it is said, said again the same, and one scanner a table."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from services.baccarat.cards import parse_card
from services.baccarat.errors import BadSettings, InvariantBroken
from services.baccarat.events import CardDealt, CutCardDrawn, DeviceReported, ShoeStarted
from services.card_scanner.sealed import (
    Common,
    Sealed,
    SealedFile,
    begin_shoe,
    draw,
    fresh,
    is_exhausted,
    open_seal,
    sentence,
    take,
)
from services.card_scanner.sources import SealedShoe

CARDS = tuple(parse_card(text) for text in ("9S", "KD", "3H"))
SHOE = SealedShoe(decks=8, order=CARDS, cut_at=2, commitment="ab" * 32, salt="cd" * 32)


def unused(table_id: str = "T1") -> Sealed:
    return fresh(table_id, "log-1", "simulated")


def test_a_shoe_is_told_card_by_card_and_the_cut_card_in_its_place() -> None:
    said = []
    sealed = begin_shoe(unused(), SHOE, 1_000)
    device = sealed.view.device
    said.append(sentence(sealed, "simulated"))
    at_ms = 1_000
    while not is_exhausted(sealed):
        at_ms += 1_000
        sealed = draw(sealed, at_ms)
        said.append(sentence(sealed, "simulated"))
    sealed = open_seal(sealed, 9_000)
    said.append(sentence(sealed, "simulated"))

    def numbered(sequence: int) -> Common:
        event_id = f"T1/{device}/1/{sequence}"
        return Common(event_id=event_id, table_id="T1", device=device, boot=1, sequence=sequence)

    def card(sequence: int, place: int) -> CardDealt:
        about = numbered(sequence)
        return CardDealt(**about, card=CARDS[place], scanned_at_ms=sequence * 1_000, source="simulated")

    assert said == [
        ShoeStarted(**numbered(1), decks=8, cut_position=2, commitment="ab" * 32),
        card(2, 0),
        card(3, 1),
        CutCardDrawn(**numbered(4), scanned_at_ms=4_000),
        card(5, 2),
        DeviceReported(**numbered(6), what="seal-opened", text=f"salt {'cd' * 32}; left"),
    ]


def test_the_opened_seal_tells_the_cards_that_were_left() -> None:
    sealed = open_seal(draw(begin_shoe(unused(), SHOE, 0), 0), 0)
    opened = sentence(sealed, "simulated")
    assert isinstance(opened, DeviceReported)
    assert opened.text == f"salt {'cd' * 32}; left KD 3H"


def test_a_cut_card_behind_the_last_card_still_comes() -> None:
    sealed = begin_shoe(unused(), replace(SHOE, order=CARDS[:1], cut_at=1), 0)
    sealed = draw(sealed, 0)
    assert not is_exhausted(sealed)
    assert isinstance(sentence(draw(sealed, 0), "simulated"), CutCardDrawn)
    assert is_exhausted(draw(sealed, 0))


def test_an_empty_shoe_deals_nothing() -> None:
    assert sentence(unused(), "simulated") is None
    assert is_exhausted(unused())
    with pytest.raises(InvariantBroken, match="the shoe of table T1 is empty"):
        draw(unused(), 0)


def test_a_device_that_no_log_knows_has_a_new_name() -> None:
    assert unused().view.device != unused().view.device


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    sealed = draw(begin_shoe(unused("a/b"), SHOE, 1), 2)
    with take_now(tmp_path, "a/b") as file:
        assert file.read("log-1") is None
        file.write(begin_shoe(unused("a/b"), SHOE, 1))
        file.write(sealed)
    with take_now(tmp_path, "a/b") as file:
        assert file.read("log-1") == sealed
        file.write(draw(sealed, 3))
        assert file.read("log-1") == draw(sealed, 3)
        file.write(replace(sealed, shoe=None))
        assert file.read("log-1") == replace(sealed, shoe=None)
        assert file.read("log-2") is None, "a shoe of another log is no shoe of this one"


def take_now(folder: Path, table_id: str = "T1") -> SealedFile:
    file = take(folder, table_id)
    assert file is not None
    return file


def test_a_table_is_in_one_hand_only_and_free_when_its_process_dies(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from services.card_scanner.sealed import take;"
        "file = take(pathlib.Path(sys.argv[1]), 'T1'); print(file is not None, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert take(tmp_path, "T1") is None
        take_now(tmp_path, "T2").close()
        other.kill()
        other.wait()
        take_now(tmp_path).close()


def test_two_hands_in_one_process_do_not_share_a_table_either(tmp_path: Path) -> None:
    with take_now(tmp_path):
        assert take(tmp_path, "T1") is None


def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "T1.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(BadSettings, match=r"T1\.sqlite: the sealed shoe cannot be read .* move it away"):
        take(tmp_path, "T1")
    with take_now(tmp_path, "T2") as file:
        file.write(unused("T2"))
    with sqlite3.connect(tmp_path / "T2.sqlite") as connection:
        connection.execute("UPDATE sealed SET value = '{'")
    connection.close()
    with take_now(tmp_path, "T2") as file, pytest.raises(BadSettings, match="cannot be read"):
        file.read("log-1")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSettings, match="give another state folder"):
        take(tmp_path / "file", "T1")
