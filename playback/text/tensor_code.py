"""A tensor's numbers as text to paste: as plain numbers, and as a line of PyTorch."""

import keyword
import math
import re

import numpy as np
from numpy.typing import NDArray


def numbers_text(array: NDArray[np.generic]) -> str:
    """Return numbers as text: one alone, a row per line, further dimensions as nested lists."""
    if array.ndim == 0:
        return _number(array.item(), "")
    if array.ndim == 1:
        return "\t".join(_number(x, "") for x in array.tolist())
    if array.ndim == 2:
        return "\n".join("\t".join(_number(x, "") for x in row) for row in array.tolist())
    return _nested(array.tolist(), "")


def tensor_code(
    name: str, array: NDArray[np.generic], dtype: str, *, device: str = "cpu", learns: bool = False
) -> str:
    """Return a line that makes the same tensor, to the bit: ``w = torch.tensor([1.0, 2.0])``.

    The dtype is written where torch would choose another one, the device where it is not the CPU.
    """
    parts = [_nested(array.tolist(), dtype)]
    if dtype != _default_dtype(array, dtype):
        parts.append(f"dtype=torch.{dtype}")
    if device != "cpu":
        parts.append(f"device={device!r}")
    if learns:
        parts.append("requires_grad=True")
    if not array.size:
        # An empty list has lost its shape.
        parts[0] = f"{array.shape}"
        return f"{_variable(name)} = torch.empty({', '.join(parts)})"
    return f"{_variable(name)} = torch.tensor({', '.join(parts)})"


def literal(array: NDArray[np.generic], dtype: str) -> str:
    """Return numbers as Python source, nested lists that NumPy and torch read to the same bits."""
    return _nested(array.tolist(), dtype)


def _default_dtype(array: NDArray[np.generic], dtype: str) -> str:
    kind = array.dtype.kind
    if not array.size:
        return "float32"
    if dtype == "bool" or kind == "b":
        return "bool"
    if kind == "c":
        return "complex64"
    return "int64" if kind in "iu" else "float32"


def _nested(item: object, dtype: str) -> str:
    if isinstance(item, list):
        return f"[{', '.join(_nested(part, dtype) for part in item)}]"
    return _number(item, dtype)


def _number(x: object, dtype: str) -> str:
    """Return a number; with a ``dtype`` as Python source."""
    if isinstance(x, complex):
        text = f"complex({_number(x.real, 'float64')}, {_number(x.imag, 'float64')})"
        return text if dtype else str(x).strip("()")
    if not isinstance(x, float):
        return str(x)
    if not math.isfinite(x):
        return f"float('{x}')" if dtype else str(x)
    return _shortest(x, dtype)


def _shortest(x: float, dtype: str) -> str:
    """Return the shortest text that is the same number in a float32, or else in a float64."""
    if dtype != "float64" and float(np.float32(x)) == x:
        return repr(float(np.format_float_scientific(np.float32(x), unique=True)))
    return repr(x)


def _variable(name: str) -> str:
    """Return a name that Python accepts for a tensor's path: ``net_0_weight``."""
    made = re.sub(r"\W", "_", name, flags=re.ASCII) or "x"
    if made[0].isdigit() or keyword.iskeyword(made):
        made = f"_{made}"
    return made
