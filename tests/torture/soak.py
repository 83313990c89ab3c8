"""A soak: hands that never rest. ``python -m tests.torture.soak --minutes 30 --seed 0``

The real window with the real engine is clicked, typed into, run, played and rewound by real events
for so long. At its end it prints the longest stall of the event loop, and memory and handles as
they were after a first part and at the end.
"""

import argparse
import gc
import os
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app import examples
from app.documents import Drafts
from app.link import Link
from app.overlay import Overlay
from app.settings import Settings
from app.window import Window

SNIPPETS = (
    "print('hello', x)\n",
    "y = x * 2\n",
    "for i in range(200):\n    print(i)\n",
    "loss = (torch.randn(64, 64) @ torch.randn(64, 64)).sum()\n",
    "w = param(torch.randn(32, 32))\n(w @ w).tanh().sum().backward()\n",
    "while True: pass\n",
    "while True: print('again and again')\n",
    "raise ValueError('no')\n",
    "import os; os._exit(3)\n",
    "def f(n): return f(n + 1)\nf(0)\n",
    "(",
    "'",
    "🙂 = 1\n",
)
KEYS = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_End,
    Qt.Key.Key_Home,
    Qt.Key.Key_Tab,
)
WARM = 0.34
"""This share of the time passes before memory is looked at for the first time."""
PAGE = 4096


@dataclass
class Figures:
    """What a soak has found out."""

    actions: int = 0
    stall_ms: float = 0.0
    """The longest time between two turns of the event loop."""
    busy_ms: float = 0.0
    """The same in the processor's time of this thread: what a crowded machine does not add to."""
    worst: dict[str, float] = field(default_factory=dict)
    """The longest busy time after each kind of action."""
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)


def taken():
    """Return the memory (MB), handles and threads that this process takes; Linux only."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    handles = len(os.listdir("/proc/self/fd"))
    return {"MB": pages * PAGE >> 20, "handles": handles, "threads": threading.active_count()}


class Soak:
    """Hands, and a stop watch."""

    def __init__(self, window, seed):
        self.window, self.dice, self.figures = window, random.Random(seed), Figures()
        self._doing = ""
        self._last = (time.perf_counter(), time.thread_time())
        self._timer = QTimer(window)
        self._timer.setInterval(2)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self):
        now = (time.perf_counter(), time.thread_time())
        wall, busy = (1000 * (b - a) for a, b in zip(self._last, now, strict=True))
        self._last, figures = now, self.figures
        figures.stall_ms = max(figures.stall_ms, wall)
        figures.busy_ms = max(figures.busy_ms, busy)
        figures.worst[self._doing] = max(figures.worst.get(self._doing, 0.0), busy)

    def run(self, seconds):
        """Go on for so long and return the figures."""
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < seconds:
            if passed > seconds * WARM and not self.figures.before:
                self.figures.before = taken()
                self._last = (time.perf_counter(), time.thread_time())
            self.act()
        self.rest(500)
        self._timer.stop()
        self.figures.after = taken()
        return self.figures

    def rest(self, ms):
        """Let the event loop turn."""
        loop = QEventLoop()
        QTimer.singleShot(ms, loop.quit)
        loop.exec()

    def act(self):
        """Do one thing and see to what comes of it for a moment."""
        acts = (self.type, self.type, self.press, self.click, self.click, self.scrub)
        acts += (self.example, self.undo, self.drag, self.look_around, self.command)
        acts += (self.repaint,) * (self.dice.random() < 0.1)
        act = self.dice.choice(acts)
        self._doing = act.__name__
        act()
        self.figures.actions += 1
        self.rest(self.dice.choice((0, 5, 40, 200)))

    def type(self):
        """Type a line, or paste a snippet."""
        editor = self.window.editor
        editor.setFocus()
        if self.dice.random() < 0.5:
            QTest.keyClicks(editor, f"v{self.dice.randrange(9)} = {self.dice.random():.3f}")
        else:
            editor.insertPlainText(self.dice.choice(SNIPPETS))

    def press(self):
        """Press a key in the program."""
        QTest.keyClick(self.window.editor, self.dice.choice(KEYS))

    def click(self):
        """Click on the graph, a button or the transport."""
        window, dice = self.window, self.dice
        buttons = [one for one in window.findChildren(QAbstractButton) if one.isVisible()]
        target = dice.choice((window.graph, window.transport, window.editor.viewport(), *buttons))
        at = QPoint(dice.randrange(max(1, target.width())), dice.randrange(max(1, target.height())))
        QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=at)

    def scrub(self):
        """Play, pause, step, rewind."""
        clock = self.window.clock
        act = self.dice.choice((clock.toggle, clock.step, clock.back, clock.reset, clock.to_end))
        act()
        if clock.length:
            clock.seek(self.dice.randrange(clock.length + 1))

    def example(self):
        """Start from an example."""
        self.window._start_from(self.dice.choice(examples.load()))

    def undo(self):
        """Take back and make again."""
        for _ in range(self.dice.randrange(1, 6)):
            self.dice.choice((self.window.editor.undo, self.window.editor.redo))()

    def drag(self):
        """Change a number many times, as a slider does."""
        for _ in range(10):
            self.window.session.nudge(f"x = param({self.dice.random()})\n(x * x).backward()\n")
            self.rest(2)

    def look_around(self):
        """Select a card, resize, change the theme, turn to another tab."""
        window, dice = self.window, self.dice
        cards = window.showing.picture.cards
        if cards:
            window.session.select(dice.choice(cards).key)
        window.resize(dice.randrange(1000, 1500), dice.randrange(640, 950))
        for tabs in (window.below, window.tables):
            tabs.setCurrentIndex(dice.randrange(tabs.count()))

    def repaint(self):
        """Change the theme."""
        self.window.settings.put("theme", self.dice.choice(("light", "dark")))

    def command(self):
        """Open palette, gallery or a page of help, and leave it."""
        act = self.dice.choice((self.window.show_palette, self.window.show_examples))
        act()
        self.rest(10)
        for one in self.window.findChildren(Overlay):
            one.leave()


def soak(seconds, seed, home):
    """Soak a window that keeps its work below ``home``; returns the figures."""
    link = Link(spare=True)
    window = Window(link, Settings(), Drafts(Path(home) / "drafts"))
    window.open_first()
    window.show()
    link.start()
    try:
        return Soak(window, seed).run(seconds)
    finally:
        window.close()
        window.deleteLater()
        link.deleteLater()


def main(words=None):
    """Soak, print the figures, and return 0 where nothing grew and nothing stalled."""
    import tempfile

    from app.opening import make_app

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    application = make_app(["soak"])
    assert isinstance(application, QApplication)
    with tempfile.TemporaryDirectory() as home:
        found = soak(options.minutes * 60, options.seed, home)
    sys.stdout.write(f"{told(found)}\n")
    return int(bool(grown(found)))


def told(found):
    """Return the figures in words."""
    slowest = sorted(found.worst.items(), key=lambda pair: -pair[1])[:4]
    worst = ", ".join(f"{name} {busy:.0f}" for name, busy in slowest)
    return (
        f"{found.actions} actions; longest stall {found.stall_ms:.0f} ms,"
        f" {found.busy_ms:.0f} ms of them busy ({worst});"
        f" at first {found.before}, in the end {found.after}"
    )


def grown(found):
    """Return what has grown more than the noise."""
    room = {"MB": 40 + found.before["MB"] // 5, "handles": 12, "threads": 4}
    return [name for name in room if found.after[name] - found.before[name] > room[name]]


if __name__ == "__main__":
    sys.exit(main())
