"""Wishes of the system: Qt's, and those of a desktop's portal."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.ui.system_wishes import APPEARANCE, GNOME, INTERFACE, PATH, SystemWishes

pytest.importorskip("PySide6.QtDBus")
SYSTEM_PYTHON = "/usr/bin/python3"
PORTAL = """
import sys
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
values = {("org.freedesktop.appearance", "contrast"): dbus.UInt32(1),
          ("org.gnome.desktop.interface", "enable-animations"): dbus.Boolean(False)}
class Portal(dbus.service.Object):
    @dbus.service.method("org.freedesktop.portal.Settings", in_signature="ss", out_signature="v")
    def ReadOne(self, space, key):
        if (space, key) not in values:
            raise dbus.DBusException("unknown", name="org.freedesktop.portal.Error.NotFound")
        return values[space, key]
portal = Portal(bus, "/org/freedesktop/portal/desktop")
print("ready", flush=True)
GLib.MainLoop().run()
"""
CLIENT = """
from PySide6.QtWidgets import QApplication
from gradscribe.app.ui.system_wishes import SystemWishes
app = QApplication([])
wishes = SystemWishes()
wishes.changed.connect(
    lambda: app.quit() if wishes.has_high_contrast and wishes.has_reduced_motion else None
)
wishes.listen()
app.exec()
print("followed", wishes.is_dark)
"""


def change(space, key, value):
    """Return the portal's message that a setting changed."""
    from PySide6.QtDBus import QDBusMessage

    message = QDBusMessage.createSignal(PATH, INTERFACE, "SettingChanged")
    message.setArguments([space, key, value])
    return message


@pytest.fixture
def wishes(qapp):
    return SystemWishes()


def test_without_answers_nothing_is_wished(wishes):
    assert not wishes.has_high_contrast
    assert not wishes.has_reduced_motion


@pytest.mark.parametrize(
    ("space", "key", "value", "contrast", "still"),
    [
        (APPEARANCE, "contrast", 1, True, False),
        (APPEARANCE, "reduced-motion", 1, False, True),
        (GNOME, "enable-animations", False, False, True),
        (GNOME, "enable-animations", True, False, False),
        (APPEARANCE, "contrast", "a text", False, False),
        (APPEARANCE, "accent-color", 1, False, False),
    ],
)
def test_a_change_of_the_desktop_is_followed(wishes, qtbot, space, key, value, contrast, still):
    wishes.take_change(change(space, key, value))
    assert (wishes.has_high_contrast, wishes.has_reduced_motion) == (contrast, still)


def test_a_change_is_reported_once(wishes):
    reported = []
    wishes.changed.connect(lambda: reported.append(wishes.has_high_contrast))
    wishes.take_change(change(APPEARANCE, "contrast", 1))
    wishes.take_change(change(APPEARANCE, "contrast", 1))
    wishes.take_change(change(APPEARANCE, "contrast", 0))
    assert reported == [True, False]


def test_a_message_of_another_form_is_dropped(wishes):
    from PySide6.QtDBus import QDBusMessage

    wishes.take_change(QDBusMessage.createSignal(PATH, INTERFACE, "SettingChanged"))
    wishes.take_change(None)
    assert not wishes.has_high_contrast


def _has_dbus():
    if not (sys.platform == "linux" and shutil.which("dbus-run-session")):
        return False
    asked = [SYSTEM_PYTHON, "-c", "import dbus, gi"]
    return Path(SYSTEM_PYTHON).exists() and not subprocess.run(asked, check=False).returncode


@pytest.mark.e2e
@pytest.mark.skipif(not _has_dbus(), reason="needs dbus-run-session and python3-dbus")
def test_a_real_portal_is_asked_over_the_session_bus(tmp_path):
    (tmp_path / "portal.py").write_text(PORTAL)
    (tmp_path / "client.py").write_text(CLIENT)
    script = (
        f"env -u PYTHONPATH {SYSTEM_PYTHON} portal.py > up & until grep -q ready up; do :; done; "
        f"{sys.executable} client.py; kill $!"
    )
    run = ["dbus-run-session", "--", "sh", "-c", script]
    found = subprocess.run(
        run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "followed" in found.stdout, found.stderr
