"""One trial of a sweep: the JSON of a setup in, the JSON of its result out.

`run_trial` is what an executor runs, in a thread of this process or on a worker of a cluster. Each
thread has an engine process of its own, which trains one trial after another.
"""

import atexit
import json
import threading
from collections.abc import Callable

from gradscribe.app.cli import train
from gradscribe.app.cli.record import BlockingEngine
from gradscribe.app.cli.train import EngineDied, TrainOutcome
from gradscribe.app.files.documents import Refused
from gradscribe.app.link.interpreters import Interpreter, UnusablePython
from gradscribe.app.link.remote.ask import find_python
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol import setup as setups
from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.training import replies, requests

Report = Callable[[int, float, float], object]
"""Called now and then with the number of steps made, the last loss and validation loss."""
NOT_NEEDED = "weights"
"""Key of a run's JSON that a trial leaves out: its setup gives the weights again, bit for bit."""


def encode_request(setup: Setup, policy: bool = True, python: str = "") -> str:
    """Return the JSON text that `run_trial` takes.

    ``policy``: a module in the setup came from outside; ``python``: another Python to train in.
    """
    whole = {"setup": setups.to_dict(setup), "policy": policy, "python": python}
    return json.dumps(whole, sort_keys=True)


def run_trial(request: str, report: Report | None = None) -> str:
    """Train the setup in a request, and return its result as JSON text.

    The result has a ``status``, that of a run, or ``refused`` or ``died``; then ``problem`` is the
    reason. Nothing is raised for a setup that cannot be trained.
    """
    given = json.loads(request)
    try:
        setup = setups.parse(given["setup"])
        outcome = _workers.engine(given["python"]).train(setup, given["policy"], report)
    except (Refused, SetupError, UnusablePython) as error:
        return json.dumps(failed("refused", str(error)))
    except EngineDied as error:
        return json.dumps(failed("died", str(error)))
    result = train.to_document(outcome)
    assert isinstance(result, dict)
    result.pop(NOT_NEEDED)
    return json.dumps(result)


def failed(status: str, message: str) -> dict[str, object]:
    """Return the result of a trial that has no run."""
    problem = {"type": status.capitalize(), "message": message, "hint": "", "line": 0}
    return {"format": train.FORMAT, "status": status, "problem": problem}


class TrialEngine:
    """An engine for one trial after another, replaced where one could affect the next."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._interpreter: Interpreter | None = find_python(python) if python else None
        self._engine: BlockingEngine | None = None
        self._ready: messages.Ready | None = None
        self.is_over = False
        """True once it was ended for good."""

    def train(self, setup: Setup, policy: bool, report: Report | None) -> TrainOutcome:
        """Train one setup. Raises `Refused`, `EngineDied`."""
        try:
            engine, ready = self._start()
            outcome = train.train_in(
                engine, ready, setup, progress=_progress(report), policy=policy
            )
        except EngineDied:
            self.close()
            raise
        if setup.model.name == "own" or outcome.state.problem is not None:
            # A module of the user's may have changed what the next trial would find.
            self.close()
        else:
            engine.send(requests.DropRun(train.RUN_ID))
        return outcome

    def _start(self) -> tuple[BlockingEngine, messages.Ready]:
        if self._engine is None or self._ready is None:
            engine = self._engine = BlockingEngine(interpreter=self._interpreter)
            engine.__enter__()
            if self.is_over:
                self.close()
                raise EngineDied("the sweep has ended")
            self._ready = train.wait_ready(engine)
            return engine, self._ready
        return self._engine, self._ready

    def end(self) -> None:
        """End the engine for good; a trial that it trains raises `EngineDied`."""
        # Before the engine is looked for: one that is being started ends itself.
        self.is_over = True
        self.close()

    def close(self) -> None:
        """End the engine; the next trial has a new one."""
        engine, self._engine, self._ready = self._engine, None, None
        if engine is not None:
            engine.__exit__()


def _progress(
    report: Report | None,
) -> Callable[[replies.TrainState, TrainOutcome], None] | None:
    if report is None:
        return None

    def progress(state: replies.TrainState, outcome: TrainOutcome) -> None:
        known = (loss for loss in reversed(outcome.curves["val"]) if loss == loss)
        report(state.step, outcome.loss, next(known, float("nan")))

    return progress


class Workers:
    """The engines of this process, one for each thread that has trained."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._lock = threading.Lock()
        self._all: list[TrialEngine] = []

    def engine(self, python: str) -> TrialEngine:
        """Return the engine of the calling thread."""
        found: TrialEngine | None = getattr(self._own, python or "here", None)
        if found is None or found.is_over:
            found = TrialEngine(python)
            setattr(self._own, python or "here", found)
            with self._lock:
                self._all.append(found)
        return found

    def close(self) -> None:
        """End all engines."""
        with self._lock:
            for engine in self._all:
                engine.end()
            self._all.clear()


_workers = Workers()
close_engines = _workers.close
atexit.register(close_engines)
