"""Dialogs: what is chosen, and in which folder they begin."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QInputDialog

from gradscribe.app.ui.dialogs import Dialogs


@pytest.fixture
def dialogs(window):
    return Dialogs(window, window.session)


def test_a_dialog_that_is_left_gives_nothing(dialogs, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, False))
    assert dialogs.ask_open("Open", "*.py") is None
    assert dialogs.ask_save("Save", "a.py", "*.py") is None
    assert dialogs.ask_number("Seed", 3) is None


def test_what_is_chosen_in_a_dialog_is_handed_on(dialogs, monkeypatch, tmp_path):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "a.py"), ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, True))
    assert dialogs.ask_open("Open", "*.py") == Path(tmp_path / "a.py")
    assert dialogs.ask_number("Seed", 3) == 7


def test_dialogs_begin_where_the_last_one_ended_else_beside_the_program(
    dialogs, window, monkeypatch, tmp_path
):
    begun = []

    def choose(_window, _title, place, _pattern):
        begun.append(Path(place))
        return str(tmp_path / "out" / "a.png"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose)
    dialogs.ask_save("Export", "a.png", "*.png")
    (tmp_path / "out").mkdir()
    dialogs.ask_save("Export", "b.png", "*.png")
    dialogs.ask_open("Open", "*.py")
    assert begun == [Path.home() / "a.png", tmp_path / "out" / "b.png", tmp_path / "out"]
    dialogs = Dialogs(window, window.session)
    window.session.mark_saved(str(tmp_path / "net.py"), "net.py", "")
    dialogs.ask_save("Export", "c.png", "*.png")
    assert begun[-1] == tmp_path / "c.png"
    dialogs.ask_save("Save", str(tmp_path / "d.py"), "*.py")
    assert begun[-1] == tmp_path / "d.py"
