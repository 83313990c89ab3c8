"""Row type of the hint tables, and hints computed from the failing code: names, sizes, memory."""

import builtins
import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple


class HintContext(NamedTuple):
    """Context of a hint: the exception, the failing code, the visible names."""

    exc: BaseException
    code: str
    scope: Mapping[str, object]
    source: str = ""
    """The whole program."""


Answer = str | Callable[[re.Match[str], HintContext], str]


class HintRow(NamedTuple):
    """An error and its hint.

    ``pattern`` is searched in the message of a ``kind``. ``answer`` is a text, in which ``{1}``
    stands for the pattern's first group, or a function that returns the text. ``example`` is a
    message that must match; the tests check that it does, and that no earlier row matches it.
    """

    pattern: str
    answer: Answer
    example: str
    kind: type[BaseException] = RuntimeError


IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "pd": "import pandas as pd",
    "os": "import os",
    "sys": "import sys",
    "time": "import time",
    "random": "import random",
    "math": "import math",
    "DataLoader": "from torch.utils.data import DataLoader",
    "TensorDataset": "from torch.utils.data import TensorDataset",
    "Dataset": "from torch.utils.data import Dataset",
}
NO_GRAD = ".grad is None until backward() has run, and for tensors that need no gradient."


def near(word: str, names: Iterable[str]) -> str:
    """Return the name of which ``word`` is most likely a misspelling, or an empty string."""
    candidates = [name for name in names if not name.startswith("_") and name != word]
    for name in candidates:
        if name.lower() == word.lower():
            return name
    matches = difflib.get_close_matches(
        word, candidates, n=1, cutoff=0.8 if len(word) < 5 else 0.72
    )
    return matches[0] if matches else ""


def undefined_name(match: re.Match[str], case: HintContext) -> str:
    """Hint for a NameError: an import, a name in torch, or a similar name."""
    word = match[1]
    if word in IMPORTS:
        return f"Import it first: {IMPORTS[word]}"
    if word == "Variable":
        return "Tensors need no Variable any more: use torch.tensor(..., requires_grad=True)."
    if word in ("true", "false", "none", "null"):
        return f"Python writes {'None' if word == 'null' else word.capitalize()}."
    for prefix in ("torch", "F", "nn", "math", "optim", "np"):
        if hasattr(case.scope.get(prefix), word) and not word.startswith("_"):
            return f"Did you mean {prefix}.{word}?"
    close = near(word, {**vars(builtins), **case.scope})
    if close:
        return f"Did you mean {close}?"
    return f"Give {word} a value on a line above this one."


def out_of_bounds(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for an index past a dimension's end."""
    size = int(match[1])
    if size == 0:
        return "The dimension is empty: it has no elements to pick."
    return f"Indices go from 0 to {size - 1} here, or from -{size} to -1."


def invalid_view(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a shape that does not fit a tensor's number of elements."""
    sizes = [int(text) for text in match[1].split(",") if text.strip()]
    product = math.prod(size for size in sizes if size >= 0)
    if any(size < 0 for size in sizes):
        return f"The tensor's {match[2]} elements cannot be divided by {product}."
    return f"These sizes hold {product} elements, but the tensor has {match[2]}."


def too_large(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a tensor that is too large, with its size."""
    size = float(match[1])
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"That takes {size:.3g} {unit}, more than there is. Make a size smaller."
        size /= 1000
    return f"That takes {size:,.4g} TB, more than there is. Make a size smaller."


def missing_module(match: re.Match[str], case: HintContext) -> str:  # noqa: ARG001
    """Hint for a module that is not installed."""
    top = match[1].split(".")[0]
    close = near(top, ("torch", "numpy", "math", "random", "typing", "itertools", "functools"))
    if close:
        return f"Did you mean {close}?"
    return f"{top} is not installed beside Gradscribe. Check the spelling, or do without it."


def state_key(match: re.Match[str], case: HintContext) -> str:
    """Hint for a missing key that looks like a parameter's name in a state dict."""
    known = _keys(case)
    close = near(match[1], known)
    if close:
        return f"Did you mean '{close}'?"
    return "Parameters are named by the path of their layers: print(model.state_dict().keys())."


def missing_key(match: re.Match[str], case: HintContext) -> str:
    """Hint for a missing key of a dict."""
    close = near(match[1].strip("'\""), _keys(case))
    if close:
        return f"Did you mean '{close}'?"
    return f"The dict has no key {match[1][:60]}: print its .keys(), or use .get(...)."


def _keys(case: HintContext) -> list[str]:
    """Return the keys of the dict that the failing code indexes by a plain name."""
    owner = case.scope.get(case.code.split("[")[0].strip())
    return [word for word in owner if isinstance(word, str)] if isinstance(owner, dict) else []
