"""The training room's link with a real engine process."""

from PySide6.QtCore import QProcess

from gradscribe.app.training.session.link import TrainLink
from gradscribe.engine.protocol import training as messages


def test_an_engine_is_started_when_asked_and_replaced_when_it_dies(qtbot):
    link = TrainLink()
    try:
        with qtbot.waitSignal(link.ready, timeout=60_000):
            link.send(messages.ListCatalogue(0))
        assert link.is_ready
        with qtbot.waitSignal(link.died) as told:
            link.kill("a test did it")
        assert "a test did it" in told.args[0]
        assert not link.is_ready
        qtbot.waitUntil(lambda: not link.findChildren(QProcess))
    finally:
        link.close()


def test_run_ids_are_never_used_twice(qapp):
    link = TrainLink()
    assert [link.next_id() for _ in range(3)] == [1, 2, 3]
    link.close()
