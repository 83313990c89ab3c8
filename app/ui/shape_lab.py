"""The shape lab card: it probes lines in the engine through the session and shows the result."""

from collections.abc import Iterator
from functools import cache

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gradscribe.app.document.session import Session
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.ui.theming import Theming
from gradscribe.assets.scripts import numbered_scripts
from gradscribe.engine.protocol.messages import Probed
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import vbox
from gradscribe.widgets.base.labels import plain_label
from gradscribe.widgets.base.painting.deferred_paint import resume_paint
from gradscribe.widgets.base.time_slices import END_TURN, TimeSlices
from gradscribe.widgets.lab.page import ShapeLab

SIZE = (1240, 860)
TURN_MS = 12
"""Time slice for creating the lab before control returns to the event loop."""


@cache
def starting_points() -> tuple[tuple[str, str], ...]:
    """Return title and lines of every starting point, the files of ``assets/lab`` in order.

    The first line of a file is a comment with its title.
    """
    found = []
    for entry in numbered_scripts("lab"):
        title, _, source = entry.read_text(encoding="utf-8").partition("\n")
        found.append((tr(title.removeprefix("# ")), source.rstrip("\n")))
    return tuple(found)


class LabCard(PopupCard):
    """The shape lab on a card over the window.

    Its content is created in time slices, like the tiles of the gallery.
    """

    def __init__(self, over: QWidget, session: Session, look: Theming, source: str = "") -> None:
        super().__init__(over, *SIZE)
        self._session = session
        self._made: ShapeLab | None = None
        heading = plain_label(tr("Shape lab"), "heading")
        caption = plain_label(
            tr("How the shape of a result falls out of the shapes that go in"), "caption"
        )
        caption.setWordWrap(True)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.leave)
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addSpacing(8)
        row.addWidget(caption, 1)
        row.addWidget(close)
        self.column.addLayout(row)
        # A placeholder, so that the heading is at its final position from the start.
        place = QWidget(self.card)
        self._place = vbox(place)
        self.column.addWidget(place, 1)
        self.card.setAccessibleName(tr("Shape lab"))
        self.making = TimeSlices(TURN_MS, self)
        self.making.begin(self._make(look, source))

    def _make(self, look: Theming, source: str) -> Iterator[bool | None]:
        # Yield to the event loop once, so that the card appears before the lab.
        yield END_TURN
        session = self._session
        lab = ShapeLab(look.theme(), starting_points(), self.card)
        # Lines generated from an untrusted program may contain what it wants them to.
        guarded = bool(source) and session.doc.foreign
        lab.asked.connect(lambda lines: session.probe(lines, guarded))
        session.probed.connect(self._show)
        look.changed.connect(lab.set_theme)
        self._made = lab
        yield END_TURN
        # Not painted until it is complete.
        lab.setUpdatesEnabled(False)
        self._place.addWidget(lab)
        lab.start(source)
        if self.window().focusWidget() is self:
            lab.list.setFocus()
        yield END_TURN
        resume_paint(lab)

    @property
    def lab(self) -> ShapeLab:
        """The lab; if it is not complete yet, it is completed at once."""
        self.making.finish()
        assert self._made is not None
        return self._made

    def open(self) -> None:
        """Open the card, and create the lab in time slices."""
        super().open()
        self.making.go_on()

    def leave(self) -> None:
        """Close the card, even if it is not complete."""
        self.making.stop()
        super().leave()

    def _show(self, message: object) -> None:
        if isinstance(message, Probed) and self._made is not None:
            self._made.show_probed(message)
