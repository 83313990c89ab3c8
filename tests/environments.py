"""Virtual environments for tests: with the torch of this one, and packages of their own."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

FINDER = """
import importlib.machinery, importlib.util, sys
MAPPING = {{"workshop": {place!r}}}

class _EditableFinder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return importlib.util.spec_from_file_location(name, MAPPING[name] + "/__init__.py")
        return None

def install():
    sys.meta_path.append(_EditableFinder)
"""
"""As setuptools writes it for a package that is installed in editable mode."""
POINTS = [[1.0, 2.0], [3.0, 5.0]]
"""Returned by ``points()`` in the module ``neighbour`` of such an environment."""


def make_environment(home: Path) -> Path:
    """Make an environment in ``home``, and return its Python.

    ``neighbour`` is a module in it, ``workshop`` a package elsewhere with the same ``points()``.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    where = {"base": str(home), "platbase": str(home)}
    packages = Path(sysconfig.get_path("purelib", vars=where))
    (packages / "own.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (packages / "neighbour.py").write_text(f"def points():\n    return {POINTS}\n")
    _add_editable(packages, home.with_name(f"{home.name}-sources"))
    return home / "bin" / "python"


def _add_editable(packages: Path, sources: Path) -> None:
    """Install the package ``workshop`` as ``pip install --editable`` does."""
    place = sources / "workshop"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("from neighbour import points\n")
    name = "__editable___workshop_1_0_finder"
    (packages / f"{name}.py").write_text(FINDER.format(place=str(place)))
    (packages / "__editable__.workshop-1.0.pth").write_text(f"import {name}; {name}.install()\n")


def make_torchless_environment(home: Path) -> Path:
    """Make an environment with this one's packages but for torch, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name.partition("-")[0] not in ("torch", "torchgen", "functorch"):
            (packages / path.name).symlink_to(path)
    return home / "bin" / "python"


def make_wheel(folder: Path, name: str, version: str, source: str = "") -> None:
    """Write a wheel of a package whose module has this source."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


TENSORS = "class ones:\n    def __init__(self, size): self.sum = lambda: size\n"
"""Module that has as much of torch as an installation tries."""


def make_wheels(folder: Path, torch: str = TENSORS) -> Path:
    """Write wheels of all that is installed for programs, and return their folder."""
    make_wheel(folder, "torch", "2.9.0", torch)
    for name in ("numpy", "msgspec", "pandas", "matplotlib"):
        make_wheel(folder, name, "9.0")
    return folder
