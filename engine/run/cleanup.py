"""Restore interpreter state between user programs.

A program may change a library or the working folder, start threads and processes. Whatever can be
restored is restored as soon as it ends; if anything else is left, a fresh engine takes the next
program.
"""

import builtins
import contextlib
import functools
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType

from gradscribe.engine.protocol.position import innermost_line, without_thread_switches

LIBRARIES = (
    "sys os io time threading signal gc math random types warnings traceback linecache inspect "
    "functools collections contextlib copy weakref re numpy torch torch.nn torch.nn.functional "
    "torch.nn.init torch.optim torch.autograd torch.autograd.graph torch.overrides torch.linalg "
    "torch.random torch.functional torch._tensor torch._tensor_str torch.fft torch.special "
    "torch.func torch.optim.lr_scheduler torch.distributions torch.utils.data numpy.linalg "
    "numpy.fft json json.encoder decimal fractions heapq bisect operator itertools"
).split()
"""Modules whose functions, classes and constants are restored."""
CLASSES = {
    "torch": ("Tensor", "Generator"),
    "torch.autograd": ("Function",),
    "threading": ("Thread", "Event", "Condition", "Timer"),
}
CLASSES_OF = (
    *("torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.distributions"),
    *("torch.utils.data", "json", "json.encoder"),
)
"""Modules all of whose classes are restored."""
PLAIN = (int, float, complex, str, bytes, tuple)
JOIN_S = 1.0
"""Seconds to wait for threads that a program has not joined, as plain Python does at exit."""
ROUNDS = 20
"""Grandchild processes become visible only after their parents are gone."""

_names = vars(builtins)
_whole = dict(_names)
_refill = _names.update
_modules: dict[str, ModuleType] = {}
_count = -1


class NamesRestorer:
    """Context around a program that restores builtins and modules before anything else runs.

    Leaving it must work without any builtin function: the program may have removed them.
    """

    stop_tracing: Callable[[], None]
    """To be called before the context ends: a trace function that raises would block its end."""

    def __enter__(self) -> "NamesRestorer":
        global _modules, _count
        if _count != len(sys.modules):
            # Without the program's own module, so that its objects can be freed when it ends.
            _modules = {n: module for n, module in sys.modules.items() if n != "__main__"}
            _count = len(sys.modules)
        self._profile = sys.getprofile()
        self.stop_tracing = functools.partial(sys.settrace, sys.gettrace())
        self._threads = set(threading.enumerate())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if not _names.items() >= _whole.items():
            _refill(_whole)
        if sys.getprofile() is not self._profile:
            sys.setprofile(self._profile)
        for name in _names.keys() - _whole.keys():
            del _names[name]
        # Also modules that were replaced, even by None, since no import would find these.
        sys.modules.update(_modules)
        if kind is None:
            # Always: a thread from before that ended meanwhile would hide a new one from a count.
            wait_for_threads(self._threads)


class Baseline:
    """State of the process before any program; created once torch is imported."""

    def __init__(self) -> None:
        from gradscribe.engine.run.global_state import GlobalState  # imports torch
        from gradscribe.engine.run.registries import Registries

        self._state, self._registered = GlobalState(), Registries()
        self._libraries, self._own = list(_libraries()), list(_own())
        self._folder = os.getcwd()
        self._path, self._recursion = list(sys.path), sys.getrecursionlimit()
        self._environment = dict(os.environ)
        self._signals = _signals()
        self._mask = _mask()
        self._collected = list(gc.callbacks)
        self._limits, self._standard = _limits(), _standard()

    def restore(self) -> None:
        """Restore what a program changed."""
        for owner, names, known in self._libraries:
            if isinstance(owner, type) and not vars(owner).keys() <= known:
                _remove_added(owner, known)
            if not vars(owner).items() >= names.items():
                for name, what in names.items():
                    if vars(owner).get(name) is not what:
                        setattr(owner, name, what)
        with contextlib.suppress(OSError):
            if _folder() != self._folder:
                os.chdir(self._folder)
        sys.path[:] = self._path
        sys.setrecursionlimit(self._recursion)
        if os.environ != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        if _mask() != self._mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        gc.set_debug(0)
        gc.callbacks[:] = self._collected
        self._state.restore()
        self._registered.restore()

    def is_contaminated(self, filename: str) -> bool:
        """Return whether a change cannot be undone; ``filename`` is the program's."""
        return (
            _signals() != self._signals
            or _limits() != self._limits
            or _standard() != self._standard
            or any(not vars(owner).items() >= names.items() for owner, names in self._own)
            or self._state.is_contaminated()
            or self._registered.is_contaminated()
            or _is_run_elsewhere(filename)
        )


def _libraries() -> Iterator[tuple[ModuleType | type, dict[str, object], frozenset[str]]]:
    """Yield modules and classes with their attributes to restore, and all their names."""
    for name in LIBRARIES:
        module = sys.modules.get(name)
        if module is None:
            continue
        own = {n: x for n, x in vars(module).items() if _is_fixed(n, x)}
        yield module, own, frozenset(vars(module))
        found = [getattr(module, member) for member in CLASSES.get(name, ())]
        if name in CLASSES_OF:
            found += [x for x in vars(module).values() if isinstance(x, type)]
        for kind in found:
            names = {n: x for n, x in vars(kind).items() if hasattr(x, "__get__")}
            yield kind, names, frozenset(vars(kind))


def _is_fixed(name: str, what: object) -> bool:
    """Return whether a module's attribute is constant, and not a variable of the module."""
    if callable(what) or isinstance(what, ModuleType):
        return True
    # A constant, such as math.pi or torch.float32.
    is_plain = isinstance(what, PLAIN) or type(what).__module__ == "torch"
    return is_plain and not name.startswith("_")


def _own() -> Iterator[tuple[ModuleType | type, dict[str, object]]]:
    """Yield the engine's own modules and classes, with their functions."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("gradscribe.engine."):
            continue
        called = {n: x for n, x in vars(module).items() if callable(x)}
        yield module, called
        for kind in called.values():
            if isinstance(kind, type) and kind.__module__ == name:
                yield kind, {n: x for n, x in vars(kind).items() if callable(x)}


def _remove_added(kind: type, known: frozenset[str]) -> None:
    """Remove what a program added to a class: public names, and overrides of inherited methods."""
    for name in vars(kind).keys() - known:
        inherited = (vars(base).get(name) for base in kind.__mro__[1:-1])
        if not name.startswith("_") or any(hasattr(found, "__get__") for found in inherited):
            delattr(kind, name)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _signals() -> list[object]:
    names = "SIGINT SIGTERM SIGABRT SIGSEGV SIGFPE SIGALRM SIGPIPE SIGUSR1".split()
    return [signal.getsignal(getattr(signal, n)) for n in names if hasattr(signal, n)]


def _mask() -> set[signal.Signals]:
    if not hasattr(signal, "pthread_sigmask"):
        return set()
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))  # type: ignore[arg-type]


def _limits() -> list[tuple[int, int]]:
    if sys.platform == "win32":
        return []
    import resource

    kinds = (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_CPU)
    return [resource.getrlimit(kind) for kind in kinds]


def _standard() -> list[tuple[int, int]]:
    """Return the files behind the standard descriptors; a program may close or redirect them."""
    found = []
    for number in range(3):
        with contextlib.suppress(OSError):
            about = os.fstat(number)
            found.append((about.st_dev, about.st_ino))
    return found


# Threads and processes


def _others() -> Iterator[FrameType]:
    """Yield the current frame of every other thread."""
    for ident, frame in sys._current_frames().items():
        if ident != threading.get_ident():
            yield frame


def _is_run_elsewhere(filename: str) -> bool:
    """Return whether another thread still runs the program."""
    with without_thread_switches():
        return any(innermost_line(frame, filename) for frame in _others())


def wait_for_threads(before: set[threading.Thread], seconds: float = JOIN_S) -> None:
    """Wait up to ``seconds`` in all for threads that a program started and has not joined."""
    deadline = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join(max(0.0, deadline - time.monotonic()))


def end_processes() -> None:
    """Kill all processes that a program left behind, and their descendants (Linux)."""
    if sys.platform != "linux":
        return
    for _ in range(ROUNDS):
        left = _children() - _helpers()
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not left:
            return


def _children() -> set[int]:
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError, ValueError):
                found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def _helpers() -> set[int]:
    """Return the processes that Python's own multiprocessing keeps running."""
    tracker = sys.modules.get("multiprocessing.resource_tracker")
    server = sys.modules.get("multiprocessing.forkserver")
    pids = (
        getattr(getattr(tracker, "_resource_tracker", None), "_pid", None),
        getattr(getattr(server, "_forkserver", None), "_forkserver_pid", None),
    )
    return {pid for pid in pids if isinstance(pid, int)}
