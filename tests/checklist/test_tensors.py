"""Tensors and modules of programs as the window shows them, against plain torch."""

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gradscribe.app.ui.shape_lab import LabCard
from gradscribe.playback.lab.cells import Cell
from gradscribe.widgets.inspector.panes.rows import RowWidget
from tests.checklist.desk import plain_output

NO_KEYS = Qt.KeyboardModifier.NoModifier
KINDS = (
    "import torch\n"
    "real = torch.ones(3, 4)\n"
    "whole = torch.arange(6).reshape(2, 3)\n"
    "long = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
    "flags = real > 0\n"
    "away = torch.ones(5, device='meta')\n"
    "made = long * 3\n"
    "with torch.no_grad():\n"
    "    quiet = long * 2\n"
)


def ran(source):
    """Return the names that a program leaves behind in plain Python."""
    names = {}
    exec(source, names)
    return names


@pytest.mark.checklist(2, 33, 70, 71, 247)
def test_the_facts_of_a_tensor_are_torchs_and_can_be_copied(desk):
    desk.run(KINDS)
    for name, tensor in ran(KINDS).items():
        if not isinstance(tensor, torch.Tensor):
            continue
        shown = desk.facts(name)
        assert shown["shape"] == " × ".join(map(str, tensor.shape)), name
        assert shown["dtype"] == str(tensor.dtype).removeprefix("torch."), name
        assert shown["device"] == str(tensor.device), name
        assert shown["requires_grad"] == ("yes" if tensor.requires_grad else "no"), name
    assert desk.card("quiet").cut
    assert not desk.card("made").cut
    desk.select("whole")
    rows = desk.window.inspector.findChildren(RowWidget)
    (row,) = (
        one
        for one in rows
        if one.isVisibleTo(desk.window) and one.accessibleName().startswith("shape ")
    )
    menu = row.menu()
    menu.actions()[0].trigger()
    menu.deleteLater()
    assert QGuiApplication.clipboard().text() == "2 × 3"


@pytest.mark.checklist(46)
def test_no_gradient_is_not_a_gradient_of_zero(desk):
    start = (
        "import torch\n"
        "w = torch.tensor(2.0, requires_grad=True)\n"
        "u = torch.tensor(3.0, requires_grad=True)\n"
        "sgd = torch.optim.SGD([w], lr=0.1)\n"
    )
    for lines, expected in (
        ("(w * 2).backward()\nsgd.zero_grad()\n", None),
        ("(w * 2).backward()\nsgd.zero_grad(set_to_none=False)\n", 0.0),
        ("(w * 0).backward()\n", 0.0),
    ):
        desk.run(start + lines)
        gradient = ran(start + lines)["w"].grad
        assert (None if gradient is None else gradient.item()) == expected
        texts = {name: desk.rows()[name][1] for name in ("w", "u")}
        assert texts["u"] == "—"
        if expected is None:
            assert texts["w"] == "—"
        else:
            assert float(texts["w"]) == 0


@pytest.mark.checklist(94)
def test_the_lab_shows_shapes_first_and_numbers_at_a_press(desk):
    desk.run("import torch\n")
    window = desk.window
    lines = "a = torch.tensor([[1.,2.],[3.,4.],[5.,6.]])\nb = torch.full((2, 3), 10.)\na @ b"
    window.context.show_lab(lines)
    (card,) = window.findChildren(LabCard)
    desk.bot.waitUntil(lambda: card._made is not None, timeout=60_000)
    lab = card.lab

    def shapes():
        return {one.key: tuple(one.cells.snapshot.shape) for one in lab.canvas.cards}

    expected = {"a": (3, 2), "b": (2, 3), "result": (3, 3)}
    desk.bot.waitUntil(lambda: shapes() == expected, timeout=60_000)
    lab.canvas.look_at(Cell("result", 3))
    # Row 1 of a is 3 and 4: both times 10, together 70.
    assert lab.cell_sentence.said() == "result[1, 0] = 70.0000 comes from a[1, :] and b[:, 0]"
    lab.numbers.click()
    lab.canvas.look_at(None)
    lab.canvas.look_at(Cell("result", 3))
    assert lab.cell_sentence.said() == "result[1, 0] comes from a[1, :] and b[:, 0]"
    lab.numbers.click()
    card.leave()
    desk.bot.waitUntil(lambda: not window.findChildren(LabCard))


@pytest.mark.checklist(95)
def test_a_card_says_name_value_shape_and_gradient(desk):
    source = (
        "import torch\n"
        "w = torch.tensor([1.0, -2.0], requires_grad=True)\n"
        "y = w * 3\n"
        "loss = y.sum()\n"
        "loss.backward()\n"
    )
    words = desk.run(source).window.graph.words
    loss = ran(source)["loss"].item()
    said = words(desk.card("loss").key)
    assert f"value −{-loss:g}" in said.replace(".0000", "")
    assert "gradient 1" in said
    leaf = words(next(card.key for card in desk.cards if card.title == "w"))
    assert leaf.startswith("parameter w")
    assert "shape 2" in words(desk.card("y").key)
    # The gradient of each element is 3: its norm is the root of 18.
    assert "4.2426" in leaf


@pytest.mark.checklist(125)
def test_a_module_is_a_single_entry_until_it_is_opened_by_a_double_click(desk):
    source = (
        "import torch\n"
        "from torch import nn\n"
        "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "loss = net(torch.ones(4, 2)).sum()\n"
        "loss.backward()\n"
    )
    window = desk.run(source).window
    desk.session.open_calls(frozenset())
    graph = window.graph
    (net,) = (card for card in desk.cards if card.kind == "module")
    folded = len(desk.cards)
    graph.fit()
    graph.finish_motion()
    place = graph.camera().to_view(graph.stage().boxes[net.key].center()).toPoint()
    QTest.mouseDClick(graph, Qt.MouseButton.LeftButton, NO_KEYS, place)
    desk.bot.waitUntil(lambda: len(desk.cards) > folded)
    titles = [card.title for card in desk.cards]
    assert sum("Linear" in title for title in titles) == 2
    assert "net: Sequential" not in titles


@pytest.mark.checklist(128)
def test_five_lines_pasted_as_one_are_lines_again_and_run(desk):
    source = (
        "import torch\n"
        "from torch import nn\n"
        "torch.manual_seed(0)\n"
        "x = torch.ones(4, 1)\n"
        "model = nn.Linear(1, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(3):\n"
        "    prediction = model(x)\n"
        "    loss = prediction.pow(2).mean()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    print(f'{step} {loss.item():.4f}')\n"
    )
    QGuiApplication.clipboard().setText(" ".join(line.strip() for line in source.splitlines()))
    editor, session = desk.window.editor, desk.session
    editor.setFocus()
    editor.selectAll()
    editor.paste()
    assert editor.toPlainText() == source
    desk.bot.waitUntil(
        lambda: session.result.latest_source == source and not session.result.run_id,
        timeout=60_000,
    )
    assert desk.output == plain_output(source)
