"""The user's own nn.Module: the one in the program, taken into the training room's set-up."""

import ast
from functools import lru_cache

from msgspec.structs import replace

from engine.setup import Part, Plain, Setup
from playback import quiet

GUARDED = "guarded"
"""The option of one's own module that holds it to the policy."""


@lru_cache(maxsize=1)
def has_module(source: str) -> bool:
    """Whether a program defines a class that looks like an nn.Module."""
    # Most need not be read as trees, which takes longest. Other letters may stand for these.
    if source.isascii() and not ("class" in source and "Module" in source):
        return False
    try:
        body = quiet.tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    bases = [base for node in body if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(ast.unparse(base).rpartition(".")[2] == "Module" for base in bases)


def broken_line(source: str) -> int | None:
    """Return the line at which a program is not Python; None where it can be read."""
    try:
        quiet.check(source)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def taken(setup: Setup, source: str, foreign: bool = False) -> Setup:
    """Return the setup with the program's module as its model.

    ``foreign``: it came from elsewhere, and is held to what such programs may do.
    """
    options = setup.model.options if setup.model.name == "own" else {}
    options = {name: value for name, value in options.items() if name != GUARDED}
    guard: dict[str, Plain] = {GUARDED: True} if foreign else {}
    return replace(setup, model=Part("own", {**options, "source": source, **guard}))


def held(setup: Setup) -> Setup:
    """Return a setup from elsewhere with its module, if it has one, held to the policy."""
    if setup.model.name != "own":
        return setup
    return replace(setup, model=Part("own", {**setup.model.options, GUARDED: True}))


def is_guarded(setup: Setup) -> bool:
    """Whether a setup's model is a module that came from elsewhere and is held to the policy."""
    return setup.model.name == "own" and bool(setup.model.options.get(GUARDED))


def is_other(setup: Setup, source: str) -> bool:
    """Whether a setup trains a module of one's own, and the program has another text with one."""
    mine = setup.model.options.get("source", source)
    return setup.model.name == "own" and mine != source and has_module(source)


def chosen(before: Setup, after: Setup, source: str, foreign: bool = False) -> Setup:
    """Return ``after``, with the program's module where the model has just become one's own."""
    is_new = after.model.name == "own" and before.model.name != "own"
    if is_new and "source" not in after.model.options and has_module(source):
        return taken(after, source, foreign)
    return after
