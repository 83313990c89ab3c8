"""Writer of a watched loop's file, in a thread that the loop never waits for."""

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.engine.protocol import watch_file
from gradscribe.engine.protocol.watch_file import WatchEvent, WatchRecord

if TYPE_CHECKING:
    from gradscribe.run_tape import RunTape

MOST_WAITING = 64
"""Most records that wait for the disk; later ones are dropped and counted."""
ASK_S = 0.5
"""Seconds between two looks for the order of a tape."""
END_S = 10.0
"""Most seconds that the end of the watch waits for the disk."""


class WatchWriter:
    """Appends records to a file in a thread of its own, and takes the orders of windows."""

    def __init__(self, path: Path, order: Callable[[int], None]) -> None:
        """Create the file and start the thread; ``order`` is called in it with a step, 0: the next.

        Raises:
            OSError: the file cannot be created.
        """
        self.path, self._order = path, order
        self._file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by the thread
        self._file.write(watch_file.MAGIC)
        self._written = len(watch_file.MAGIC)
        self._waiting: queue.Queue[WatchRecord | tuple[RunTape, int] | None]
        self._waiting = queue.Queue(MOST_WAITING)
        self.lost = 0
        """Records that were dropped because the disk was too slow."""
        self.trouble = ""
        """Reason for writing nothing any more; empty while all is well."""
        self._thread = threading.Thread(target=self._run, name="gradscribe watch", daemon=True)
        self._thread.start()

    def send(self, record: "WatchRecord | tuple[RunTape, int]") -> bool:
        """Have a record, or the tape of a step, written soon; return False if it is dropped."""
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self.lost += 1
            return False
        return True

    def close(self) -> None:
        """Write what waits, as long as the disk takes it, and end the thread."""
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=END_S)
            self._thread.join(END_S)

    def _run(self) -> None:
        while True:
            try:
                record = self._waiting.get(timeout=ASK_S)
            except queue.Empty:
                self._take_order()
                continue
            if record is None:
                break
            if isinstance(record, tuple):
                self._save(*record)
            else:
                self._append(record)
            self._take_order()
        with contextlib.suppress(OSError):
            self._file.close()

    def _append(self, record: WatchRecord) -> None:
        """Append a record; the first that fails ends the writing, which is said once."""
        if self.trouble:
            return
        data = watch_file.encode(record)
        if len(data) > watch_file.MAX_RECORD:
            self.lost += 1
            return
        if self._written + len(data) > watch_file.MAX_FILE:
            self._fail(f"{self.path} is full: the watch ends, the training goes on")
            return
        try:
            written = self._file.write(data)
            if written != len(data):
                raise OSError("no space is left")
            self._written += written
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(self._written)
            why = error.strerror or error
            self._fail(f"{self.path} cannot be written: {why}. The training goes on")

    def _fail(self, why: str) -> None:
        self.trouble = why
        say_once(why)

    def _save(self, tape: "RunTape", step: int) -> None:
        path = self.path.with_name(f"{self.path.stem}.step-{step}.tape")
        try:
            tape.save(path)
        except Exception as error:  # noqa: BLE001 - nothing here may end the user's program
            self._append(WatchEvent("note", step, f"The tape of step {step} is lost: {error}"))
        else:
            self._append(WatchEvent("tape", step, "The whole step as a tape", str(path)))

    def _take_order(self) -> None:
        asked = self.path.with_name(self.path.name + watch_file.ORDER)
        try:
            with open(asked, "rb") as file:
                words = file.read(32)
            os.unlink(asked)
        except OSError:
            return
        if words.strip().isdigit():
            self._order(int(words))


def say_once(words: str) -> None:
    """Write a line to standard error: a warning might be an exception there, and end the loop."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"gradscribe: {words}\n")
