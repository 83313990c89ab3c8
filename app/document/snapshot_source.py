"""The numbers of tensors that the tape only summarizes: of the engine, or of a run's file."""

from collections.abc import Mapping
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.state import Result
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.regions import ReadRegion, Region, local_region
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot
from gradscribe.playback.translation import tr

MAX_PEEK = 1 << 20
"""Elements that a view asks for at once."""


class SnapshotLink(Protocol):
    """The part of the link that asks the engine for numbers."""

    def peek(self, run_id: int, snapshot: int, limit: int = MAX_PEEK) -> None:
        """Request all numbers of a snapshot."""

    def read_region(self, request: ReadRegion) -> None:
        """Request a region of a tensor."""


class SnapshotSource(QObject):
    """Answer requests for numbers of the shown tape, unless they are hidden."""

    peeked = Signal(object)
    """Carries a `messages.Peeked` about the shown tape."""
    region_read = Signal(object)
    """Carries a `Region` of the shown tape."""

    def __init__(self, link: SnapshotLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._big: Mapping[int, Snapshot] = {}
        self._file_id: int | None = None
        """The id under which a run from a file is shown."""
        self._shown_id = 0
        self._snapshots: tuple[Snapshot, ...] = ()

    def set_result(self, result: Result) -> None:
        """Answer for the tape that is shown now."""
        self._shown_id, self._snapshots = result.shown_id, result.tape.snapshots

    def set_file(self, big: Mapping[int, Snapshot] | None) -> None:
        """Answer about the run that is shown now from a file's numbers; None: from no file."""
        self._big = big or {}
        self._file_id = None if big is None else self._shown_id

    @property
    def run_id(self) -> int:
        """The id of the shown run; it changes with the run that is shown."""
        return self._shown_id

    @property
    def big(self) -> Mapping[int, Snapshot]:
        """The numbers that came with the file of the shown run; none if it is from no file."""
        return self._big if self.is_from_file else {}

    @property
    def is_from_file(self) -> bool:
        """True if the shown run was opened from a file."""
        return self._file_id is not None and self._shown_id == self._file_id

    def peek(self, snapshot: int, limit: int = MAX_PEEK) -> None:
        """Request all numbers of a snapshot of the shown tape."""
        if self.is_from_file or self._is_hidden(snapshot):
            full = None if self._is_hidden(snapshot) else self._big.get(snapshot)
            self.peeked.emit(messages.Peeked(self._shown_id, snapshot, full))
        else:
            self._link.peek(self._shown_id, snapshot, limit)

    def read_region(self, request: ReadRegion) -> None:
        """Request a region of a snapshot of the shown tape."""
        if self._is_hidden(request.snapshot):
            return
        asked = replace(request, run_id=self._shown_id)
        if not self.is_from_file:
            self._link.read_region(asked)
            return
        full = self._big.get(request.snapshot)
        array = None if full is None else full.array()
        if array is not None:
            self.region_read.emit(local_region(asked, array))
        else:
            head = (asked.run_id, asked.snapshot, asked.serial, (0, 0, 0, 0))
            self.region_read.emit(Region(*head, problem=tr("The file has only statistics of it")))

    def accept(self, message: messages.Peeked | Region) -> None:
        """Pass on an answer of the engine, if it is about the shown tape."""
        if message.run_id != self._shown_id:
            return
        (self.peeked if isinstance(message, messages.Peeked) else self.region_read).emit(message)

    def _is_hidden(self, snapshot: int) -> bool:
        known = self._snapshots
        return 0 <= snapshot < len(known) and known[snapshot].is_hidden
