"""Qt without its system libraries, or without a display: one line, and no abort."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.runtime import qt_libraries

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Put only the named programs on the path."""

    def install(*names):
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def gradscribe(*words, damaged="", **variables):
    """Run the program where the library ``damaged`` cannot be loaded."""
    environment = {name: text for name, text in os.environ.items() if name != "WAYLAND_DISPLAY"}
    environment |= variables
    if damaged:
        environment["LD_LIBRARY_PATH"] = damaged
    return subprocess.run(
        [sys.executable, "-P", "-m", "gradscribe", *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
    )


def one_line(done):
    """Return what a refused program wrote, which is one line."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gradscribe: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def without(tmp_path):
    """Return a folder in which a library is damaged, so that the loader gives up on it."""

    def damage(library):
        (tmp_path / library).write_text("not a library")
        return str(tmp_path)

    return damage


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libEGL.so.1", "libegl1"),
    ],
)
def test_a_library_that_a_window_lacks_is_named_with_its_command(without, library, package):
    done = gradscribe(damaged=without(library), DISPLAY=":0", QT_QPA_PLATFORM="")
    line = one_line(done)
    assert line.rstrip().endswith(f" {package}") or library in line


@pytest.mark.e2e
def test_a_picture_of_the_window_names_the_library_too(without, tmp_path):
    out = tmp_path / "window.png"
    done = gradscribe("--screenshot", str(out), damaged=without("libEGL.so.1"))
    assert "libegl1" in one_line(done)
    assert not out.exists()


@pytest.mark.e2e
def test_a_display_that_does_not_answer_is_named():
    line = one_line(gradscribe(DISPLAY=":7377", QT_QPA_PLATFORM="xcb"))
    assert "no window can be opened on :7377" in line


@pytest.mark.e2e
def test_without_a_display_the_ways_without_a_window_are_named():
    line = one_line(gradscribe(DISPLAY="", QT_QPA_PLATFORM=""))
    assert "no display here" in line
    assert "--headless" in line


@pytest.mark.e2e
def test_a_window_system_that_does_not_exist_is_no_missing_library():
    line = one_line(gradscribe(DISPLAY=":0", QT_QPA_PLATFORM="nonsense"))
    assert 'Could not find the Qt platform plugin "nonsense"' in line
    assert "install" not in line


def test_each_package_manager_has_its_own_command(tools):
    lacking = {"libxcb-cursor.so.0": "libxcb-cursor0"}
    tools("dnf")
    assert qt_libraries.install_advice(lacking) == (
        "run sudo dnf install 'libxcb-cursor.so.0()(64bit)'"
    )
    tools("apt-get")
    assert qt_libraries.install_advice(lacking) == "run sudo apt-get install libxcb-cursor0"


def test_without_a_known_package_manager_the_library_itself_is_named(tools):
    tools()
    advice = qt_libraries.install_advice({"libxcb-cursor.so.0": "libxcb-cursor0"})
    assert advice.startswith("install libxcb-cursor.so.0 with your package manager")


def test_an_error_of_another_module_is_none_of_qts():
    assert qt_libraries.import_failure(ImportError("No module named 'nothing'")) == ""


def test_a_library_of_no_table_is_named_as_it_is(monkeypatch, tools):
    tools("apt-get")
    monkeypatch.setattr(qt_libraries, "missing_libraries", lambda _: {})
    error = ImportError("libodd.so.4: cannot open shared object file: No such file or directory")
    assert qt_libraries.import_failure(error).endswith("install libodd.so.4")


def test_the_plugins_of_both_window_systems_are_found(qapp):
    from PySide6.QtCore import QLibraryInfo

    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath), "platforms")
    names = {file.name for file in plugins.iterdir()}
    for system in ("xcb", "wayland"):
        assert any(re.fullmatch(rf"libq{system}.*\.so", name) for name in names)


def test_messages_that_end_nothing_are_passed_on(capsys):
    from PySide6.QtCore import qInstallMessageHandler, qWarning

    before = qInstallMessageHandler(None)
    try:
        with qt_libraries.explained_abort(end=lambda _: pytest.fail("ended")):
            qWarning("a harmless line")
    finally:
        qInstallMessageHandler(before)
    assert capsys.readouterr().err == "a harmless line\n"
