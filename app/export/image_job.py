"""Export jobs: write pictures and tapes to files or the clipboard in steps."""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from PySide6.QtGui import QGuiApplication

from gradscribe.app.export.queue import ExportJob, awaited
from gradscribe.app.files import documents
from gradscribe.engine.inspect import export
from gradscribe.engine.protocol.tape import Tape
from gradscribe.playback.graph.dot import to_dot
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.drive import GeneratorRun
from gradscribe.widgets.graph.snapshot import GraphSnapshot, png_bytes

T = TypeVar("T")

LEGIBLE = 0.8
"""Pixels per scene unit below which small text is hardly legible."""


def job_for(path: Path, still: GraphSnapshot, tape: Tape) -> ExportJob:
    """Return the job that writes a file of the format given by the suffix of ``path``.

    Raises:
        Refused: its folder is missing or not writable.
    """
    kind = path.suffix.lower()
    if kind == ".json":
        return FileJob(path, lambda: export.encode(tape))
    if kind == ".dot":
        return FileJob(path, lambda: to_dot(still.picture).encode())
    return PictureJob(path, still)


def legibility_note(still: GraphSnapshot) -> str:
    """Return a warning if the image is too small to be legible; else an empty text."""
    small = still.image_scale() < LEGIBLE
    return tr(", too small to be read everywhere: SVG has all of it") if small else ""


class FileJob(ExportJob):
    """A file that is made in a worker thread: a DOT file, a run, or a tape as JSON."""

    def __init__(self, path: Path, make: Callable[[], bytes | Sequence[bytes]]) -> None:
        super().__init__(path.name)
        documents.check_writable(path)
        self.path, self._make = path, make
        self._lock = threading.Lock()
        self._over = self._is_written = False

    def __len__(self) -> int:
        """Return 1: the progress is unknown."""
        return 1

    def steps(self) -> Iterator[int]:
        """Make it and write it.

        Raises:
            Refused: the file cannot be written.
        """
        yield from run_in_thread(self._finish)

    def try_cancel(self) -> bool:
        """Cancel without leaving a file; False if the file is being written already."""
        with self._lock:
            self._over = not self._is_written
        return self._over

    def _finish(self) -> None:
        data = self._make()
        with self._lock:
            self._is_written = not self._over
        if self._is_written:
            documents.write_bytes(self.path, data)


class PictureJob(FileJob):
    """The graph as a PNG or SVG file: painted in slices, encoded in a worker thread."""

    def __init__(self, path: Path, still: GraphSnapshot) -> None:
        super().__init__(path, bytes)
        self._still = still
        self._is_text = path.suffix.lower() == ".svg"
        if not self._is_text:
            self.done_text += legibility_note(still)

    def __len__(self) -> int:
        """Return in about how many steps it is painted."""
        return len(self._still)

    def steps(self) -> Iterator[int]:
        """Paint it, yielding the number of steps done after each; then write it."""
        if self._is_text:
            data = yield from count_steps(self._still.svg(), len(self))
            self._make = lambda: data
        else:
            image = yield from count_steps(self._still.image(), len(self))
            self._make = lambda: png_bytes(image)
        yield from super().steps()


class CopyJob(ExportJob):
    """The graph as an image on the clipboard."""

    verb = tr("Copying")

    def __init__(self, still: GraphSnapshot) -> None:
        super().__init__(tr("the picture"))
        self._still = still
        self.done_text = tr(
            "Copied the picture{legibility_note}", legibility_note=legibility_note(still)
        )
        self.busy_text = tr("The picture is still being copied")
        self.cancelled_text = tr("the picture was not copied")

    def __len__(self) -> int:
        """Return in about how many steps it is painted."""
        return len(self._still)

    def steps(self) -> Iterator[int]:
        """Paint it, then put it on the clipboard."""
        image = yield from count_steps(self._still.image(), len(self))
        QGuiApplication.clipboard().setImage(image)


def count_steps(steps: Generator[None, None, T], most: int) -> Generator[int, None, T]:
    """Yield the number of steps done, at most ``most``, and return the generator's value."""
    bits = GeneratorRun(steps)
    for done, _ in enumerate(bits, 1):
        yield min(done, most)
    return bits.result


def run_in_thread(make: Callable[[], T]) -> Generator[int, None, T]:
    """Call ``make`` in another thread; yield until it is done, and return its result."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
    try:
        return (yield from awaited(pool.submit(make)))
    finally:
        # A cancellation does not wait for the thread.
        pool.shutdown(wait=False, cancel_futures=True)
