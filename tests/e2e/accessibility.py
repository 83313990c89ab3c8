"""The window as assistive technologies see it: AT-SPI over D-Bus.

Roles, states and interfaces: https://gnome.pages.gitlab.gnome.org/at-spi2-core/libatspi/
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, MessageType, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

PREFIX = "org.a11y.atspi."
STATES = {
    "checked": 4,
    "enabled": 8,
    "expanded": 10,
    "focusable": 11,
    "focused": 12,
    "selected": 23,
    "sensitive": 24,
    "showing": 25,
}
"""Bits of a state set, by name."""
SCREEN = 0
"""The kind of coordinates whose origin is the screen's."""
PATIENCE_S = 90.0


class Gone(LookupError):
    """The element or its application is not there any more."""


@dataclass(frozen=True)
class Element:
    """A widget, a cell, a menu entry ... of an application on the bus."""

    bus: "AccessibilityBus"
    owner: str
    path: str

    @property
    def name(self) -> str:
        """Its accessible name."""
        return self.bus.read(self, "Accessible", "Name")

    @property
    def description(self) -> str:
        """Its accessible description."""
        return self.bus.read(self, "Accessible", "Description")

    @property
    def role(self) -> str:
        """Its role in English, such as ``push button``."""
        return self.bus.call(self, "Accessible", "GetRoleName")[0]

    @property
    def states(self) -> set[str]:
        """Those of ``STATES`` that are set."""
        low, high = self.bus.call(self, "Accessible", "GetState")[0]
        bits = low | high << 32
        return {name for name, bit in STATES.items() if bits >> bit & 1}

    @property
    def children(self) -> list["Element"]:
        """The elements within it."""
        found = self.bus.call(self, "Accessible", "GetChildren")[0]
        return [Element(self.bus, owner, path) for owner, path in found]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height on the screen, in pixels."""
        return self.bus.call(self, "Component", "GetExtents", "u", (SCREEN,))[0]

    @property
    def text(self) -> str:
        """The text of an editor or a field."""
        return self.bus.call(self, "Text", "GetText", "ii", (0, -1))[0]

    @property
    def value(self) -> float:
        """The number that a slider or a number field shows."""
        return self.bus.read(self, "Value", "CurrentValue")

    def focus(self) -> None:
        """Give it the keyboard."""
        self.bus.call(self, "Component", "GrabFocus")

    def walk(self, depth: int = 30) -> Iterator["Element"]:
        """Yield it and all that is visible within, depth first."""
        yield self
        if depth:
            for child in self.children:
                try:
                    if "showing" in child.states:
                        yield from child.walk(depth - 1)
                except Gone:
                    continue


class AccessibilityBus:
    """A connection to the accessibility bus of a session."""

    def __init__(self, session: str) -> None:
        with open_dbus_connection(bus=session) as connection:
            there = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            address = connection.send_and_get_reply(new_method_call(there, "GetAddress")).body[0]
        self._connection: DBusConnection = open_dbus_connection(bus=address)
        self.root = Element(self, f"{PREFIX}Registry", "/org/a11y/atspi/accessible/root")

    def close(self) -> None:
        """Leave the bus."""
        self._connection.close()

    def call(
        self, element: Element, interface: str, method: str, signature: str = "", body: tuple = ()
    ) -> Any:
        """Return the body of a method's reply.

        Raises:
            Gone: the element has no such interface, or is not there any more.
        """
        there = DBusAddress(element.path, element.owner, PREFIX + interface)
        return self._ask(new_method_call(there, method, signature or None, body))

    def read(self, element: Element, interface: str, name: str) -> Any:
        """Return a property.

        Raises:
            Gone: the element has no such interface, or is not there any more.
        """
        there = DBusAddress(element.path, element.owner, PREFIX + interface)
        return self._ask(Properties(there).get(name))[0][1]

    def _ask(self, message: Any) -> Any:
        # A window that computes answers late; for a dead one the bus answers.
        reply = self._connection.send_and_get_reply(message, timeout=PATIENCE_S)
        if reply.header.message_type is MessageType.error:
            raise Gone(str(reply.body))
        return reply.body

    def windows(self) -> list[Element]:
        """Return the top-level windows of all applications, the one opened last at the end."""
        found = []
        for application in self.root.children:
            try:
                found += [child for child in application.children if "showing" in child.states]
            except Gone:
                continue
        return found

    def find(self, role: str, name: str, within: Element | None = None) -> Element | None:
        """Return the first visible element of a role whose whole name matches an expression."""
        pattern = re.compile(name)
        tops = [within] if within is not None else list(reversed(self.windows()))
        for top in tops:
            try:
                for element in top.walk():
                    if element.role == role and pattern.fullmatch(element.name):
                        return element
            except Gone:
                continue
        return None


def wait_for(look: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:
    """Return the first true result of ``look``.

    Raises:
        AssertionError: there was none in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = look()
        except Gone:
            found = None
        if found:
            return found
        assert time.monotonic() < deadline, f"never seen: {what}"
        threading.Event().wait(0.1)
