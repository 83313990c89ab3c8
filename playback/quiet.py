"""Python read into trees without a word about what Python finds odd in it."""

import ast
import warnings


def tree(source: str) -> ast.Module:
    """Return the tree of a program. Raises what ``ast.parse`` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def check(source: str) -> None:
    """Raise what Python does of a program that it cannot read; in a third of the time of a tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "<program>", "exec", dont_inherit=True)


def expression(source: str) -> ast.Expression:
    """Return the tree of an expression. Raises what ``ast.parse`` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval")
