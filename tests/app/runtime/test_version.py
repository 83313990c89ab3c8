"""The version is the package's own."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from gradscribe.app.runtime.version import version

ROOT = Path(__file__).resolve().parents[3]


def test_the_version_is_that_of_the_package(monkeypatch):
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    monkeypatch.setattr(metadata, "version", {"gradscribe": stated}.__getitem__)
    assert version() == stated


def test_a_copy_that_is_not_installed_says_so(monkeypatch):
    def missing(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    assert version() == "(not installed)"
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("gradscribe")
