"""The shape lab over the window: it asks the engine through the session and shows the answer."""

import re
from functools import cache
from importlib import resources

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.overlay import Overlay
from app.session import Session
from app.theming import Look
from engine.wire import Probed
from widgets.lab.page import ShapeLab

SIZE = (1240, 860)


@cache
def starts() -> tuple[tuple[str, str], ...]:
    """Return title and lines of every starting point, the files of ``assets/lab`` in their order.

    The first line of a file is a comment with its title.
    """
    folder = resources.files("assets") / "lab"
    files = [entry for entry in folder.iterdir() if re.fullmatch(r"\d\d_\w+\.py", entry.name)]
    found = []
    for entry in sorted(files, key=lambda entry: entry.name):
        title, _, source = entry.read_text(encoding="utf-8").partition("\n")
        found.append((title.removeprefix("# "), source.rstrip("\n")))
    return tuple(found)


class LabCard(Overlay):
    """The lab on a card that leaves the window under it as it is."""

    def __init__(self, over: QWidget, session: Session, look: Look, source: str = "") -> None:
        super().__init__(over, *SIZE)
        self._session = session
        self.lab = ShapeLab(look.theme(), starts(), self.card)
        heading = QLabel("Shape lab")
        heading.setProperty("role", "heading")
        caption = QLabel("How the shape of a result falls out of the shapes that go in")
        caption.setProperty("role", "caption")
        close = QPushButton("Close")
        close.clicked.connect(self.leave)
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addSpacing(8)
        row.addWidget(caption)
        row.addStretch(1)
        row.addWidget(close)
        self.column.addLayout(row)
        self.column.addWidget(self.lab, 1)
        self.card.setAccessibleName("Shape lab")
        # Lines made from a program from elsewhere may hold what that program wanted them to.
        guarded = bool(source) and session.doc.foreign
        self.lab.asked.connect(lambda lines: session.probe(lines, guarded))
        session.probed.connect(self._show)
        look.changed.connect(self.lab.set_theme)
        self.lab.start(source)

    def open(self) -> None:
        """Show it, ready to be typed into."""
        super().open()
        self.lab.list.setFocus()

    def _show(self, message: object) -> None:
        if isinstance(message, Probed):
            self.lab.show_probed(message)
