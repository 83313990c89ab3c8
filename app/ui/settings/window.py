"""The window of the settings: search and groups, a row for each, reset, import and export."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLayout, QLineEdit, QListWidget, QScrollArea, QWidget

from gradscribe.app.files import atomic, external_editor
from gradscribe.app.files.settings import Settings
from gradscribe.app.preferences import exchange
from gradscribe.app.preferences.rows import CHOICES, GROUPS
from gradscribe.app.ui.settings.editors import Value
from gradscribe.app.ui.settings.row import SettingRow
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, make_scrollable, push_button, vbox
from gradscribe.widgets.base.labels import Label, sheet
from gradscribe.widgets.base.open_windows import resize_within_screen
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme

SIZE = (860, 660)
GROUPS_WIDTH = 170
FILE_NAME = "gradscribe-settings.json"
CHECKS: dict[str, Callable[[str], object]] = {"editor": external_editor.parse_command}
"""Checks of texts, by the setting, beyond what its kind accepts; they raise `Refused`."""
_SHEET = """
QFrame[setting="true"] { border: 1px solid transparent; border-radius: 8px; }
QFrame[setting="true"][sought="true"] { border: 2px solid @selection@; }
QListWidget { border: 2px solid transparent; border-radius: 8px; }
QListWidget:focus { border-color: @selection@; }
QListView::item { padding: 0px 8px; border-radius: 6px; }
QListView::item:selected { background: @selection_soft@; color: @ink@; }
QDoubleSpinBox { padding: 4px 20px 4px 8px; }
"""


@dataclass(frozen=True)
class FileDialogs:
    """Dialogs that ask for a file; they return None when cancelled."""

    ask_open: Callable[[str, str], Path | None]
    """(title, pattern)"""
    ask_save: Callable[[str, str, str], Path | None]
    """(title, name, pattern)"""


class SettingsWindow(QWidget):
    """All settings, with a search; each takes effect when it is changed."""

    def __init__(self, settings: Settings, dialogs: FileDialogs, owner: QWidget) -> None:
        super().__init__(owner, Qt.WindowType.Window)
        self.setWindowTitle(tr("Settings"))
        resize_within_screen(self, *SIZE)
        self._settings, self._dialogs = settings, dialogs
        self._before: dict[str, Value] = {}
        """Values before the last change of many at once."""
        self._make_widgets()
        self._lay_out()
        settings.changed.connect(self._follow)
        self._show_undo({}, "")

    def _make_widgets(self) -> None:
        self.query = QLineEdit(self)
        self.query.setPlaceholderText(tr("Search the settings"))
        self.query.setAccessibleName(tr("Search the settings"))
        self.query.setClearButtonEnabled(True)
        self.query.textChanged.connect(self._search)
        self.groups = QListWidget(self)
        self.groups.setAccessibleName(tr("Groups"))
        self.groups.setSpacing(4)
        self.groups.addItems(list(GROUPS.values()))
        self.groups.currentRowChanged.connect(self._go_to_group)
        self.area = QScrollArea(self)
        self.area.setAccessibleName(tr("Settings"))
        page = QWidget()
        self.nothing = Label("caption", tr("No setting has these words"), page)
        self.headings = {name: Label("heading", title, page) for name, title in GROUPS.items()}
        self.rows = {
            row.key: SettingRow(row, self._settings, CHECKS.get(row.key), page) for row in CHOICES
        }
        column = vbox(page, spacing=2)
        column.addWidget(self.nothing)
        self.nothing.hide()
        for name, heading in self.headings.items():
            heading.setContentsMargins(12, 10, 0, 2)
            column.addWidget(heading)
            for row in self.rows.values():
                if row.row.group == name:
                    column.addWidget(row)
        column.addStretch(1)
        make_scrollable(self.area, page)
        self.said = Label("words", "", self)
        self.undo = push_button(tr("Undo"), self, self._undo)

    def _lay_out(self) -> None:
        self.groups.setFixedWidth(GROUPS_WIDTH)
        foot = hbox(
            None,
            push_button(tr("Reset all"), self, self.reset_all),
            push_button(tr("Import…"), self, self.ask_import),
            push_button(tr("Export…"), self, self.ask_export),
            (self.said, 1),
            self.undo,
            spacing=8,
        )
        middle = hbox(None, self.groups, (self.area, 1), spacing=12)
        column = vbox(self, self.query, (middle, 1), foot, margins=(12, 12, 12, 12), spacing=10)
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        for keys, act in (("Ctrl+F", self._focus_search), ("Esc", self._leave)):
            QShortcut(QKeySequence(keys), self, act)

    def set_theme(self, theme: Theme) -> None:
        """Use ``theme``'s colours and fonts."""
        marks = _SHEET
        for token in ("selection_soft", "selection", "ink"):
            marks = marks.replace(f"@{token}@", theme.color(token).name())
        set_sheet(self, sheet(theme) + marks)
        # The list measures its rows once.
        self.groups.doItemsLayout()
        self.groups.setFixedWidth(round(GROUPS_WIDTH * min(theme.scale, 1.5)))

    def show_row(self, key: str) -> None:
        """Bring a setting into view, with the keyboard in its editor; empty: the search."""
        if not key:
            self._focus_search()
            return
        self.query.clear()
        for name, row in self.rows.items():
            row.mark(name == key)
        self.rows[key].editor.widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        # Once the window has its size.
        QTimer.singleShot(0, self, lambda: self._scroll_to(self.rows[key]))

    # Search

    def _focus_search(self) -> None:
        self.query.setFocus()
        self.query.selectAll()

    def _leave(self) -> None:
        if self.query.text():
            self.query.clear()
        else:
            self.close()

    def _search(self, text: str) -> None:
        words = text.casefold().split()
        shown = set()
        for row in self.rows.values():
            fits = all(word in row.words() for word in words)
            row.setVisible(fits)
            row.mark(False)
            shown |= {row.row.group} if fits else set()
        for at, name in enumerate(GROUPS):
            self.headings[name].setVisible(name in shown)
            self.groups.item(at).setHidden(name not in shown)
        self.nothing.setVisible(not shown)

    def _go_to_group(self, at: int) -> None:
        if at >= 0:
            self._scroll_to(list(self.headings.values())[at])

    def _scroll_to(self, part: QWidget) -> None:
        self.area.verticalScrollBar().setValue(part.y())

    # Values

    def _follow(self, key: str) -> None:
        if key in self.rows:
            self.rows[key].show_value()

    def _put_all(self, values: dict[str, Value], words: str) -> None:
        """Put values; then offer to undo that."""
        before = self._settings.choices()
        for key, value in values.items():
            self._settings.put(key, value)
        after = self._settings.choices()
        changed = {key: value for key, value in before.items() if after[key] != value}
        self._show_undo(changed, words)

    def _undo(self) -> None:
        before, self._before = self._before, {}
        for key, value in before.items():
            self._settings.put(key, value)
        self._show_undo({}, tr("All is as it was before"))
        self.query.setFocus()

    def _show_undo(self, before: dict[str, Value], words: str) -> None:
        self._before = before
        self.said.say(words)
        self.undo.setVisible(bool(before))

    def reset_all(self) -> None:
        """Give every setting its default."""
        defaults: dict[str, Value] = {row.key: row.default for row in CHOICES}
        self._put_all(defaults, tr("All settings are as they were at first"))

    # Files

    def ask_export(self) -> None:
        """Write the settings to a file that the user chooses."""
        path = self._dialogs.ask_save(tr("Export settings"), FILE_NAME, tr("Settings (*.json)"))
        if path is not None:
            self.export(path)

    def export(self, path: Path) -> None:
        """Write the settings to a file; say how that went."""
        try:
            atomic.write(path, exchange.encode(self._settings.choices()))
        except OSError as error:
            why = atomic.reason(error)
            self._show_undo({}, tr("{path} cannot be written: {why}", path=path, why=why))
        else:
            self._show_undo({}, tr("Written to {path}", path=path))

    def ask_import(self) -> None:
        """Take over the settings of a file that the user chooses."""
        path = self._dialogs.ask_open(tr("Import settings"), tr("Settings (*.json)"))
        if path is not None:
            self.take_over(path)

    def take_over(self, path: Path) -> None:
        """Take over the settings of a file; a damaged one changes nothing."""
        try:
            with path.open("rb") as file:
                found = exchange.decode(file.read(exchange.MAX_BYTES + 1))
        except OSError as error:
            why = atomic.reason(error)
            self._show_undo({}, tr("{path} cannot be read: {why}", path=path, why=why))
        except exchange.InvalidSettings as error:
            words = tr("Nothing is changed: {why} ({file})", why=error, file=path.name)
            self._show_undo({}, words)
        else:
            self._put_all(found.values, found.summary())
