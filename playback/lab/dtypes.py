"""Size, precision and range of dtypes, from IEEE 754 and two's complement."""

import math
from typing import NamedTuple

from gradscribe.playback.translation import tr


class Dtype(NamedTuple):
    """Bytes of an element, and texts about its range and its use."""

    size: int
    holds: str
    use: str


DTYPES = {
    "float64": Dtype(
        8, tr("about 16 digits, up to 1.8e308"), tr("checks; twice the memory of float32")
    ),
    "float32": Dtype(
        4, tr("about 7 digits, up to 3.4e38"), tr("torch's default for parameters and data")
    ),
    "float16": Dtype(
        2, tr("about 3 digits, up to 65,504"), tr("mixed precision; small gradients vanish")
    ),
    "bfloat16": Dtype(
        2, tr("2 to 3 digits, up to 3.4e38"), tr("mixed precision with float32's range")
    ),
    "int64": Dtype(
        8, tr("whole numbers up to 9.2e18"), tr("class labels and indices; no gradients")
    ),
    "int32": Dtype(4, tr("whole numbers up to 2.1e9"), tr("indices; no gradients")),
    "int16": Dtype(2, tr("whole numbers up to 32,767"), tr("compact data; no gradients")),
    "int8": Dtype(1, tr("whole numbers from −128 to 127"), tr("quantized weights; no gradients")),
    "uint8": Dtype(1, tr("whole numbers from 0 to 255"), tr("pixels; no gradients")),
    "bool": Dtype(1, tr("True or False"), tr("masks; no gradients")),
    "complex64": Dtype(8, tr("two float32"), tr("signals; real and imaginary part")),
    "complex128": Dtype(16, tr("two float64"), tr("signals; real and imaginary part")),
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
    return tr(
        "{dtype}: {size} {unit} each, {holds}. {capitalize}.",
        dtype=dtype,
        size=known.size,
        unit=unit,
        holds=known.holds,
        capitalize=known.use.capitalize(),
    )
