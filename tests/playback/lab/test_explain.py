"""Statements of the lab on shapes, compared with torch."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.playback.lab.explain import METHODS, explain_shapes

SIZES = st.lists(st.sampled_from([1, 1, 2, 3]), max_size=3).map(tuple)


def kinds(axes):
    return {chip.kind for row in axes.rows for chip in row.chips}


def ran(function, *shapes):
    try:
        return tuple(function(*(torch.ones(shape) for shape in shapes)).shape)
    except (RuntimeError, IndexError):
        return None


@given(SIZES, SIZES)
def test_broadcasting_clashes_where_torch_refuses(a, b):
    result = ran(torch.add, a, b)
    axes = explain_shapes("a + b", {"a": a, "b": b}, [result] if result is not None else [])
    assert ("clash" in kinds(axes)) == (result is None)
    if result is not None:
        stretched = {"a": a, "b": b}
        for row in axes.rows[:2]:
            changed = {chip.kind for chip in row.chips} & {"stretched", "missing"}
            assert bool(changed) == (stretched[row.name] != result)


@given(SIZES, SIZES)
def test_products_clash_where_the_inner_sizes_differ(a, b):
    if not a or not b:
        return
    inner = b[-2] if len(b) > 1 else b[0]
    result = ran(torch.matmul, a, b)
    axes = explain_shapes("a @ b", {"a": a, "b": b}, [result] if result is not None else [])
    assert ("clash" in kinds(axes)) == (a[-1] != inner)


@given(st.lists(SIZES.filter(bool), min_size=2, max_size=3), st.integers(0, 1))
def test_cat_clashes_where_torch_refuses(shapes, dim):
    dims = {len(shape) for shape in shapes}
    if len(dims) > 1 or dim >= dims.pop():
        return
    named = dict(zip("abc", shapes, strict=False))
    result = ran(lambda *parts: torch.cat(parts, dim), *shapes)
    source = f"torch.cat([{', '.join(named)}], dim={dim})"
    axes = explain_shapes(source, named, [result] if result is not None else [])
    assert ("clash" in kinds(axes)) == (result is None)


CASES = [
    ("x.view(2, -1)", (4, 3), "12 elements"),
    ("x.permute(1, 0)", (4, 3), "order"),
    ("x.T", (4, 3), "order"),
    ("x.transpose(-1, 0)", (4, 3), "order"),
    ("x.squeeze()", (1, 3), "left out"),
    ("x.unsqueeze(0)", (3,), "new axis"),
    ("x.expand(4, 3)", (1, 3), "stride becomes 0"),
    ("x[1]", (4, 3), "drops its axis"),
    ("x[:, None, 1:]", (4, 3), "slice keeps"),
    ("x.sum()", (4, 3), "scalar"),
    ("x.mean(dim=1)", (4, 3), "folded away"),
    ("x.amax(dim=-1, keepdim=True)", (4, 3), "size 1"),
    ("torch.einsum('ij->j', x)", (4, 3), "Summed over i"),
    ("x.relu()", (4, 3), "stays"),
    ("x.chunk(2)[0]", (4, 3), "result has shape"),
    ("x.chunk(3, dim=1)", (4, 3), "Cut along axis 1"),
]


@pytest.mark.parametrize(("source", "shape", "word"), CASES, ids=[case[0] for case in CASES])
def test_the_result_of_the_table_is_torchs(source, shape, word):
    found = eval(source, {"x": torch.ones(shape), "torch": torch})
    results = [tuple(one.shape) for one in (found if isinstance(found, tuple) else [found])]
    axes = explain_shapes(source, {"x": shape}, results)
    assert word in axes.sentence
    if axes.rows:
        last = axes.rows[-1]
        shown = [
            chip.text.split(" ")[0] for chip in last.chips if chip.kind != "gone" and chip.text
        ]
        assert shown == [str(size) for size in results[0]]


def test_axes_that_are_folded_and_several_results_are_whole_sentences():
    def said(source, result):
        return explain_shapes(source, {"x": (4, 3, 1)}, result).sentence

    two = said("x.sum(dim=(0, 1))", [(1,)])
    assert two == "Axes 0 and 1 are folded away: the cells along them become one."
    one = said("x.sum(dim=1)", [(4, 1)])
    assert one == "Axis 1 is folded away: the cells along it become one."
    kept = said("x.sum(dim=0, keepdim=True)", [(1, 3, 1)])
    assert kept == "Axis 0 is folded to size 1, so that the result broadcasts back."
    assert said("x.squeeze()", [(4, 3)]) == "1 axis of size 1 is left out."
    assert said("x.view(5)", []) == "4 × 3 × 1 holds 12 elements, 5 would hold 5."
    assert said("x.frexp()", [(4, 3, 1)] * 2) == "The first of 2 results has shape 4 × 3 × 1."


def test_a_wrong_view_is_told_with_its_counts():
    axes = explain_shapes("x.view(5)", {"x": (4, 3)}, [])
    assert "12" in axes.sentence
    assert "5" in axes.sentence
    assert "clash" in kinds(axes)


@pytest.mark.parametrize("source", ["", "x +", "f(", "y", "[x]", "lambda: x", "x" * 9000, "x[y]"])
def test_what_cannot_be_read_is_no_reason_to_fail(source):
    explain_shapes(source, {"x": (2, 3)}, [(2, 3)])
    explain_shapes(source, {"x": (2, 3)}, [])


def test_methods_are_methods_of_tensors():
    operators = {"mult", "truediv", "floordiv", "mod", "noteq", "lte", "gte", "bitand", "bitor"}
    operators |= {"bitxor", "mse_loss", "l1_loss", "dropout", "gelu", "silu", "getitem", "tile"}
    missing = [m for m in METHODS - operators if not hasattr(torch.Tensor, m)]
    assert not missing
