"""The confinement as a whole: report what this system supports, and enter it."""

import contextlib
import ctypes
import errno
import glob
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradscribe.engine.sandbox.confine import landlock, limits, seccomp

_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/fonts",
    "/usr/local/share/fonts",
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
"""Device libraries compile kernels at run time, and open some of their files only then."""
_DRIVER = "libcuda.so.1"
_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*", "/dev/shm")

_is_active = False


def is_confined() -> bool:
    """Return whether this process is confined."""
    return _is_active


def available_protections(*, device: bool = False) -> tuple[str, ...]:
    """Return what will be protected: ``files``, ``network``, ``processes``, ``memory``."""
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


def confine(
    folder: str = "", packages: Sequence[str] = (), *, device: bool = False, threads: int = 0
) -> None:
    """Confine this process for good as `available_protections` says, while it has one thread.

    Args:
        folder: files in this folder stay readable; empty for none.
        packages: folders of packages of another Python, which stay readable as well.
        device: there is a graphics device, whose driver needs more rights.
        threads: threads of all of the user's processes; 0 if unknown.

    Raises:
        OSError: the kernel refuses what it reported as supported.
    """
    global _is_active
    _is_active = True
    # The search for a writable folder would fail from now on; using the result fails anyway.
    tempfile.tempdir = tempfile.gettempdir()
    _block_os_system()
    # torch creates its compiler's cache folder at the first step of an optimizer.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.tempdir
    if sys.platform != "linux":
        limits.restrict(device=device)
        return
    script = [*_script_paths(folder), *filter(Path.is_dir, map(Path, packages))]
    if landlock.version():
        more = [*_found(_FOR_DEVICES), *_drivers()] if device else []
        used = _found(_DEVICES) if device else []
        landlock.restrict([*_system_paths(), *script, *more], used)
    limits.restrict(device=device, threads=threads)
    if not device and seccomp.available():
        seccomp.restrict()


def _found(patterns: tuple[str, ...]) -> list[Path]:
    return [Path(name) for pattern in patterns for name in glob.glob(pattern)]


def _drivers() -> Iterator[Path]:
    """Yield the folders of the driver's libraries, which some containers have elsewhere."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(_DRIVER)
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.rpartition(" ")[2]
            if Path(path).name.startswith("libcuda.so"):
                yield Path(path).parent


def _block_os_system() -> None:
    """Make `os.system` raise PermissionError; it would only return a status."""

    def system(command: str | bytes) -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), command)

    os.system = system  # type: ignore[assignment]


def _system_paths() -> Iterator[Path]:
    """Yield the folders of Python, its packages and the system's libraries."""
    yield from map(Path, _SYSTEM)
    home = Path.home()
    paths = {*sys.path, *sysconfig.get_paths().values(), *site.getsitepackages()}
    paths |= {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths -= {"", "/", "/usr", "/usr/local"}
    own = Path(__file__).resolve().parents[2]
    yield own
    # Matplotlib's list of fonts; see `plotting.fonts`.
    if (fonts := os.environ.get("MPLCONFIGDIR", "")) and fonts != tempfile.gettempdir():
        yield Path(fonts)
    for name in paths:
        path = Path(name)
        if path.is_absolute() and not home.is_relative_to(path):
            yield path if path != own.parent or _is_packages(path) else own
    yield from _editable_packages(own)


def _editable_packages(own: Path) -> Iterator[Path]:
    """Yield the folders of packages installed in editable mode that are not in ``sys.path``.

    setuptools installs a finder for each, whose module has a table of packages and their folders;
    scikit-build's finder has one of modules and their files.
    """
    for finder in list(sys.meta_path):
        module = sys.modules.get(getattr(finder, "__module__", ""))
        tables = getattr(module, "MAPPING", None), getattr(finder, "known_source_files", None)
        for table in tables:
            for name, place in table.items() if isinstance(table, dict) else ():
                path = Path(str(place))
                is_own = str(name).partition(".")[0] == own.parent.name
                if not is_own and path.is_absolute() and path.exists():
                    yield path


def _is_packages(path: Path) -> bool:
    return path.name in ("site-packages", "dist-packages")


def _script_paths(folder: str) -> Iterator[Path]:
    """Yield the readable paths of a script: its folder, but never a whole home folder."""
    if not folder:
        return
    path = Path(folder).resolve()
    if Path.home().resolve().is_relative_to(path):
        yield from (file for file in path.glob("*") if file.is_file() and file.name[0] != ".")
    else:
        yield path
