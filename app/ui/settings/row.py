"""A row of the settings: title, sentence, editor, and a button that gives back the default."""

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QWidget

from gradscribe.app.files.settings import Settings
from gradscribe.app.preferences.kinds import ChoiceKind, LineKind
from gradscribe.app.preferences.rows import EFFECTS, GROUPS, Setting
from gradscribe.app.ui.settings.editors import make_editor
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, push_button, vbox
from gradscribe.widgets.base.labels import Label

EDITOR_WIDTH = 300
"""Most width of an editor in pixels; a line of text may be as wide as the row."""


class SettingRow(QFrame):
    """One setting: what it is, what it does, its value, and since when it is not the default."""

    def __init__(
        self,
        row: Setting,
        settings: Settings,
        check: Callable[[str], object] | None,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.row, self._settings = row, settings
        self.setProperty("setting", True)
        self.title = Label("section", row.title, self)
        self.sentence = Label("caption", row.sentence, self)
        self.effect = Label("caption", EFFECTS[row.effect], self)
        self.effect.setVisible(row.effect != "now")
        self.problem = Label("error", "", self)
        self.problem.hide()
        self.back = push_button(tr("Reset"), self, self._reset, "quiet")
        self.back.setAccessibleName(tr("Reset {setting}", setting=row.title))
        self.editor = make_editor(row, check, self)
        self.title.setBuddy(self.editor.widget)
        self.editor.edited.connect(self._put)
        self.editor.refused.connect(self._show_problem)
        self._lay_out()
        self.show_value()

    def _lay_out(self) -> None:
        widget = self.editor.widget
        is_line = isinstance(self.row.kind, LineKind)
        if not is_line:
            widget.setMaximumWidth(EDITOR_WIDTH)
            widget.setMinimumWidth(min(EDITOR_WIDTH, widget.sizeHint().width()))
        edit = hbox(None, (widget, 2 if is_line else 0), spacing=12)
        edit.addWidget(self.back)
        edit.addStretch(1)
        parts = (self.title, self.sentence, self.effect, 4, edit, self.problem)
        vbox(self, *parts, margins=(12, 6, 12, 8), spacing=2)
        # A row with a reset button is as high as one without it.
        policy = self.back.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.back.setSizePolicy(policy)

    def show_value(self) -> None:
        """Show the stored value."""
        self.editor.show_value(self._settings.value(self.row.key))
        self._show_problem("")
        self.back.setVisible(not self._settings.is_default(self.row.key))

    def words(self) -> str:
        """Return all that a search looks at, in lower case."""
        kind = self.row.kind
        titles = list(kind.titles.values()) if isinstance(kind, ChoiceKind) else []
        parts = [self.row.title, self.row.sentence, GROUPS[self.row.group], self.row.key, *titles]
        return " ".join(parts).casefold()

    def mark(self, is_sought: bool) -> None:
        """Frame the row that was asked for."""
        self.setProperty("sought", is_sought)
        self.style().unpolish(self)
        self.style().polish(self)

    def _put(self, value: object) -> None:
        assert isinstance(value, bool | float | str)
        self._settings.put(self.row.key, value)

    def _reset(self) -> None:
        self._settings.reset(self.row.key)
        # The button hides itself: the keyboard must not be lost with it.
        self.editor.widget.setFocus()

    def _show_problem(self, why: str) -> None:
        self.problem.say(why)
        self.problem.setVisible(bool(why))
