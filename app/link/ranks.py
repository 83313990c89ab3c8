"""Several ranks of one script under torch.distributed.run: started, followed, ended, collected."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from gradscribe.app.link import launch, own_engine
from gradscribe.app.link.interpreters import Interpreter
from gradscribe.engine.protocol.ranks.job import RankJob, tape_path
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Problem, RankInfo, Tape
from gradscribe.engine.protocol.tape_file import (
    MAX_FILE,
    RunFile,
    RunProgram,
    UnreadableTape,
    decode,
)
from gradscribe.playback.translation import tr

MOST_RANKS = 64
"""Each is a process with torch, which takes some hundred MB."""
START_S = 180.0
"""Seconds for all ranks to import torch and to find each other, from a cold disk."""
END_S = 90.0
"""Seconds past the time limit for the ranks to write their tapes."""
STOP_S = 35.0
"""Seconds for the ranks to end after they were asked to; torch.distributed.run takes up to 30."""
_FAILED = re.compile(r"rank\s*:\s*(\d+) \(local_rank.*?exitcode\s*:\s*(-?\d+)", re.S)


class RankRun:
    """One run of a script on several ranks; `wait` blocks until all have ended."""

    def __init__(self, job: RankJob, ranks: int, interpreter: Interpreter | None = None) -> None:
        """Start it.

        Raises:
            UnusablePython: no Python with PyTorch is known.
        """
        interpreter = own_engine.resolve(interpreter)
        self._folder = tempfile.mkdtemp(prefix="gradscribe-ranks-")
        self._job = replace(job, folder=self._folder, run=job.run or uuid.uuid4().hex)
        self._ranks = ranks
        path = Path(self._folder, "job.json")
        path.write_bytes(msgspec.json.encode(self._job))
        self._errors = bytearray()
        self.is_stopped = False
        """True once `stop` was called."""
        self._process = subprocess.Popen(
            [
                launch.python_executable(interpreter),
                *("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"),
                *("-m", "gradscribe.engine.ranks", str(path)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(interpreter),
            bufsize=0,
            start_new_session=True,
        )

    def wait(self, printed: Callable[[str], None] | None = None) -> tuple[RunFile, ...]:
        """Follow the ranks to their end and return their runs, one a rank.

        ``printed`` is called with pieces of their output, from a thread. A rank that left no tape
        has one that says how it ended.
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        threads = [
            threading.Thread(target=self._pass_on, args=(self._process.stdout, printed)),
            threading.Thread(target=self._note_errors, args=(self._process.stderr,)),
        ]
        for thread in threads:
            thread.start()
        try:
            self._await(START_S + self._job.timeout + END_S)
        except BaseException:
            self.stop()
            self._await(STOP_S)
            raise
        finally:
            launch.kill(self._process.pid)
            self._process.wait()
            for thread in threads:
                thread.join()
            self._process.stdout.close()
            self._process.stderr.close()
            runs = tuple(self._read(rank) for rank in range(self._ranks))
            shutil.rmtree(self._folder, ignore_errors=True)
        return runs

    def stop(self) -> None:
        """Ask all ranks to write what they have recorded, and to end. Callable from any thread."""
        self.is_stopped = True
        with contextlib.suppress(OSError):
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End all ranks at once; what they have recorded is lost. Callable from any thread."""
        launch.kill(self._process.pid)

    def _await(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S)

    def _pass_on(self, pipe: IO[bytes], printed: Callable[[str], None] | None) -> None:
        room = launch.PRINTED_LIMIT
        while data := pipe.read(1 << 16):
            if printed is not None and room > 0:
                text = data.decode("utf-8", "replace")[:room]
                room -= len(text)
                printed(text)

    def _note_errors(self, pipe: IO[bytes]) -> None:
        while data := pipe.read(1 << 16):
            self._errors += data
            del self._errors[: -4 * launch.TAIL]

    def _read(self, rank: int) -> RunFile:
        path = tape_path(self._folder, rank)
        try:
            if path.stat().st_size <= MAX_FILE:
                return decode(path.read_bytes())
        except (OSError, UnreadableTape):
            pass
        info = RankInfo(rank, self._ranks, self._job.run)
        program = RunProgram(self._job.source, Path(self._job.filename).name, time.time())
        return RunFile(program, replace(self._lost(rank), rank=info))

    def _lost(self, rank: int) -> Tape:
        """Return the tape of a rank that wrote none."""
        errors = self._errors.decode("utf-8", "replace")
        codes = {int(found[1]): int(found[2]) for found in _FAILED.finditer(errors)}
        if rank in codes:
            code = codes[rank]
            why = launch.exit_reason(abs(code), code < 0, errors if code == -signal.SIGABRT else "")
            return launch.crash_tape(self._job.source, self._job.filename, why, errors)
        if self.is_stopped:
            return Tape(
                status="error", error=Problem("Stopped", tr("Stopped before it was recorded"))
            )
        why = launch.last_line(errors) or tr("torch.distributed.run ended")
        return Tape(
            status="died",
            error=Problem("EngineDied", tr("Rank {rank} did not run: {why}", rank=rank, why=why)),
        )


def check_count(ranks: int) -> str:
    """Return a word on a number of ranks that is more than this machine's cores, else ""."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if ranks <= (cores or 1):
        return ""
    return tr(
        "{ranks} ranks share {value} cores: they run in turns, which changes no number",
        ranks=ranks,
        value=cores or 1,
    )


def _environment(interpreter: Interpreter | None) -> dict[str, str]:
    passed = launch.environment(is_open=True, interpreter=interpreter)
    passed.pop("GRADSCRIBE_RANK_TAPE", None)
    # Else the folder in which the command runs could hide a package of the same name.
    passed["PYTHONSAFEPATH"] = "1"
    # What torchrun sets for several ranks, without its banner.
    passed.setdefault("OMP_NUM_THREADS", "1")
    if sys.platform == "linux":
        # By the host's name gloo may find an address that nothing answers at.
        passed.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return passed
