"""`here`: the tensors at a breakpoint, in the window."""

import sys
from collections.abc import Mapping
from types import FrameType

from gradscribe.run_tape import RunTape
from gradscribe.tape_window import show


def here(names: Mapping[str, object] | None = None, /) -> RunTape:
    """Show the tensors of these variables in the window, as they are now, and return their tape.

    Made for debuggers: ``gs.here(locals())`` at a breakpoint. Tensors in containers and the
    parameters of modules are shown, too, with their gradients. Nothing is run, and no number
    changes; the window is that used last, or a new one in a process of its own.

    Args:
        names: variables by name; those of the caller by default.

    Raises:
        RuntimeError: the window refuses the tape, or none can be started.
        TypeError: ``names`` is no mapping from names to variables.
        ValueError: there is no tensor among them.
    """
    from gradscribe.engine.run.in_process import source_of
    from gradscribe.engine.run.tensors_at_rest import tape_of_tensors

    frame = sys._getframe(1)
    if names is None:
        names = frame.f_locals
    if not isinstance(names, Mapping) or not all(isinstance(name, str) for name in names):
        kind = type(names).__name__
        raise TypeError(f"here needs variables by name, as gs.here(locals()), not {kind}")
    frame = _breakpoint(frame)
    filename, line = frame.f_code.co_filename, frame.f_lineno
    tape = RunTape()
    text = source_of(filename, frame.f_globals)
    tape.begin(text, filename)
    tape.fill(tape_of_tensors(dict(names), text, filename, line), ())
    show(tape, None)
    return tape


def _breakpoint(frame: FrameType) -> FrameType:
    """Return the frame of the user's program that a debugger has stopped, else the caller's own.

    What is typed at a debugger's prompt runs with the names of the stopped frame, but as code of no
    file, above the debugger's frames.
    """
    if not frame.f_code.co_filename.startswith("<"):
        return frame
    home = frame.f_globals.get("__file__")
    above = frame.f_back
    while above is not None:
        code = above.f_code.co_filename
        if home and above.f_globals.get("__file__") == home and not code.startswith("<"):
            return above
        above = above.f_back
    return frame
