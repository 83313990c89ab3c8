"""What a run leaves in files: its weights as safetensors; and what a CSV file holds."""

import csv
import itertools
import json
from pathlib import Path

import torch

from engine.tape import Problem
from engine.train.run import Run
from engine.training.answers import FileLooked

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
SHOWN = 20
MOST_COLUMNS = 500
LOOKED_AT = 2000


def safetensors(run: Run) -> bytes:
    """Return parameters and buffers in the safetensors format.

    Eight bytes of length, so much JSON with each tensor's dtype, shape and place, then their raw
    bytes, little-endian and row-major.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt", "step": str(run.step)}}
    bodies, at = [], 0
    for name, tensor in run.program.model.state_dict().items():
        whole = tensor.detach().cpu().contiguous()
        body = whole.reshape(-1).view(torch.uint8).numpy().tobytes() if whole.numel() else b""
        header[name] = {
            "dtype": _NAMES[whole.dtype],
            "shape": list(whole.shape),
            "data_offsets": [at, at + len(body)],
        }
        bodies.append(body)
        at += len(body)
    words = json.dumps(header, separators=(",", ":")).encode()
    words += b" " * (-len(words) % 8)
    return len(words).to_bytes(8, "little") + words + b"".join(bodies)


def look(run_id: int, name: str) -> FileLooked:
    """Return the columns and first rows of a CSV file, or what is wrong with it."""
    try:
        return _look(run_id, name)
    except (OSError, ValueError, csv.Error) as error:
        why = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        if isinstance(error, FileNotFoundError):
            why = "there is no such file"
        return FileLooked(run_id, name, problem=Problem("CSV", f"{Path(name).name}: {why}"))


def _look(run_id: int, name: str) -> FileLooked:
    with open(name, newline="", encoding="utf-8-sig") as file:
        delimiter = max(",;\t", key=file.readline().count)
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter)
        rows = [row for row in itertools.islice(reader, LOOKED_AT) if any(map(str.strip, row))]
        count = len(rows) + sum(1 for row in reader if row)
    if len(rows) < 2:
        raise ValueError("there are no rows below the header")
    header = tuple(cell.strip() for cell in rows[0])
    if len(header) > MOST_COLUMNS:
        raise ValueError(f"it has more than {MOST_COLUMNS} columns")
    if len(set(header)) < len(header):
        twice = next(cell for cell in header if header.count(cell) > 1)
        raise ValueError(f"two columns are called {twice!r}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header {len(header)}")
    columns = list(zip(*rows[1:], strict=True))
    numeric = tuple(all(map(_is_number, column)) for column in columns)
    shown = tuple(tuple(row) for row in rows[1 : SHOWN + 1])
    return FileLooked(run_id, name, header, numeric, shown, count - 1)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
