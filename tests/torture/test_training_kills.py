"""The training engine killed at random moments: runs, curves and checkpoints are there again.

A few kills always, a hundred in `make torture`: where a spare engine is ready, where it is getting
ready, and where there is none. Printed: how long from a kill to an engine that has the run again.
"""

import os
import random
import signal
import statistics
import time

import numpy as np
import pytest
from PySide6.QtCore import QEventLoop, QTimer

from gradscribe.app.link.client import Link
from gradscribe.app.training.session.engine_restart import RunRestorer
from gradscribe.app.training.session.link import TrainLink
from gradscribe.app.training.session.session import TrainSession
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
SLOW_KILLS, PARTS = 100, 10
PATIENCE_MS = 240_000
SPARE_MS = 900_000
"""A spare engine gets ready where nobody else works: on a busy machine that takes minutes. Hence
only the first kill of each test waits for it."""
LONGEST_MS = 1500
SETUP = Setup(
    data=Part("moons"),
    model=Part("mlp", {"layers": [8]}),
    optimizer=Part("adam", {"lr": 0.03}),
    batch=16,
    validate_every=10,
    mode="reference",
)


class Bench:
    """A training room without its widgets, and a link beside it that has a spare engine."""

    def __init__(self, qtbot):
        self.qtbot, self.spares = qtbot, Link(spare=True)
        self.spares.start()
        self.link = TrainLink(None, self.spares.give_spare)
        self.session = TrainSession(self.link)
        self.restorer = RunRestorer(self.session, self.link, self.session)
        self.begun_at = 0.0
        self.link.received.connect(self._note)
        self.session.store.setup = SETUP
        self.session.controller.begin()
        self.wait(lambda: self.run.state is not None)

    @property
    def run(self):
        return self.session.run

    def _note(self, message):
        if isinstance(message, messages.RunStarted):
            self.begun_at = time.perf_counter()

    def wait(self, until, patience_ms=PATIENCE_MS):
        self.qtbot.waitUntil(until, timeout=patience_ms)

    def kill(self):
        """Kill the engine and wait until the run stands still in another one."""
        was, killed = self.link.pid(), time.perf_counter()
        os.kill(was, signal.SIGKILL)
        self.wait(lambda: self.begun_at > killed and self.run.state.status == "paused")
        assert self.link.pid() != was
        return 1000 * (self.begun_at - killed)

    def advance_to(self, step):
        self.session.controller.advance(step - self.run.step)
        self.wait(lambda: self.run.step == step and self.run.curve("loss").last == step)

    def losses(self):
        return self.run.curve("loss").numbers().copy()

    def kept(self):
        found = self.restorer.saved_run(self.run.run_id)
        return found.step if found is not None else -1

    def close(self):
        self.restorer.close()
        self.session.close()
        self.spares.close()
        self.spares.deleteLater()
        self.link.deleteLater()


@pytest.fixture
def bench(qtbot):
    made = Bench(qtbot)
    yield made
    made.close()


@posix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("seed", "kills"),
    [
        pytest.param(2, 2, id="few"),
        *(
            pytest.param(100 + part, SLOW_KILLS // PARTS, id=f"part {part}", marks=pytest.mark.slow)
            for part in range(PARTS)
        ),
    ],
)
def test_a_run_goes_on_from_its_last_checkpoint(bench, qtbot, seed, kills):
    dice = random.Random(seed)
    bench.advance_to(60)
    bench.wait(lambda: bench.kept() == 60)
    bench.wait(lambda: bench.spares.spare_pid() > 0, SPARE_MS)
    waits = {True: [], False: []}
    for _ in range(kills):
        bench.session.controller.play()
        before, kept = bench.losses(), bench.kept()
        loop = QEventLoop()
        QTimer.singleShot(dice.randint(0, LONGEST_MS), loop.quit)
        loop.exec()
        is_spare_ready = bench.spares.spare_pid() > 0
        waits[is_spare_ready].append(bench.kill())
        run = bench.run
        assert run.alive
        assert kept <= run.step
        # Every number up to the checkpoint is the one that was there.
        same = min(len(before), run.step)
        np.testing.assert_array_equal(bench.losses()[:same], before[:same])
        assert len(bench.losses()) == run.step
    for is_spare_ready, taken in waits.items():
        if taken:
            print(  # noqa: T201 - the figure is what one wants to see
                f"from a kill to the run, {'with' if is_spare_ready else 'without'} a spare engine:"
                f" {len(taken)} kills, median {statistics.median(taken):.0f} ms,"
                f" most {max(taken):.0f}"
            )


@posix
def test_what_was_lost_is_trained_again_bit_for_bit(bench, qtbot):
    bench.advance_to(50)
    bench.wait(lambda: bench.kept() == 50)
    bench.advance_to(90)
    whole = bench.losses()
    bench.kill()
    assert 50 <= bench.run.step <= 90
    bench.advance_to(90)
    np.testing.assert_array_equal(bench.losses(), whole)
    bench.session.controller.rewind(20)
    bench.wait(lambda: bench.run.step == 20)
    bench.advance_to(90)
    np.testing.assert_array_equal(bench.losses(), whole)
