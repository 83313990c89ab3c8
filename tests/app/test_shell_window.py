"""What commands ask of the window is all there."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QInputDialog

from app.commands import Shell
from app.shell_window import ShellWindow


def test_it_has_every_method_that_commands_may_call():
    asked = {name for name, member in vars(Shell).items() if callable(member) and name[0] != "_"}
    assert asked
    assert not [name for name in asked if not callable(getattr(ShellWindow, name, None))]


def test_a_dialog_that_is_left_gives_nothing(window, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, False))
    assert ShellWindow.ask_open(window, "Open", "*.py") is None
    assert ShellWindow.ask_save(window, "Save", "a.py", "*.py") is None
    assert ShellWindow.ask_number(window, "Seed", 3) is None


def test_what_is_chosen_in_a_dialog_is_handed_on(window, monkeypatch, tmp_path):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "a.py"), ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, True))
    assert ShellWindow.ask_open(window, "Open", "*.py") == Path(tmp_path / "a.py")
    assert ShellWindow.ask_number(window, "Seed", 3) == 7
