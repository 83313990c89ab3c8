"""Files of another kind are called by it, not by their length."""

import io
import zipfile

import numpy as np
import pytest
import torch

from gradscribe.app.files import documents
from gradscribe.app.files.documents import MAX_PROGRAM_BYTES, Refused


def message(path):
    with pytest.raises(Refused) as refused:
        documents.read(path)
    return str(refused.value).removeprefix(f"{path} ")


def test_weights_arrays_and_archives_are_named(tmp_path):
    many = torch.zeros(MAX_PROGRAM_BYTES)
    torch.save({"w": many}, tmp_path / "model.pt")
    assert message(tmp_path / "model.pt") == "is weights saved by PyTorch, not a program"
    (tmp_path / "model.safetensors").write_bytes(bytes(MAX_PROGRAM_BYTES + 1))
    assert message(tmp_path / "model.safetensors").startswith("is a safetensors file")
    np.save(tmp_path / "a.npy", many.numpy())
    assert message(tmp_path / "a.npy") == "is a NumPy array, not a program"
    np.save(tmp_path / "named.py", many.numpy())
    (tmp_path / "named.py.npy").rename(tmp_path / "named.py")
    assert message(tmp_path / "named.py") == "is a NumPy array, not a program"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.txt", "x")
    (tmp_path / "code.py").write_bytes(data.getvalue())
    assert message(tmp_path / "code.py") == "is a zip archive, not a program"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.ipynb", "a notebook"),
        ("a.csv", "a table of data"),
        ("a.log", "a log"),
        ("a.weird", "a .weird file"),
    ],
)
def test_long_texts_of_other_kinds_are_named(tmp_path, name, kind):
    (tmp_path / name).write_bytes(b" " * (MAX_PROGRAM_BYTES + 1))
    assert message(tmp_path / name) == f"is {kind}, not a program"


def test_a_program_that_is_too_long_says_so(tmp_path):
    (tmp_path / "a.py").write_bytes(b" " * (MAX_PROGRAM_BYTES + 1))
    assert message(tmp_path / "a.py") == "is longer than 2 MB"
    (tmp_path / "b.py").write_bytes(b"\xff\x00\x01")
    assert message(tmp_path / "b.py") == "is not text"
