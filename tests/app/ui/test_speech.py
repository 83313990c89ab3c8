"""Settings, remarks and errors read out by assistive technology."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.preferences.rows import BY_KEY
from gradscribe.app.ui.speech import SettingsAnnouncer, announce, value_text
from gradscribe.app.window.bars import StatusLine


@pytest.fixture
def heard(monkeypatch):
    """The sentences that are announced, while a screen reader listens."""
    said = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: said.append(event.message())
    )
    return said


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [("gradients", False, "off"), ("theme", "dark", "Dark"), ("text", 1.5, "150 %")],
)
def test_a_value_is_said_as_its_editor_shows_it(key, value, words):
    assert value_text(BY_KEY[key], value) == words


def test_a_command_that_changes_a_setting_is_heard(heard, qtbot, tmp_path):
    settings, source = Settings(tmp_path / "s.ini"), QWidget()
    qtbot.addWidget(source)
    SettingsAnnouncer(settings, source)
    source.show()
    source.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is source)
    settings.put("theme", "dark")
    settings.put("tour", True)
    assert heard == ["Theme: Dark"], "a setting without a row is no choice of the user"


def test_remarks_are_heard(heard, qtbot):
    line = StatusLine()
    qtbot.addWidget(line)
    line.say("Saved as loss.csv")
    announce(line, "")
    assert heard == ["Saved as loss.csv"]
