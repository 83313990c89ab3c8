"""A run at rest for a picture: whatever is seen of it is of one step."""

import pytest

from gradscribe.app.training.session import settle
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup
from tests.app.training.test_live import engine, live, qapp_instance, wait_for

__all__ = ["engine", "live", "qapp_instance"]
KINDS = ("boundary", "scores", "gradients", "units", "weights")


def waiting(qtbot):
    def wait(holds):
        wait_for(qtbot, holds)
        return True

    return wait


def test_every_view_is_of_the_step_that_the_setup_ends_at(live, qtbot):
    live.store.setup = Setup(
        data=Part("moons"), model=Part("mlp"), steps=137, batch=16, validate_every=10
    )
    live.controller.watch([messages.ViewRequest(kind, every_ms=1000) for kind in KINDS])
    live.controller.begin(play=True)
    assert settle.wait_until_settled(live, waiting(qtbot))
    run = live.run
    assert run.step == run.curve("loss").last == 137
    assert {kind: run.views[kind].step for kind in KINDS} == dict.fromkeys(KINDS, 137)
    assert not live.controller.plays


@pytest.mark.e2e
def test_a_run_that_stands_still_stays_where_it_is(live, qtbot):
    live.controller.advance(12)
    wait_for(qtbot, lambda: live.run.step == 12)
    assert settle.wait_until_settled(live, waiting(qtbot))
    assert live.run.step == 12


def test_a_run_that_fails_rests_before_the_step_that_failed(live, qtbot):
    live.store.setup = Setup(
        data=Part("line"), model=Part("linear"), optimizer=Part("sgd", {"lr": 1e9}), steps=5000
    )
    live.controller.begin(play=True)
    assert settle.wait_until_settled(live, waiting(qtbot))
    assert live.run.state.reached == "nan"
    assert live.run.step < 5000


@pytest.mark.parametrize("data", ["nothing such", "csv"])
def test_a_setup_that_cannot_be_run_is_not_waited_for(live, qtbot, data):
    live.store.setup = Setup(data=Part(data))
    live.controller.begin(play=True)
    assert not settle.wait_until_settled(live, waiting(qtbot))
    assert live.store.error[1]
