"""The real program on a virtual screen, used with the mouse and the keyboard."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.accessibility import AccessibilityBus, Element, wait_for
from tests.e2e.screen import Screen

BUTTONS = {"left": "1", "right": "3"}
END_S = 30.0
LINE_SPACING = 25
"""Height of a line of the editor at the usual size of text, in pixels."""


class Program:
    """``gradscribe`` with ``arguments``, its window, and what a person does with them."""

    def __init__(self, screen: Screen, *arguments: str) -> None:
        self.screen, self._arguments = screen, arguments
        self.bus = AccessibilityBus(screen.environment["DBUS_SESSION_BUS_ADDRESS"])
        self.process: subprocess.Popen | None = None
        self._log = screen.folder / "program.log"

    def __enter__(self) -> "Program":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.bus.close()

    def start(self, *arguments: str) -> Element:
        """Start it, with other arguments perhaps, and return its window once that is there."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gradscribe", *(arguments or self._arguments)],
                env=self.screen.environment,
                cwd=self.screen.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self.wait(lambda: next(iter(self.bus.windows()), None), "the window")

    def quit(self) -> int:
        """Leave by the keyboard, and return the exit code."""
        assert self.process is not None
        self.keys("ctrl+q")
        return self.process.wait(END_S)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        wait_for(lambda: not self.bus.windows(), "the end of the window")

    @property
    def log(self) -> str:
        """The text of its standard streams, its log, and where it crashed."""
        own = sorted(self.screen.folder.glob("data/*/logs/*.log"))
        return "".join(path.read_text(errors="replace") for path in [self._log, *own])

    def wait(self, look: Callable[[], Any], what: str) -> Any:
        """Return the first true result of ``look``; fail at once when the program has ended."""

        def alive() -> Any:
            assert self.process is not None
            code = self.process.poll()
            assert code is None, f"the program has ended with {code}:\n{self.log}"
            return look()

        try:
            return wait_for(alive, what)
        except AssertionError as failure:
            picture = self.screen.picture(self.screen.folder / "failed.png")
            raise AssertionError(f"{failure}; the screen is {picture}\n{self.log}") from None

    def find(self, role: str, name: str, within: Element | None = None) -> Element:
        """Wait for a visible element of a role whose whole name matches, and return it."""
        return self.wait(lambda: self.bus.find(role, name, within), f"{role} {name!r}")

    def sees(self, role: str, name: str) -> bool:
        """Tell whether such an element is visible now."""
        return self.bus.find(role, name) is not None

    def says(self, words: str) -> Element:
        """Wait for a visible text that contains a match of ``words``, and return it."""
        pattern = re.compile(words)

        def look() -> Element | None:
            for window in reversed(self.bus.windows()):
                for element in window.walk():
                    if pattern.search(element.name):
                        return element
            return None

        return self.wait(look, words)

    def texts(self) -> list[tuple[str, str]]:
        """Return role and name of everything visible, top-level windows in order."""
        found = []
        for window in self.bus.windows():
            found += [(element.role, element.name) for element in window.walk()]
        return found

    def click(self, element: Element, button: str = "left", times: int = 1) -> None:
        """Click in the middle of an element, once it stands still."""
        x, y = self._middle(element)
        self._mouse("mousemove", str(x), str(y), "click", "--repeat", str(times), BUTTONS[button])

    def press(self, role: str, name: str) -> Element:
        """Find an element, click it, and return it."""
        element = self.find(role, name)
        self.click(element)
        return element

    def drag(self, start: tuple[int, int], way: tuple[int, int], steps: int = 8) -> None:
        """Press at ``start``, move by ``way`` in ``steps``, and release; pixels of the screen."""
        (x, y), (right, down) = start, way
        words = ["mousemove", str(x), str(y), "mousedown", "1"]
        for step in range(1, steps + 1):
            there = str(x + right * step // steps), str(y + down * step // steps)
            words += ["mousemove", *there, "sleep", "0.03"]
        self._mouse(*words, "mouseup", "1")

    def point(self, x: int, y: int) -> None:
        """Move the mouse to a pixel of the screen."""
        self._mouse("mousemove", str(x), str(y))

    def scroll(self, element: Element, notches: int) -> None:
        """Turn the wheel over an element; up is positive."""
        x, y = self._middle(element)
        button = "4" if notches > 0 else "5"
        self._mouse("mousemove", str(x), str(y), "click", "--repeat", str(abs(notches)), button)

    def keys(self, *names: str) -> None:
        """Press keys after each other, by X's names: ``ctrl+s``, ``Escape``."""
        self._mouse("key", "--clearmodifiers", "--delay", "40", *names)

    def type(self, text: str) -> None:
        """Type characters of ASCII, with the Return key between lines."""
        for at, line in enumerate(text.split("\n")):
            if at:
                self.keys("Return")
            if line:
                self._mouse("type", "--delay", "15", line)

    def place_of(self, editor: Element, text: str) -> tuple[int, int]:
        """Return the middle of the first character of ``text`` in an editor, on the screen."""
        words = editor.text
        at = words.index(text)
        box = self.bus.call(editor, "Text", "GetCharacterExtents", "iu", (at, 0))
        left, top, wide, high = box
        # Qt 6 places a character of a plain text as if its line were the first.
        line = words.count("\n", 0, at)
        return left + wide // 2, top + line * LINE_SPACING + high // 2

    def still_picture(self) -> Path:
        """Return a picture of the screen, taken once two in a row are the same."""
        # A corner without any control: no tip, no highlight, no caret of the editor's.
        self.point(self.screen.size[0] - 1, self.screen.size[1] - 1)
        seen: list[bytes] = []

        def is_still() -> bool:
            seen.append(self.screen.pixels((0, 0, *self.screen.size)))
            return seen[-2:] == [seen[-1]] * 2

        self.wait(is_still, "a picture that stands still")
        return self.screen.picture(self.screen.folder / "screen.png")

    def _middle(self, element: Element) -> tuple[int, int]:
        boxes: list[tuple[int, int, int, int]] = []

        def still() -> bool:
            boxes.append(element.box)
            return boxes[-2:] == [boxes[-1]] * 2 and boxes[-1][2] > 0

        self.wait(still, f"{element.name!r} standing still")
        left, top, wide, high = boxes[-1]
        return left + wide // 2, top + high // 2

    def _mouse(self, *words: str) -> None:
        self.screen.run("xdotool", *words)
