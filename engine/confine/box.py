"""The confinement as a whole: what there is on this system, and how the engine goes into it."""

import contextlib
import ctypes
import errno
import glob
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.confine import landlock, limits, seccomp

_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
)
_FOR_DEVICES = (
    "/proc/driver",
    "/proc/devices",
    "/sys/bus/pci",
    "/sys/devices",
    "/sys/class",
    "/usr/share/nvidia",
    "/usr/local/cuda*",
    "/usr/local/nvidia",
)
"""Libraries compile kernels while they run, and open parts of themselves for that only then."""
_DRIVER = "libcuda.so.1"
_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*", "/dev/shm")

_is_active = False


def is_active() -> bool:
    """Whether this process has given up its rights."""
    return _is_active


def available(*, device: bool = False) -> tuple[str, ...]:
    """Return what will be kept from programs: ``files``, ``network``, ``processes``, ``memory``."""
    if sys.platform != "linux":
        return ()
    calls = not device and seccomp.available()
    version = landlock.version()
    kept = {
        "files": version >= 1 or calls,
        "network": version >= 4 or calls,
        "processes": version >= 1 or calls,
        "memory": True,
    }
    return tuple(name for name, holds in kept.items() if holds)


def enter(folder: str = "", *, device: bool = False, threads: int = 0) -> None:
    """Give up for good what `available` says. To be called while there is but one thread.

    Args:
        folder: what stands in this folder may be read; empty for none.
        device: there is a graphics device, whose driver needs more than others.
        threads: what the user's programs have by now; 0 where that is not known.

    Raises:
        OSError: the kernel refuses what it said it could do.
    """
    global _is_active
    _is_active = True
    # Looking for a place to write would fail from now on; that there is none shows when it is used.
    tempfile.tempdir = tempfile.gettempdir()
    _speak_up()
    # torch makes sure of a folder for its compiler at the first step of an optimizer.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.tempdir
    if sys.platform != "linux":
        limits.restrict(device=device)
        return
    beside = list(_beside(folder))
    if landlock.version():
        more = [*_found(_FOR_DEVICES), *_drivers()] if device else []
        used = _found(_DEVICES) if device else []
        landlock.restrict([*_own(), *beside, *more], used)
    limits.restrict(device=device, threads=threads)
    if not device and seccomp.available():
        seccomp.restrict()


def _found(patterns: tuple[str, ...]) -> list[Path]:
    return [Path(name) for pattern in patterns for name in glob.glob(pattern)]


def _drivers() -> Iterator[Path]:
    """Yield where the driver's libraries are, outside of the system's in some containers."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(_DRIVER)
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.rpartition(" ")[2]
            if Path(path).name.startswith("libcuda.so"):
                yield Path(path).parent


def _speak_up() -> None:
    """Let `os.system` say that no program starts here; it would only return a number."""

    def system(command: str | bytes) -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), command)

    os.system = system  # type: ignore[assignment]


def _own() -> Iterator[Path]:
    """Yield where Python, its packages and the system's libraries are."""
    yield from map(Path, _SYSTEM)
    home = Path.home()
    paths = {*sys.path, *sysconfig.get_paths().values(), *site.getsitepackages()}
    paths |= {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths -= {"", "/", "/usr", "/usr/local"}
    own = Path(__file__).resolve().parents[1]
    yield own
    for name in paths:
        path = Path(name)
        if path.is_absolute() and not home.is_relative_to(path):
            yield path if path != own.parent or _is_packages(path) else own


def _is_packages(path: Path) -> bool:
    return path.name in ("site-packages", "dist-packages")


def _beside(folder: str) -> Iterator[Path]:
    """Yield what may be read beside a script: its folder, but never the whole of a home."""
    if not folder:
        return
    path = Path(folder).resolve()
    if Path.home().resolve().is_relative_to(path):
        yield from (one for one in path.glob("*") if one.is_file() and one.name[0] != ".")
    else:
        yield path
