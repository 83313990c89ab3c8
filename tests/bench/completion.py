"""Time from a key to the list of completions, for `make bench`: a table in Markdown.

The real editor in a real window with the real language process. The time runs from the key event
until the list has been painted, in milliseconds of wall time; medians and maxima of the rounds.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradscribe.app.link.language import LanguageLink
from gradscribe.engine.protocol.language import TorchNames
from gradscribe.playback.completion.live_names import LiveName
from gradscribe.widgets.editor.code_edit import CodeEdit

PROGRAM = """\
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(2, size)
    def forward(self, x, scale=2.0):
        return self.layer(x) * scale
net = Net(3)
x = torch.randn(16, 2)
loss = net(x).sum()
"""
LIVE = {"x": LiveName("tensor", "16 × 2"), "loss": LiveName("tensor", "scalar")}
LONG = 1000
"""Lines of the long program."""
PATIENCE_S = 60.0
WARM_S = 8.0
"""Seconds after which the process has read the packages that programs use."""


class Painted(QObject):
    """Notes when a widget was painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Note the time of a paint event."""
        if event.type() == QEvent.Type.Paint:
            self.at = time.perf_counter()
        return False


class Bench:
    """An editor, its language process, and the times measured for each action."""

    def __init__(self) -> None:
        self.host = QWidget()
        self.host.resize(1000, 640)
        self.edit = CodeEdit()
        self.edit.setParent(self.host)
        self.edit.setGeometry(0, 0, 420, 640)
        self.help = self.edit.assistance
        self.help.knowledge.live = lambda: LIVE
        self.link = LanguageLink(self.host)
        self.link.received.connect(self.help.take)
        self.link.ready_changed.connect(lambda on: setattr(self.help, "has_answers", on))
        self.help.requested.connect(self.link.ask)
        self.painted = Painted(self.help.completion.list.view.viewport())
        self.times: dict[str, list[float]] = {}
        self.host.show()
        self.edit.setFocus()

    def wait(self, condition: Callable[[], object]) -> None:
        """Run the event loop until a condition holds."""
        begun = time.perf_counter()
        while not condition():
            if time.perf_counter() - begun > PATIENCE_S:
                raise TimeoutError
            loop = QEventLoop()
            QTimer.singleShot(1, loop.quit)
            loop.exec()

    def measure(self, name: str, before: str, key: str, source: str = PROGRAM) -> None:
        """Type ``before``, then measure from ``key`` until the list is painted."""
        self.edit.set_source(source + before, fresh=True)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.help.dismiss()
        self.wait(lambda: not self.help._turn.isActive())
        self.painted.at = 0.0
        begun = time.perf_counter()
        QTest.keyClicks(self.edit, key)
        self.wait(lambda: self.painted.at and self.help.completion.list.candidates())
        self.times.setdefault(name, []).append(1000 * (self.painted.at - begun))
        self.help.dismiss()

    def answer(self, name: str, before: str, key: str, wanted: str) -> None:
        """Type ``before``, then measure from ``key`` until a name of the process is listed."""
        self.edit.set_source(PROGRAM + before, fresh=True)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.help.dismiss()
        begun = time.perf_counter()
        QTest.keyClicks(self.edit, key)
        completion = self.help.completion
        self.wait(lambda: not self.help._turn.isActive())
        if not completion.is_open:
            # It waits as long as it takes, as if the user had asked for it.
            completion._is_wanted = True

        def arrived() -> bool:
            names = (one.name for one in completion.list.candidates())
            return completion.is_open and wanted in names

        self.wait(arrived)
        self.times.setdefault(name, []).append(1000 * (time.perf_counter() - begun))
        self.help.dismiss()

    def run(self, rounds: int) -> None:
        """Measure everything."""
        long = (PROGRAM * LONG)[: PROGRAM.index("net = ")] + "value = torch.ones(2)\n" * LONG
        names: list[object] = []
        self.link.received.connect(
            lambda one: names.append(one) if isinstance(one, TorchNames) else None
        )
        for _ in range(rounds):
            self.measure("a name of the program, no process", "l", "o")
        begun = time.perf_counter()
        self.link.start()
        self.wait(lambda: self.link.is_ready)
        self.times["the process answers"] = [1000 * (time.perf_counter() - begun)]
        self.answer("a member of a class of the program, process cold", "net", ".", "layer")
        self.wait(lambda: names)
        self.times["the names of torch are there"] = [1000 * (time.perf_counter() - begun)]
        warm = time.perf_counter()
        self.wait(lambda: time.perf_counter() - warm > WARM_S)
        for _ in range(rounds):
            self.measure("a name of the program", "l", "o")
            self.measure("a member of a tensor", "x", ".")
            self.measure("a name of torch", "torch", ".")
            self.measure("a name of a program of 1,000 lines", "va", "l", long)
            self.answer("a member of a class of the program, warm", "net", ".", "layer")
            self.answer("a member that jedi infers, warm", "net.layer.weight", ".", "sum")
        self.link.close()
        self.host.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    app = QApplication([])
    app.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    bench = Bench()
    bench.run(rounds)
    print("| from key to list | median, ms | longest | times |\n|---|---:|---:|---:|")  # noqa: T201
    for name, times in bench.times.items():
        middle, most = statistics.median(times), max(times)
        print(f"| {name} | {middle:.0f} | {most:.0f} | {len(times)} |")  # noqa: T201


if __name__ == "__main__":
    main()
