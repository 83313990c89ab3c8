"""Kinds of files that are no programs, known by their first bytes or by their suffix."""

from pathlib import Path

from gradscribe.playback.translation import tr

_ZIP, _PICKLE = tr("a zip archive"), tr("a pickle")
_HEADS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", tr("a PNG picture")),
    (b"\xff\xd8\xff", tr("a JPEG picture")),
    (b"GIF8", tr("a GIF picture")),
    (b"%PDF", tr("a PDF document")),
    (b"\x93NUMPY", tr("a NumPy array")),
    (b"\x89HDF\r\n\x1a\n", tr("an HDF5 file")),
    (b"PAR1", tr("a Parquet table")),
    (b"ARROW1", tr("an Arrow table")),
    (b"SQLite format 3\0", tr("an SQLite database")),
    (b"\x1f\x8b", tr("a gzip archive")),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", tr("a compiled program or library")),
    (b"MZ", tr("a compiled program or library")),
    (b"\x80\x02", _PICKLE),
    (b"\x80\x03", _PICKLE),
    (b"\x80\x04", _PICKLE),
    (b"\x80\x05", _PICKLE),
    (b"PK\x03\x04", _ZIP),
)
_SUFFIXES = {
    ".pt": tr("weights saved by PyTorch"),
    ".pth": tr("weights saved by PyTorch"),
    ".ckpt": tr("a checkpoint"),
    ".bin": tr("a binary file"),
    ".safetensors": tr("a safetensors file with weights"),
    ".onnx": tr("an ONNX model"),
    ".gguf": tr("a GGUF model"),
    ".h5": tr("an HDF5 file"),
    ".npy": tr("a NumPy array"),
    ".npz": tr("an archive of NumPy arrays"),
    ".ipynb": tr("a notebook"),
    ".csv": tr("a table of data"),
    ".tsv": tr("a table of data"),
    ".jsonl": tr("a table of data"),
    ".parquet": tr("a Parquet table"),
    ".json": tr("a JSON file"),
    ".log": tr("a log"),
    ".html": tr("a web page"),
    ".pyc": tr("compiled Python"),
    ".pkl": _PICKLE,
    ".mp4": tr("a film"),
    ".gif": tr("a GIF picture"),
    ".svg": tr("an SVG picture"),
    ".gradscribe": tr("a training session"),
    ".tape": tr("a recorded run"),
}
_PROGRAMS = (".py", ".pyw", "")


def foreign_kind(path: Path, head: bytes) -> str:
    """Return the kind of a file that is no program, with its article; empty if it is not known.

    ``head``: its first bytes, 16 at least.
    """
    suffix = path.suffix.lower()
    by_head = next((kind for start, kind in _HEADS if head.startswith(start)), "")
    # A zip archive may hold weights, arrays, documents: the suffix knows better.
    generic = by_head in ("", _ZIP, _PICKLE)
    if generic and suffix in _SUFFIXES:
        return tr(_SUFFIXES[suffix])
    if by_head:
        # Again, because the command line imports this before a window chooses the language.
        return tr(by_head)
    return "" if suffix in _PROGRAMS or len(suffix) > 8 else tr("a {suffix} file", suffix=suffix)
