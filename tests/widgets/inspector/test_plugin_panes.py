"""Panes of plug-ins stand below the others; broken panes are left out with a reason."""

import pytest

from gradscribe.engine import plugins
from gradscribe.engine.run import run
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.tape.scenes import scenes
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.inspector.inspector import Inspector, select
from tests.plugins import install

__all__ = ["install"]

PANE = """
from PySide6.QtWidgets import QLabel
from gradscribe.widgets.inspector.panes.pane import Pane

class Parity(Pane):
    order = 10

    def __init__(self):
        super().__init__()
        self.words = QLabel(self)
        self.column.addWidget(self.words)

    def show_page(self, page):
        self.words.setText(page.value.name if page.value is not None else "none")
        return page.value is not None

ENTRY = Parity
"""


def selected(inspector):
    """Show the value of ``y`` in the inspector."""
    tape = run.record("x = param(2.0)\ny = x * 3\ny.backward()")
    picture = build_picture(tape, scenes(tape)[0])
    card = next(card for card in picture.cards if card.key.startswith("op"))
    inspector.show_page(select(picture, card.key), tape, len(tape.events))


@pytest.fixture
def shown(qtbot):
    inspector = Inspector()
    qtbot.addWidget(inspector)
    inspector.resize(300, 600)
    inspector.show()
    return inspector


def test_a_pane_of_another_package_shows_the_selection(install, shown):
    install([("panes", "parity = others.parity")], {"parity": PANE})
    before = len(shown.panes)
    shown.add_plugin_panes(Theme.load("dark"))
    assert len(shown.panes) == before + 1
    selected(shown)
    assert shown.panes[-1].words.text() == "y"
    assert shown.panes[-1].isVisible()
    assert plugins.broken() == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PANE.replace("self.words = QLabel(self)", "1 / 0"), "ZeroDivisionError"),
        ("ENTRY = int", "int is no Pane"),
        ("ENTRY = 3", "its ENTRY is a int, not a type"),
        (PANE.replace("self.words.setText(page", "1 / 0; self.words.setText(page"), "ZeroDivision"),
    ],
)
def test_a_broken_pane_is_left_out(install, shown, text, reason):
    install([("panes", "parity = others.parity")], {"parity": text})
    before = list(shown.panes)
    shown.add_plugin_panes(Theme.load("light"))
    selected(shown)
    assert shown.panes == before
    assert any(pane.isVisible() for pane in shown.panes)
    (broken,) = plugins.broken()
    assert reason in broken.reason
