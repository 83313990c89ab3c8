"""The wheel scrolls the set-up, and never changes a setting on its way."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QApplication,
    QComboBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradscribe.engine.protocol.training import CatalogueEntry, Option
from gradscribe.widgets.training.setup.option_row import OptionRow
from gradscribe.widgets.training.setup.sections import PartSection
from gradscribe.widgets.training.wheel_filter import ignore_wheel


def wheel(widget):
    at = QPointF(widget.rect().center())
    turn = QWheelEvent(
        at, widget.mapToGlobal(at), QPoint(0, 0), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, turn)


@pytest.fixture
def scrolled(qtbot):
    host = QScrollArea()
    qtbot.addWidget(host)
    inside = QWidget()
    column = QVBoxLayout(inside)
    rows = [
        OptionRow(Option("norm", "choice", "none", choices=("none", "batch", "layer"))),
        OptionRow(Option("noise", "float", 0.1, low=0.0, high=1.0)),
    ]
    section = PartSection("Data")
    section.set_entries(
        [CatalogueEntry("data", "moons", "Moons"), CatalogueEntry("data", "sine", "Sine")]
    )
    heard = []
    for row in rows:
        row.edited.connect(lambda *told: heard.append(told))
        column.addWidget(row)
    section.chosen.connect(heard.append)
    column.addWidget(section)
    inside.resize(280, 4000)
    host.setWidget(inside)
    host.resize(300, 200)
    host.show()
    qtbot.waitUntil(lambda: host.verticalScrollBar().maximum() > 3000)
    return host, heard


def state(control):
    return control.currentIndex() if isinstance(control, QComboBox) else control.value()


def test_the_wheel_over_a_control_changes_nothing(scrolled):
    host, heard = scrolled
    kinds = QComboBox, QAbstractSlider
    controls = [one for kind in kinds for one in host.widget().findChildren(kind)]
    assert len(controls) >= 3
    for control in controls:
        control.setFocus()
        before = state(control)
        wheel(control)
        assert state(control) == before
    assert not heard


def test_the_wheel_would_change_a_control_that_is_not_kept_still(qtbot):
    plain = QComboBox()
    qtbot.addWidget(plain)
    plain.addItems(["a", "b"])
    wheel(plain)
    assert plain.currentIndex() == 1
    ignore_wheel(plain)
    plain.setCurrentIndex(0)
    wheel(plain)
    assert plain.currentIndex() == 0
