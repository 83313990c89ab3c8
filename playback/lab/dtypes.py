"""Size, precision and range of dtypes, from IEEE 754 and two's complement."""

import math
from typing import NamedTuple


class Dtype(NamedTuple):
    """Bytes of an element, and texts about its range and its use."""

    size: int
    holds: str
    use: str


DTYPES = {
    "float64": Dtype(8, "about 16 digits, up to 1.8e308", "checks; twice the memory of float32"),
    "float32": Dtype(4, "about 7 digits, up to 3.4e38", "torch's default for parameters and data"),
    "float16": Dtype(2, "about 3 digits, up to 65,504", "mixed precision; small gradients vanish"),
    "bfloat16": Dtype(2, "2 to 3 digits, up to 3.4e38", "mixed precision with float32's range"),
    "int64": Dtype(8, "whole numbers up to 9.2e18", "class labels and indices; no gradients"),
    "int32": Dtype(4, "whole numbers up to 2.1e9", "indices; no gradients"),
    "int16": Dtype(2, "whole numbers up to 32,767", "compact data; no gradients"),
    "int8": Dtype(1, "whole numbers from −128 to 127", "quantized weights; no gradients"),
    "uint8": Dtype(1, "whole numbers from 0 to 255", "pixels; no gradients"),
    "bool": Dtype(1, "True or False", "masks; no gradients"),
    "complex64": Dtype(8, "two float32", "signals; real and imaginary part"),
    "complex128": Dtype(16, "two float64", "signals; real and imaginary part"),
}


LEARNING = ("float64", "float32", "float16", "bfloat16", "complex64", "complex128")
"""Those that can require a gradient."""
_OTHERS = {
    "float64": ("float32",),
    "float32": ("float16", "float64"),
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "int64": ("int32", "uint8"),
    "int32": ("int64",),
}
"""dtype -> those that a tensor of it is likely to be converted to."""


def bytes_in(shape: tuple[int, ...], dtype: str) -> int:
    """Return the bytes of a tensor's elements in a dtype of `DTYPES`."""
    return math.prod(shape) * DTYPES[dtype].size


def other_dtypes(dtype: str) -> tuple[str, ...]:
    """Return the dtypes that a tensor of this dtype is likely to be converted to."""
    return _OTHERS.get(dtype, ())


def describe(dtype: str) -> str:
    """Return a one-line description of a dtype; only its name if it is not in `DTYPES`."""
    known = DTYPES.get(dtype)
    if known is None:
        return dtype
    unit = "byte" if known.size == 1 else "bytes"
    return f"{dtype}: {known.size} {unit} each, {known.holds}. {known.use.capitalize()}."
