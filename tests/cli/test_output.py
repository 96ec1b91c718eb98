import io
import sys

import pytest

from services.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_only_for_terminals_and_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(output.tracked(range(5), 5, "judging")) == [0, 1, 2, 3, 4]
    assert screen.getvalue() == ""
    assert len(list(output.tracked(range(output.SLOW), output.SLOW, "judging"))) == output.SLOW
    assert "judging" in screen.getvalue()


def test_nothing_moves_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(output.tracked(range(output.SLOW), output.SLOW, "judging"))) == output.SLOW
    with output.waiting("asking"):
        pass
    assert capsys.readouterr() == ("", "")


def test_waiting_is_seen_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with output.waiting("asking Kafka"):
        pass
    assert "asking Kafka" in screen.getvalue()


def test_an_error_is_one_line_whatever_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.complain("one\nand\n  two")
    assert capsys.readouterr().err == "punto: one and two\n"


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    output.say_json({"name": "é\udcff"}, indent=None)
    assert capsys.readouterr().out == '{"name": "\\u00e9\\udcff"}\n'
