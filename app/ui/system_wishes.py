"""Wishes of the system about colours, contrast and motion.

Qt knows the colour scheme, from 6.10 on the contrast, from 6.12 on the motion. For what it does not
know: on Linux the portal of the desktop, whose answers arrive later; Windows and macOS are asked
themselves.
"""

import subprocess
import sys
from collections.abc import Callable

from PySide6.QtCore import SLOT, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication

SERVICE, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
INTERFACE = "org.freedesktop.portal.Settings"
APPEARANCE, GNOME = "org.freedesktop.appearance", "org.gnome.desktop.interface"
ASKED = (
    (APPEARANCE, "color-scheme"),
    (APPEARANCE, "contrast"),
    (APPEARANCE, "reduced-motion"),
    (GNOME, "enable-animations"),
)
"""Settings of the portal; desktops without ``reduced-motion`` have at least the last."""
PATIENCE_MS = 2_000
SPI_GETCLIENTAREAANIMATION = 0x1042


class SystemWishes(QObject):
    """Wishes of the system, as far as they are known."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._portal: dict[tuple[str, str], int] = {}
        """Answers of the portal."""
        self._animates = True
        """False if Windows or macOS says that nothing should move."""
        self._calls: set[QObject] = set()
        """Calls to the portal that are not answered."""
        # Stored: without it the wrapper of its accessibility hints becomes invalid.
        self._style = QApplication.styleHints()
        self._style.colorSchemeChanged.connect(self.changed)
        has_hints = hasattr(self._style, "accessibility")
        self._hints = self._style.accessibility() if has_hints else None
        for name in ("contrastPreferenceChanged", "motionPreferenceChanged"):
            signal = getattr(self._hints, name, None)
            if signal is not None:
                signal.connect(self.changed)

    @property
    def is_dark(self) -> bool:
        """True if the system prefers light text on dark ground."""
        scheme = self._style.colorScheme()
        if scheme == Qt.ColorScheme.Unknown:
            return self._portal.get((APPEARANCE, "color-scheme")) == 1
        return scheme == Qt.ColorScheme.Dark

    @property
    def has_high_contrast(self) -> bool:
        """True if the system asks for more contrast."""
        return self._hint("contrastPreference") or bool(self._portal.get((APPEARANCE, "contrast")))

    @property
    def has_reduced_motion(self) -> bool:
        """True if the system asks for less motion."""
        portal = self._portal
        is_still = portal.get((APPEARANCE, "reduced-motion")) or not portal.get(
            (GNOME, "enable-animations"), 1
        )
        return self._hint("motionPreference") or bool(is_still) or not self._animates

    def _hint(self, name: str) -> bool:
        """Return whether Qt's hint of this name is there and says more than "no preference"."""
        ask: Callable[[], object] | None = getattr(self._hints, name, None)
        found = ask() if ask is not None else None
        return getattr(found, "name", "NoPreference") != "NoPreference"

    def listen(self) -> None:
        """Ask the system for what Qt does not know, and follow it from now on."""
        if sys.platform == "win32":
            self._animates = _windows_animates()
        elif sys.platform == "darwin":
            self._animates = _macos_animates()
        else:
            self._ask_portal()
        if not self._animates:
            self.changed.emit()

    def _ask_portal(self) -> None:
        # Imported here: only after the first paint, and on Linux alone.
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        # The stub asks for bytes, and Qt for what SLOT returns.
        slot = SLOT("take_change(QDBusMessage)")
        bus.connect("", PATH, INTERFACE, "SettingChanged", self, slot)  # type: ignore[call-overload]
        for place in ASKED:
            message = QDBusMessage.createMethodCall(SERVICE, PATH, INTERFACE, "ReadOne")
            message.setArguments(list(place))
            call = QDBusPendingCallWatcher(bus.asyncCall(message, PATIENCE_MS), self)
            self._calls.add(call)
            call.finished.connect(lambda call, place=place: self._take_answer(place, call))

    def _take_answer(self, place: tuple[str, str], call: QObject) -> None:
        from PySide6.QtDBus import QDBusPendingCallWatcher

        self._calls.discard(call)
        if isinstance(call, QDBusPendingCallWatcher) and not call.isError():
            self._take(place, *call.reply().arguments())
        call.deleteLater()

    @Slot("QDBusMessage")
    def take_change(self, message: object) -> None:
        """Take over a change that the portal reports; called by Qt."""
        from PySide6.QtDBus import QDBusMessage

        arguments = message.arguments() if isinstance(message, QDBusMessage) else []
        if len(arguments) == 3:
            self._take((str(arguments[0]), str(arguments[1])), arguments[2])

    def _take(self, place: tuple[str, str], *values: object) -> None:
        """Store an answer of the portal; one of another type than expected is dropped."""
        value = values[0] if values else None
        while hasattr(value, "variant"):
            value = value.variant()
        if place in ASKED and isinstance(value, int) and self._portal.get(place) != value:
            self._portal[place] = int(value)
            self.changed.emit()


def _windows_animates() -> bool:
    """Return whether Windows shows animations ("Animation effects" of its accessibility)."""
    if sys.platform != "win32":
        return True
    import ctypes

    on = ctypes.c_int(1)
    asked = ctypes.windll.user32.SystemParametersInfoW
    return not asked(SPI_GETCLIENTAREAANIMATION, 0, ctypes.byref(on), 0) or bool(on.value)


def _macos_animates() -> bool:
    """Return whether macOS shows animations ("Reduce motion" of its accessibility is off)."""
    command = ["defaults", "read", "com.apple.universalaccess", "reduceMotion"]
    try:
        found = subprocess.run(command, capture_output=True, timeout=1, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return found.stdout.strip() != b"1"
