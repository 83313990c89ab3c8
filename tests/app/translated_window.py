"""The window in another language, in a process of its own: prints its texts as JSON.

Tables of texts are made when their modules are imported, hence in one language a process. Run as
``python -m tests.app.translated_window LANGUAGE FOLDER WIDTH HEIGHT RUN``.
"""

import json
import sys
from pathlib import Path

from gradscribe.playback import translation

PARTS = (
    "help.palette",
    "file.gallery",
    "learn.lessons",
    "edit.settings",
    "help.manual",
    "help.keys",
    "help.about",
    "edit.replace",
    "edit.find_graph",
    "run.history",
    "view.parameters",
    "doctor.open",
    "file.export_gif",
    "hand.find",
    "hand.code",
    "graph.ways",
    "graph.tensor",
    "lab.open",
    "train.room",
    "file.gallery",
)
"""Commands that show a part of the window."""


def main(language: str, folder: str, width: int, height: int, run: str) -> None:
    """Open window, dialogs and pages, and print [part, widget, kind, text, is cut] of each text."""
    translation.choose(language)
    assert not translation.was_asked(), "a text was translated before the language was chosen"
    from gradscribe.app.files.documents import Drafts
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.window.startup import make_app
    from gradscribe.app.window.window import Window
    from tests.app.fakes import FakeLink

    app = make_app(["test"])
    home = Path(folder)
    window = Window(FakeLink(), Settings(home / "s.ini"), Drafts(home))
    window.resize(width, height)
    window.open_first(run)
    window.show()
    app.processEvents()
    found: list[tuple[str, str, str, str, bool]] = []
    for part, show in parts(window):
        show()
        for _ in range(5):
            app.processEvents()
        found += [
            (part, *row) for top in app.topLevelWidgets() if top.isVisible() for row in texts(top)
        ]
    found += [("menus", *row) for row in menu_texts(window)]
    sys.stdout.write(json.dumps([*dict.fromkeys(found)], ensure_ascii=False))
    window.close()


def parts(window):
    """Yield each part of the window with a function that shows it."""
    context = window.context
    commands = {one.id: one for one in window.menus._commands}

    def do(name):
        return lambda: commands[name].run(context)

    yield "window", lambda: None
    yield "selection", lambda: window.session.select(window.session.view.selection or "op:0")
    for name in PARTS:
        yield name, do(name)


def texts(top):
    """Yield (widget, kind, text, is cut) of the visible texts below a widget."""
    from PySide6.QtWidgets import (
        QAbstractButton,
        QAbstractItemView,
        QGroupBox,
        QLabel,
        QLineEdit,
        QTabBar,
        QTreeView,
        QWidget,
    )

    for widget in (top, *top.findChildren(QWidget)):
        if not widget.isVisible():
            continue
        name = type(widget).__name__
        if isinstance(widget, QLabel):
            is_cut = not widget.wordWrap() and lacks_space(widget)
            yield name, "text", widget.text(), is_cut
        elif isinstance(widget, QAbstractButton):
            yield name, "text", widget.text(), bool(widget.text()) and lacks_space(widget)
        elif isinstance(widget, QGroupBox):
            yield name, "text", widget.title(), False
        elif isinstance(widget, QTabBar):
            yield from ((name, "tab", widget.tabText(i), False) for i in range(widget.count()))
        elif isinstance(widget, QLineEdit):
            yield name, "placeholder", widget.placeholderText(), False
        elif isinstance(widget, QAbstractItemView) and not isinstance(widget, QTreeView):
            model = widget.model()
            rows = range(min(model.rowCount(), 400)) if model is not None else ()
            yield from ((name, "row", str(model.index(row, 0).data() or ""), False) for row in rows)
        yield name, "tip", widget.toolTip(), False
        yield name, "name", widget.accessibleName(), False
        yield name, "description", widget.accessibleDescription(), False


def lacks_space(widget) -> bool:
    """Return whether a widget is narrower than its text."""
    return widget.width() + 1 < min(widget.sizeHint().width(), widget.minimumSizeHint().width())


def menu_texts(window):
    """Yield the texts of all actions."""
    from pyqtgraph import GraphicsScene
    from PySide6.QtGui import QAction

    for action in window.findChildren(QAction):
        if isinstance(action.parent(), GraphicsScene):
            continue  # pyqtgraph's own menu is never shown: charts have the window's
        yield "QAction", "text", action.text(), False
        yield "QAction", "tip", action.toolTip() if action.toolTip() != action.text() else "", False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
