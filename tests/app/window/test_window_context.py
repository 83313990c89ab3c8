"""What commands ask of the window is all there."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QInputDialog

from gradscribe.app.commands.context import CommandContext
from gradscribe.app.window.window_context import WindowContext


def test_it_has_every_method_that_commands_may_call():
    asked = {
        name for name, member in vars(CommandContext).items() if callable(member) and name[0] != "_"
    }
    assert asked
    assert not [name for name in asked if not callable(getattr(WindowContext, name, None))]


def test_a_dialog_that_is_left_gives_nothing(window, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, False))
    assert WindowContext.ask_open(window, "Open", "*.py") is None
    assert WindowContext.ask_save(window, "Save", "a.py", "*.py") is None
    assert WindowContext.ask_number(window, "Seed", 3) is None


def test_what_is_chosen_in_a_dialog_is_handed_on(window, monkeypatch, tmp_path):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "a.py"), ""))
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (7, True))
    assert WindowContext.ask_open(window, "Open", "*.py") == Path(tmp_path / "a.py")
    assert WindowContext.ask_number(window, "Seed", 3) == 7


def test_dialogs_begin_where_the_last_one_ended_else_beside_the_program(
    window, monkeypatch, tmp_path
):
    begun = []

    def choose(_window, _title, place, _pattern):
        begun.append(Path(place))
        return str(tmp_path / "out" / "a.png"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose)
    WindowContext.ask_save(window, "Export", "a.png", "*.png")
    (tmp_path / "out").mkdir()
    WindowContext.ask_save(window, "Export", "b.png", "*.png")
    WindowContext.ask_open(window, "Open", "*.py")
    assert begun == [Path.home() / "a.png", tmp_path / "out" / "b.png", tmp_path / "out"]
    window._chosen_folder = None
    window.session.mark_saved(str(tmp_path / "net.py"), "net.py", "")
    WindowContext.ask_save(window, "Export", "c.png", "*.png")
    assert begun[-1] == tmp_path / "c.png"
    WindowContext.ask_save(window, "Save", str(tmp_path / "d.py"), "*.py")
    assert begun[-1] == tmp_path / "d.py"
