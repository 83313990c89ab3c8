"""The safetensors format, against its description byte by byte."""

import json
import struct

import pytest
import torch

from gradscribe.engine.models import safetensors
from gradscribe.engine.models.safetensors import FormatError

# Written by hand from the format's description: two float32 of one tensor, then one int64.
HEADER = (
    b'{"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
    b'"n":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}'
)
BODY = struct.pack("<ffq", 1.5, -2.0, 7)


def packed(header, body=BODY):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


def test_a_file_made_by_hand_is_read():
    found = safetensors.read(packed(HEADER))
    assert found["w"].tolist() == [[1.5, -2.0]]
    assert found["n"].item() == 7
    assert found["n"].dtype == torch.int64


def test_a_written_file_follows_the_description():
    data = safetensors.write({"w": torch.tensor([[1.5, -2.0]])}, {"format": "pt"})
    (length,) = struct.unpack("<Q", data[:8])
    assert (8 + length) % 8 == 0
    assert json.loads(data[8 : 8 + length]) == {
        "__metadata__": {"format": "pt"},
        "w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
    }
    assert data[8 + length :] == struct.pack("<ff", 1.5, -2.0)


@pytest.mark.parametrize("dtype", safetensors.DTYPES.values(), ids=str)
def test_every_dtype_comes_back_bit_by_bit(dtype):
    bits = (torch.arange(48) % (2 if dtype == torch.bool else 256)).to(torch.uint8)
    tensor = bits.view(dtype).reshape(2, -1)
    (back,) = safetensors.read(safetensors.write({"t": tensor}, {})).values()
    assert (back.dtype, back.shape) == (dtype, tensor.shape)
    assert torch.equal(back.reshape(-1).view(torch.uint8), bits)


@pytest.mark.parametrize(
    "tensor", [torch.zeros(0, 3), torch.tensor(1.0), torch.arange(6.0).reshape(2, 3).t()]
)
def test_odd_shapes_come_back(tensor):
    (back,) = safetensors.read(safetensors.write({"t": tensor}, {})).values()
    assert torch.equal(back, tensor)


def test_a_dtype_out_of_the_format_is_named():
    with pytest.raises(FormatError, match="complex128, the dtype of w"):
        safetensors.write({"w": torch.zeros(2, dtype=torch.complex128)}, {})


def entry(**more):
    return {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **more}}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        b"\xff" * 100,
        packed(b"not json"),
        packed(b"[" * 100_000),
        packed([1, 2]),
        packed({"w": 3}),
        packed(entry(dtype="F33")),
        packed(entry(shape=[3])),
        packed(entry(shape=[-2])),
        packed(entry(shape=[True, 2])),
        packed(entry(shape=[2.0])),
        packed(entry(shape=[1] * 65)),
        packed(entry(data_offsets=[8, 0])),
        packed(entry(data_offsets=[0, 10**12])),
        packed(entry(data_offsets=[0])),
        packed(entry(shape=[2**40, 2**40, 0], data_offsets=[0, 8])),
        packed(HEADER)[:-1],
    ],
)
def test_a_spoilt_file_is_refused(data):
    with pytest.raises(FormatError):
        safetensors.read(data)
