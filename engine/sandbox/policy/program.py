"""The policy for untrusted programs, checked before any of their code runs.

Three steps, each of which refuses with a place and with what to write instead: `bounds` checks
the bare text, to protect the parser; `syntax` checks the tree; `rewrite` inserts guards where only
the run itself can decide. `modules` has what may be imported, `guards` the builtin functions.
"""

import ast
from types import CodeType

from gradscribe.engine.sandbox.policy import bounds, modules, rewrite, syntax
from gradscribe.engine.sandbox.policy.guards import builtin_names
from gradscribe.engine.sandbox.policy.refusal import Refusal


def compile_guarded(source: str, filename: str) -> CodeType:
    """Compile an untrusted program, to be run with the names returned by `guarded_names`.

    Raises:
        Refusal: the policy forbids something in it; it has a place.
        SyntaxError: the source is no Python.
    """
    return compile(parse_guarded(source, filename), filename, "exec", dont_inherit=True)


def parse_guarded(source: str, filename: str) -> ast.Module:
    """Return the tree of an untrusted program, with guards; raises like `compile_guarded`."""
    bounds.check(source)
    try:
        tree = ast.parse(source, filename)
    except (RecursionError, MemoryError):
        raise Refusal("The program is nested too deep", "Give inner parts names.") from None
    syntax.check(tree, source, modules.offered_names)
    return rewrite.insert_guards(tree)


def parsable_source(source: str) -> str:
    """Return ``source`` if it is safe to parse, else an empty text."""
    try:
        bounds.check(source)
    except Refusal:
        return ""
    return source


def guarded_names(given: dict[str, object]) -> dict[str, object]:
    """Return the names that a program starts with, with modules replaced by stand-ins."""
    safe = {name: modules.stand_in_for(value) for name, value in given.items()}
    return {**safe, "__builtins__": builtin_names()}
