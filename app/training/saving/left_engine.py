"""Engines that a window left running on another machine: whether they are there, and their end."""

from gradscribe.app.link.far_engine import FarEngine
from gradscribe.app.link.remote import ask, connection
from gradscribe.playback.translation import tr


def check_left(far: FarEngine) -> None:
    """Make sure that an engine can be gone on with; it takes a login. Thread-safe.

    Raises:
        UnusablePython: the machine is not reached.
        LeftEngineGone: the engine is not there any more, or is of another version.
    """
    machine = ask.ask_machine(far.python.url)
    if all(session.session != far.session for session in machine.sessions):
        raise LeftEngineGone(
            tr("The engine on {place} is gone: it ended, or waited too long", place=far.place)
        )
    if far.version != connection.engine_hash():
        raise LeftEngineGone(
            tr(
                "The engine on {place} is of another version of Gradscribe: end it, "
                "and continue from the step that is saved here",
                place=far.place,
            )
        )


class LeftEngineGone(Exception):
    """Raised when there is no engine to go on with; the message is a line for the user."""
