"""Which log is played on: the one last begun with the same seed, unless a fresh one is asked for."""

from pathlib import Path

import pytest

from services.baccarat.errors import BadSettings
from services.demo.folders import choose, last_started


def test_each_seed_goes_on_with_its_own_log(tmp_path: Path) -> None:
    asked = [(None, False), (None, False), ("7", False), (None, False), ("7", False), ("7", True), ("7", False)]
    asked += [("8", False), (None, False), (None, True), (None, False)]
    chosen = [choose(tmp_path / "demo", seed, fresh=fresh) for seed, fresh in asked]
    names = [one.path.name for one in chosen]
    assert names == [f"log-{number}" for number in (1, 1, 2, 1, 2, 3, 3, 4, 1, 5, 5)]
    assert [one.is_new for one in chosen] == [names.index(name) == place for place, name in enumerate(names)]
    assert all(one.path.is_dir() and not one.remark for one in chosen)


def test_a_first_seed_begins_a_log_beside_one_without(tmp_path: Path) -> None:
    assert choose(tmp_path, "7", fresh=False).path.name == "log-1"
    assert choose(tmp_path, None, fresh=False).path.name == "log-2"


def test_the_log_last_started_is_the_one_that_commands_mean(tmp_path: Path) -> None:
    assert last_started(tmp_path) is None
    for seed in (None, "7", None):
        chosen = choose(tmp_path, seed, fresh=False)
        assert last_started(tmp_path) == chosen.path


@pytest.mark.parametrize("damage", ["", "{}", "\xff", '{"folder":"log-9","seed":null}'])
def test_a_damaged_note_is_said_and_the_newest_log_goes_on(tmp_path: Path, damage: str) -> None:
    for fresh in (False, True):
        choose(tmp_path, None, fresh=fresh)
    (tmp_path / "current.json").write_text(damage)
    assert last_started(tmp_path) == tmp_path / "log-2"
    chosen = choose(tmp_path, None, fresh=False)
    assert (chosen.path.name, chosen.is_new) == ("log-2", False)
    assert chosen.remark == f"{tmp_path / 'current.json'} cannot be used; this is the newest log there is."
    assert not choose(tmp_path, None, fresh=False).remark


def test_logs_of_a_release_that_kept_no_seed_beside_them_go_on(tmp_path: Path) -> None:
    for name in ("log-1", "log-2"):
        (tmp_path / name).mkdir()
    (tmp_path / "current.json").write_text('{"folder":"log-2","seed":"7"}')
    assert choose(tmp_path, None, fresh=False).path.name == "log-1"
    assert choose(tmp_path, "7", fresh=False).path.name == "log-2"


def test_a_log_that_was_not_begun_whole_is_none(tmp_path: Path) -> None:
    (tmp_path / "log-1.new").mkdir()
    assert choose(tmp_path, None, fresh=False).path.name == "log-1"
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["current.json", "log-1"]


def test_no_place_for_a_log_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSettings, match=r"no log can be kept here .* PUNTO_STATE_DIR"):
        choose(tmp_path / "file", None, fresh=False)
