"""Making a window: its widgets get the style sheet once they have their places."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.window.window import Window
from tests.app.fakes import FakeLink


class StyleChanges(QObject):
    """Counts the changes of style that widgets are sent."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def make(qtbot, folder):
    window = Window(FakeLink(), Settings(folder / "s.ini"), Drafts(folder))
    qtbot.addWidget(window)
    return window


def fonts(qapp, window):
    """Show a window, and return the fonts of its buttons and labels."""
    window.show()
    qapp.processEvents()
    found = [(one.text(), one.font()) for one in window.findChildren(QPushButton)]
    return found + [(one.text(), one.font()) for one in window.findChildren(QLabel)]


def test_a_widget_is_not_restyled_with_each_part_that_it_is_placed_in(qtbot, qapp, tmp_path):
    qapp.setStyleSheet("")
    changes = StyleChanges()
    qapp.installEventFilter(changes)
    window = make(qtbot, tmp_path)
    qapp.removeEventFilter(changes)
    # Parts with a sheet of their own are still restyled where they are placed.
    assert changes.count < 9 * len(window.findChildren(QWidget))
    window.close()


def test_a_second_window_looks_like_the_first(qtbot, qapp, tmp_path):
    first = make(qtbot, tmp_path)
    sheet, expected = qapp.styleSheet(), fonts(qapp, first)
    assert sheet
    assert all(font.pixelSize() > 0 for _, font in expected)
    first.close()
    second = make(qtbot, tmp_path)
    assert qapp.styleSheet() == sheet
    assert fonts(qapp, second) == expected
    second.close()
