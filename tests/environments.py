"""Virtual environments for tests: with the torch of this one, and a package of their own."""

import subprocess
import sys
import sysconfig
from pathlib import Path

POINTS = [[1.0, 2.0], [3.0, 5.0]]
"""Returned by ``points()`` in the module ``neighbour`` of such an environment."""


def make_environment(home: Path) -> Path:
    """Make an environment in ``home``, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    where = {"base": str(home), "platbase": str(home)}
    packages = Path(sysconfig.get_path("purelib", vars=where))
    (packages / "own.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (packages / "neighbour.py").write_text(f"def points():\n    return {POINTS}\n")
    return home / "bin" / "python"
