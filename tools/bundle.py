"""Make the bundle for Linux: Python, Qt and the window in a Debian package and in an archive.

Run by `make bundle` with the environment's Python; ``installers/bundle.toml`` says what is in it,
``installers/linux/nfpm.yaml`` what the package is called and needs. PyTorch is not in it: the
window finds or installs it. The Python is the one that made the environment, so the bundle runs
where the C library is as new as on this machine.

Writes ``dist/gradscribe_VERSION_ARCH.deb`` and ``dist/gradscribe-VERSION-linux-MACHINE.tar.gz``.
"""

import fnmatch
import os
import platform
import re
import shutil
import string
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import system

ROOT = Path(__file__).resolve().parent.parent
BUILD, DIST = ROOT / "build" / "bundle", ROOT / "dist"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LAUNCHER = """#!/bin/sh
# Nothing of another Python: -E passes over its variables, -s over the user's packages.
exec "$(dirname "$(readlink -f "$0")")/bin/python3" -E -s -P -m gradscribe "$@"
"""
Declared = dict[str, dict[str, list[str]]]


def main() -> int:
    """Make the bundle and return the exit code."""
    try:
        check_python()
        declared = tomllib.loads((ROOT / "installers" / "bundle.toml").read_text("utf-8"))
        shutil.rmtree(BUILD, ignore_errors=True)
        tree = BUILD / "root" / declared["prefix"]
        copy_python(tree, declared["python"])
        install_packages(tree)
        strip_packages(tree, declared)
        copy_libraries(tree, declared["python"]["from_system"])
        compile_modules(tree)
        add_launcher(tree, BUILD / "root" / "usr" / "bin")
        add_desktop_files(BUILD / "root" / "usr" / "share")
        for made in (pack_archive(tree), pack_deb()):
            system.say(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.0f} MB")
    except system.Missing as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def check_python() -> None:
    """Raise `system.Missing` if this Python cannot be copied."""
    if not sys.platform.startswith("linux") or platform.machine() not in ARCHITECTURES:
        raise system.Missing("the bundle is made on Linux, for x86_64 or aarch64")
    if Path(sysconfig.get_path("stdlib")) == Path("/usr/lib") / f"python{version()}":
        raise system.Missing(
            "Debian's Python is in pieces that do not move: make the environment with a Python of "
            "pyenv, uv or conda, make setup PYTHON=path"
        )


def version() -> str:
    """Return the version of Python as its folders have it."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def copy_python(tree: Path, declared: dict[str, list[str]]) -> None:
    """Copy the interpreter and the standard library that this environment was made with."""
    system.say(f"Copying Python {platform.python_version()}")
    base = Path(sys.base_prefix)
    name = f"python{version()}"
    (tree / "bin").mkdir(parents=True)
    shutil.copy2((base / "bin" / name).resolve(), tree / "bin" / name)
    (tree / "bin" / "python3").symlink_to(name)
    library = tree / "lib" / name
    shutil.copytree(
        base / "lib" / name,
        library,
        symlinks=True,
        ignore=shutil.ignore_patterns(*declared["without"]),
    )
    for file in (library / "lib-dynload").iterdir():
        if matches(file.name, declared["without_modules"]):
            file.unlink()
    # Without them Python takes packages from the user's folder, or none at all.
    (library / "site-packages").mkdir()


def install_packages(tree: Path) -> None:
    """Install the window and its dependencies at the pinned versions, without the extras."""
    system.say("Installing the window")
    wheels = BUILD / "wheels"
    source = source_copy()
    python = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    run([*python, "-w", str(wheels), str(source)])
    (wheel,) = wheels.glob("gradscribe-*.whl")
    command = [program("uv"), "pip", "install", "-q", "--no-config", "--link-mode", "copy"]
    command += ["--python", str(tree / "bin" / "python3"), "--break-system-packages"]
    run([*command, "-c", str(ROOT / "constraints.txt"), str(wheel)])


def source_copy() -> Path:
    """Return a folder that the build may write into, with links to the source."""
    folder = BUILD / "source"
    folder.mkdir(parents=True)
    for path in ROOT.iterdir():
        if (
            path.name[0] != "."
            and path.name not in ("build", "dist")
            and path.suffix != ".egg-info"
        ):
            (folder / path.name).symlink_to(path)
    return folder


def strip_packages(tree: Path, declared: Declared) -> None:
    """Remove what no program of the bundle uses from the installed packages."""
    packages = tree / "lib" / f"python{version()}" / "site-packages"
    for pattern in declared["packages"]["without"]:
        for path in sorted(packages.rglob(pattern)):
            remove(path)
    for script in (tree / "bin").iterdir():
        if not script.name.startswith(("python", "uv")):
            remove(script)  # It names the folder where it was made.
    qt, wanted = packages / "PySide6", declared["qt"]
    for path in qt.iterdir():
        stem = path.name.partition(".")[0]
        if path.suffix == ".so" and stem.startswith("Qt") and stem not in wanted["modules"]:
            remove(path)
        elif path.is_file() and path.suffix not in (".py", ".so", ".0") and ".so" not in path.name:
            remove(path)  # Designer, compilers, and what describes the types.
    for path in (qt / "Qt").iterdir():
        if path.name not in ("lib", "plugins"):
            remove(path)
    for path in (qt / "Qt" / "plugins").iterdir():
        if path.name not in wanted["plugins"]:
            remove(path)
    for name in wanted["without_plugins"]:
        remove(qt / "Qt" / "plugins" / "platforms" / name)
    strip_libraries(qt)


def strip_libraries(qt: Path) -> None:
    """Remove Qt's libraries that nothing which is left links to."""
    users = [*qt.glob("*.so*"), *(qt / "Qt" / "plugins").rglob("*.so")]
    used = {path.resolve() for path in linked(users).values()}
    # Plug-ins of the window systems load it by name.
    for path in (qt / "Qt" / "lib").iterdir():
        if path.resolve() not in used:
            remove(path)


def copy_libraries(tree: Path, from_system: Sequence[str]) -> None:
    """Copy the libraries that Python's own modules link to, and let them be found in the tree."""
    library = tree / "lib"
    modules = [*(library / f"python{version()}" / "lib-dynload").glob("*.so")]
    binary = tree / "bin" / f"python{version()}"
    copied = []
    for name, path in linked([binary, *modules]).items():
        if not matches(name, from_system) and not path.is_relative_to(tree):
            shutil.copy2(path.resolve(), library / name)
            copied.append(library / name)
    patch = [program("patchelf"), "--set-rpath"]
    run([*patch, "$ORIGIN/../lib", str(binary)])
    for path in copied:
        run([*patch, "$ORIGIN", str(path)])
    for path in modules:
        run([*patch, "$ORIGIN/../..", str(path)])


def linked(files: Iterable[Path]) -> dict[str, Path]:
    """Return the libraries that the files link to, themselves or through others, by name."""
    told = subprocess.run(
        ["ldd", *map(str, files)], capture_output=True, text=True, check=False
    ).stdout
    return {
        name: Path(path) for name, path in re.findall(r"^\s+(\S+) => (/\S+) \(", told, re.MULTILINE)
    }


def compile_modules(tree: Path) -> None:
    """Compile all modules: its user may not be allowed to write into it."""
    system.say("Compiling the modules")
    words = ["-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    command = [str(tree / "bin" / "python3"), "-I", *words, "-s", str(tree), str(tree / "lib")]
    # Some packages carry templates that are no Python.
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def add_launcher(tree: Path, programs: Path) -> None:
    """Write the program that starts the window, and a link to it on the path."""
    launcher = tree / "gradscribe"
    launcher.write_text(LAUNCHER, encoding="utf-8")
    launcher.chmod(0o755)
    programs.mkdir(parents=True)
    (programs / "gradscribe").symlink_to(os.path.relpath(launcher, programs))
    shutil.copy2(ROOT / "LICENSE", tree / "LICENSE")


def add_desktop_files(share: Path) -> None:
    """Copy the menu entry, the kinds of files, the metadata and the icons."""
    source = ROOT / "assets" / "desktop"
    for name, place in (
        ("gradscribe.desktop", "applications"),
        ("gradscribe.xml", "mime/packages"),
        ("org.gradscribe.Gradscribe.metainfo.xml", "metainfo"),
    ):
        (share / place).mkdir(parents=True)
        shutil.copy2(source / name, share / place / name)
    from gradscribe.app.cli.installing import install_desktop

    for file, size in install_desktop.icon_files().items():
        (share / file).parent.mkdir(parents=True, exist_ok=True)
        (share / file).write_bytes(install_desktop.icon(size))
    (share / "doc" / "gradscribe").mkdir(parents=True)
    shutil.copy2(ROOT / "LICENSE", share / "doc" / "gradscribe" / "copyright")


def pack_archive(tree: Path) -> Path:
    """Write the tree as an archive that can be unpacked anywhere; return it."""
    name = f"gradscribe-{project_version()}-linux-{platform.machine()}"
    DIST.mkdir(exist_ok=True)
    file = DIST / f"{name}.tar.gz"
    with tarfile.open(file, "w:gz", compresslevel=6) as archive:
        archive.add(tree, name, filter=_owned_by_root)
    return file


def pack_deb() -> Path:
    """Write the Debian package and return it."""
    architecture = ARCHITECTURES[platform.machine()]
    template = string.Template((ROOT / "installers/linux/nfpm.yaml").read_text("utf-8"))
    settings = BUILD / "nfpm.yaml"
    settings.write_text(
        template.substitute(
            ARCH=architecture,
            VERSION=project_version(),
            GLIBC=platform.libc_ver()[1],
            ROOT=BUILD / "root",
        ),
        encoding="utf-8",
    )
    file = DIST / f"gradscribe_{project_version()}_{architecture}.deb"
    run([program("nfpm"), "package", "-f", str(settings), "-p", "deb", "-t", str(file)])
    return file


def project_version() -> str:
    """Return the version of the program."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def program(name: str) -> str:
    """Return a program of this environment. Raises `system.Missing`."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise system.Missing(f"{name} is missing: make bundle installs it")
    return str(path)


def run(command: Sequence[str]) -> None:
    """Run a program. Raises `system.Missing` if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise system.Missing(f"{Path(command[0]).name} failed:\n{lines}")


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches one of the patterns."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info


if __name__ == "__main__":
    sys.exit(main())
