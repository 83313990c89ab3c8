"""The tape of one rank of a script that the user starts with torchrun.

``import gradscribe`` begins it where `VARIABLE` names a file; it is written when the script ends.
"""

import atexit
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradscribe.engine.run.in_process import InProcessRecording

VARIABLE = "GRADSCRIBE_RANK_TAPE"
"""Names the tapes: ``run.tape`` becomes ``run.rank0.tape`` and so on."""
_RANK, _WORLD = "RANK", "WORLD_SIZE"
_RUN = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
"""Variables of torchrun by which the tapes of one run are known."""


def begin() -> None:
    """Begin to record this process, if it is a rank; else say why not, once, on standard error."""
    frame = _main_frame()
    if frame is None or not os.environ.get(VARIABLE):
        return
    if not (os.environ.get(_RANK, "").isdecimal() and os.environ.get(_WORLD, "").isdecimal()):
        sys.stderr.write(
            f"gradscribe: {VARIABLE} is set, but this is no rank of torchrun: not recorded\n"
        )
        return
    RankTape(frame).start()


def _main_frame() -> FrameType | None:
    """Return the frame of the script, which imports this package; None in a console."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        frame = frame.f_back
    if frame is None or not os.path.isfile(frame.f_code.co_filename):
        return None
    return frame


class RankTape:
    """The recording of this rank, from the import to the end of the script."""

    def __init__(self, frame: FrameType) -> None:
        from gradscribe.engine.run.in_process import source_of

        self._names = frame.f_globals
        self._filename = frame.f_code.co_filename
        self._source = source_of(self._filename, frame.f_globals)
        # Where the script changes its folder, the tape still goes to that of its start.
        self._path = Path(os.environ[VARIABLE]).absolute()
        self._rank, self._world = int(os.environ[_RANK]), int(os.environ[_WORLD])
        self._recording: InProcessRecording | None = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._is_written = False

    def start(self) -> None:
        """Begin to record, and to wait for the end.

        Raises:
            RecordingError: a recording is running already.
        """
        from gradscribe.engine.run.in_process import InProcessRecording
        from gradscribe.recording import claim

        claim(VARIABLE)
        self._recording = InProcessRecording(self._source, self._filename)
        self._hook = sys.excepthook
        sys.excepthook = self._failed
        atexit.register(self._finish)
        self._watch_signal()
        self._recording.start()

    def _failed(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._error = error
        self._hook(kind, error, trace)

    def _watch_signal(self) -> None:
        """Write the tape when torchrun ends this rank, also while it waits in a collective."""
        if not hasattr(os, "register_at_fork") or signal.getsignal(signal.SIGTERM) is not (
            signal.SIG_DFL
        ):
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.signal(signal.SIGTERM, lambda *_: None)
        # Written by the handler in C, at once; Python's would wait for the main thread.
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=_as_before)

        def wait() -> None:
            while data := os.read(reading, 1):
                if data[0] == signal.SIGTERM:
                    self._finish(is_ended=True)
                    os._exit(128 + signal.SIGTERM)

        threading.Thread(target=wait, name="gradscribe-end", daemon=True).start()

    def _finish(self, is_ended: bool = False) -> None:
        with self._lock:
            if self._is_written or self._recording is None:
                return
            self._is_written = True
            try:
                self._write(self._recording, is_ended)
            except Exception as error:  # noqa: BLE001 - the script has ended as it has
                sys.stderr.write(f"gradscribe: rank {self._rank} has no tape: {error}\n")

    def _write(self, recording: "InProcessRecording", is_ended: bool) -> None:
        import msgspec

        from gradscribe.app.files import documents, tape_files
        from gradscribe.app.ranks import rank_files
        from gradscribe.engine.doctor.examine import examine_safely
        from gradscribe.engine.protocol.tape import RankInfo

        if is_ended:
            tape = recording.unfinished_tape()
        else:
            recording.stop(self._error)
            tape = recording.tape(self._names)
        info = RankInfo(self._rank, self._world, self._run(), recording.backend)
        tape = msgspec.structs.replace(tape, rank=info)
        tape = msgspec.structs.replace(tape, findings=examine_safely(tape, self._source))
        name = Path(self._filename).name
        program = tape_files.describe(self._source, name, 0, tape)
        path = rank_files.path_of(self._path, self._rank)
        documents.write_bytes(path, tape_files.encode(program, tape))

    def _run(self) -> str:
        return ":".join(os.environ.get(name, "") for name in _RUN)[:200]


def _as_before() -> None:
    """Give a forked process torch's own end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
