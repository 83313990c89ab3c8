"""How the engine is started, and what its death tells: the same for the window and the CLI."""

import contextlib
import os
import re
import signal
import sys
from pathlib import Path

import engine
from engine.standing import At
from engine.tape import Place, Problem, Tape

GRACE_S = 2.0
"""A program that cannot be interrupted is killed so long after its time limit."""
ABORT_S = 0.5
"""And may take so long to tell where it was."""
FREEZE_S = 60.0
"""So long may putting a tape together take, once the program has ended."""
SPARE = "--spare"
"""Tells an engine to become ready without haste."""
ALONE = "--alone"
"""Tells an engine that there is no window beside it, to leave the processors to."""
OPEN = "--open"
"""Tells an engine that its programs may do what the user may."""
PASSED_ON = (
    "PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC "
    "APPDATA LOCALAPPDATA USERPROFILE NUMBER_OF_PROCESSORS LD_LIBRARY_PATH DYLD_LIBRARY_PATH"
).split()
FAMILIES = (
    *("LC_", "PYTHON", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "GOMP_", "TORCH", "PYTORCH_", "CUDA_"),
    *("NVIDIA_", "ROCM_", "HIP_", "HSA_", "XDG_", "VIRTUAL_ENV", "CONDA_"),
)
"""Variables that an engine gets to know, by how they begin; the others may hold passwords."""
_PASSWORDS = re.compile("KEY|TOKEN|SECRET|PASS|AUTH|CRED", re.IGNORECASE)
"""Names within those families that passwords go by."""
SPARE_BYTES = 1 << 30
"""So much memory must be free before an engine is started that may never be needed."""
PRINTED_LIMIT = 4_000_000
"""An engine that sends more output of one program than this is broken, or not ours any more."""
GARBAGE = "it wrote something else than messages"
ENDLESS = "it wrote without end"
"""Why an engine is given up that may not be ours any more."""
TAIL = 16_384
"""Characters of the engine's standard error that are kept."""

_FATAL = re.compile(r"^Fatal Python error: (.+?)(?: \(|$)", re.MULTILINE)
_DEVICE = re.compile(r"^The device failed: (.+)$", re.MULTILINE)
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
_FROM_OUTSIDE = (
    "killed",
    *(f"signal {one}, {one.name}" for one in signal.Signals if one.name not in _CRASHES),
)
"""How `cause` begins where nothing went wrong within, but somebody ended the engine."""
_ALONE = re.compile(r"^(Thread|Current thread|Extension modules|Python runtime state|<no )")


def arguments() -> list[str]:
    """Return what follows the Python program; ``-P`` keeps the user's folder out of its path."""
    return ["-P", "-u", "-m", "engine"]


def memory_free() -> int:
    """Return the bytes of memory that are free for another engine; plenty where none can tell."""
    free = 1 << 40
    with contextlib.suppress(OSError, ValueError):
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
        free = int(found[1]) << 10 if found else free
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        free = min(free, limit - int((group / "memory.current").read_text()))
    return free


def folder_of(filename: str) -> str:
    """Return the folder that a script may read and import from; empty where it is no file."""
    path = Path(filename)
    return str(path.absolute().parent) if os.path.isfile(path) else ""


def environment(is_open: bool = False) -> dict[str, str]:
    """Return the engine's environment: it finds our packages wherever it is started.

    Unless ``is_open`` it is not told what a program has no use for.
    """
    root = str(Path(engine.__file__).resolve().parent.parent)
    before = os.environ.get("PYTHONPATH")
    known = {
        name: text
        for name, text in os.environ.items()
        if is_open or (_is_passed_on(name.upper()) and not _PASSWORDS.search(name))
    }
    return {**known, "PYTHONPATH": f"{root}{os.pathsep}{before}" if before else root}


def _is_passed_on(name: str) -> bool:
    return name in PASSED_ON or name.startswith(FAMILIES)


def program() -> str:
    """Return the Python that runs the engine: the one that runs us."""
    return sys.executable


def cause(code: int, crashed: bool, errors: str) -> str:
    """Return in a few words why an engine ended, without a full stop.

    Args:
        code: the exit code; where it ``crashed``, the number of the signal.
        crashed: whether a signal ended it.
        errors: the end of its standard error.
    """
    fatal = _FATAL.search(errors)
    if fatal:
        return fatal[1][:1].lower() + fatal[1][1:]
    if device := _DEVICE.search(errors):
        return f"the device failed: {device[1][:200]}"
    if crashed and code == getattr(signal, "SIGKILL", -1):
        return f"killed, signal {code}"
    if crashed and code:
        try:
            return f"signal {code}, {signal.Signals(code).name}"
        except ValueError:
            return f"signal {code}"
    line = last_line(errors)
    return f"exit code {code}" + (f": {line}" if line and code else "")


def last_line(errors: str) -> str:
    """Return the last line of standard error that says something."""
    lines = [line.strip() for line in errors.splitlines()]
    told = [line for line in lines if line and not _ALONE.match(line)]
    return told[-1][:200] if told else ""


def dead_place(source: str, filename: str, errors: str, at: At | None = None) -> Place:
    """Return the line of the program that an engine was running when it ended.

    It left word of that in ``errors`` where it crashed; ``at`` is where it said it was before.
    """
    found = re.search(rf'File "{re.escape(filename)}", line (\d+) in', errors)
    lines = source.split("\n")
    number = int(found[1]) if found else at.line if at else 0
    if not 0 < number <= len(lines):
        return Place()
    text = lines[number - 1].rstrip()
    return Place(number, len(text) - len(text.lstrip()), number, max(len(text), 1))


def obituary(
    source: str, filename: str, why: str, errors: str, stdout: str = "", at: At | None = None
) -> Tape:
    """Return the tape of a program that took its engine down, with what it had printed."""
    place = dead_place(source, filename, errors, at)
    message, hint = _last_words(why, by_itself=at is not None and at.ends)
    if at is not None and not at.ends and place == dead_place(source, filename, "", at):
        hint = f"The program was last seen on this line. {hint}"
    return Tape(status="died", error=Problem("Crash", message, hint, place), stdout=stdout)


def _last_words(why: str, by_itself: bool) -> tuple[str, str]:
    """Return what happened, and what helps; ``by_itself``: a line of the program asked for it."""
    if why.startswith("exit code") or (by_itself and why.startswith(_FROM_OUTSIDE)):
        return f"The program ended Python itself ({why})", "To end a program early use sys.exit()."
    if why.startswith("killed"):
        hint = "From outside, or because memory ran out. Run it again, or make a size smaller."
        return f"Python was {why}", hint
    if why.startswith(_FROM_OUTSIDE):
        hint = "It came from outside, or from an alarm that the program set. Run it again."
        return f"Python was ended by {why}", hint
    if why in (GARBAGE, ENDLESS):
        hint = "Does the program write to or close file descriptors by number? Leave those past 2."
        return f"Python was given up: {why}", hint
    hint = "Something in compiled code went wrong; a library was used in a way it cannot take."
    return f"Python crashed ({why})", hint


def overdue(
    source: str,
    filename: str,
    timeout: float,
    errors: str,
    stdout: str = "",
    stopped: bool = False,
    at: At | None = None,
) -> Tape:
    """Return the tape of a program that had to be killed: late, or ``stopped`` and went on."""
    place = dead_place(source, filename, errors, at)
    code = source.split("\n")[place.line - 1].strip()[:80] if place.line else ""
    if stopped:
        message = f"The program was here: {code}" if code else "The program was stopped"
        problem = Problem("Stopped", message, "", place)
        return Tape(status="error", error=problem, stdout=stdout)
    message = f"Still running after {timeout:g} s" + (f": {code}" if code else "")
    hint = "One step took too long. Make a size or a range smaller, or raise the time limit."
    problem = Problem("Timeout", message, hint, place)
    return Tape(status="timeout", error=problem, stdout=stdout)


def kill(pid: int) -> None:
    """Kill an engine with all that its programs have started; returns at once."""
    if pid > 0 and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def abort(pid: int) -> bool:
    """Have an engine write down where it is and die; returns whether that can be asked for."""
    if pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, signal.SIGABRT)
        # One that has been stopped hears of it only when it goes on.
        os.kill(pid, signal.SIGCONT)
    except OSError:
        return False
    return True
