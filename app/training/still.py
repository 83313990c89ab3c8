"""The training room standing still for a picture: all that is seen is of one step."""

from collections.abc import Callable

from app.training.session import TrainSession
from app.training.state import Run
from engine.training import Until

Wait = Callable[[Callable[[], bool]], bool]
"""Lets the event loop run until something holds; False where it never did."""


def come_to_rest(session: TrainSession, wait: Wait) -> bool:
    """Train as far as the setup says, and wait for every view of that step; False: it has none.

    A run out of a session file stays where it was. Where the steps take longer than ``wait`` does,
    it is paused where it is.
    """
    end = (Until("step", session.setup.steps),)
    is_to_begin = session.plays and (session.run is None or session.run.begun is None)
    if is_to_begin:
        # Asked for later, it might be on its way as the run pauses by itself, and set it going.
        session.until = end
    if not wait(lambda: _has_begun_or_cannot(session.run)):
        return False
    if session.plays and not is_to_begin:
        session.play(end)
    wait(lambda: not session.plays)
    run = session.run
    if run is None or run.begun is None:
        return False
    # The engine tells where the run stands before it makes its views, and answers in turn: once it
    # has told so a second time, all that it can show of that step is there.
    return all(_is_answered(session, run, wait) for _ in range(2))


def _has_begun_or_cannot(run: Run | None) -> bool:
    return run is not None and ((run.begun is not None and run.state is not None) or not run.alive)


def _is_answered(session: TrainSession, run: Run, wait: Wait) -> bool:
    before = run.state
    session.pause()

    def stands() -> bool:
        state = run.state
        return state is not before and state is not None and state.status != "running"

    return wait(lambda: stands() or not run.alive)
