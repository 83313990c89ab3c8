"""Engine launch parameters and crash diagnosis, shared by the window and the CLI."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gradscribe.app.link.interpreters import Interpreter, lent_source
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Place, Problem, Tape
from gradscribe.playback.translation import tr

GRACE_S = 2.0
"""Seconds between the time limit and the kill of a program that ignores the interrupt."""
ABORT_S = 0.5
"""Seconds that an aborted engine gets to write its traceback."""
FREEZE_S = 60.0
"""Seconds that assembling the tape may take after the program has ended."""
SPARE = "--spare"
"""Option: start up at low priority, as a spare engine."""
ALONE = "--alone"
"""Option: no window runs in parallel, so all processors may be used."""
OPEN = "--open"
"""Option: run programs with all of the user's permissions."""
PASSED_VARIABLES = (
    "PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC "
    "APPDATA LOCALAPPDATA USERPROFILE NUMBER_OF_PROCESSORS LD_LIBRARY_PATH DYLD_LIBRARY_PATH"
).split()
VARIABLE_PREFIXES = (
    *("LC_", "PYTHON", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "GOMP_", "TORCH", "PYTORCH_", "CUDA_"),
    *("NVIDIA_", "ROCM_", "HIP_", "HSA_", "XDG_", "VIRTUAL_ENV", "CONDA_"),
)
"""Prefixes of environment variables passed to an engine; others may hold passwords."""
_PASSWORDS = re.compile("KEY|TOKEN|SECRET|PASS|AUTH|CRED", re.IGNORECASE)
"""Parts of variable names that suggest a password, excluded from those families."""
LINGER_S = 1800.0
"""Seconds for which an engine on another machine stays without a line."""
TRAINING_LINGER_S = 3 * 86400.0
"""The same for one that trains."""
FAR_GRACE_S = 30.0
"""`GRACE_S` on another machine, whose waits for a processor this one cannot count."""
NO_FILE = ("FileNotFoundError", "ModuleNotFoundError", "ImportError")
REFUSED = 3
"""Exit code of the process that reached no engine on another machine."""
SPARE_BYTES = 1 << 30
"""Free memory required before a spare engine is started."""
PRINTED_LIMIT = 4_000_000
"""Most characters of output of one program; an engine that sends more is broken or hijacked."""
GARBAGE = tr("it wrote something else than messages")
ENDLESS = tr("it wrote without end")
"""Reasons to give up an engine that user code may have taken over."""
TAIL = 16_384
"""Most characters of the engine's standard error that are stored, the last ones."""

_FATAL = re.compile(r"^Fatal Python error: (.+?)(?: \(|$)", re.MULTILINE)
_DEVICE = re.compile(r"^The device failed: (.+)$", re.MULTILINE)
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
_FROM_OUTSIDE = (
    "killed",
    *(
        f"signal {number}, {number.name}"
        for number in signal.Signals
        if number.name not in _CRASHES
    ),
)
"""Prefixes of `exit_reason` for an engine that was killed from outside rather than crashed."""
_ALONE = re.compile(r"^(Thread|Current thread|Extension modules|Python runtime state|<no )")
_WITHOUT_FOLDER = (
    "import sys; del sys.path[0]; import runpy; "
    "runpy.run_module({!r}, run_name='__main__', alter_sys=True)"
)
"""Program that runs a module as ``-P -m`` does: the first entry is the user's folder."""


def engine_arguments() -> list[str]:
    """Return the interpreter's arguments; ``-P`` keeps the user's folder out of ``sys.path``."""
    return ["-P", "-u", "-m", "gradscribe.engine"]


def process_arguments(
    interpreter: Interpreter | None,
    linger: float = LINGER_S,
    own: Sequence[str] | None = None,
    session: str = "",
    takes: bool = False,
) -> list[str]:
    """Return the arguments of `python_executable` for an engine, or for another process, ``own``.

    On another machine they are those of a process that carries the streams of an engine there,
    which stays without a line for ``linger`` seconds. ``session``: a name for that engine;
    ``takes``: it runs there already.
    """
    if interpreter is None or not interpreter.host:
        return arguments_for(interpreter, own or engine_arguments())
    relay = "gradscribe.app.link.remote.relay"
    name = [*(["--session", session] if session else []), *(["--take"] if takes else [])]
    sent = [f"--send={path}" for path in interpreter.sent]
    return ["-P", "-u", "-m", relay, interpreter.url, "--linger", f"{linger:g}", *name, *sent]


def language_arguments(folder: str, interpreter: Interpreter | None = None) -> list[str]:
    """Return the arguments for the language process of programs in ``folder``.

    It runs in this process's Python, which has the parser, and reads the packages and lists the
    torch of ``interpreter``. Raises `UnusablePython` like `environment`.
    """
    words = [folder] if folder or interpreter is not None else []
    if interpreter is not None:
        catalogue = ["-P", "-m", "gradscribe.engine.language.catalogue"]
        command = [interpreter.path, *arguments_for(interpreter, catalogue)]
        packages = (str(lent_source()), command, interpreter.packages)
        words.append(msgspec.json.encode(packages).decode())
    return ["-P", "-u", "-m", "gradscribe.engine.language", *words]


def arguments_for(interpreter: Interpreter | None, arguments: Sequence[str]) -> list[str]:
    """Return arguments as the interpreter knows them: Python 3.10 lacks ``-P``."""
    if interpreter is None or interpreter.release >= (3, 11) or "-P" not in arguments:
        return list(arguments)
    module = arguments.index("-m") + 1
    options = [word for word in arguments[: module - 1] if word != "-P"]
    program = _WITHOUT_FOLDER.format(arguments[module])
    return [*options, "-c", program, *arguments[module + 1 :]]


def free_memory() -> int:
    """Return the bytes of memory free for another engine; a huge number if unknown."""
    free = 1 << 40
    with contextlib.suppress(OSError, ValueError):
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
        free = int(found[1]) << 10 if found else free
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        free = min(free, limit - int((group / "memory.current").read_text()))
    return free


def script_folder(filename: str) -> str:
    """Return the folder that a script may read and import from; empty if it is no file."""
    path = Path(filename)
    return str(path.absolute().parent) if os.path.isfile(path) else ""


def environment(is_open: bool = False, interpreter: Interpreter | None = None) -> dict[str, str]:
    """Return the engine's environment.

    Unless ``is_open``, only variables that a program needs are passed on. Another ``interpreter``
    finds the engine's source in a folder of its own.

    Raises:
        UnusablePython: that folder cannot be written.
    """
    passed = {
        name: text
        for name, text in os.environ.items()
        if is_open or (_is_passed_on(name.upper()) and not _PASSWORDS.search(name))
    }
    if interpreter is not None and interpreter.host:
        return dict(os.environ)  # That of ssh; the far side chooses the engine's.
    if interpreter is not None:
        path = (str(lent_source()), passed.get("PYTHONPATH", ""))
        passed["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        passed.pop("PYTHONHOME", None)
    return passed


def far_start() -> dict[str, object]:
    """Return how an engine on another machine is started, and what it gets of the environment."""
    return {
        "program": _WITHOUT_FOLDER.format("gradscribe.engine"),
        "variables": PASSED_VARIABLES,
        "prefixes": VARIABLE_PREFIXES,
        "passwords": _PASSWORDS.pattern,
    }


def _is_passed_on(name: str) -> bool:
    return name in PASSED_VARIABLES or name.startswith(VARIABLE_PREFIXES)


def python_executable(interpreter: Interpreter | None = None) -> str:
    """Return the interpreter that runs the engine: that of this process unless another is given."""
    return sys.executable if interpreter is None or interpreter.host else interpreter.path


def grace(interpreter: Interpreter | None) -> float:
    """Return the seconds between the time limit and the kill of a program."""
    return FAR_GRACE_S if interpreter is not None and interpreter.host else GRACE_S


def exit_reason(code: int, crashed: bool, errors: str) -> str:
    """Return a short reason why an engine ended, without a full stop.

    Args:
        code: the exit code, or the signal number if it ``crashed``.
        crashed: whether a signal ended it.
        errors: the end of its standard error.
    """
    fatal = _FATAL.search(errors)
    if fatal:
        return fatal[1][:1].lower() + fatal[1][1:]
    if device := _DEVICE.search(errors):
        return tr("the device failed: {device}", device=device[1][:200])
    if crashed and code == getattr(signal, "SIGKILL", -1):
        return tr("killed, signal {code}", code=code)
    if crashed and code:
        try:
            return f"signal {code}, {signal.Signals(code).name}"
        except ValueError:
            return f"signal {code}"
    line = last_line(errors)
    return tr("exit code {code}", code=code) + (f": {line}" if line and code else "")


def refusal(code: int, interpreter: Interpreter | None, errors: str) -> str:
    """Return why there is no engine on another machine; empty if there was one, or is no other."""
    if interpreter is None or not interpreter.host or code != REFUSED:
        return ""
    return last_line(errors)


def with_far_hint(tape: Tape, interpreter: Interpreter | None) -> Tape:
    """Return the tape of a program; one that lacked a file says on which machine it was looked for.

    The files next to a script stay on this machine when it runs on another, unless they are sent.
    """
    error = tape.error
    if interpreter is None or not interpreter.host or error is None or error.type not in NO_FILE:
        return tape
    place = interpreter.host.removeprefix("ssh://")
    hint = tr(
        "It ran on {place}, which has files and modules of its own: send what it needs of those "
        "next to the script, or copy it there.",
        place=place,
    )
    return replace(tape, error=replace(error, hint=hint))


def last_line(errors: str) -> str:
    """Return the last informative line of standard error."""
    lines = [line.strip() for line in errors.splitlines()]
    informative = [line for line in lines if line and not _ALONE.match(line)]
    return informative[-1][:200] if informative else ""


def crash_place(source: str, filename: str, errors: str, at: CurrentLine | None = None) -> Place:
    """Return the line of the program that an engine was running when it ended.

    It is taken from the traceback in ``errors``, else from ``at``, the last line it reported.
    """
    found = re.search(rf'File "{re.escape(filename)}", line (\d+) in', errors)
    lines = source.split("\n")
    number = int(found[1]) if found else at.line if at else 0
    if not 0 < number <= len(lines):
        return Place()
    text = lines[number - 1].rstrip()
    return Place(number, len(text) - len(text.lstrip()), number, max(len(text), 1))


def crash_tape(
    source: str,
    filename: str,
    why: str,
    errors: str,
    stdout: str = "",
    at: CurrentLine | None = None,
) -> Tape:
    """Return the tape of a program whose engine crashed, with its output so far."""
    place = crash_place(source, filename, errors, at)
    message, hint = _crash_message(why, by_itself=at is not None and at.ends)
    if at is not None and not at.ends and place == crash_place(source, filename, "", at):
        hint = tr("The program was last seen on this line. {hint}", hint=hint)
    return Tape(status="died", error=Problem("Crash", message, hint, place), stdout=stdout)


def _crash_message(why: str, by_itself: bool) -> tuple[str, str]:
    """Return message and hint; ``by_itself``: the program's own line ended the process."""
    if why.startswith("exit code") or (by_itself and why.startswith(_FROM_OUTSIDE)):
        return tr("The program ended Python itself ({why})", why=why), tr(
            "To end a program early use sys.exit()."
        )
    if why.startswith("killed"):
        hint = tr("It was killed from outside, or memory ran out. Run it again, or reduce a size.")
        return tr("Python was {why}", why=why), hint
    if why.startswith(_FROM_OUTSIDE):
        hint = tr("The signal came from outside, or from an alarm the program set. Run it again.")
        return tr("Python was ended by {why}", why=why), hint
    if why in (GARBAGE, ENDLESS):
        hint = tr(
            "Does the program write to or close file descriptors by number? Leave those past 2."
        )
        return tr("Python was given up: {why}", why=why), hint
    hint = tr("Compiled code failed: a library was used in a way that it does not support.")
    return tr("Python crashed ({why})", why=why), hint


def timeout_tape(
    source: str,
    filename: str,
    timeout: float,
    errors: str,
    stdout: str = "",
    stopped: bool = False,
    at: CurrentLine | None = None,
) -> Tape:
    """Return the tape of a program killed for a timeout, or for ignoring Stop (``stopped``)."""
    place = crash_place(source, filename, errors, at)
    code = source.split("\n")[place.line - 1].strip()[:80] if place.line else ""
    if stopped:
        message = (
            tr("The program was here: {code}", code=code) if code else tr("The program was stopped")
        )
        problem = Problem("Stopped", message, "", place)
        return Tape(status="error", error=problem, stdout=stdout)
    message = tr("Still running after {timeout:g} s", timeout=timeout) + (
        f": {code}" if code else ""
    )
    hint = tr("One step took too long. Reduce a size or a range, or raise the time limit.")
    problem = Problem("Timeout", message, hint, place)
    return Tape(status="timeout", error=problem, stdout=stdout)


def unfinished_tape(seconds: float, stdout: str) -> Tape:
    """Return the tape of a program that has ended, but whose recording never arrived."""
    message = tr(
        "The program ended, but its recording was not ready after {seconds:g} s", seconds=seconds
    )
    hint = tr("Make a loop shorter or a size smaller, or record fewer steps in full.")
    return Tape(status="error", error=Problem("RecordingError", message, hint), stdout=stdout)


def kill(pid: int) -> None:
    """Kill an engine and its process group without waiting."""
    if pid > 0 and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def end(pid: int, interpreter: Interpreter | None) -> bool:
    """Ask for the end of an engine on another machine; return whether it is on its way."""
    if pid <= 0 or interpreter is None or not interpreter.host or os.name != "posix":
        return False
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGTERM)
        return True
    return False


def abort(pid: int) -> bool:
    """Send SIGABRT, so that an engine dumps its traceback; return whether that was possible."""
    if pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, signal.SIGABRT)
        # A process stopped by SIGSTOP handles the signal only once it continues.
        os.kill(pid, signal.SIGCONT)
    except OSError:
        return False
    return True
