import pytest

from tests.engine.driver import Engine


@pytest.fixture(scope="module")
def shared():
    """One engine for all tests that leave it alive; it has said that it is ready."""
    engine = Engine()
    engine.ready = engine.next()
    yield engine
    engine.close()
