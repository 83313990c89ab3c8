"""Build actions, menus, shortcuts and palette lines from the commands."""

import re
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from gradscribe.app import commands
from gradscribe.app.commands import MENUS, SECTIONS, Command, MenuChoice
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.files.documents import Refused
from gradscribe.app.preferences.rows import CHOICES
from gradscribe.app.ui import popup
from gradscribe.app.ui.palette import CommandPalette, PaletteLine
from gradscribe.app.window.menus.context_menus import COMMANDS, Subject
from gradscribe.playback.translation import tr

_LETTER = re.compile(r"\(&.\)|&")
"""The mark of the letter that opens a menu, as in ``&File`` and ``文件(&F)``."""


class Menus(QObject):
    """The menu bar of a window and every action in it."""

    def __init__(self, bar: QMenuBar, context: CommandContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._commands = commands.load()
        self._actions: dict[str, QAction] = {}
        self._bare: dict[str, Command] = {}
        for name, title in MENUS.items():
            menu = bar.addMenu(title)
            menu.setObjectName(name)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self.refresh)
            self._fill(menu, [one for one in self._commands if one.place[0] == name], owner)
        self.refresh()

    def _fill(self, menu: QMenu, entries: list[Command], owner: QWidget) -> None:
        group = entries[0].place[1] if entries else ""
        sections: dict[str, QMenu] = {}
        for one in entries:
            if one.place[1] != group:
                menu.addSeparator()
                group = one.place[1]
            self._add(self._section(menu, one.section, sections), one, owner)

    def _section(self, menu: QMenu, name: str, made: dict[str, QMenu]) -> QMenu:
        """Return the submenu of that name, or the menu itself for an empty one."""
        if not name:
            return menu
        if name not in made:
            made[name] = menu.addMenu(SECTIONS[name])
            made[name].setToolTipsVisible(True)
        return made[name]

    def _add(self, menu: QMenu, one: Command, owner: QWidget) -> None:
        """Add the action of a command to a menu, or its submenu of choices."""
        if one.choices:
            self._add_submenu(menu, one)
            return
        action = QAction(one.title, menu)
        action.setToolTip(one.tip)
        action.setStatusTip(one.tip)
        action.setShortcuts([QKeySequence(key) for key in one.keys])
        action.setCheckable(one.checked is not None)
        action.triggered.connect(lambda _=False, one=one: self.perform(one))
        if one.bare:
            # The part after a tab is shown where the shortcut stands.
            action.setText(f"{one.title}\t{one.bare[0]}")
        # An action in a hidden menu bar has no shortcuts unless a shown widget has it too.
        owner.addAction(action)
        menu.addAction(action)
        self._actions[one.id] = action
        self._bare |= {QKeySequence(key).toString(): one for key in one.bare}

    def _add_submenu(self, menu: QMenu, one: Command) -> None:
        sub = menu.addMenu(one.title)
        sub.setToolTipsVisible(True)
        sub.aboutToShow.connect(lambda: self._fill_choices(sub, one))
        self._actions[one.id] = sub.menuAction()

    def refill(self, name: str) -> None:
        """Fill the submenu with that id again if it is open."""
        sub = self._actions[name].menu()
        if isinstance(sub, QMenu) and sub.isVisible():
            self._fill_choices(sub, next(one for one in self._commands if one.id == name))

    def _fill_choices(self, sub: QMenu, one: Command) -> None:
        for old in sub.actions():
            sub.removeAction(old)
            old.deleteLater()
        for choice in one.choices(self._context) if one.choices else ():
            action = QAction(choice.title.replace("&", "&&"), sub)
            action.setToolTip(choice.tip)
            action.setCheckable(choice.checked is not None)
            action.setChecked(bool(choice.checked))
            action.triggered.connect(lambda _=False, choice=choice: self.choose(choice))
            sub.addAction(action)
        if not sub.actions():
            sub.addAction(tr("None yet")).setEnabled(False)

    def refresh(self) -> None:
        """Update the enabled and checked state of all actions."""
        for one in self._commands:
            action = self._actions[one.id]
            action.setEnabled(one.when(self._context))
            if one.checked:
                action.setChecked(one.checked(self._context))

    def perform(self, one: Command) -> None:
        """Execute a command, if it is enabled."""
        if one.when(self._context):
            self.choose(one)

    def perform_by(self, name: str) -> None:
        """Execute the command with that id, if it is enabled."""
        self.perform(next(one for one in self._commands if one.id == name))

    def choose(self, choice: MenuChoice | Command) -> None:
        """Execute an entry of a submenu, or a command; show a refusal in the status line."""
        try:
            choice.run(self._context)
        except Refused as refusal:
            self._context.say(str(refusal))
        self.refresh()

    def pop_up_for(self, subject: Subject, at: QPoint, first: Iterable[QAction] = ()) -> QMenu:
        """Open the context menu of what was pointed at, at a global point; it deletes itself.

        ``first``: actions of the widget itself, which come before the commands.
        """
        self.refresh()
        menu = QMenu(self._owner)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for action in first:
            # Those of a standard menu would be deleted with that.
            action.setParent(menu)
            menu.addAction(action)
        if menu.actions():
            menu.addSeparator()
        for name in COMMANDS[subject]:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()
        menu.popup(at)
        return menu

    def pop_up(self, name: str, at: QPoint) -> None:
        """Open the submenu with that id, its lower right corner at the global point ``at``."""
        sub = self._actions[name].menu()
        if isinstance(sub, QMenu):
            sub.aboutToShow.emit()
            sub.popup(at - QPoint(sub.sizeHint().width(), sub.sizeHint().height()))

    def show_palette(self, over: QWidget) -> None:
        """Open the list of all commands over a widget."""
        CommandPalette(over, self.lines()).open()

    def press(self, key: QKeyEvent) -> bool:
        """Execute the command with this bare key, or click the focused button on Return.

        Returns whether the key was handled.
        """
        plain = key.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain != Qt.KeyboardModifier.NoModifier:
            return False
        if popup.click_focused(key):
            return True
        one = self._bare.get(QKeySequence(key.key()).toString())
        if one is None or not one.when(self._context):
            return False
        self.perform(one)
        return True

    def lines(self) -> Iterable[PaletteLine]:
        """Yield a palette line for every command and each entry of an enabled submenu."""
        for one in self._commands:
            enabled = one.when(self._context)
            if one.choices:
                for choice in one.choices(self._context) if enabled else ():
                    title = f"{one.title}: {choice.title}"
                    yield PaletteLine(title, choice.tip, "", partial(self.choose, choice))
            else:
                keys = ", ".join(_shown(key) for key in (*one.bare, *one.keys)[:2])
                menu = _LETTER.sub("", MENUS[one.place[0]])
                run = partial(self.perform, one)
                yield PaletteLine(f"{menu}: {one.title}", one.tip, keys, run, enabled)
        yield from _setting_lines(self._context)
        yield from _manual_lines(self._context)


def _setting_lines(context: CommandContext) -> Iterable[PaletteLine]:
    """Yield a palette line for every setting."""
    for row in CHOICES:
        show = partial(context.show_settings, row.key)
        yield PaletteLine(tr("Settings: {title}", title=row.title), row.sentence, "", show)


def _manual_lines(context: CommandContext) -> Iterable[PaletteLine]:
    """Yield a palette line for every page and heading of the manual."""
    from gradscribe.app.manual import pages

    for page in pages.load():
        for heading in page.headings:
            is_title = heading is page.headings[0]
            place = (page.name, "" if is_title else heading.anchor)
            within = page.part if is_title else page.title
            show = partial(context.manual.show, *place)
            title = tr("Manual: {title}", title=heading.short)
            yield PaletteLine(title, within, "", show, is_text=True)


def _shown(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
