"""A soak: hands that never rest. ``python -m tests.torture.soak --minutes 30 --seed 0``

The real window with its real engines is clicked, typed into, run, played, rewound, trained and
taught by real events for so long. Printed at its end: the longest stalls of the event loop with the
stack of the main thread in them, and memory and handles as they went.
"""

import argparse
import contextlib
import gc
import os
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtWidgets import QApplication

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.link.client import Link
from gradscribe.app.runtime.faults import FaultHandler
from gradscribe.app.window.startup import start_services
from gradscribe.app.window.window import Window
from tests.torture.awake import Awake, first, servers
from tests.torture.hands import Hands
from tests.torture.stalls import LONG_MS, Meter

WARM = 0.34
"""This share of the time passes before memory is looked at for the first time."""
LOOKS = 12
PAGE = 4096


@dataclass
class Figures:
    """Findings of a soak."""

    meter: Meter = field(default_factory=Meter)
    actions: int = 0
    taken: list[dict[str, int]] = field(default_factory=list)
    """Memory and handles, `LOOKS` times from the time when it was warm to the end."""
    faults: list[str] = field(default_factory=list)
    """Exceptions of ours that nobody expected."""

    @property
    def before(self):
        """Use when it was warm: the least of the first looks."""
        return self._least(self.taken[: max(1, len(self.taken) // 3)])

    @property
    def after(self):
        """Use in the end: the least of the last looks, for use goes up and down."""
        return self._least(self.taken[-max(1, len(self.taken) // 3) :])

    def _least(self, looks):
        return {name: min(look[name] for look in looks) for name in looks[0]}


def taken():
    """Return the memory (MB), handles and threads that this process takes; Linux only."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    handles = len(os.listdir("/proc/self/fd"))
    widgets = len(QApplication.allWidgets())
    return {
        "MB": pages * PAGE >> 20,
        "handles": handles,
        "threads": threading.active_count(),
        "widgets": widgets,
    }


class Soak:
    """Hands, and a stop watch."""

    def __init__(self, window, seed, home):
        self.hands, self.figures = Hands(window, seed, Path(home) / "files"), Figures()
        self._dice = random.Random(seed + 1)
        self.figures.meter.start(window)

    def run(self, seconds):
        """Go on for so long and return the figures."""
        self._build()
        begun, figures = time.monotonic(), self.figures
        marks = [seconds * (WARM + (1 - WARM) * look / LOOKS) for look in range(LOOKS)]
        while (passed := time.monotonic() - begun) < seconds:
            if marks and passed > marks[0]:
                marks.pop(0)
                figures.taken.append(taken())
                figures.meter.forget()
            self.act()
        self.hands.rest(500)
        figures.meter.stop()
        figures.taken.append(taken())
        return figures

    def _build(self):
        """Open what is built at its first sight, so that it does not count as growth."""
        for act in (self.hands.train, self.hands.lab, self.hands.lesson, self.hands.visit):
            self.figures.meter.activity = act.__name__
            act()

    def act(self):
        """Do one thing and see to what comes of it for a moment."""
        act = self.hands.next()
        self.figures.meter.activity = act.__name__
        act()
        self.figures.actions += 1
        self.hands.rest(self._dice.choice((0, 5, 40, 200)))


def soak(seconds, seed, home, told_ms=LONG_MS):
    """Soak a window that keeps its work below ``home``; returns the figures."""
    faults = FaultHandler(Path(home) / "logs" / "gradscribe.log")
    faults.install()
    link = Link(spare=True)
    window = Window(link, Settings(), Drafts(Path(home) / "drafts"))
    window.open_first()
    switch, thresholds = sys.getswitchinterval(), gc.get_threshold()
    start_services(window, link)
    window.show()
    told = []
    faults.caught.connect(lambda fault: told.append(str(fault)))
    try:
        soaked = Soak(window, seed, home)
        soaked.figures.meter.told_ms = told_ms
        found = soaked.run(seconds)
    finally:
        window.close()
        window.deleteLater()
        link.deleteLater()
        faults.close()
        sys.setswitchinterval(switch)
        gc.set_threshold(*thresholds)
        gc.unfreeze()
    found.faults = told
    return found


def main(words=None):
    """Soak, print the figures, and return 0 where nothing grew and nothing stalled."""
    import tempfile

    from gradscribe.app.window.startup import make_app

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--awake",
        action="store_true",
        help="let no processor rest meanwhile, and the screen's server wait for none (Linux)",
    )
    parser.add_argument("--told", type=float, default=LONG_MS, help="tell of turns this long (ms)")
    options = parser.parse_args(words)
    application = make_app(["soak"])
    assert isinstance(application, QApplication)
    awake = Awake() if options.awake else None
    hasty = first(servers(os.environ.get("DISPLAY", "")) if options.awake else [])
    with tempfile.TemporaryDirectory() as home, hasty as screens, awake or contextlib.nullcontext():
        found = soak(options.minutes * 60, options.seed, home, options.told)
    sys.stdout.write(f"{told(found)}\n")
    if awake is not None:
        sys.stdout.write(
            f"no processor was gone for longer than {awake.longest_ms:.0f} ms;"
            f" screens that went first: {len(screens)}\n"
        )
    return int(bool(grown(found) or found.faults or found.meter.busy_ms > LONG_MS))


def told(found):
    """Return the figures in words."""
    meter = found.meter
    slowest = sorted(meter.worst.items(), key=lambda pair: -pair[1])[:6]
    lines = [
        f"{found.actions} actions, {meter.turns} turns of the event loop",
        f"longest stall {meter.wall_ms:.0f} ms by the clock, {meter.own_ms:.0f} with a processor",
        f"longest busy {meter.busy_ms:.0f} ms: {', '.join(f'{n} {b:.0f}' for n, b in slowest)}",
        f"at first {found.before}, in the end {found.after}",
        f"memory as it went: {', '.join(str(one['MB']) for one in found.taken)} MB",
    ]
    lines += [
        f"  {one.doing}: {one.wall_ms:.0f} ms, busy {one.busy_ms:.0f}, waited"
        f" {one.waited_ms:.0f}, read {one.read_kb} KB:\n    {one.where}"
        for one in meter.stalls
    ]
    lines += [f"FAULT {fault}" for fault in found.faults]
    return "\n".join(lines)


def grown(found):
    """Return what has grown more than the noise."""
    room = {"MB": 40 + found.before["MB"] // 5, "handles": 12, "threads": 4, "widgets": 200}
    return [name for name in room if found.after[name] - found.before[name] > room[name]]


if __name__ == "__main__":
    sys.exit(main())
