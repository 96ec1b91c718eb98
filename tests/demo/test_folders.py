"""Which log is played on: the current one, unless another seed or a fresh one is asked for."""

from pathlib import Path

import pytest

from services.baccarat.errors import BadSettings
from services.demo.folders import choose


def test_the_current_log_goes_on_until_another_is_asked_for(tmp_path: Path) -> None:
    asked = [(None, False), (None, False), ("7", False), ("7", False), ("8", False), ("7", False), ("7", True)]
    chosen = [choose(tmp_path / "demo", seed, fresh=fresh) for seed, fresh in asked]
    assert [one.path.name for one in chosen] == ["log-1", "log-1", "log-2", "log-2", "log-3", "log-4", "log-5"]
    assert [one.is_new for one in chosen] == [True, False, True, False, True, True, True]
    assert all(one.path.is_dir() for one in chosen)


@pytest.mark.parametrize("damage", ["", "{}", '{"folder":"log-9","seed":null}'])
def test_a_damaged_note_begins_a_new_log_and_keeps_the_old(tmp_path: Path, damage: str) -> None:
    choose(tmp_path, None, fresh=False)
    (tmp_path / "current.json").write_text(damage)
    assert choose(tmp_path, None, fresh=False).path.name == "log-2"
    assert (tmp_path / "log-1").is_dir()


def test_no_place_for_a_log_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSettings, match=r"no log can be kept here .* PUNTO_STATE_DIR"):
        choose(tmp_path / "file", None, fresh=False)
