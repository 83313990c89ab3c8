"""Kinds of files that are no programs, known by their first bytes or by their suffix."""

from pathlib import Path

_HEADS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"PAR1", "a Parquet table"),
    (b"ARROW1", "an Arrow table"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a compiled program or library"),
    (b"MZ", "a compiled program or library"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"PK\x03\x04", "a zip archive"),
)
_SUFFIXES = {
    ".pt": "weights saved by PyTorch",
    ".pth": "weights saved by PyTorch",
    ".ckpt": "a checkpoint",
    ".bin": "a binary file",
    ".safetensors": "a safetensors file with weights",
    ".onnx": "an ONNX model",
    ".gguf": "a GGUF model",
    ".h5": "an HDF5 file",
    ".npy": "a NumPy array",
    ".npz": "an archive of NumPy arrays",
    ".ipynb": "a notebook",
    ".csv": "a table of data",
    ".tsv": "a table of data",
    ".jsonl": "a table of data",
    ".parquet": "a Parquet table",
    ".json": "a JSON file",
    ".log": "a log",
    ".html": "a web page",
    ".pyc": "compiled Python",
    ".pkl": "a pickle",
    ".mp4": "a film",
    ".gif": "a GIF picture",
    ".svg": "an SVG picture",
    ".gradscribe": "a training session",
    ".tape": "a recorded run",
}
_PROGRAMS = (".py", ".pyw", "")


def foreign_kind(path: Path, head: bytes) -> str:
    """Return the kind of a file that is no program, with its article; empty if it is not known.

    ``head``: its first bytes, 16 at least.
    """
    suffix = path.suffix.lower()
    by_head = next((kind for start, kind in _HEADS if head.startswith(start)), "")
    # A zip archive may hold weights, arrays, documents: the suffix knows better.
    generic = by_head in ("", "a zip archive", "a pickle")
    if generic and suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if by_head:
        return by_head
    return "" if suffix in _PROGRAMS or len(suffix) > 8 else f"a {suffix} file"
