"""Settling of the training page before a screenshot: all views show the same step."""

from collections.abc import Callable

from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import RunState
from gradscribe.engine.protocol.training import StopCondition

Wait = Callable[[Callable[[], bool]], bool]
"""Runs the event loop until a condition is true; returns False on a timeout."""


def wait_until_settled(session: TrainSession, wait: Wait) -> bool:
    """Train as far as the setup says, and wait for every view of that step.

    A run out of a session file stays at its step. If the steps take longer than ``wait`` does, the
    run is paused early. Returns False if the run has no views.
    """
    end = (StopCondition("step", session.setup.steps),)
    session.controller.set_rate(0.0)
    is_to_begin = session.controller.plays and (session.run is None or session.run.begun is None)
    if is_to_begin:
        # Sent later, Play might cross the run's own pause, and start it again.
        session.controller.until = end
    if not wait(lambda: _has_begun_or_cannot(session.run)):
        return False
    if session.controller.plays and not is_to_begin:
        session.controller.play(end)
    wait(lambda: not session.controller.plays)
    run = session.run
    if run is None or run.begun is None:
        return False
    # The engine sends the state before the views, and replies in order: after a second state all
    # views of the step have arrived.
    return all(_is_answered(session, run, wait) for _ in range(2))


def _has_begun_or_cannot(run: RunState | None) -> bool:
    return run is not None and ((run.begun is not None and run.state is not None) or not run.alive)


def _is_answered(session: TrainSession, run: RunState, wait: Wait) -> bool:
    before = run.state
    session.controller.pause()

    def stands() -> bool:
        state = run.state
        return state is not before and state is not None and state.status != "running"

    return wait(lambda: stands() or not run.alive)
