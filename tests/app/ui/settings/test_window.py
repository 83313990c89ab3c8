"""The window of the settings: every setting has a row, which shows and changes its value."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.preferences.rows import CHOICES, GROUPS
from gradscribe.app.ui.settings.window import FileDialogs, SettingsWindow
from gradscribe.widgets.base.theme import Theme


class Files:
    """Dialogs that answer with a path."""

    def __init__(self):
        self.path = None

    def ask_open(self, title, pattern):
        return self.path

    def ask_save(self, title, name, pattern):
        return self.path


@pytest.fixture
def settings(qapp):
    return Settings()


@pytest.fixture
def files():
    return Files()


@pytest.fixture
def page(qtbot, settings, files):
    owner = QWidget()
    qtbot.addWidget(owner)
    page = SettingsWindow(settings, FileDialogs(files.ask_open, files.ask_save), owner)
    page.set_theme(Theme.load("light"))
    page.show()
    yield page
    page.close()


def editor(page, key):
    return page.rows[key].editor.widget


def shown(page):
    return {key for key, row in page.rows.items() if not row.isHidden()}


def test_every_choice_has_a_row_and_every_group_a_heading(page):
    assert set(page.rows) == {row.key for row in CHOICES}
    assert [page.groups.item(at).text() for at in range(page.groups.count())] == list(
        GROUPS.values()
    )
    for row in CHOICES:
        assert editor(page, row.key).accessibleName() == row.title
        assert page.rows[row.key].sentence.said() == row.sentence


def test_a_change_in_the_row_changes_the_setting_at_once(page, settings):
    box = editor(page, "order")
    assert isinstance(box, QCheckBox)
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert settings.flag("order")
    assert box.text() == "On"
    amount = editor(page, "text")
    assert isinstance(amount, QDoubleSpinBox)
    QTest.keyClick(amount, Qt.Key.Key_Up)
    assert settings.number("text") == 1.1
    titles = editor(page, "theme")
    assert isinstance(titles, QComboBox)
    QTest.keyClicks(titles, "D")
    assert settings.text("theme") == "dark"


def test_a_change_from_elsewhere_is_shown_and_not_echoed(page, settings):
    changes = []
    settings.changed.connect(changes.append)
    settings.put("timeout", 30.0)
    settings.put("order", True)
    assert editor(page, "timeout").value() == 30
    assert editor(page, "order").isChecked()
    assert changes == ["timeout", "order"]


def test_a_number_is_shown_as_it_is_stored_whatever_its_step(page, settings):
    settings.put("text", 1.21)
    assert editor(page, "text").value() == 121
    assert settings.number("text") == 1.21


def test_a_text_that_does_not_fit_says_why_and_changes_nothing(page, settings):
    line = editor(page, "editor")
    assert isinstance(line, QLineEdit)
    QTest.keyClicks(line, "vim")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert "{file}" in page.rows["editor"].problem.said()
    assert settings.text("editor") == ""
    QTest.keyClicks(line, " {file}")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert settings.text("editor") == "vim {file}"
    assert page.rows["editor"].problem.isHidden()
    size = editor(page, "film_size")
    size.selectAll()
    QTest.keyClicks(size, "huge")
    QTest.keyClick(size, Qt.Key.Key_Return)
    assert settings.text("film_size") == "fit"
    assert not page.rows["film_size"].problem.isHidden()


def test_the_search_leaves_what_has_all_words(page):
    QTest.keyClicks(page.query, "font code")
    assert shown(page) == {"code_font"}
    assert not page.headings["appearance"].isHidden()
    assert page.headings["films"].isHidden()
    assert page.groups.item(len(GROUPS) - 1).isHidden()
    page.query.setText("dark")
    assert "theme" in shown(page)
    page.query.setText("no such words")
    assert not shown(page)
    assert not page.nothing.isHidden()
    QTest.keyClick(page.query, Qt.Key.Key_Escape)
    assert len(shown(page)) == len(CHOICES)
    assert page.isVisible()
    QTest.keyClick(page.query, Qt.Key.Key_Escape)
    assert not page.isVisible()


def test_a_setting_is_found_by_its_key(page, qtbot):
    page.query.setText("nothing of the kind")
    page.show_row("film_code")
    assert len(shown(page)) == len(CHOICES)
    assert page.focusWidget() is editor(page, "film_code")
    row = page.rows["film_code"]
    qtbot.waitUntil(lambda: not row.visibleRegion().isEmpty())
    assert row.property("sought")


def test_one_setting_is_reset_and_the_keyboard_stays_in_its_row(page, settings):
    row = page.rows["text"]
    assert row.back.isHidden()
    settings.put("text", 1.5)
    assert not row.back.isHidden()
    row.back.setFocus()
    QTest.keyClick(row.back, Qt.Key.Key_Space)
    assert settings.number("text") == 1.0
    assert row.back.isHidden()
    assert page.focusWidget() is editor(page, "text")


def test_all_settings_are_reset_and_that_can_be_undone(page, settings):
    settings.put("theme", "dark")
    settings.put("text", 1.5)
    settings.put("access", True)
    page.reset_all()
    assert settings.choices() == {row.key: row.default for row in CHOICES}
    assert not page.undo.isHidden()
    page.undo.click()
    assert (settings.text("theme"), settings.number("text")) == ("dark", 1.5)
    assert settings.flag("access")
    assert page.undo.isHidden()


def test_settings_go_to_another_computer_and_the_import_can_be_undone(
    page, settings, files, tmp_path
):
    settings.put("theme", "dark")
    files.path = tmp_path / "mine.json"
    page.ask_export()
    assert str(files.path) in page.said.said()
    settings.put("theme", "light")
    settings.put("order", True)
    page.ask_import()
    assert (settings.text("theme"), settings.flag("order")) == ("dark", False)
    page.undo.click()
    assert (settings.text("theme"), settings.flag("order")) == ("light", True)


def test_a_cancelled_dialog_does_nothing(page, settings):
    before = settings.choices()
    page.ask_export()
    page.ask_import()
    assert settings.choices() == before
    assert page.said.said() == ""


def test_a_spoilt_file_is_named_and_changes_nothing(page, settings, files, tmp_path):
    files.path = tmp_path / "spoilt.json"
    before = settings.choices()
    for content in (b"", b"\0\1", json.dumps({"format": "gradscribe settings"}).encode()):
        files.path.write_bytes(content)
        page.ask_import()
        assert "Nothing is changed" in page.said.said()
        assert "spoilt.json" in page.said.said()
        assert page.undo.isHidden()
    files.path = tmp_path / "gone.json"
    page.ask_import()
    assert "cannot be read" in page.said.said()
    assert settings.choices() == before


def test_a_folder_that_cannot_be_written_is_said(page, files, tmp_path):
    files.path = tmp_path / "no folder" / "mine.json"
    page.ask_export()
    assert "cannot be written" in page.said.said()
    # A folder where the file should be: nobody can write that, root included.
    files.path = tmp_path
    page.ask_export()
    assert "cannot be written" in page.said.said()


def test_a_font_that_is_not_installed_is_shown_as_such(page, settings):
    settings.put("ui_font", "No Such Family")
    box = editor(page, "ui_font")
    assert box.currentText() == "No Such Family (not installed here)"
    page.rows["ui_font"].back.click()
    assert settings.text("ui_font") == ""


def test_the_wheel_scrolls_the_page_and_changes_no_setting_on_the_way(page, settings, qtbot):
    from PySide6.QtCore import QPoint, QPointF
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    page.query.setFocus()
    for key in ("text", "theme"):
        box = editor(page, key)
        turned = QWheelEvent(
            QPointF(5, 5),
            QPointF(box.mapToGlobal(QPoint(5, 5))),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(box, turned)
    assert (settings.number("text"), settings.text("theme")) == (1.0, "system")


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_nothing_is_cut_off_in_a_small_window(page, scale):
    page.set_theme(Theme.load("dark").scaled(scale))
    page.resize(760 if scale > 1 else 560, 420)
    page.layout().activate()
    bar = page.area.horizontalScrollBar()
    assert bar.maximum() == 0 or page.area.widget().width() <= page.area.viewport().width()
    for row in page.rows.values():
        assert row.title.heightForWidth(row.title.width()) <= row.title.height() + 1
        assert row.sentence.heightForWidth(row.sentence.width()) <= row.sentence.height() + 1
