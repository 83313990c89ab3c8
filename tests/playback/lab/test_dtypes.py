"""Statements on dtypes, compared with torch."""

import pytest
import torch

from gradscribe.playback.lab.dtypes import DTYPES, LEARNING, bytes_in, describe, other_dtypes


@pytest.mark.parametrize("name", DTYPES)
def test_bytes_are_torchs(name):
    assert torch.empty(0, dtype=getattr(torch, name)).element_size() == DTYPES[name].size


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "bfloat16"])
def test_the_largest_number_is_torchs(name):
    said = DTYPES[name].holds.rpartition("up to ")[2].replace(",", "")
    # 1.8e308 itself is past the end.
    largest = torch.finfo(getattr(torch, name)).max / 10
    mantissa, _, exponent = said.partition("e")
    assert float(mantissa) * 10 ** (int(exponent or 0) - 1) == pytest.approx(largest, rel=0.01)


@pytest.mark.parametrize("name", ["int16", "int32", "int64"])
def test_the_largest_whole_number_is_torchs(name):
    said = DTYPES[name].holds.rpartition("up to ")[2].replace(",", "")
    assert float(said) == pytest.approx(torch.iinfo(getattr(torch, name)).max, rel=0.05)


def test_an_unknown_dtype_is_named():
    assert describe("float8_e5m2") == "float8_e5m2"
    assert describe("int8").startswith("int8: 1 byte each")


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bytes_are_those_of_torch(dtype):
    tensor = torch.zeros((3, 5), dtype=getattr(torch, dtype))
    assert bytes_in((3, 5), dtype) == tensor.nbytes


@pytest.mark.parametrize("dtype", DTYPES)
def test_those_that_can_require_a_gradient_are_those_of_torch(dtype):
    kind = getattr(torch, dtype)
    assert (dtype in LEARNING) == (kind.is_floating_point or kind.is_complex)
    assert set(other_dtypes(dtype)) <= set(DTYPES)
