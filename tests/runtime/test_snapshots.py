from typing import Any

from services.runtime.snapshots import CHUNK_BYTES, REWRITTEN_AFTER, Pieces, Written, chunks, due, manifest_of


class Read:
    """A record as it comes back."""

    def __init__(self, chunk: Any, offset: int) -> None:
        self.key, self.value, self.headers, self.offset = chunk.key, chunk.value, chunk.headers, offset


def read_back(records: list[Any]) -> dict[str, bytes]:
    pieces = Pieces()
    for offset, chunk in enumerate(records):
        pieces.take(Read(chunk, offset))
    return {table_id: b"".join(parts) for table_id, parts in pieces.whole.items()}


def test_a_state_of_any_size_comes_back_from_its_chunks() -> None:
    for size in (0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES):
        state = bytes(size)
        written = chunks("T1", state, 1)
        assert all(len(chunk.value) <= CHUNK_BYTES < 512 * 1024 for chunk in written)
        assert read_back(written) == {"T1": state}


def test_the_later_of_two_snapshots_counts_and_tails_of_compacted_ones_do_not() -> None:
    long, short = bytes(2 * CHUNK_BYTES + 7), b"short"
    first, second = chunks("T1", long, 1), chunks("T1", short, 2)
    assert read_back([*first, *second]) == {"T1": short}
    assert read_back([*first[1:], *second]) == {"T1": short}
    assert read_back([*first[2:], *second, *chunks("T2", long, 2)]) == {"T1": short, "T2": long}
    assert read_back(first[1:]) == {}


def test_what_is_not_whole_is_not_there() -> None:
    assert read_back(chunks("T1", bytes(2 * CHUNK_BYTES), 1)[:-1]) == {}


def test_changed_tables_are_written_and_quiet_ones_now_and_then() -> None:
    states = {"T1": 1, "T2": 2, "T3": 3, "T4": 4}
    written = {"T1": Written(0, 5), "T2": Written(3, 5), "T3": Written(9, 6)}
    assert due(states, {"T1": None}, written, 7) == ["T1", "T4"]
    assert due(states, {}, written, 5 + REWRITTEN_AFTER) == ["T1", "T2", "T4"]


def test_a_manifest_that_cannot_be_read_is_one_of_another_version() -> None:
    assert manifest_of(b"{").state_version == -1
    assert manifest_of(b'{"state_version": "x"}').state_version == -1
