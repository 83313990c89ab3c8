"""Requests of the training page reach the engine, once and in order."""

from gradscribe.app.training.session.state import DEFAULT_SETUP, REPLY_TIMEOUT_MS
from gradscribe.engine.protocol import training as messages
from tests.app.training.fakes import other


def test_a_change_is_told_to_the_engine_once_it_rests(begun, train_link, qtbot):
    begun.controller.change(other(begun, 0.1))
    begun.controller.change(other(begun, 0.2))
    qtbot.waitUntil(lambda: train_link.last(messages.ChangeSetup) is not None)
    sent = [one for one in train_link.sent if isinstance(one, messages.ChangeSetup)]
    assert [one.setup.optimizer.options["lr"] for one in sent] == [0.2]


def test_a_drag_is_taken_back_at_once(begun, qtbot, train_link):
    for lr in (0.1, 0.2, 0.3):
        begun.controller.change(other(begun, lr))
    begun.controller.undo()
    assert begun.setup == DEFAULT_SETUP
    begun.controller.redo()
    assert begun.setup.optimizer.options["lr"] == 0.3
    assert begun.store.history.redo(begun.setup) is None


def test_pausing_and_stepping(begun, train_link):
    begun.controller.toggle()
    assert isinstance(train_link.sent[-1], messages.Pause)
    begun.controller.advance(3)
    assert train_link.sent[-1] == messages.Advance(1, 3)
    begun.controller.next_event()
    assert isinstance(train_link.sent[-1], messages.StepEvent)
    begun.controller.toggle()
    assert isinstance(train_link.sent[-1], messages.Play)


def test_rewinding_goes_back_and_beyond_the_run_goes_on(begun, train_link):
    train_link.state(1, 40)
    begun.controller.rewind(10)
    assert train_link.sent[-1] == messages.Rewind(1, 10)
    train_link.grow(1, 10, 10, after=10)
    train_link.state(1, 10)
    begun.controller.rewind(60)
    assert train_link.sent[-1] == messages.Advance(1, 50)
    begun.controller.back()
    begun.controller.back()
    assert train_link.sent[-2:] == [messages.Rewind(1, 9), messages.Rewind(1, 8)]


def test_resetting_keeps_what_is_not_asked_for(begun, train_link):
    begun.controller.reset(weights=True)
    assert train_link.sent[-1] == messages.ResetRun(1, True, False)
    begun.controller.reset()
    assert train_link.sent[-1] == messages.ResetRun(1, False, False)


def test_an_engine_that_does_not_pause_is_replaced(begun, train_link):
    begun.controller.pause()
    assert begun.controller._patience.remainingTime() > REPLY_TIMEOUT_MS / 2
    begun.controller._patience.timeout.emit()
    assert train_link.killed


def test_speed_is_told_while_it_plays(begun, train_link):
    begun.controller.set_rate(100.0)
    assert train_link.sent[-1].rate == 100.0
    begun.controller.change_speed(2)
    assert begun.store.look.rate == 200.0
    begun.controller.set_rate(0.0)
    begun.controller.change_speed(0.5)
    assert begun.store.look.rate == 2000.0
    begun.controller.change_speed(4)
    assert begun.store.look.rate == 0.0
