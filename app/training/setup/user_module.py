"""The user's own nn.Module, taken from the program into the training set-up."""

import ast
from functools import lru_cache

from gradscribe.engine.protocol.setup import JsonValue, Part, Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.text import parse

GUARDED = "guarded"
"""The option of a user's module that enforces the policy on it."""


@lru_cache(maxsize=1)
def has_module(source: str) -> bool:
    """Return whether a program defines a class that looks like an nn.Module."""
    # Skips the slow parse for most programs. Identifiers that are not ASCII may normalize to these.
    if source.isascii() and not ("class" in source and "Module" in source):
        return False
    try:
        body = parse.parse_program(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    bases = [base for node in body if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(ast.unparse(base).rpartition(".")[2] == "Module" for base in bases)


def syntax_error_line(source: str) -> int | None:
    """Return the line of a program's syntax error; None if it parses."""
    try:
        parse.check_syntax(source)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def with_program_module(setup: Setup, source: str, foreign: bool = False) -> Setup:
    """Return the setup with the program's module as its model.

    ``foreign``: it came from elsewhere, and the policy for such programs applies.
    """
    options = setup.model.options if setup.model.name == "own" else {}
    options = {name: value for name, value in options.items() if name != GUARDED}
    guard: dict[str, JsonValue] = {GUARDED: True} if foreign else {}
    return replace(setup, model=Part("own", {**options, "source": source, **guard}))


def with_policy(setup: Setup) -> Setup:
    """Return a setup from elsewhere with the policy enforced on its module, if it has one."""
    if setup.model.name != "own":
        return setup
    return replace(setup, model=Part("own", {**setup.model.options, GUARDED: True}))


def is_guarded(setup: Setup) -> bool:
    """Return whether a setup's model is a module on which the policy is enforced."""
    return setup.model.name == "own" and bool(setup.model.options.get(GUARDED))


def program_module_differs(setup: Setup, source: str) -> bool:
    """Return whether a setup trains a user's module, and the program has another version of it."""
    trained = setup.model.options.get("source", source)
    return setup.model.name == "own" and trained != source and has_module(source)


def fill_in_program_module(
    before: Setup, after: Setup, source: str, foreign: bool = False
) -> Setup:
    """Return ``after``, with the program's module if the model was just switched to "own"."""
    is_new = after.model.name == "own" and before.model.name != "own"
    if is_new and "source" not in after.model.options and has_module(source):
        return with_program_module(after, source, foreign)
    return after
