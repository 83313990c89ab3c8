"""Fields say by which label they are named, and a list that has none says what it chooses."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

from gradscribe.engine.protocol.training import Option
from gradscribe.widgets.base.choice import Choice
from gradscribe.widgets.training.setup.option_row import OptionRow
from tests.app.accessibility.test_focus import shown  # noqa: F401

LABEL = QAccessible.RelationFlag.Label


def labels(widget):
    """Return the texts of the labels that name a widget."""
    field = QAccessible.queryAccessibleInterface(widget)
    return [other.text(QAccessible.Text.Name) for other, _ in field.relations(LABEL)]


@pytest.fixture
def row(qtbot):
    made = OptionRow(Option("norm", "choice", "none", choices=("none", "batch"), help="After each"))
    qtbot.addWidget(made)
    return made


def test_an_option_is_named_by_its_label(row):
    assert labels(row.editor) == ["norm"]


def test_the_speed_is_named_by_its_label(shown):  # noqa: F811
    assert labels(shown.transport.buttons.speed_slider) == ["Speed"]


def test_each_setting_is_named_by_its_title(shown):  # noqa: F811
    shown.menus.perform_by("edit.settings")
    QApplication.processEvents()
    for setting in shown.context.settings_window.rows.values():
        assert labels(setting.editor.widget) == [setting.row.title]


def test_a_list_without_a_label_is_described(qtbot):
    choice = Choice()
    qtbot.addWidget(choice)
    choice.setAccessibleName("Data set")
    choice.addItem("Moons")
    choice.show()
    field = QAccessible.queryAccessibleInterface(choice)
    assert "Data set" in (
        field.text(QAccessible.Text.Name),
        field.text(QAccessible.Text.Description),
    )
