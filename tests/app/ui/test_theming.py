"""The look: it follows the settings and tells every themed widget."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.ui.system_wishes import APPEARANCE
from gradscribe.app.ui.theming import Theming
from gradscribe.widgets.base import motion
from gradscribe.widgets.base.stylesheet import set_sheet
from tests.app.ui.test_system_wishes import change


class Themed:
    def __init__(self):
        self.names = []

    def set_theme(self, theme):
        self.names.append(theme.name)


def test_widgets_are_told_of_every_theme(qtbot):
    settings, widget = Settings(), Themed()
    look = Theming(settings)
    settings.put("theme", "light")
    look.add(widget)
    settings.put("theme", "dark")
    look.close()
    assert widget.names == ["light", "dark"]
    window = QApplication.palette().window().color()
    assert window.lightness() < 80


def test_text_size_and_presenting_scale_the_type(qtbot):
    settings = Settings()
    look = Theming(settings)
    assert look.scale() == 1.0
    settings.put("text", 1.2)
    assert look.scale() == 1.2
    settings.put("presenting", True)
    settings.put("presenting_text", 1.5)
    assert look.scale() == pytest.approx(1.8)
    look.finish()
    assert QApplication.font().pixelSize() == round(13 * look.scale())
    settings.put("presenting_text", 3.0)
    assert look.scale() == 3.0, "both sizes are not multiplied beyond what fits"
    settings.put("presenting", False)
    settings.put("text", 1.0)
    look.close()


def test_the_system_decides_where_the_user_does_not(qtbot):
    look = Theming(Settings())
    assert look.theme().name in ("light", "dark")
    look.close()


@pytest.mark.parametrize(
    ("theme", "contrast", "name"),
    [
        ("light", "usual", "light"),
        ("light", "high", "contrast-light"),
        ("dark", "high", "contrast-dark"),
        ("dark", "system", "dark"),
    ],
)
def test_contrast_is_chosen_for_either_theme(qtbot, theme, contrast, name):
    settings = Settings()
    settings.put("theme", theme)
    settings.put("contrast", contrast)
    look = Theming(settings)
    assert look.theme().name == name
    look.close()


def test_the_wishes_of_the_system_are_followed_and_overridden(qtbot):
    settings, seen = Settings(), []
    settings.put("theme", "light")
    look = Theming(settings)
    look.apply()
    look.changed.connect(lambda theme: seen.append(theme.name))
    try:
        look.wishes.take_change(change(APPEARANCE, "contrast", 1))
        look.wishes.take_change(change(APPEARANCE, "reduced-motion", 1))
        look.finish()
        assert seen == ["contrast-light"]
        assert motion.is_reduced()
        settings.put("contrast", "usual")
        settings.put("motion", "full")
        look.finish()
        assert seen == ["contrast-light", "light"]
        assert not motion.is_reduced()
        settings.put("motion", "reduced")
        look.wishes.take_change(change(APPEARANCE, "reduced-motion", 0))
        assert motion.is_reduced()
    finally:
        motion.set_reduced(False)
        look.close()


def test_another_font_reaches_every_widget(qtbot):
    settings = Settings()
    look = Theming(settings)
    label = QLabel("text")
    qtbot.addWidget(label)
    try:
        look.apply()
        label.show()
        families = QFontDatabase.families()
        other = next(name for name in families if name != label.font().family())
        settings.put("ui_font", other)
        look.finish()
        assert label.font().families()[0] == other
        settings.put("ui_font", "No Such Family")
        look.finish()
        assert label.font().families()[0] != "No Such Family"
    finally:
        settings.put("ui_font", "")
        look.close()


def test_another_theme_leaves_the_event_loop_its_turns_and_arrives_whole(qtbot):
    settings, told = Settings(), []
    look = Theming(settings)
    look.changed.connect(lambda theme: told.append(theme.name))
    page = QWidget()
    qtbot.addWidget(page)
    labels = [QLabel(str(number), page) for number in range(2_000)]
    look.apply()
    page.show()
    settings.put("theme", "light" if look.theme().name == "dark" else "dark")
    assert len(told) == 1, "2,000 widgets take longer than one turn"
    assert not page.updatesEnabled()
    qtbot.waitUntil(lambda: len(told) == 2)
    qtbot.waitUntil(page.updatesEnabled)
    ink = look.theme().palette().windowText().color()
    assert all(one.palette().windowText().color() == ink for one in labels)
    look.close()


def test_the_window_has_its_new_look_though_it_was_about_to_be_painted(qtbot):
    class Page(QWidget):
        painted = ""

        def paintEvent(self, _happened):
            self.painted = self.palette().window().color().name()

    settings = Settings()
    look = Theming(settings)
    look.apply()
    page = Page()
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    for name in ("dark", "light", "dark"):
        page.update()
        settings.put("theme", name)
        wanted = look.theme().palette().window().color().name()
        qtbot.waitUntil(lambda wanted=wanted: page.painted == wanted)
    look.close()


def test_a_change_on_the_way_to_another_wins(qtbot):
    settings, widget = Settings(), Themed()
    look = Theming(settings)
    look.add(widget)
    page = QWidget()
    qtbot.addWidget(page)
    for number in range(2_000):
        QLabel(str(number), page)
    page.show()
    settings.put("theme", "dark")
    settings.put("theme", "light")
    qtbot.waitUntil(lambda: not look._steps.busy)
    assert widget.names[-1] == "light"
    assert page.updatesEnabled()
    look.close()


def test_a_widget_that_fails_leaves_the_window_painted(qtbot):
    class Bad:
        def set_theme(self, theme):
            raise ValueError("no paint")

    settings = Settings()
    look = Theming(settings)
    page = QWidget()
    qtbot.addWidget(page)
    page.show()
    look._themed.append(Bad())
    with pytest.raises(ValueError, match="no paint"):
        look.apply()
    assert page.updatesEnabled()
    look.close()


def test_all_themed_widgets_are_dressed_when_the_window_is_painted_again_in_its_own_turn(qtbot):
    class Page(QWidget):
        def set_theme(self, theme):
            told.append((self.objectName(), self.window().updatesEnabled()))

    settings, told = Settings(), []
    look = Theming(settings)
    window = QWidget()
    qtbot.addWidget(window)
    pages = [Page(window), Page(window)]
    for page, name in zip(pages, ("hidden", "seen"), strict=True):
        page.setObjectName(name)
    window.show()
    pages[0].hide()
    look.add(*pages)
    told.clear()
    look.changed.connect(lambda _theme: told.append(("changed", window.updatesEnabled())))
    look._begin()
    while len(told) < 3:
        look._steps.go_on()
    assert told == [("hidden", False), ("seen", False), ("changed", False)]
    assert not window.updatesEnabled(), "the turn that dressed the last one paints nothing"
    look._steps.go_on()
    assert window.updatesEnabled()
    look.finish()
    look.close()


class Parts(QWidget):
    """Takes a theme in three parts."""

    def __init__(self):
        super().__init__()
        self.dressed = []

    def set_theme(self, theme):
        self.dressed = [theme.name] * 3

    def apply_theme_in_steps(self, theme):
        self.dressed = []
        for _ in range(3):
            self.dressed.append(theme.name)
            yield


def test_a_widget_of_many_parts_is_dressed_in_several_turns(qtbot, monkeypatch):
    settings = Settings()
    settings.put("theme", "light")
    look, parts = Theming(settings), Parts()
    qtbot.addWidget(parts)
    look.add(parts)
    look.apply()
    assert parts.dressed == ["light"] * 3
    monkeypatch.setattr(look._steps, "_turn_ms", 0)
    seen = []
    ticks = QTimer()
    ticks.timeout.connect(lambda: seen.append(len(parts.dressed)))
    ticks.start(0)
    settings.put("theme", "dark")
    qtbot.waitUntil(lambda: parts.dressed == ["dark"] * 3)
    ticks.stop()
    assert {1, 2} <= set(seen), "there are turns in between"
    look.close()


def test_after_a_window_that_could_not_be_made_sheets_are_set_again(qapp, qtbot, tmp_path):
    look = Theming(Settings(tmp_path / "s.ini"))
    look.suspend_style_sheet()
    label = QLabel()
    qtbot.addWidget(label)
    set_sheet(label, "color: #ff0000")
    qtbot.waitUntil(lambda: label.styleSheet() == "color: #ff0000")
    look.close()
