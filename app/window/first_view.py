"""First view of a window that was started without a file: the tour, the start page, a file."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from gradscribe.app.commands import file
from gradscribe.app.document import examples
from gradscribe.app.files.documents import Refused

if TYPE_CHECKING:
    from gradscribe.app.window.window import Window


def show_first_view(window: "Window") -> None:
    """Offer the tour once; later show what the setting ``start`` says.

    Neither stands before work that was recovered, or before a notice.
    """
    settings, once = window.settings, Qt.ConnectionType.SingleShotConnection
    if window.notices.notice is not None or not _shows_example(window):
        return
    if not settings.flag("tour"):
        settings.put("tour", True)
        window.session.tape_changed.connect(window.tour.start, once)
    elif settings.text("start") == "page":
        window.painted.connect(window.context.show_start, once)
    elif settings.text("start") == "empty":
        file.new(window.context)
    else:
        _open_last(window)


def _shows_example(window: "Window") -> bool:
    """Return whether the window shows the first example, as if nothing had been done before."""
    doc = window.session.doc
    return not doc.path and doc.source == doc.saved == examples.load()[0].source


def _open_last(window: "Window") -> None:
    recent = window.settings.recent()
    if recent:
        try:
            file.open_path(window.context, recent[0])
        except Refused as refusal:
            window.status.say(str(refusal))
