"""Pristine builtins, for code that runs while a user program may replace them.

A function looks its builtins up where its module's ``__builtins__`` pointed when it was defined. So
a module that calls `use_original_builtins` before it defines anything goes on working whatever a
program puts into `builtins`, while that program and all other code see what it put there.
"""

import builtins

_FUNCTIONS = dict(vars(builtins))


def use_original_builtins(module: dict[str, object]) -> None:
    """Bind the functions that a module defines from here on to the original builtins.

    ``module`` is the calling module's ``globals()``.
    """
    module["__builtins__"] = _FUNCTIONS
