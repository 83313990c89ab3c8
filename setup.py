"""Packages of the wheel: the top-level folders, installed as subpackages of ``gradscribe``.

All else is declared in pyproject.toml; a list of packages cannot be computed there.
"""

from setuptools import find_packages, setup

FOLDERS = ("engine", "playback", "widgets", "app", "assets")
found = find_packages(include=[pattern for name in FOLDERS for pattern in (name, f"{name}.*")])

setup(
    packages=["gradscribe", *(f"gradscribe.{name}" for name in found), "gradscribe.manual"],
    package_dir={
        "gradscribe": "api",
        **{f"gradscribe.{name}": name for name in FOLDERS},
        "gradscribe.manual": "docs/manual",
    },
)
