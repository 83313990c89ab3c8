"""An engine for the training room that answers what a test tells it to, and made-up answers."""

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from gradscribe.engine.protocol import messages as protocol_messages
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.tape import Problem
from gradscribe.engine.protocol.training import CatalogueEntry, Option, RawArray

LINES = (
    ("zero_grad", "optimizer.zero_grad()"),
    ("forward", "output = model(x)"),
    ("loss", "loss = loss_fn(output, y)"),
    ("backward", "loss.backward()"),
    ("step", "optimizer.step()"),
)
COLUMNS = ("loss", "val", "lr", "grad:0.weight", "ratio:0.weight")


class FakeTrainLink(QObject):
    """Notes what it was asked."""

    ready = Signal(object)
    asked = Signal(object)
    received = Signal(object)
    died = Signal(str)
    progressed = Signal(str, float)

    def __init__(self) -> None:
        super().__init__()
        self.sent = []
        self.killed = ""
        self.interpreter = None
        self.far, self.leaves = None, False
        self.stopped = False
        self.closed = False
        self._last = 0

    def next_id(self):
        self._last += 1
        return self._last

    def send(self, message):
        self.sent.append(message)

    def stop_reading(self):
        self.stopped = True

    def renew(self):
        """Do nothing: it runs in no Python."""

    def adopt(self, left, last_id):
        self.far, self._last = left, max(self._last, last_id)

    def kill(self, why):
        self.killed = why
        self.died.emit(why)

    def close(self):
        self.closed = True

    # What a test does

    def last(self, kind):
        return next((one for one in reversed(self.sent) if isinstance(one, kind)), None)

    def greet(self):
        self.ready.emit(protocol_messages.Ready("2.13.0", "3.11", ("cpu",), 1))
        self.received.emit(catalogue())

    def begin(self, run_id=1, setup=None, **more):
        self.received.emit(begun(run_id, setup or Setup(), **more))
        self.received.emit(data(run_id))
        self.state(run_id, 0)

    def restart(self, run_id, setup):
        """Answer a change of the setup that begins anew."""
        self.received.emit(messages.SetupChanged(run_id, 0, restarts=("data",), setup=setup))
        self.begin(run_id, setup)

    def state(self, run_id, step, status="paused", **more):
        self.received.emit(messages.TrainState(run_id, status, step, **more))

    def grow(self, run_id, start, stop, after=None):
        self.received.emit(series(run_id, start, stop, after))


def array(numbers, dtype):
    made = np.ascontiguousarray(numbers, dtype)
    return RawArray(made.shape, made.dtype.str, made.tobytes())


def catalogue():
    lr = Option("lr", "float", 0.001, "Step size", low=1e-5, high=10.0, log=True, live=True)
    layers = Option("layers", "ints", [4, 2], "Units of each hidden layer", low=1, high=64)
    path = Option("path", "text", "", "The file")
    inputs = Option("inputs", "choices", [], "Input columns")
    line = Option("points", "points", [[-1.0, 0.0], [1.0, 1.0]], "Drawn by hand")
    points = Option("points", "points", [[0, 0, 0], [1, 1, 1]], "Drawn by hand")
    noise = Option("noise", "float", 0.1, "Noise", low=0.0, high=0.5)
    activation = Option(
        "activation", "choice", "tanh", "Of layers", choices=("tanh", "relu"), each="layers"
    )
    target = Option("target", "names", "", "Target column")
    columns = Option("columns", "columns", {}, "Kinds of columns")
    separator = Option(
        "separator", "choice", "auto", choices=("auto", "comma"), fold="How the file is read"
    )
    table = (path, inputs, target, columns, separator)
    entries = (
        CatalogueEntry(
            "data", "moons", "Two moons", "Two halves", (noise,), "binary", "2", "Points"
        ),
        CatalogueEntry("data", "sine", "Sine", "A wave", (noise,), "regression", "1", "Curves"),
        CatalogueEntry("data", "csv", "CSV file", "A table", table, "any", "n", "Your own"),
        CatalogueEntry(
            "data", "points_line", "Drawn curve", "", (line,), "regression", "1", "Your own"
        ),
        CatalogueEntry("data", "points", "Drawn points", "", (points,), "classes", "2", "Your own"),
        CatalogueEntry(
            "model", "mlp", "Layers", "Units in layers", (layers, activation), takes=("1", "2", "n")
        ),
        CatalogueEntry("model", "linear", "Linear", "One layer"),
        CatalogueEntry("loss", "mse", "Mean squared error"),
        CatalogueEntry("optimizer", "adam", "Adam", "", (lr,)),
        CatalogueEntry("optimizer", "sgd", "SGD", "", (lr,)),
        CatalogueEntry("schedule", "cosine", "Cosine"),
    )
    return messages.Catalogue(0, entries, {"no_zero_grad": "Gradients are never cleared"})


def begun(run_id, setup, task="binary", parent=None, parent_step=0, note=""):
    parameters = (
        messages.Parameter("0.weight", (3, 2), 0, "Linear"),
        messages.Parameter("0.bias", (3,), 6, "Linear"),
    )
    units = (messages.UnitLayer("0", "Linear", 3),)
    return messages.RunStarted(
        run_id, setup, task, parameters, units, COLUMNS, LINES,
        ("x1", "x2"), ("class 0", "class 1"), parent, parent_step,
        note,
    )  # fmt: skip


def data(run_id, columns=2, rows=40):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (rows, columns))
    y = (x[:, 0] > 0).astype(float) if columns > 1 else np.sin(x[:, 0])
    train = np.arange(rows) % 5 > 0
    return messages.DataSample(run_id, array(x, "<f4"), array(y[:, None], "<f4"), array(train, "?"))


def series(run_id, start, stop, after=None):
    steps = np.arange(start, stop)
    values = np.full((len(steps), len(COLUMNS)), np.nan)
    values[:, 0] = np.exp(-steps / 100)
    values[steps % 10 == 0, 1] = np.exp(-steps[steps % 10 == 0] / 90)
    values[:, 2] = 0.03
    values[:, 3:] = 0.1
    return messages.SeriesChunk(run_id, array(steps, "<i8"), array(values, "<f8"), after=after)


def boundary(run_id, step=10, side=20):
    up = np.linspace(1, -1, side)[:, None].repeat(side, 1)
    arrays = {"grid": array(4 * up[None], "<f4"), "box": array([-1, -1, 1, 1], "<f4")}
    return messages.ViewReply(run_id, "boundary", step, arrays)


def problem(run_id, message, place=""):
    return messages.TrainProblem(run_id, Problem("BadSetup", message), place)


SGD = Setup(data=Part("moons"), optimizer=Part("sgd", {"lr": 0.1}))


def other(session, lr):
    """Return the setup of a session with Adam at another learning rate."""
    return replace(session.setup, optimizer=Part("adam", {"lr": lr}))


def dress(room, theme):
    """Give a training page another theme, as the window does."""
    for part in room.theme_targets():
        part.set_theme(theme)
    room.presenter.follow(theme)
