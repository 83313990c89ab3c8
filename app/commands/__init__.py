"""Commands, each declared once: the source of menus, shortcuts, the palette and the tests.

A module in this folder declares its commands when it is imported; `load` imports them all. A
command gets a `CommandContext` and never a widget, so that it can be tested without a window.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from gradscribe.app.commands.context import CommandContext
from gradscribe.playback.translation import tr

MENUS = {
    "File": tr("&File"),
    "Edit": tr("&Edit"),
    "Run": tr("&Run"),
    "View": tr("&View"),
    "Play": tr("&Play"),
    "Train": tr("&Train"),
    "Learn": tr("&Learn"),
    "Lecture": tr("Le&cture"),
    "Help": tr("&Help"),
}
"""Menu -> its title with the letter that opens it."""
SECTIONS = {
    "breakpoints": tr("Breakpoints"),
    "compare": tr("Compare"),
    "export": tr("Export"),
    "external": tr("In your editor"),
    "folding": tr("Folding"),
    "layout": tr("Panels and layout"),
    "measure": tr("Measure"),
    "modules": tr("Modules"),
    "next": tr("Play on to"),
    "paths": tr("Paths in the graph"),
    "pointer": tr("Pointer and spotlight"),
    "selection": tr("Selection"),
    "slide": tr("This slide"),
    "tensor": tr("Selected tensor"),
    "text": tr("Text and theme"),
    "zoom": tr("Zoom"),
}
"""Submenu of a group -> its title. They leave each menu short enough for 640 pixels of height."""
_ORDER = [*MENUS]


Page = Literal["", "program", "training"]
"""The page that a command acts on; empty if it does not depend on the page."""


def always(_: CommandContext) -> bool:
    """Return True: the command is always enabled."""
    return True


@dataclass(frozen=True)
class MenuChoice:
    """An entry of a submenu that is filled each time it opens."""

    title: str
    run: Callable[[CommandContext], None]
    tip: str = ""
    checked: bool | None = None


@dataclass(frozen=True)
class Command:
    """Something the user can do.

    ``menu`` is the menu, the group in it (``Run/1``), and the key in `SECTIONS` of the submenu, if
    it stands in one (``Run/4/compare``). ``keys`` work everywhere; ``bare`` keys,
    without a modifier, if the focused widget does not use them. ``choices`` makes it a submenu.
    """

    id: str
    title: str
    menu: str
    tip: str
    run: Callable[[CommandContext], None]
    keys: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    when: Callable[[CommandContext], bool] = always
    checked: Callable[[CommandContext], bool] | None = None
    choices: Callable[[CommandContext], Sequence[MenuChoice]] | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The menu and the group in it."""
        menu, group, *_ = self.menu.split("/")
        return menu, group

    @property
    def section(self) -> str:
        """The key in `SECTIONS` of the submenu; empty if it stands in the menu itself."""
        return self.menu.split("/")[2] if self.menu.count("/") == 2 else ""

    @property
    def module(self) -> str:
        """Name of the module that declares it."""
        return (self.choices or self.run).__module__


_declared: dict[str, Command] = {}
_Enabled = Callable[[CommandContext], bool]
_Action = Callable[[CommandContext], None]
_Choices = Callable[[CommandContext], Sequence[MenuChoice]]


def command(
    name: str,
    title: str,
    menu: str,
    keys: tuple[str, ...] = (),
    bare: tuple[str, ...] = (),
    when: _Enabled = always,
    checked: _Enabled | None = None,
    page: Page = "",
) -> Callable[[_Action], _Action]:
    """Declare the decorated function as a command; its docstring is the tooltip.

    With a ``page`` it is enabled only there: what acts on a page must not do so out of sight.
    """

    def declare(run: _Action) -> _Action:
        tip = _tip(run.__doc__)
        _add(Command(name, title, menu, tip, run, keys, bare, _on_page(page, when), checked))
        return run

    return declare


def _on_page(page: Page, when: _Enabled) -> _Enabled:
    if not page:
        return when
    return lambda context: context.workspaces.current == page and when(context)


def _add(command: Command) -> None:
    if command.id in _declared:
        raise ValueError(f"two commands are called {command.id}")
    _declared[command.id] = command


def _tip(docstring: str | None) -> str:
    return tr((docstring or "").strip().removesuffix("."))


def submenu(name: str, title: str, menu: str, page: Page = "") -> Callable[[_Choices], _Choices]:
    """Declare the decorated function as a submenu with the choices it returns.

    With a ``page`` it is enabled only there.
    """

    def declare(choices: _Choices) -> _Choices:
        tip = _tip(choices.__doc__)
        when = _on_page(page, always)
        _add(Command(name, title, menu, tip, lambda _: None, when=when, choices=choices))
        return choices

    return declare


def load() -> tuple[Command, ...]:
    """Return all commands, menu by menu, group by group, in the order of their declaration."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    # Modules import each other: without their names the order were that of the imports.
    grouped = sorted(_declared.values(), key=lambda one: (one.place[1], one.module))
    return tuple(sorted(grouped, key=lambda command: _ORDER.index(command.place[0])))
