"""Virtual environments for tests: with the torch of this one, and packages of their own."""

import subprocess
import sys
import sysconfig
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
