"""The look: it follows the settings and tells every themed widget."""

from PySide6.QtWidgets import QApplication

from app.settings import Settings
from app.theming import LECTURE_TEXT, Look


class Themed:
    def __init__(self):
        self.names = []

    def set_theme(self, theme):
        self.names.append(theme.name)


def test_widgets_are_told_of_every_theme(qtbot):
    settings, widget = Settings(), Themed()
    look = Look(settings)
    settings.put("theme", "light")
    look.add(widget)
    settings.put("theme", "dark")
    look.close()
    assert widget.names == ["light", "dark"]
    window = QApplication.palette().window().color()
    assert window.lightness() < 80


def test_text_size_and_lecture_mode_scale_the_type(qtbot):
    settings = Settings()
    look = Look(settings)
    assert look.scale() == 1.0
    settings.put("text", 1.2)
    assert look.scale() == 1.2
    settings.put("lecture", True)
    assert look.scale() == 1.2 * LECTURE_TEXT
    assert QApplication.font().pixelSize() == round(13 * look.scale())
    settings.put("lecture", False)
    settings.put("text", 1.0)
    look.close()


def test_the_system_decides_where_the_user_does_not(qtbot):
    look = Look(Settings())
    assert look.theme().name in ("light", "dark")
    look.close()
