"""The saved work of a window and its session file: JSON in an `app.files.checksummed`."""

from pathlib import Path

import msgspec
from msgspec import Struct

from gradscribe.app.document.state import Doc, View
from gradscribe.app.files import checksummed, documents
from gradscribe.app.files.checksummed import DamagedFile
from gradscribe.engine.protocol.lecture.slides import plausible
from gradscribe.playback.translation import tr
from gradscribe.widgets.editor.edit_history import EditStep, original_text

MAX_BYTES = 64 << 20
"""Most bytes of a session file that is read."""
MAX_TIMESTAMP = float(1 << 36)
"""Limit of plausible Unix timestamps; greater ones cannot be converted to a date."""


class SessionData(Struct, frozen=True):
    """The document, its undo history, the view, and the time of saving (seconds since 1970)."""

    doc: Doc
    view: View = View()
    steps: tuple[EditStep, ...] = ()
    done: int = 0
    """Number of steps that lead to the text; the others were undone."""
    caret: tuple[int, int] = (0, 0)
    scroll: tuple[int, int] = (0, 0)
    when: float = 0.0

    def validated(self) -> "SessionData":
        """Return a copy without a history that does not fit the text, or values out of range."""
        fits = self
        try:
            original_text(self.doc.source, self.steps, self.done)
        except ValueError:
            fits = msgspec.structs.replace(fits, steps=(), done=0)
        places = (*self.caret, *self.scroll, self.view.position)
        if not (abs(self.when) < MAX_TIMESTAMP and all(0 <= place < 1 << 31 for place in places)):
            view = msgspec.structs.replace(self.view, position=0)
            fits = msgspec.structs.replace(fits, view=view, caret=(0, 0), scroll=(0, 0), when=0.0)
        doc = self.doc
        lines, count = self.view.breakpoints, self.doc.source.count("\n") + 1
        if lines != (real := tuple(sorted({line for line in lines if 0 < line <= count}))):
            fits = msgspec.structs.replace(
                fits, view=msgspec.structs.replace(fits.view, breakpoints=real)
            )
        if not -(1 << 63) <= doc.seed < 1 << 63:
            doc = msgspec.structs.replace(doc, seed=0)
        slides = plausible(doc.slides)
        doc = msgspec.structs.replace(doc, slides=slides) if slides != doc.slides else doc
        # The tape of a run that was opened from a file is not part of a session file.
        doc = msgspec.structs.replace(doc, recorded=None) if doc.recorded else doc
        # Not a valid file name: Python raises ValueError for it.
        if "\0" in doc.path:
            doc = msgspec.structs.replace(doc, path="")
        return fits if doc is self.doc else msgspec.structs.replace(fits, doc=doc)


def encode(kept: SessionData) -> bytes:
    """Return the bytes of a session file."""
    try:
        payload = msgspec.json.encode(kept)
    except UnicodeEncodeError:
        # A lone surrogate, which cannot be encoded in UTF-8.
        text = kept.doc.source.encode("utf-8", "replace").decode()
        # Its Python is remembered by its file, in the settings.
        doc = msgspec.structs.replace(kept.doc, source=text, interpreter=None)
        payload = msgspec.json.encode(SessionData(doc=doc, view=kept.view, when=kept.when))
    return checksummed.wrap(payload)


def decode(data: bytes) -> SessionData:
    """Decode the bytes of a session file.

    Raises:
        Damaged: it is no session file, or it was changed.
        Newer: a later version wrote it.
    """
    payload = checksummed.unwrap(data)
    try:
        return msgspec.json.decode(payload, type=SessionData).validated()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedFile(tr("it does not hold what a session file holds")) from error


def read(path: Path) -> SessionData:
    """Read the session file ``path``.

    Raises:
        OSError: it cannot be read.
        Damaged: it is no session file, or it was changed.
        Newer: a later version wrote it.
    """
    try:
        with documents.open_plain(path) as file:
            data = file.read(MAX_BYTES + 1)
    except documents.Refused as error:
        raise DamagedFile(str(error)) from error
    if len(data) > MAX_BYTES:
        raise DamagedFile(tr("it is far too long"))
    return decode(data)
