"""System libraries: installed where that is allowed, else one line with the command."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@pytest.fixture
def system(monkeypatch):
    """The module, with no library there and nothing that could really be installed."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "system", raising=False)
    module = importlib.import_module("system")
    monkeypatch.setattr(module, "apt", lambda install, packages: False)
    yield module
    sys.modules.pop("system", None)


def loaded_after(system, monkeypatch, installs: list) -> None:
    """Let apt succeed, and every library load from then on."""

    def apt(install, packages):
        installs.append((install, packages))
        return True

    monkeypatch.setattr(system, "apt", apt)
    monkeypatch.setattr(system, "loads", lambda library: bool(installs))


def test_nothing_is_installed_where_every_library_loads(system, monkeypatch):
    monkeypatch.setattr(system, "loads", lambda library: True)
    system.provide(system.X11)


def test_root_gets_the_missing_packages_and_the_fonts(system, monkeypatch):
    installs: list = []
    loaded_after(system, monkeypatch, installs)
    monkeypatch.setattr(system, "installer", list)
    monkeypatch.setattr(system, "missing_fonts", lambda: ["fonts-inter"])
    system.provide(system.OFFSCREEN)
    assert installs == [([], list(system.OFFSCREEN.values())), ([], ["fonts-inter"])]


def test_root_gets_a_browser_for_the_tests_of_pages_once(system, monkeypatch):
    installs: list = []
    loaded_after(system, monkeypatch, installs)
    monkeypatch.setattr(system, "installer", lambda: ["sudo", "-n"])
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    system.provide_browser()
    assert installs == []
    monkeypatch.setattr(system, "installer", list)
    system.provide_browser()
    assert installs == [([], ["chromium"])]
    monkeypatch.setattr(system.shutil, "which", lambda name: f"/usr/bin/{name}")
    system.provide_browser()
    assert len(installs) == 1


def test_root_gets_an_ssh_server_once(system, monkeypatch):
    installs: list = []
    loaded_after(system, monkeypatch, installs)
    monkeypatch.setattr(system, "installer", list)
    monkeypatch.setattr(system.shutil, "which", lambda name, path: None)
    system.provide_ssh_server()
    assert installs == [([], ["openssh-server"])]
    monkeypatch.setattr(system.shutil, "which", lambda name, path: f"/usr/sbin/{name}")
    system.provide_ssh_server()
    assert len(installs) == 1


def test_root_gets_a_virtual_screen_as_far_as_it_lacks_parts(system, monkeypatch):
    installs: list = []
    loaded_after(system, monkeypatch, installs)
    monkeypatch.setattr(system, "loads", lambda library: library != "libxcb-cursor.so.0")
    monkeypatch.setattr(system, "installer", list)
    monkeypatch.setattr(system.shutil, "which", lambda name: name != "xdotool")
    monkeypatch.setattr(system.Path, "exists", lambda path: path.name != "at-spi2-registryd")
    system.provide_screen()
    assert installs == [([], ["xdotool", "at-spi2-core", "libxcb-cursor0"])]
    monkeypatch.setattr(system, "loads", lambda library: True)
    monkeypatch.setattr(system.shutil, "which", lambda name: name)
    monkeypatch.setattr(system.Path, "exists", lambda path: True)
    system.provide_screen()
    assert len(installs) == 1
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    monkeypatch.setattr(system, "installer", lambda: ["sudo", "-n"])
    system.provide_screen()
    assert len(installs) == 1


def test_sudo_is_spent_on_what_is_needed_only(system, monkeypatch):
    installs: list = []
    loaded_after(system, monkeypatch, installs)
    monkeypatch.setattr(system, "installer", lambda: ["sudo", "-n"])
    monkeypatch.setattr(system, "missing_fonts", lambda: ["fonts-inter"])
    system.provide(system.X11)
    assert installs == [(["sudo", "-n"], list(system.X11.values()))]


def test_without_rights_one_line_names_the_command(system, monkeypatch):
    monkeypatch.setattr(system, "loads", lambda library: "xcb-cursor" not in library)
    monkeypatch.setattr(system, "installer", lambda: None)
    monkeypatch.setattr(system.shutil, "which", lambda name: name)
    with pytest.raises(system.Missing) as problem:
        system.provide(system.X11)
    assert str(problem.value).endswith("run sudo apt-get install libxcb-cursor0")
    assert "\n" not in str(problem.value)


def test_a_failed_apt_names_the_command_too(system, monkeypatch):
    monkeypatch.setattr(system, "loads", lambda library: False)
    monkeypatch.setattr(system, "installer", list)
    with pytest.raises(system.Missing, match=r"sudo apt-get install libglib2.0-0 libegl1"):
        system.provide(system.OFFSCREEN)


def test_other_systems_are_told_to_use_their_own_package_manager(system, monkeypatch):
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    assert system.installer() is None
    assert system.advice(["libegl1"]).startswith("install them with your package manager")


def test_a_sudo_that_would_ask_is_not_used(system, monkeypatch):
    monkeypatch.setattr(system.shutil, "which", lambda name: name)
    monkeypatch.setattr(system.os, "geteuid", lambda: 1000)
    refused = subprocess.CompletedProcess(["sudo"], 1)
    monkeypatch.setattr(system.subprocess, "run", lambda *_, **__: refused)
    assert system.installer() is None


@pytest.mark.parametrize(
    ("name", "screen"), [("DISPLAY", True), ("WAYLAND_DISPLAY", True), ("", False)]
)
def test_a_screen_is_known_by_its_variable(system, monkeypatch, name, screen):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if name:
        monkeypatch.setenv(name, ":0")
    assert system.has_screen() is screen


def test_each_screen_has_its_own_libraries(system, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert system.needed() == system.OFFSCREEN
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "libwayland-cursor0" in system.needed().values()
    monkeypatch.setenv("DISPLAY", ":0")
    assert "libxcb-cursor0" in system.needed().values()
    assert "libwayland-cursor0" not in system.needed().values()


def test_every_library_that_qt_links_to_is_on_the_list(system):
    import PySide6

    folder = Path(PySide6.__file__).parent
    parts = [folder / f"{name}.abi3.so" for name in ("QtCore", "QtGui", "QtWidgets", "QtSvg")]
    parts += [folder / "Qt" / "plugins" / "platforms" / "libqoffscreen.so"]
    told = subprocess.run(["ldd", *parts], capture_output=True, text=True, check=True).stdout
    lacking = [line.split()[0] for line in told.splitlines() if "not found" in line]
    assert lacking == []


def test_the_loader_is_asked_and_not_a_list(system):
    assert system.loads("libc.so.6")
    assert not system.loads("libnothing-of-the-kind.so.1")
