"""What a program that came from elsewhere may do, checked before anything of it runs.

Three steps, each of which refuses with a place and with what to write instead: `bounds` looks at
the bare text, before the parser may be hurt; `syntax` goes through the tree; `rewrite` puts guards
where only the run itself can tell. `modules` holds what may be imported, `guards` the builtin
functions.
"""

import ast
from types import CodeType

from engine.policy import bounds, modules, rewrite, syntax
from engine.policy.guards import builtin_names
from engine.policy.refusal import Refusal


def prepare(source: str, filename: str) -> CodeType:
    """Return a program from elsewhere as code that can be run with the names of `names`.

    Raises:
        Refusal: the policy forbids something in it; it has a place.
        SyntaxError: it is no Python.
    """
    return compile(guarded(source, filename), filename, "exec", dont_inherit=True)


def guarded(source: str, filename: str) -> ast.Module:
    """Return the tree of a program from elsewhere, with guards in it; see `prepare`."""
    bounds.check(source)
    try:
        tree = ast.parse(source, filename)
    except (RecursionError, MemoryError):
        raise Refusal("The program is nested too deep", "Give inner parts names.") from None
    syntax.check(tree, source, modules.offers)
    return rewrite.guarded(tree)


def readable(source: str) -> str:
    """Return ``source`` where the parser can be asked about it, else nothing."""
    try:
        bounds.check(source)
    except Refusal:
        return ""
    return source


def names(given: dict[str, object]) -> dict[str, object]:
    """Return the names that a document starts with, each replaced by what the policy offers."""
    kept = {name: modules.shown(value) for name, value in given.items()}
    return {**kept, "__builtins__": builtin_names()}
