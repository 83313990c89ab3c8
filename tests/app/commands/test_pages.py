"""Keys in Training act on what is visible there, and never on the program behind it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradscribe.app import commands
from gradscribe.app.training.setup import presets
from gradscribe.app.ui.examples.gallery import Gallery

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
NONE = Qt.KeyboardModifier.NoModifier
KEY = Qt.Key


PROGRAM_KEYS = (
    (KEY.Key_Slash, CTRL),
    (KEY.Key_V, CTRL),
    (KEY.Key_X, CTRL),
    (KEY.Key_A, CTRL),
    (KEY.Key_F5, NONE),
    (KEY.Key_Return, CTRL),
    (KEY.Key_R, CTRL | SHIFT),
    (KEY.Key_F10, NONE),
    (KEY.Key_F10, CTRL),
    (KEY.Key_2, CTRL),
    (KEY.Key_0, CTRL),
    (KEY.Key_Equal, CTRL),
    (KEY.Key_R, CTRL | ALT),
    (KEY.Key_1, CTRL | SHIFT),
)
"""Keys of commands on the program and its graph."""


@pytest.fixture
def trainer(settled, qtbot):
    """The window with Training in front, whose engine has answered nothing yet."""
    settled.resize(1440, 900)
    with qtbot.waitActive(settled):
        settled.show()
    settled.workspaces.show_workspace("training")
    qtbot.waitUntil(lambda: settled.workspaces.is_whole, timeout=30_000)
    settled.workspaces.widgets.bar.setFocus()
    return settled


def open_galleries(window):
    return [card for card in window.findChildren(Gallery) if card.isVisible()]


def press(window, key, modifiers=NONE):
    QTest.keyClick(window.windowHandle(), key, modifiers)


def test_no_key_in_training_changes_the_program(trainer):
    settings, session = trainer.settings, trainer.session
    QGuiApplication.clipboard().setText("not for the program")
    trainer.editor.selectAll()

    def state():
        return (
            trainer.editor.toPlainText(),
            session.doc,
            session.view,
            session.result.shown_id,
            trainer.graph.camera(),
            [settings.flag(name) for name in ("left", "below", "right", "sideways")],
        )

    before = state()
    for key, modifiers in PROGRAM_KEYS:
        press(trainer, key, modifiers)
        assert state() == before, key
    assert trainer.workspaces.current == "training"
    assert not trainer.editor.hasFocus()


def test_the_same_keys_work_again_on_the_program(trainer):
    trainer.workspaces.show_workspace("program")
    trainer.editor.setFocus()
    trainer.editor.selectAll()
    text = trainer.editor.toPlainText()
    press(trainer, KEY.Key_Slash, CTRL)
    assert trainer.editor.toPlainText() != text
    press(trainer, KEY.Key_2, CTRL)
    assert not trainer.session.view.gradients


def test_the_gallery_is_that_of_the_page(trainer, qtbot):
    press(trainer, KEY.Key_E, CTRL)
    (card,) = open_galleries(trainer)
    qtbot.waitUntil(lambda: len(card.tiles) == len(presets.load()))
    assert card.tiles[0].item is presets.load()[0]
    assert card.card.accessibleName() == "Set-ups"
    press(trainer, KEY.Key_Escape)
    trainer.workspaces.show_workspace("program")
    press(trainer, KEY.Key_E, CTRL)
    (card,) = open_galleries(trainer)
    assert card.card.accessibleName() == "Examples"


def test_the_layers_are_those_of_the_graph_of_the_page(trainer):
    switches = trainer.workspaces.widgets.graph.layers
    for key, name in ((KEY.Key_1, "Values"), (KEY.Key_2, "Gradients"), (KEY.Key_3, "Shapes")):
        before = switches[name].isChecked()
        press(trainer, key, CTRL)
        assert switches[name].isChecked() is not before
        command = next(c for c in commands.load() if c.id == f"view.{name.lower()}")
        assert command.checked(trainer.context) is not before


def test_findings_come_with_their_page(trainer):
    press(trainer, KEY.Key_F8)
    assert trainer.workspaces.current == "program"
    assert trainer.context.findings_controller is not None
    assert trainer.settings.flag("below")


def test_the_clipboard_is_for_the_field_with_the_keyboard(trainer):
    trainer.workspaces.show_workspace("program")
    text = trainer.editor.toPlainText()
    press(trainer, KEY.Key_F, CTRL)
    field = QGuiApplication.focusObject()
    assert field is not trainer.editor
    QGuiApplication.clipboard().setText("param")
    trainer.menus.perform_by("edit.paste")
    assert field.text() == "param"
    assert trainer.editor.toPlainText() == text
