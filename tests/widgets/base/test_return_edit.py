"""A Return in a field presses nothing else."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gradscribe.widgets.base.return_edit import ReturnEdit


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_a_button_that_gets_the_focus_meanwhile_is_not_pressed(qtbot, key):
    host, heard, pressed = QWidget(), [], []

    class Heard(QWidget):
        """Notes the keys that reach it."""

        def keyPressEvent(self, event):
            heard.append(event.key())

    around = Heard(host)
    column = QVBoxLayout(around)
    edit, button = ReturnEdit(), QPushButton("Next")
    column.addWidget(edit)
    column.addWidget(button)
    button.clicked.connect(lambda: pressed.append(1))
    edit.returnPressed.connect(button.setFocus)
    qtbot.addWidget(host)
    with qtbot.waitActive(host):
        host.show()
    edit.setFocus()
    qtbot.keyClicks(edit, "abc")
    with qtbot.waitSignal(edit.returnPressed):
        qtbot.keyClick(host.windowHandle(), key)
    assert edit.text() == "abc"
    assert (heard, pressed) == ([], [])
    qtbot.keyClick(host.windowHandle(), Qt.Key.Key_Escape)
    assert heard == [Qt.Key.Key_Escape], "other keys go on"
