"""Broadcasting in the window: copies on the canvas during play, sums back, aligned axes."""

import pytest
import torch

from gradscribe.widgets.graph.paint.motion import Motion
from gradscribe.widgets.graph.paint.wire import stretch

SIZES = (
    "weight = torch.tensor([2.0], requires_grad=True)\n"
    "sizes = torch.tensor([50.0, 80.0, 100.0, 120.0])\n"
    "prices = weight * sizes\nloss = prices.sum()\nloss.backward()\n"
)
TABLE = (
    "column = torch.ones(3, 1, requires_grad=True)\n"
    "row = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)\n"
    "table = column + row\nloss = table.sum()\nloss.backward()\n"
)


@pytest.fixture
def painted(monkeypatch):
    """Broadcasts that are painted, each as (shape, onto, backward, share, text)."""
    found = []
    real = stretch.paint

    def paint(painter, box, broadcast, backward, share, theme, text):
        found.append((*broadcast, backward, share, text))
        real(painter, box, broadcast, backward, share, theme, text)

    monkeypatch.setattr(stretch, "paint", paint)
    return found


def shown_at(desk, painted, kind, name, share):
    """Paint the canvas at the event of an op, or of its backward node, at a share of its motion."""
    tape, graph = desk.tape, desk.window.graph
    made = next(v for v in tape.values if v.name == name)
    at = next(
        n for n, e in enumerate(tape.events)
        if (kind == "op" and e.kind == "op" and e.ref == made.op)
        or (kind == "node" and e.kind == "node" and tape.executions[e.ref].node == made.node)
    )  # fmt: skip
    desk.session.move(at)
    desk.session.move(at + 1)
    graph.fit()
    graph.finish_motion()
    painted.clear()
    drawing = graph.canvas.drawing
    # In motion for a second, at a share of it; without a duration it is the picture at rest.
    motion = Motion(drawing, drawing.look, 1000 if share < 1 else 0)
    graph._animation.motion = motion
    graph._animation.motion_share = lambda: motion.share(share * 1000)
    try:
        graph.grab()
    finally:
        del graph._animation.motion_share
    return sorted(set(painted), key=str)


@pytest.mark.checklist(49)
def test_one_weight_is_copied_over_the_sizes_and_its_gradient_summed(desk, painted):
    desk.run(SIZES)
    forward = shown_at(desk, painted, "op", "prices", 0.35)
    assert forward == [((1,), (4,), False, 0.5, "1 → 4")]
    assert shown_at(desk, painted, "op", "prices", 2.0)[0][3] == 1.0
    back = shown_at(desk, painted, "node", "prices", 0.35)
    assert back == [((1,), (4,), True, 0.5, "Σ 4 → 1")]
    desk.window.clock.to_end()
    assert desk.gradient("weight") == 50 + 80 + 100 + 120


@pytest.mark.checklist(150)
def test_a_column_and_a_row_are_copied_in_both_directions(desk, painted):
    desk.run(TABLE)
    onto = tuple(torch.broadcast_shapes((3, 1), (4,)))
    forward = shown_at(desk, painted, "op", "table", 0.35)
    assert forward == [
        ((3, 1), onto, False, 0.5, "3 × 1 → 3 × 4"),
        ((4,), onto, False, 0.5, "4 → 3 × 4"),
    ]
    back = shown_at(desk, painted, "node", "table", 0.35)
    assert back == [
        ((3, 1), onto, True, 0.5, "Σ 3 × 4 → 3 × 1"),
        ((4,), onto, True, 0.5, "Σ 3 × 4 → 4"),
    ]
    # Without the layer of shapes there is no text.
    desk.session.show_layers({"shapes": False})
    assert {p[4] for p in shown_at(desk, painted, "op", "table", 0.35)} == {""}
    desk.session.show_layers({"shapes": True})


@pytest.mark.checklist(149)
def test_the_axes_are_aligned_from_the_right_in_the_inspector(desk):
    desk.run(TABLE)
    desk.select("table")
    desk.window.inspector.grab()
    words = desk.words()
    assert "summed over dimension 1 (4) because column was stretched" in words.replace("\n", " ")
    assert "summed over dimension 0 (3) because row was stretched" in words.replace("\n", " ")


@pytest.mark.checklist(150)
def test_equal_shapes_have_nothing_to_copy(desk, painted):
    desk.run(
        "a = torch.ones(3, 4, requires_grad=True)\nb = torch.ones(3, 4)\ntotal = a + b\n"
        "total.sum().backward()\n"
    )
    assert not any(wire.broadcast for wire in desk.wires)
    assert shown_at(desk, painted, "op", "total", 0.35) == []


@pytest.mark.checklist(151)
def test_a_matrix_against_a_column_is_warned_of(desk):
    program = (
        "x, target = torch.ones(3, 5), torch.zeros(3, 1)\n"
        "w = torch.ones(5, 4, requires_grad=True)\n"
        "loss = ((x @ w - target) ** 2).mean()\nloss.backward()\n"
    )
    desk.run(program)
    card = next(c for c in desk.window.findings.cards() if c.finding.id == "column-against-matrix")
    assert card.finding.place.line == 3
    rows, columns = torch.broadcast_shapes((3, 4), (3, 1))
    assert f"{rows * columns} differences instead of {rows}" in card.finding.message
    desk.run(program.replace("- target", "+ target"))
    assert not desk.findings
    desk.run(program.replace("torch.zeros(3, 1)", "torch.zeros(3, 4)"))
    assert not desk.findings


@pytest.mark.checklist(151)
def test_a_vector_against_a_column_is_warned_of(desk):
    desk.run(
        "p = torch.ones(3, 1, requires_grad=True)\nt = torch.zeros(3)\n"
        "loss = ((p * 2 - t) ** 2).mean()\nloss.backward()\n"
    )
    assert desk.findings == {"silent-broadcast"}
