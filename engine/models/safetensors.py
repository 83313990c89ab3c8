"""The safetensors format, written and read.

Eight bytes of header length, a JSON header with dtype, shape and offsets of each tensor, then their
raw bytes, little-endian and row-major. Source: https://github.com/huggingface/safetensors#format.
"""

import json
import math
from collections.abc import Mapping
from typing import cast

import torch

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "C64": torch.complex64,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""Name in the format -> dtype."""
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
MAX_HEADER = 100_000_000
"""Longest header that the format allows, in bytes."""
MAX_DIMENSIONS = 64


class FormatError(ValueError):
    """The bytes are no safetensors file, or the tensors cannot be written as one."""


def write(state: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> bytes:
    """Return named tensors in the format.

    Raises:
        FormatError: a dtype is not in the format.
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    bodies, at = [], 0
    for name, tensor in state.items():
        if tensor.dtype not in _NAMES:
            dtype = str(tensor.dtype).removeprefix("torch.")
            raise FormatError(f"safetensors has no {dtype}, the dtype of {name}")
        body = _bytes_of(tensor)
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + len(body)],
        }
        bodies.append(body)
        at += len(body)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(bodies)


def _bytes_of(tensor: torch.Tensor) -> bytes:
    whole = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return whole.view(torch.uint8).numpy().tobytes() if whole.numel() else b""


def read(data: bytes) -> dict[str, torch.Tensor]:
    """Return the named tensors of a file; nothing of it can run.

    Raises:
        FormatError: it is no safetensors file, or a spoilt one.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(MAX_HEADER, len(data) - 8):
        raise FormatError("it is no safetensors file, or the end of it is missing")
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise FormatError("its header is not readable") from error
    if not isinstance(header, dict):
        raise FormatError("its header is not readable")
    header.pop("__metadata__", None)
    body = memoryview(data)[8 + length :]
    return {name: _tensor(name, entry, body) for name, entry in header.items()}


def _tensor(name: str, entry: object, body: memoryview) -> torch.Tensor:
    fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    dtype = DTYPES.get(str(fields.get("dtype")))
    shape, offsets = _sizes(fields.get("shape")), _sizes(fields.get("data_offsets"))
    if dtype is None or shape is None or offsets is None or len(offsets) != 2:
        raise FormatError(f"the entry of {name[:60]} is not readable")
    start, end = offsets
    if not start <= end <= len(body) or len(shape) > MAX_DIMENSIONS:
        raise FormatError(f"the numbers of {name[:60]} are missing")
    if math.prod(shape) * dtype.itemsize != end - start:
        raise FormatError(f"the numbers of {name[:60]} are not as many as its shape says")
    if start == end:
        return torch.zeros(shape, dtype=dtype)
    # A copy, as the bytes are shared and must not be written to.
    return (
        torch.frombuffer(bytearray(body[start:end]), dtype=torch.uint8).view(dtype).reshape(shape)
    )


def _sizes(value: object) -> list[int] | None:
    """Return a list of whole numbers from 0; None if it is none."""
    if not isinstance(value, list):
        return None
    sizes = [one for one in value if type(one) is int and 0 <= one < 2**48]
    return sizes if len(sizes) == len(value) else None
