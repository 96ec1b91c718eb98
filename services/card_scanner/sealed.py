"""What a shoe at a table must not forget: its undealt order and what was said of it, in one small file a table.

The file is written before anything is said. A restart therefore says its last sentence again, the same sequence with
the same card, which rules drops if it was heard; then it goes on with the next card of the same shoe. The file is
locked while a scanner has the table, and the lock of a dead process frees itself.
"""

import contextlib
import secrets
import sqlite3
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.errors import BadSettings, InvariantBroken
from services.baccarat.events import CardDealt, CutCardDrawn, DeviceEvent, DeviceReported, ShoeStarted
from services.card_scanner.sources import SealedShoe
from services.card_scanner.table_view import View


class Said(StrEnum):
    """The kinds of sentences of a device."""

    SHOE = "shoe"
    CARD = "card"
    CUT = "cut"
    SEAL_OPENED = "seal-opened"


class Sealed(Struct, frozen=True, kw_only=True):
    """A table's shoe and its voice: `sequence` is the number of the last sentence, of kind `said`, spoken at `at_ms`.

    `begun` shoes had the table of its source, of the last `drawn` cards have left. `view` is what was seen of `rounds`
    before the offset `position`.
    """

    log_id: str
    view: View
    position: int = 0
    sequence: int = 0
    said: Said | None = None
    at_ms: int = 0
    begun: int = 0
    drawn: int = 0
    cut_drawn: bool = False
    shoe: SealedShoe | None = None


def fresh(table_id: str, log_id: str, kind: str) -> Sealed:
    """A device that no log has heard of: its name is new, so that its sequences can start at 1."""
    device = f"{kind}-{secrets.token_hex(4)}"
    return Sealed(log_id=log_id, view=View(table_id=table_id, device=device))


# ---------------------------------------------------------------- what happens to the shoe


def say(sealed: Sealed, kind: Said, at_ms: int) -> Sealed:
    """The next sentence of the device."""
    return replace(sealed, sequence=sealed.sequence + 1, said=kind, at_ms=at_ms)


def open_seal(sealed: Sealed, at_ms: int) -> Sealed:
    """Opens the commitment of a shoe that is over."""
    return say(sealed, Said.SEAL_OPENED, at_ms)


def begin_shoe(sealed: Sealed, shoe: SealedShoe, at_ms: int) -> Sealed:
    """The next shoe is in place, and nothing of it is dealt."""
    begun = replace(sealed, begun=sealed.begun + 1, shoe=shoe, drawn=0, cut_drawn=False)
    return say(begun, Said.SHOE, at_ms)


def draw(sealed: Sealed, at_ms: int) -> Sealed:
    """The next card leaves the shoe, or the cut card where that lies before it."""
    if is_exhausted(sealed):
        raise InvariantBroken(f"the shoe of table {sealed.view.table_id} is empty")
    if sealed.shoe is not None and sealed.shoe.cut_at == sealed.drawn and not sealed.cut_drawn:
        return say(replace(sealed, cut_drawn=True), Said.CUT, at_ms)
    return say(replace(sealed, drawn=sealed.drawn + 1), Said.CARD, at_ms)


def is_exhausted(sealed: Sealed) -> bool:
    """Whether nothing is left to draw."""
    shoe = sealed.shoe
    if shoe is None:
        return True
    return sealed.drawn >= len(shoe.order) and (shoe.cut_at != sealed.drawn or sealed.cut_drawn)


class Common(TypedDict):
    """The fields that every sentence of a device has."""

    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int


def sentence(sealed: Sealed, source: str) -> DeviceEvent | None:
    """The last thing said, the same whenever it is said again; None before the first."""
    shoe, view = sealed.shoe, sealed.view
    if shoe is None:
        return None
    common = Common(
        event_id=f"{view.table_id}/{view.device}/{view.boot}/{sealed.sequence}",
        table_id=view.table_id,
        device=view.device,
        boot=view.boot,
        sequence=sealed.sequence,
    )
    match sealed.said:
        case Said.SHOE:
            return ShoeStarted(**common, decks=shoe.decks, cut_position=shoe.cut_at, commitment=shoe.commitment)
        case Said.CARD:
            card = shoe.order[sealed.drawn - 1]
            return CardDealt(**common, card=card, scanned_at_ms=sealed.at_ms, source=source)
        case Said.CUT:
            return CutCardDrawn(**common, scanned_at_ms=sealed.at_ms)
        case _:
            return DeviceReported(**common, what=Said.SEAL_OPENED.value, text=opening(shoe, sealed.drawn))


def opening(shoe: SealedShoe, drawn: int) -> str:
    """What opens the commitment to those who saw every card: the salt, and the cards that were left."""
    left = " ".join(str(card) for card in shoe.order[drawn:])
    return f"salt {shoe.salt}; left {left}".rstrip()


# ---------------------------------------------------------------- the file


class SealedFile:
    """The file of one table, locked until it is closed."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self.written: SealedShoe | None = None

    def read(self, log_id: str) -> Sealed | None:
        """What was written last, for this log; None if nothing was. Raises BadSettings if it cannot be read."""
        try:
            rows = dict(self.connection.execute("SELECT name, value FROM sealed"))
            if "voice" not in rows:
                return None
            sealed = msgspec.json.decode(rows["voice"], type=Sealed)
            shoe = msgspec.json.decode(rows["shoe"], type=SealedShoe | None)
        except (sqlite3.DatabaseError, msgspec.DecodeError, KeyError) as error:
            remedy = "move it away, and the table begins a fresh shoe"
            raise BadSettings(f"{self.path}: the sealed shoe cannot be read ({error}); {remedy}") from error
        if sealed.log_id != log_id:
            return None
        self.written = shoe
        return replace(sealed, shoe=shoe)

    def write(self, sealed: Sealed) -> None:
        """Durable when it returns; the order is written once a shoe."""
        voice = msgspec.json.encode(replace(sealed, shoe=None))
        with self.connection:
            put = "INSERT OR REPLACE INTO sealed VALUES (?, ?)"
            self.connection.execute(put, ("voice", voice))
            if sealed.shoe is not self.written or sealed.shoe is None:
                self.connection.execute(put, ("shoe", msgspec.json.encode(sealed.shoe)))
        self.written = sealed.shoe

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def take(state_dir: Path, table_id: str) -> SealedFile | None:
    """The table's file, locked; None while another scanner has it. Raises BadSettings where no file can be."""
    path = state_dir / f"{quote(table_id, safe='')}.sqlite"
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=0, check_same_thread=False)
    except (OSError, sqlite3.OperationalError) as error:
        raise BadSettings(f"{path}: no sealed shoe can be kept here ({error}); give another state folder") from error
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = EXTRA")
        with connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("CREATE TABLE IF NOT EXISTS sealed (name TEXT PRIMARY KEY, value BLOB NOT NULL)")
    except sqlite3.DatabaseError as error:
        connection.close()
        with contextlib.suppress(AttributeError):
            if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return None
        remedy = "move it away, and the table begins a fresh shoe"
        raise BadSettings(f"{path}: the sealed shoe cannot be read ({error}); {remedy}") from error
    return SealedFile(path, connection)
