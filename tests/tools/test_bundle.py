"""The bundle's recipe: what it declares, and what it refuses. tests/bundle starts the bundle."""

import importlib
import plistlib
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from gradscribe.app.cli.installing import install_desktop
from gradscribe.app.runtime import qt_libraries

ROOT = Path(__file__).resolve().parents[2]
INSTALLERS = ROOT / "installers"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@pytest.fixture
def bundle(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("bundle", "system"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("bundle")
    for name in ("bundle", "system"):
        sys.modules.pop(name, None)


def test_the_package_needs_the_libraries_that_qt_loads():
    depends = yaml.safe_load((INSTALLERS / "linux" / "nfpm.yaml").read_text())["depends"]
    names = {line.split()[0] for line in depends}
    assert set(qt_libraries.X11.values()) <= names


def test_the_qt_that_is_declared_has_what_the_window_imports():
    declared = set(tomllib.loads((INSTALLERS / "bundle.toml").read_text())["qt"]["modules"])
    sources = [
        path for folder in ("app", "widgets", "api") for path in (ROOT / folder).rglob("*.py")
    ]
    found = {
        name
        for path in sources
        for name in re.findall(r"from PySide6\.(Qt\w+) import", path.read_text("utf-8"))
    }
    assert "QtWidgets" in found
    assert found <= declared


def test_a_python_that_cannot_be_moved_is_refused(bundle, monkeypatch):
    place = f"/usr/lib/python{bundle.version()}"
    monkeypatch.setattr(bundle.sysconfig, "get_path", lambda name: place)
    with pytest.raises(bundle.system.Missing, match="make setup PYTHON=path"):
        bundle.check_python()


def test_another_system_is_refused(bundle, monkeypatch):
    monkeypatch.setattr(bundle.sys, "platform", "darwin")
    with pytest.raises(bundle.system.Missing, match="made on Linux"):
        bundle.check_python()


def test_the_libraries_of_a_program_are_found_by_name(bundle):
    found = bundle.linked([Path("/bin/sh")])
    assert found["libc.so.6"].exists()


def test_a_failed_program_shows_its_last_lines(bundle):
    with pytest.raises(bundle.system.Missing, match="false failed"):
        bundle.run(["false"])


def test_the_files_of_the_desktop_are_copied_as_they_are(bundle, tmp_path):
    bundle.add_desktop_files(tmp_path)
    entry = (tmp_path / "applications" / "gradscribe.desktop").read_text()
    assert entry == (install_desktop.SOURCES / "gradscribe.desktop").read_text()
    assert {tmp_path / file for file in install_desktop.icon_files()} <= {*tmp_path.rglob("*")}


def test_the_launcher_finds_its_python_through_a_link(bundle, tmp_path):
    tree = tmp_path / "usr" / "lib" / "a folder"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin" / "python3").write_text('#!/bin/sh\necho "$@"\n')
    (tree / "bin" / "python3").chmod(0o755)
    bundle.add_launcher(tree, tmp_path / "usr" / "bin")
    started = [str(tmp_path / "usr" / "bin" / "gradscribe"), "own file.py"]
    done = bundle.subprocess.run(started, capture_output=True, text=True, check=True)
    assert done.stdout == "-E -s -P -m gradscribe own file.py\n"


def test_the_other_systems_have_the_version_of_the_program(bundle):
    with (INSTALLERS / "macos" / "Info.plist").open("rb") as file:
        properties = plistlib.load(file)
    assert properties["CFBundleShortVersionString"] == bundle.project_version()
    script = (INSTALLERS / "windows" / "gradscribe.iss").read_text()
    assert f'#define Version "{bundle.project_version()}"' in script
    suffixes = {
        suffix
        for kind in properties["CFBundleDocumentTypes"]
        for suffix in kind["CFBundleTypeExtensions"]
    }
    for suffix in suffixes:
        assert f"Classes\\.{suffix}\\OpenWithProgids" in script
