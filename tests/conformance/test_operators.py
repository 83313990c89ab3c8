"""The recorder against torch's own operator suite.

`make conformance` runs every sample of every operator, prints what was compared and takes some
minutes; a plain test run takes a few operators of each kind.
"""

import pytest
import torch

from tests.conformance.suite import Report, reports

pytestmark = pytest.mark.e2e

FEW = frozenset(
    "add mul matmul index_select cat split topk cumsum prod linalg.svd nn.functional.linear "
    "nn.functional.conv2d nn.functional.batch_norm nn.functional.layer_norm softmax "
    "nn.functional.cross_entropy var where index_put masked_fill einsum norm sort gather "
    "nn.functional.linear_cross_entropy nn.functional.scaled_dot_product_attention "
    "nn.functional.dropout as_strided clamp".split()
)
EVERYTHING = {
    "float64": (torch.float64, {}),
    "float32": (torch.float32, {}),
    "complex128": (torch.complex128, {}),
    "in-place": (torch.float64, {"inplace": True}),
    "gradient of the gradient": (torch.float64, {"twice": True}),
    "by gs.record": (torch.float64, {"by_api": True}),
}
LEAST = {
    "float64": (500, 13_000),
    "float32": (500, 13_000),
    "complex128": (300, 5_000),
    "in-place": (120, 800),
    "gradient of the gradient": (500, 13_000),
    "by gs.record": (500, 13_000),
}
"""Operators and samples that must have been compared, lest an empty table pass."""


def told(found: list[Report]) -> str:
    """Put what was compared into a line; what stays open has one more each, with its reason."""
    many = sum(r.many for r in found)
    return (
        f"{len(found)} operators, {sum(r.samples for r in found):,} samples "
        f"({sum(r.refused for r in found)} refused by torch itself), "
        f"{sum(r.sums for r in found):,} sums ({many:,} of several shares)"
        + "".join(
            f"\n    {r.name}: {r.unsteady} of {r.samples} samples differ: {r.reason}"
            for r in found
            if r.unsteady
        )
    )


@pytest.mark.conformance
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", EVERYTHING)
def test_every_operator_recorded_gives_what_it_gives_unrecorded(kind, record_property):
    dtype, how = EVERYTHING[kind]
    found = list(reports(dtype, **how))
    record_property("compared", f"{kind}: {told(found)}")
    assert not [(r.name, r.wrong) for r in found if r.wrong]
    assert not [(r.name, r.unmapped) for r in found if r.unmapped]
    operators, samples = LEAST[kind]
    assert len(found) >= operators
    assert sum(r.samples for r in found) >= samples
    assert sum(r.unsteady for r in found) < 80


@pytest.mark.parametrize("how", [{}, {"twice": True}, {"inplace": True}, {"by_api": True}], ids=str)
def test_common_operators_recorded_give_what_they_give_unrecorded(how):
    found = list(reports(torch.float64, names=FEW, most=6, **how))
    assert not [(r.name, r.wrong) for r in found if r.wrong]
    assert not [(r.name, r.unmapped) for r in found if r.unmapped]
    assert sum(r.sums for r in found) > 50
