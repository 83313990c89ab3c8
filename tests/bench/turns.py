"""Latency of the window's event loop, for `make bench`: a table in Markdown.

The real window with its real engines, in memory or on the screen that ``QT_QPA_PLATFORM`` names,
performs a sequence of user actions. For each action the longest turn of the event loop is
measured, in milliseconds of the main thread's CPU time, so that other load matters little, and in
wall time less the wait for a processor. Printed are the median and the maximum of the rounds.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain, cycle
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QTabWidget

from gradscribe.app.commands import learn
from gradscribe.app.document import examples
from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.lessons import catalogue
from gradscribe.app.link.client import Link
from gradscribe.app.ui.popup import PopupCard
from gradscribe.app.window.startup import make_app, start_services
from gradscribe.app.window.window import Window
from gradscribe.engine.protocol.setup import Part
from tests.torture.stalls import Meter

SIZES = ((1440, 900), (2560, 1440))
SETTLED_MS = 500
"""Time after an action in which its effects are awaited."""
PATIENCE_MS = 20_000
TOLD_MS = 40.0

Deed = Callable[[], None]


class Bench:
    """One window of one size, and the turns measured for each action."""

    def __init__(self, window: Window, size: tuple[int, int]) -> None:
        self.window, self.size, self.meter = window, size, Meter()
        self.turns: dict[str, list[tuple[float, float]]] = {}
        """Longest turn by action and round: CPU time, and wall time less waiting (ms)."""
        self._examples, self._lessons = cycle(examples.load()), cycle(catalogue.summaries())
        self._themes, self._texts = cycle(("dark", "light")), cycle((1.2, 1.0))
        self._batches = cycle((8, 32))
        self._models = cycle(("linear", "mlp"))
        self._data = cycle(("spirals", "digits", "houses", "copy_tokens", "sine", "moons"))

    def run(self, rounds: int) -> None:
        """Perform all actions ``rounds`` times, after a warm-up round."""
        self.meter.start(self.window)
        self._one_round()
        self.turns.clear()
        for _ in range(rounds):
            self._one_round()
        self.meter.stop()

    def rest(self, ms: int) -> None:
        """Run the event loop for ``ms`` milliseconds."""
        loop = QEventLoop()
        QTimer.singleShot(ms, loop.quit)
        loop.exec()

    def _time(self, name: str, deed: Deed) -> None:
        meter = self.meter
        meter.busy_ms = meter.own_ms = 0.0
        meter.activity = name
        meter.forget()
        deed()
        self._settle()
        self.turns.setdefault(name, []).append((meter.busy_ms, meter.own_ms))

    def _settle(self) -> None:
        self.rest(SETTLED_MS)
        for _ in range(PATIENCE_MS // SETTLED_MS):
            if not (self.window.session.arrivals.busy or self.window.presenter.scene_builder.busy):
                return
            self.rest(SETTLED_MS)

    def _one_round(self) -> None:
        for name, deed in chain(self._program(), self._training()):
            self._time(name, deed)
            self._leave_cards()
            if words := self.window.workspaces.session.store.error[1]:
                raise RuntimeError(f"{name}: {words}")

    def _leave_cards(self) -> None:
        for card in self.window.findChildren(PopupCard):
            card.leave()
        self.rest(50)

    def _give(self, name: str) -> None:
        self.window.menus.perform_by(name)

    def _anew(self, where: str = "") -> Iterator[tuple[str, Deed]]:
        """Yield the actions that repaint the whole window."""
        settings, (width, height) = self.window.settings, self.size
        yield f"another theme{where}", lambda: settings.put("theme", next(self._themes))
        yield f"another size of the text{where}", lambda: settings.put("text", next(self._texts))
        yield (
            f"the window gets smaller{where}",
            lambda: self.window.resize(width - 240, height - 120),
        )
        yield f"the window gets larger{where}", lambda: self.window.resize(width, height)

    def _program(self) -> Iterator[tuple[str, Deed]]:
        window = self.window
        clock = window.clock
        yield "the program room", lambda: window.workspaces.show_workspace("program")
        yield "an example opens", lambda: window.context._start_from(next(self._examples))
        yield "a card is selected", self._select
        yield "scrubbed to the middle", lambda: clock.seek(clock.length // 2)
        yield "played", clock.toggle
        yield "paused", clock.toggle
        yield "a line is typed", lambda: window.editor.insertPlainText("y = torch.ones(3) * 2\n")
        yield "the palette opens", window.context.show_palette
        yield "the examples open", window.context.show_examples
        yield "the lessons open", window.context.show_lessons
        yield "the shape lab opens", lambda: window.context.show_lab("")
        yield "a program is kept", lambda: self._give("compare.keep")
        yield "compared with what was kept", lambda: self._give("compare.show")
        yield "a lesson opens", self._open_lesson
        yield "its hint", lambda: window.lesson_dock.pane.hint_pressed.emit()
        yield "its answer", lambda: window.lesson_dock.pane.reveal_pressed.emit()
        yield "its next step", window.context.lessons.next
        yield from self._anew()
        yield "the lesson is left", window.context.lessons.leave

    def _select(self) -> None:
        cards = self.window.presenter.picture.cards
        if cards:
            self.window.session.select(cards[len(cards) // 2].key)

    def _open_lesson(self) -> None:
        learn.open_lesson(self.window.context, catalogue.builtin(next(self._lessons).file))

    def _training(self) -> Iterator[tuple[str, Deed]]:
        window = self.window
        yield "the training room", lambda: window.workspaces.show_workspace("training")
        while not window.workspaces.is_whole:
            self.rest(5)
        session, widgets = window.workspaces.session, window.workspaces.widgets
        session.controller.set_rate(0.0)
        yield "training begins", session.controller.play
        yield from self._pages((widgets.says, widgets.below, widgets.numbers))
        yield from self._anew(", training")
        yield "training is paused", session.controller.pause
        yield "one event of a step", session.controller.next_event
        yield "the run goes back", lambda: session.controller.rewind(session.run.step // 2)
        yield "a fork", session.controller.fork
        yield "it trains", session.controller.play
        yield "another learning rate", self._another_rate
        yield "another batch size", lambda: self._edit(batch=next(self._batches))
        yield "another model", self._another_model
        yield "other data", lambda: self._edit(data=Part(next(self._data)))
        yield "reset", session.controller.reset

    def _another_rate(self) -> None:
        self._edit(optimizer=Part("sgd", {"lr": 0.01 + 0.01 * float(np.random.rand())}))

    def _another_model(self) -> None:
        """Choose another model for the same data: of tokens, a pair that takes these."""
        model = next(self._models)
        if self.window.workspaces.session.setup.data.name == "copy_tokens":
            model = {"linear": "recurrent", "mlp": "transformer"}[model]
        self._edit(model=Part(model))

    def _edit(self, **parts: object) -> None:
        """Change the set-up as the form does, which adapts the model to the data."""
        rooms = self.window.workspaces
        rooms.widgets.form.edited.emit(replace(rooms.session.setup, **parts))

    def _pages(self, books: tuple[QTabWidget, ...]) -> Iterator[tuple[str, Deed]]:
        for book in books:
            for at in range(book.count()):
                yield "another page", lambda book=book, at=at: book.setCurrentIndex(at)  # type: ignore[misc]


def main(words: list[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--stalls", action="store_true", help="also print where the main thread was"
    )
    options = parser.parse_args(words)
    make_app(["bench"])
    found = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            found.append(_measured(size, options.rounds, Path(home)))
    heads = " | ".join(f"{width} x {height}" for width, height in SIZES)
    sys.stdout.write(
        f"| longest turn, ms: median / most | {heads} |\n|---|{'---:|' * len(SIZES)}\n"
    )
    for name in found[0].turns:
        cells = " | ".join(_cell(bench.turns.get(name, [])) for bench in found)
        sys.stdout.write(f"| {name} | {cells} |\n")
    for bench in found if options.stalls else ():
        for stall in bench.meter.stalls:
            sys.stdout.write(
                f"{stall.activity}: {stall.busy_ms:.0f} of {stall.own_ms:.0f} ms:\n"
                f"    {stall.where}\n"
            )
    return 0


def _cell(turns: list[tuple[float, float]]) -> str:
    if not turns:
        return ""
    busy, own = zip(*turns, strict=True)
    return f"{np.median(busy):.0f} / {max(busy):.0f} ({np.median(own):.0f} / {max(own):.0f})"


def _measured(size: tuple[int, int], rounds: int, home: Path) -> Bench:
    link = Link(spare=True)
    window = Window(link, Settings(), Drafts(home / "drafts"))
    window.resize(*size)
    window.open_first()
    start_services(window, link)
    window.show()
    bench = Bench(window, size)
    bench.meter.told_ms = TOLD_MS
    bench.rest(3000)
    try:
        bench.run(rounds)
    finally:
        window.close()
        window.deleteLater()
        link.deleteLater()
        bench.rest(100)
    return bench


if __name__ == "__main__":
    sys.exit(main())
