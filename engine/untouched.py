"""Python's own functions as they were, for code that runs while a program may replace them.

A function looks its builtins up where its module's ``__builtins__`` pointed when it was defined. So
a module that says ``from engine.untouched import __builtins__`` goes on working whatever a program
puts into `builtins`, while that program and all else see what it put there.
"""

import builtins

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
