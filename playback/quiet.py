"""`ast.parse` and `compile` with Python's warnings about the source suppressed."""

import ast
import warnings


def tree(source: str) -> ast.Module:
    """Parse a program. Raises the same errors as ``ast.parse``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def check(source: str) -> None:
    """Compile a program to raise its syntax errors; takes a third of the time of `tree`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "<program>", "exec", dont_inherit=True)


def expression(source: str) -> ast.Expression:
    """Parse an expression. Raises the same errors as ``ast.parse``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval")
