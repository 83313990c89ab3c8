"""Cuts of the gradient's way in the window: scissors, the finding, and the share that is lost."""

import pytest
import torch

from gradscribe.widgets.graph import tooltips

WAYS = {
    "w * w.data": ("data", ".data"),
    "w * (w + 0).item()": ("item()", "item()"),
    "w * float(w)": ("float()", "float()"),
    "w * torch.tensor(w.tolist())": ("tolist()", "tolist()"),
    "w * torch.from_numpy(w.detach().numpy().copy())": ("numpy()", "numpy()"),
}


@pytest.mark.checklist(27)
@pytest.mark.parametrize(("line", "words"), WAYS.items())
def test_scissors_and_a_finding_stand_where_a_share_is_cut(desk, line, words):
    reason, way = words
    desk.run(f"w = torch.tensor(2.0, requires_grad=True)\nloss = {line}\nloss.backward()\n")
    w = torch.tensor(2.0, requires_grad=True)
    (w * 2.0).backward()  # What is cut is a constant for torch.
    assert desk.gradient("w") == w.grad.item()
    scissors = [wire for wire in desk.wires if wire.cut == reason]
    assert len(scissors) == 1
    drawing = desk.window.graph.canvas.drawing
    assert scissors[0].key in drawing.stage.cut_keys
    assert f"{way}" in tooltips.tip(drawing, scissors[0].key)
    assert "no gradient comes back" in tooltips.tip(drawing, scissors[0].key)
    cards = [c for c in desk.window.findings.cards() if c.finding.id == "partial-cut"]
    assert [card.finding.place.line for card in cards] == [2]
    assert way in cards[0].finding.message


@pytest.mark.checklist(27)
def test_a_detach_is_drawn_and_is_no_finding(desk):
    desk.run(
        "w = torch.tensor(2.0, requires_grad=True)\nloss = w * w.detach()\nloss.backward()\n"
        "print(loss.item(), float(w))\n"
    )
    assert [wire.cut for wire in desk.wires if wire.cut] == ["detach"]
    assert not desk.findings


@pytest.mark.checklist(27)
def test_numbers_for_the_log_are_not_drawn_as_cuts(desk):
    desk.run(
        "w = torch.tensor(2.0, requires_grad=True)\nloss = (w - 1) ** 2\nloss.backward()\n"
        "history = [loss.item()]\nprint(f'{float(loss):.2f}', history)\n"
    )
    assert not any(wire.cut for wire in desk.wires)
    assert not desk.findings
