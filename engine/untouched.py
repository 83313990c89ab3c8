"""Python's own functions as they were, for code that runs while a program may replace them.

A function looks its builtins up where its module's ``__builtins__`` pointed when it was defined. So
a module that calls `keep_builtins` before it defines anything goes on working whatever a program
puts into `builtins`, while that program and all else see what it put there.
"""

import builtins

_FUNCTIONS = dict(vars(builtins))


def keep_builtins(module: dict[str, object]) -> None:
    """Let functions that ``module``, its ``globals()``, defines from here on keep Python's own."""
    module["__builtins__"] = _FUNCTIONS
