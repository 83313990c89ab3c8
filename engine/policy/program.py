"""The policy for untrusted programs, checked before any of their code runs.

Three steps, each of which refuses with a place and with what to write instead: `bounds` checks
the bare text, to protect the parser; `syntax` checks the tree; `rewrite` inserts guards where only
the run itself can decide. `modules` has what may be imported, `guards` the builtin functions.
"""

import ast
from types import CodeType

from engine.policy import bounds, modules, rewrite, syntax
from engine.policy.guards import builtin_names
from engine.policy.refusal import Refusal


def prepare(source: str, filename: str) -> CodeType:
    """Compile an untrusted program, to be run with the names returned by `names`.

    Raises:
        Refusal: the policy forbids something in it; it has a place.
        SyntaxError: the source is no Python.
    """
    return compile(guarded(source, filename), filename, "exec", dont_inherit=True)


def guarded(source: str, filename: str) -> ast.Module:
    """Return the tree of an untrusted program, with guards; raises like `prepare`."""
    bounds.check(source)
    try:
        tree = ast.parse(source, filename)
    except (RecursionError, MemoryError):
        raise Refusal("The program is nested too deep", "Give inner parts names.") from None
    syntax.check(tree, source, modules.offers)
    return rewrite.guarded(tree)


def readable(source: str) -> str:
    """Return ``source`` if it is safe to parse, else an empty text."""
    try:
        bounds.check(source)
    except Refusal:
        return ""
    return source


def names(given: dict[str, object]) -> dict[str, object]:
    """Return the names that a program starts with, with modules replaced by stand-ins."""
    safe = {name: modules.shown(value) for name, value in given.items()}
    return {**safe, "__builtins__": builtin_names()}
