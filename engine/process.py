"""What the engine asks of the operating system: private pipes, dying with the window, a memory cap.

All of it is best effort: where a system has no such thing the engine runs without.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

MEMORY_SHARE = 0.75
"""Part of the machine's memory that the engine may fill before Python raises MemoryError."""
STACK = 64 << 20
"""Bytes of stack: torch takes a graph apart by recursion once Python has looked at its nodes."""
READ = 1 << 16
LOW_PRIORITY, BEHIND_WINDOW, BEHIND_TRAINER = 15, 10, 5
"""Niceness of what nobody waits for, of an engine, and of what makes its views. Where the window
wants a processor that an engine has, it gets nine tenths of it."""
AGAIN_S = 0.12
"""Linux lets an ordinary user change a session's share of the processors ten times a second."""


def take_pipes() -> tuple[int, int]:
    """Return descriptors for the wire, in and out, and leave other ones to the user's program.

    Afterwards standard input is empty and standard output is standard error, also for C code: no
    program can write into the wire by printing.
    """
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.fstat(2)
    except OSError:
        # Else the next descriptor, the wire's, would take its number.
        os.dup2(null, 2)
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    if null != 2:
        os.close(null)
    return incoming, outgoing


def die_with_parent() -> None:
    """Ask Linux to kill this process when the window's ends; elsewhere a closed pipe must do."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def is_left(incoming: int) -> bool:
    """Whether nobody holds the other end of a pipe any more, and nothing waits in it.

    Who ended before this process could ask to die with them is told by that alone.
    """
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(incoming, select.POLLIN)
    happened = dict(poll.poll(0)).get(incoming, 0)
    return bool(happened & select.POLLHUP) and not happened & select.POLLIN


def has_room(outgoing: int) -> bool:
    """Whether a few bytes can be written to a pipe at once."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(outgoing, select.POLLOUT)
    return bool(dict(poll.poll(0)).get(outgoing, 0) & select.POLLOUT)


def stand_apart() -> None:
    """Lead a process group, so that whatever the user's programs start can be ended with us."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    if sys.platform == "linux":
        # What they start in turn becomes our child when its parent ends.
        pr_set_child_subreaper = 36
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1)


def open_no_browser() -> None:
    """Let ``webbrowser`` find none: a line that is run at every keystroke must not open pages."""
    import webbrowser

    webbrowser._tryorder = []  # type: ignore[attr-defined]
    webbrowser._browsers = {}  # type: ignore[attr-defined]


def at_low_priority(work: Callable[[], None]) -> None:
    """Do ``work`` and return, at a priority that leaves the machine to others (Linux).

    It has a thread of its own, for an ordinary user cannot raise a priority again.
    """

    def run() -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOW_PRIORITY)
        work()

    if sys.platform != "linux":
        work()
        return
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def give_way(niceness: int) -> None:
    """Leave the processors to the window, whose session is another, where both want them (Linux).

    Sessions share them equally, whatever the priorities of the processes in them.
    """
    for _ in range(5):
        try:
            Path("/proc/self/autogroup").write_text(str(niceness))
        except BlockingIOError:
            time.sleep(AGAIN_S)  # noqa: TID251 (the limit is one of time)
        except OSError:
            return
        else:
            return


def fork(work: Callable[[int, int], None], close: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Do ``work`` in a copy of this process, at a lower priority, until it returns (Linux).

    It is given a pipe to read from and one to write to, and ends with us; the descriptors ``close``
    are not for it. To be called while there is but one thread. Returns our ends of the pipes, to
    write to and to read from, and its id, to `reap` it; None where there is no such copy.
    """
    if sys.platform != "linux":
        return None
    down, up = os.pipe(), os.pipe()
    try:
        child = os.fork()
    except OSError:
        for end in (*down, *up):
            os.close(end)
        return None
    if child:
        os.close(down[0])
        os.close(up[1])
        return down[1], up[0], child
    try:
        for end in (down[1], up[0], *close):
            os.close(end)
        die_with_parent()
        os.nice(BEHIND_TRAINER)
        work(down[0], up[1])
    finally:
        os._exit(0)


def reap(child: int) -> bool:
    """Let the system forget a process of ours that has ended; whether it is forgotten."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except OSError:  # Somebody else has done so.
        return True


def cap_memory(share: float = MEMORY_SHARE) -> None:
    """Let a greedy program get a MemoryError, and be the first to go if memory runs out anyway."""
    if sys.platform != "linux":
        return
    import resource

    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ValueError):
        limit = int(_memory() * share)
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limits = [limit, *(x for x in (soft, hard) if x != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def deepen_stack(size: int = STACK) -> None:
    """Let the main thread's stack grow to ``size`` bytes; 8 MB take 45,000 ops in a row."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        most = size if hard == resource.RLIM_INFINITY else min(size, hard)
        if resource.RLIM_INFINITY != soft < most:
            resource.setrlimit(resource.RLIMIT_STACK, (most, hard))


def _memory() -> int:
    """Return the bytes of memory this process may count on: the machine's, or its container's."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return machine
