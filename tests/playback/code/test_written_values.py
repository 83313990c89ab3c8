"""Numbers that a program changes by whatever way: what it prints of them is what is shown."""

import json

import pytest

from gradscribe.playback.code import lines
from gradscribe.playback.explain.events import explain_event
from gradscribe.playback.graph import build, look
from gradscribe.playback.tape import scenes, track
from gradscribe.playback.tape.event_text import ledger_text
from gradscribe.playback.tape.index import index_of

BEFORE = """
w = param([3.0, -4.0, 0.5])
x = torch.tensor([1.0, 2.0, 3.0])
b = w * x
(b.sum() ** 2).backward(retain_graph=True)
"""
TELL = "\nprint([w.tolist(), x.tolist(), b.tolist()])\n"
NAMES = "wxb"
WITHOUT = "with torch.no_grad():\n    "
WAYS = {
    "in place": WITHOUT + "w -= 0.1 * w.grad",
    "data in place": "w.data -= 0.1 * w.grad",
    "data set": "w.data = w.data - 0.1 * w.grad",
    "data set in a loop": "for p in [w]:\n    p.data = p.data * 2\n    p.grad = None",
    "a view": WITHOUT + "w[1:].mul_(2)",
    "a view of a view": WITHOUT + "w.view(3, 1)[1].zero_()",
    "chunks": WITHOUT + "p, q = w[:2], w[2:]\n    p.add_(1)\n    q.sub_(1)",
    "another shape": "w.data.view(3, 1).add_(1)",
    "a copy": WITHOUT + "w.copy_(torch.ones(3))",
    "init": "nn.init.uniform_(w)",
    "detached": "d = w.detach()\nd *= 2",
    "numpy": "w.detach().numpy()[0] = 8",
    "one vector for all": "nn.utils.vector_to_parameters(torch.arange(3.0), [w])",
    "an optimizer": "optim.SGD([w], lr=0.1).step()",
    "a fused one": "optim.Adam([w], lr=0.1, fused=True).step()",
    "data in place of data": "x.data.mul_(2)",
    "data set of data": "x.data = torch.ones(3)",
    "a view of data": "x[1:].mul_(2)",
    "an element of data": "v = x.view(3, 1)\nv[0, 0] = 5",
    "data added to": "x += 1",
    "numpy on data": "x.numpy()[0] = 8",
    "an array's own memory": "import numpy as np\na = np.zeros(3, dtype='float32')\n"
    "x = torch.from_numpy(a)\nz = x + 1\na[0] = 4",
    "a result": "b += 1",
    "a result's view": "b[1:].mul_(2)",
    "a result's data": "b.data.mul_(2)",
    "a result, detached": "b.detach().mul_(2)",
    "a result through numpy": "b.detach().numpy()[0] = 8",
    "a mask": "b[b > 2] = 0",
}
AFTER = "y = (w * x).sum() + b.sum()"


@pytest.fixture(params=WAYS)
def index(request, recorded):
    made = index_of(recorded(BEFORE + TELL + WAYS[request.param] + TELL + AFTER + TELL))
    assert made.tape.status == "ok", made.tape.error
    return made


def prints(index):
    """Return place and text of what was printed."""
    for at, event in enumerate(index.tape.events):
        if event.kind == "print":
            yield at + 1, json.loads(index.tape.prints[event.ref])


def test_the_table_shows_what_the_program_prints(index):
    for position, told in prints(index):
        rows = {row.name: row.value_id for row in track.value_rows(index, position)}
        for name, numbers in zip(NAMES, told, strict=True):
            shown = index.snapshot(index.snapshot_at(rows[name], position))
            assert shown.array().tolist() == numbers, name


def test_the_pill_of_a_parameter_holds_what_the_program_prints(index):
    for position, told in prints(index):
        found = scenes.scenes(index)
        scene = found[scenes.scene_index_at(found, position)]
        picture = build.build_picture(index.tape, scene)
        now = look.look_at(index.tape, picture, scene, position).cards
        pill = next(card for card in picture.cards if card.title == "w" and not card.ops)
        assert index.snapshot(now[pill.key].snapshot).array().tolist() == told[0]


def test_whichever_way_one_came_the_rows_say_the_same(index):
    end = len(index.tape.events)
    forward = [track.value_rows(index, at) for at in range(end + 1)]
    for at in reversed(range(end + 1)):
        assert track.value_rows(index, at) == forward[at]


def test_the_event_tells_what_was_before_and_what_is_since(recorded):
    index = index_of(recorded("w = param([1.0, 2.0])\nw.data = torch.tensor([5.0, 6.0])"))
    at = next(n for n, event in enumerate(index.tape.events) if event.kind == "write")
    assert ledger_text(index, at) == "w is changed: [1, 2] → [5, 6]"
    told = explain_event(index, at + 1)
    assert [(row.label, row.number) for row in told.rows] == [("w", "[1, 2] → [5, 6]")]
    assert lines.line_marks(index.tape, at + 1)[1].value == "[5, 6]"


def test_nothing_is_told_where_nothing_changed(recorded):
    tape = recorded(
        "import numpy as np\na = np.ones(3, dtype='float32')\nx = torch.from_numpy(a)\n"
        "y = (x * 2).numpy()\nz = x.view(3, 1) + 1\nprint(x, x.data, x.detach(), y)\n"
        "x.data = x.data"
    )
    assert tape.status == "ok"
    assert not [event for event in tape.events if event.kind in ("write", "grad")]


OLD = """
x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
w = torch.tensor([0.5], requires_grad=True)
for epoch in range(2):
    loss = ((w * x - y) ** 2).mean()
    loss.backward()
    w.data = w.data - 0.1 * w.grad.data
    w.grad.data.zero_()
"""


def test_an_update_by_setting_data_is_an_update_and_not_part_of_the_graph(recorded):
    index = index_of(recorded(OLD))
    told = [segment.phase for segment in track.segments(index)]
    assert told == ["Forward", "Loss", "Backward", "Update"] * 2
    drawn = build.build_picture(index.tape, scenes.scenes(index)[0]).cards
    assert not [card.title for card in drawn if card.title in ("data", "w.grad")]
    assert [card.title for card in drawn if card.ops] == ["mul", "sub", "pow", "mean"]


def test_what_data_was_set_to_is_drawn_where_the_graph_uses_it(recorded):
    tape = recorded("w = param([1.0])\nb = torch.ones(1) * 2\nw.data = b\nc = b + 1")
    assert [index_of(tape).kinds[n] for n in range(len(tape.ops))] == ["forward", "forward"]
