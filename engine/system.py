"""Operating system services: private pipes, ending with the window, priorities, a memory cap.

All of it is best effort: the engine also runs on systems that lack a service.
"""

import contextlib
import ctypes
import gc
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MEMORY_SHARE = 0.75
"""Share of the machine's memory that the engine may fill before Python raises MemoryError."""
STACK = 64 << 20
"""Bytes of stack: torch frees a graph recursively once Python has accessed its nodes."""
READ = 1 << 16
LOW_PRIORITY, BEHIND_WINDOW, BEHIND_TRAINER = 15, 4, 5
"""Niceness of background work, of an engine, and of the process that makes its views. On a
contended processor the window then gets seven tenths of the time, and an engine, which the user
waits for, still two fifths of what any other program gets."""
AGAIN_S = 0.12
"""Pause between attempts: Linux lets an ordinary user set autogroup niceness ten times a second."""


def claim_pipes() -> tuple[int, int]:
    """Move the wire's pipes to private descriptors and return these, in and out.

    Afterwards standard input is empty and standard output is standard error, also for C code: no
    program can write into the wire by printing.
    """
    null = os.open(os.devnull, os.O_RDWR)
    try:
        os.fstat(2)
    except OSError:
        # Else the next descriptor that is opened, the wire's, would become number 2.
        os.dup2(null, 2)
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    if null != 2:
        os.close(null)
    return incoming, outgoing


def die_with_parent() -> None:
    """Ask Linux to kill this process when the window's ends; elsewhere the closed pipe ends it."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def is_abandoned(incoming: int) -> bool:
    """Return whether the other end of a pipe is closed and no data is left in it.

    This alone shows that the parent ended before `die_with_parent` took effect.
    """
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(incoming, select.POLLIN)
    happened = dict(poll.poll(0)).get(incoming, 0)
    return bool(happened & select.POLLHUP) and not happened & select.POLLIN


def can_write(outgoing: int) -> bool:
    """Return whether a few bytes can be written to a pipe without blocking."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(outgoing, select.POLLOUT)
    return bool(dict(poll.poll(0)).get(outgoing, 0) & select.POLLOUT)


def start_session() -> None:
    """Start a session, so that processes started by user programs can be ended with the engine."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    if sys.platform == "linux":
        # Grandchildren become children of this process when their parent ends.
        pr_set_child_subreaper = 36
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1)


def disable_webbrowser() -> None:
    """Disable ``webbrowser``: code that is rerun at every keystroke must not open pages."""
    import webbrowser

    webbrowser._tryorder = []  # type: ignore[attr-defined]
    webbrowser._browsers = {}  # type: ignore[attr-defined]


def run_at_low_priority(work: Callable[[], None]) -> None:
    """Do ``work`` at a low priority and return when it is done (Linux).

    It runs in a separate thread, because an ordinary user cannot raise a priority again.
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


def yield_to_window(niceness: int) -> None:
    """Let the window, which has another session, take precedence on the processors (Linux).

    With autogroups sessions share the processors equally, whatever their processes' priorities.
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


def fork_worker(
    work: Callable[[int, int], None], close: tuple[int, ...]
) -> tuple[int, int, int] | None:
    """Do ``work`` in a forked process, at a lower priority, until it returns (Linux).

    ``work`` gets a pipe to read from and a pipe to write to; the child ends with this process and
    closes the descriptors ``close``. Call this while there is only one thread. Return this side's
    ends of the pipes, to write to and to read from, and the child's id, to `reap` it; None if no
    process could be forked.
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
    """Reap a child process if it has ended; return whether it is gone."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except OSError:  # It has been reaped elsewhere.
        return True


def cap_memory(share: float = MEMORY_SHARE) -> None:
    """Limit the data segment, so that a greedy program gets a MemoryError (Linux).

    The process also becomes the kernel's first choice if memory runs out anyway.
    """
    if sys.platform != "linux":
        return
    import resource

    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ValueError):
        limit = int(machine_memory() * share)
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limits = [limit, *(x for x in (soft, hard) if x != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Pause the garbage collector: everything allocated meanwhile, possibly much, stays alive."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def raise_stack_limit(size: int = STACK) -> None:
    """Let the main thread's stack grow to ``size`` bytes; 8 MB take 45,000 ops in a row."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        most = size if hard == resource.RLIM_INFINITY else min(size, hard)
        if resource.RLIM_INFINITY != soft < most:
            resource.setrlimit(resource.RLIMIT_STACK, (most, hard))


def machine_memory() -> int:
    """Return the bytes of memory available to this process: the machine's, or its container's."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return machine
