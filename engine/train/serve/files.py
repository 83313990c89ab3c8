"""Weights of a run as safetensors."""

import json

import torch

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.arrays import raw_bytes
from gradscribe.engine.train.runs.run import TrainingRun

_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
MOST_BYTES = 500 << 20
"""Maximum bytes of the weights in one message."""


def check_size(run: TrainingRun) -> None:
    """Raise `SetupError` if the weights are too large for one message."""
    if sum(t.nbytes for t in run.program.model.state_dict().values()) > MOST_BYTES:
        raise SetupError(f"the weights are more than {MOST_BYTES >> 20} MB", "weights")


def safetensors(run: TrainingRun) -> bytes:
    """Return parameters and buffers in the safetensors format.

    Eight bytes of header length, a JSON header with dtype, shape and offsets of each tensor, then
    their raw bytes, little-endian and row-major. Raises `SetupError` if they are too large.
    """
    check_size(run)
    header: dict[str, object] = {"__metadata__": {"format": "pt", "step": str(run.step)}}
    bodies, at = [], 0
    for name, tensor in run.program.model.state_dict().items():
        body = raw_bytes(tensor)
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
