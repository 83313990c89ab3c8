"""Binary cross-entropy written out is replaced by torch's own, whatever its form."""

import pytest
import torch

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.rewrites.cross_entropy import with_binary_cross_entropy
from gradscribe.engine.run import run

HEAD = """import torch
import torch.nn.functional as F
p = torch.tensor([0.0, 0.25, 1.0, 0.5], requires_grad=True)
y = torch.tensor([0.0, 1.0, 1.0, 0.0])
"""
FORMS = {
    "-(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()": "F.binary_cross_entropy(p, y)",
    "-torch.mean(y * torch.log(p) + (1 - y) * torch.log(1 - p))": "F.binary_cross_entropy(p, y)",
    "(-(y * p.log() + (1 - y) * (1 - p).log())).mean()": "F.binary_cross_entropy(p, y)",
    "(-y * p.log() - (1 - y) * (1 - p).log()).sum()": (
        'F.binary_cross_entropy(p, y, reduction="sum")'
    ),
    "-((1 - y) * torch.log(1 - p) + y * torch.log(p)).sum() / 4": (
        'F.binary_cross_entropy(p, y, reduction="sum") / 4'
    ),
    "-(torch.log(p) * y + torch.log(1 - p) * (1 - y)).mean(0)": (
        '-(-F.binary_cross_entropy(p, y, reduction="none")).mean(0)'
    ),
    "(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()": "-F.binary_cross_entropy(p, y)",
    "-(y * torch.log(p) + (1 - y) * torch.log(1 - p) + p).mean()": (
        '-(-F.binary_cross_entropy(p, y, reduction="none") + p).mean()'
    ),
}


def rewritten(source: str) -> str:
    tape = run.record(source)
    op = next(op for op in tape.ops if op.op == "log")
    return with_binary_cross_entropy(Evidence(tape, source), op)


@pytest.mark.parametrize(("form", "better"), FORMS.items())
def test_each_form_is_replaced_by_torch_s_own(form, better):
    assert rewritten(f"{HEAD}loss = {form}\n") == f"{HEAD}loss = {better}\n"


@pytest.mark.parametrize("form", FORMS)
def test_away_from_the_edges_both_are_the_same_number(form):
    p = torch.tensor([0.1, 0.25, 0.9, 0.5], dtype=torch.float64)
    y = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    names = {"torch": torch, "F": torch.nn.functional, "p": p, "y": y}
    torch.testing.assert_close(eval(form, names), eval(FORMS[form], names))


@pytest.mark.parametrize(
    "form",
    [
        "-(y * torch.log(p) + (2 - y) * torch.log(1 - p)).mean()",
        "-(y * torch.log(p) - (1 - y) * torch.log(1 - p)).mean()",
        "-(y * torch.log(p) + (1 - y) * torch.log(2 - p)).mean()",
        "-(y * torch.log(p)).mean()",
        "-(y[:, None] * torch.log(p) + (1 - y[:, None]) * torch.log(1 - p)).mean()",
    ],
)
def test_what_is_something_else_stays(form):
    assert rewritten(f"{HEAD}loss = {form}\n") == ""
