"""A rank: run the script under a recorder, and write its tape however it ends.

What the script computes is that of ``torchrun SCRIPT.py``: the same arguments, folder and threads,
and no setting of torch is changed but the seed, of which each rank gets one of its own, as each has
without one.
"""

import faulthandler
import os
import platform
import sys
import threading
import time
from pathlib import Path

import msgspec
import torch

from gradscribe.engine import system
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.ranks import job as rank_job
from gradscribe.engine.protocol.ranks.job import RankJob
from gradscribe.engine.protocol.tape import Place, Problem, RankInfo, Status, Tape
from gradscribe.engine.protocol.tape_file import RunProgram
from gradscribe.engine.ranks import ending
from gradscribe.engine.record.draft import draft
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run import run, watchdog
from gradscribe.engine.run.script_imports import script_folder

ENDING_S = 5.0
"""Seconds that a script which has ended gets for its own tape, though the rank is to end."""
POLL_S = 0.05
FAILED = 1
"""Exit code of a rank whose script failed."""


class RankProgram:
    """The script of this rank, its recorder, and its tape."""

    def __init__(self, work: RankJob) -> None:
        self.job = work
        self.rank, self.world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.request = Run(
            0,
            work.source,
            work.filename,
            work.seed + self.rank,
            work.device,
            work.timeout,
            work.event_limit,
            threads=0,
            memory=work.memory,
            examine=work.examine,
            full_events=0,
            arguments=work.arguments,
        )
        self._recorder: Recorder | None = None
        self._lock = threading.Lock()
        self._is_written = threading.Event()
        self._line_begun = ""

    def run(self) -> Tape:
        """Run the script and return its tape, which has been written."""
        self._recorder = recorder = run.new_recorder(self.request)
        done = run.perform(self.request, recorder, self._printed)
        self._printed("\n" if self._line_begun else "")
        with self._lock:
            tape = run.finished_tape(self.request, recorder, done)
            self._write(tape)
        return tape

    def _printed(self, text: str) -> None:
        """Pass on whole lines, each with its rank."""
        *lines, self._line_begun = f"{self._line_begun}{text}".split("\n")
        if lines and sys.__stdout__ is not None:
            # In one piece: the ranks share the stream.
            sys.__stdout__.write("".join(f"[rank {self.rank}] {line}\n" for line in lines))
            sys.__stdout__.flush()

    def write_unfinished(self, status: Status) -> None:
        """Write what was recorded of a script that is not going to end, from another thread.

        Its own thread waits in a collective, or computes; it is not interrupted.
        """
        deadline = time.monotonic() + ENDING_S
        while self._line() == 0 and time.monotonic() < deadline:
            # The script has ended by itself just now: its own tape is about to be written.
            self._is_written.wait(POLL_S)
        with self._lock:
            if self._is_written.is_set():
                return
            recorder, line = self._recorder, self._line()
            if recorder is None:
                return
            recorder.log.is_recording = recorder.log.open = False
            with torch.no_grad():
                tape = draft(recorder, {})
            error = self._reason(status, recorder, line)
            events = (*tape.events, *ending.error_events(line))
            tape = msgspec.structs.replace(tape, status=status, error=error, events=events)
            self._write(tape, line)

    def _line(self) -> int:
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None and frame.f_code.co_filename != self.request.filename:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0

    def _reason(self, status: Status, recorder: Recorder, line: int) -> Problem:
        waits = [row for row in recorder.log.collectives if not row.is_done]
        call = waits[-1].kind if waits else ending.waiting_call()
        if call:
            doing = f"waited in {call} on line {line}" if line else f"waited in {call}"
        else:
            doing = f"was on line {line}" if line else "was at its end"
        if status == "timeout":
            text = f"Rank {self.rank} {doing} when the {self.request.timeout:g} s were over"
            hint = "The other ranks never reached it." if waits else ""
            return Problem("Timeout", text, hint, Place(line, 0, line, 0) if line else Place())
        text = f"Rank {self.rank} {doing} when another rank had failed"
        return Problem("RankEnded", text, "", Place(line, 0, line, 0) if line else Place())

    def _write(self, tape: Tape, line: int = 0) -> None:
        backend = self._recorder.collectives.backend if self._recorder is not None else ""
        info = RankInfo(self.rank, self.world, self.job.run, backend, line)
        program = RunProgram(
            self.job.source,
            Path(self.job.filename).name,
            time.time(),
            str(torch.__version__),
            platform.python_version(),
            platform.platform(),
            tape.device,
            self.request.seed,
            self.job.product,
        )
        path = rank_job.tape_path(self.job.folder, self.rank)
        rank_job.write_tape(path, program, msgspec.structs.replace(tape, rank=info))
        self._is_written.set()


def main(path: str) -> None:
    """Run a job in this rank, and leave the process."""
    system.die_with_parent()
    faulthandler.enable()
    os.environ.pop("PYTHONSAFEPATH", None)
    work = rank_job.read(path)
    rank = RankProgram(work)
    # As with `python SCRIPT.py`: in place of the folder of this module's command line.
    folder = script_folder(rank.request)
    if folder:
        sys.path.insert(0, folder)
    ending.on_terminate(lambda: ending.leave(rank.write_unfinished, "died"))
    watchdog.on_stuck = lambda: ending.leave(rank.write_unfinished, "timeout")
    tape = rank.run()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without Python's finalization, which would wait for threads of the script and of gloo.
    os._exit(0 if tape.status == "ok" else FAILED)
