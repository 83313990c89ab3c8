"""Rules for tests that need a CUDA device: none of them runs where there is none."""

import pytest
import torch

from gradscribe.engine.protocol import messages
from tests.engine.driver import Engine


def pytest_collection_modifyitems(items):
    if torch.cuda.is_available():
        return
    skip = pytest.mark.skip(reason="needs a CUDA device")
    for item in items:
        if "/cuda/" in item.path.as_posix():
            item.add_marker(skip)


@pytest.fixture(scope="module")
def engine():
    """One engine for all tests here that leave it alive."""
    made = Engines()
    made.ready()
    yield made
    made.close()


@pytest.fixture
def engines():
    """One engine after the other: a fresh one where a program has spent the one before."""
    made = Engines()
    yield made
    made.close()


class Engines:
    def __init__(self):
        self._engine = None

    def ready(self):
        if self._engine is None:
            self._engine = Engine()
            self._engine.ready = self._engine.next()
        return self._engine

    def record(self, source, **options):
        """Return what the engine answered: a tape, and whether it is spent."""
        engine = self.ready()
        run_id = engine.start(source, device="cuda:0", **options)
        answer = engine.until(messages.Recorded, run_id)[-1]
        if answer.spent:
            self.close()
        return answer

    def close(self):
        if self._engine is not None:
            self._engine.close()
            self._engine = None
