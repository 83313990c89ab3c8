"""Tapes that belong together pass; a number that leads out of one, or in a circle, is found."""

import copy
import random

import msgspec
import pytest

from gradscribe.engine.protocol import check_tape, frames, messages
from gradscribe.engine.protocol.tape import INLINE_ELEMENTS, Snapshot
from gradscribe.engine.run import run

SOURCE = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
    def forward(self, x):
        return torch.relu(self.inner(x)) + x
net = nn.Sequential(Block(), nn.Linear(2, 1))
optimizer = optim.Adam(net.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    x = torch.ones(4, 2)
    x[0] += 1
    loss = net(x).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    optimizer.step()
    x.data[1:] *= 2
    print(loss)
big = torch.ones(40, 40).sum()
import matplotlib.pyplot as plt
plt.plot([1, 2], label="curve")
"""


@pytest.fixture(scope="module")
def tape():
    made = run.record(SOURCE)
    assert made.error is None
    return made


def plain(tape):
    """Return a tape as it travels: dicts and lists."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(tape))


def arrives(body):
    """Return the tape as which ``body`` arrives. Raises `frames.Garbage` where it is none."""
    frame = msgspec.msgpack.encode({"type": "Recorded", "run_id": 1, "tape": body, "seconds": 0.0})
    data = b"".join(
        len(part).to_bytes(4, "big") + bytes([start + frames.CHUNK < len(frame)]) + part
        for start in range(0, len(frame), frames.CHUNK)
        for part in [frame[start : start + frames.CHUNK]]
    )
    return next(iter(frames.MessageReader(messages.Reply).feed(data))).tape


@pytest.mark.parametrize(
    "source",
    [
        SOURCE,
        "",
        "x = param(1.0)\nfor i in range(50):\n    x = x * 2\nx.backward()\n1 / 0",
        "x = torch.ones(2, 3).to(torch.bfloat16)\nx + torch.ones(3) * 1j\ntorch.ones(0, 3) + 1",
        f"x = param(1.0)\n{'v' * 5000} = 2.0\ny = x * {'v' * 5000}\nx.sum({'w' * 5000}=1)",
        "x = torch.ones(3).to_sparse()\nx + x\nn = torch.ones(3, dtype=torch.uint8) + 1",
    ],
)
@pytest.mark.parametrize("limit", [40_000, 12])
def test_what_was_recorded_belongs_together(source, limit):
    assert not any(check_tape.find_flaws(run.record(source, event_limit=limit)))


LIES = {
    "a shape longer than its numbers": (("snapshots", 0, 0), [99]),
    "a shape whose product overflows": (("snapshots", 0, 0), [2**62, 8]),
    "a negative axis": (("snapshots", 0, 0), [-1]),
    "a dtype of objects": (("snapshots", 0, 2), "|O8"),
    "numbers cut short": (("snapshots", 0, 3), b"x"),
    "negative counts": (("snapshots", 0, 9), -1),
    "a value of too many axes": (("values", 0, 2), [1] * 65),
    "a value of too many elements": (("values", 0, 2), [2**62, 8]),
    "strides of too many axes": (("values", 0, 12), [1] * 65),
    "a saved tensor of a negative axis": (("nodes", 0, 5, 0, 2), [-1]),
    "a name without an end": (("values", 0, 1), "x" * 10**6),
    "an op's name without an end": (("ops", 0, 1), "x" * 10**6),
    "a literal without an end": (("ops", 0, 4, 0, 1), "1" * 10**6),
    "a module's words without an end": (("calls", 0, 7), "x" * 10**6),
    "a state's name without an end": (("steps", 0, 5, 0, 1), "x" * 10**6),
    "words without an end": (("truncated",), "x" * 10**6),
    "an edge sent twice": (("executions", 0, 5), [0, 0]),
    "figures without an end": (("figures",), "twenty-five"),
    "a picture without an end": (("figures", 0, "picture"), b"<svg" + b" " * 300_000),
    "a picture that is none": (("figures", 0, "picture"), b"\x80\x04pickle"),
    "a PNG that is none": (("figures", 0, "picture_type"), "png"),
    "a file without an end": (("figures", 0, "file"), b" " * (16 << 20 | 1)),
    "a figure without a width": (("figures", 0, "width"), 0.0),
    "a figure's title without an end": (("figures", 0, "title"), "x" * 10**6),
    "a figure's words without an end": (("figures", 0, "description"), "x" * 10**6),
    "a snapshot past the last": (("values", 0, 8), 10**6),
    "a value that is nobody's": (("ops", 0, 2), [10**6]),
    "an op that takes its own result": (("ops", 3, 2), "outputs"),
    "a call inside itself": (("calls", 0, 3), 0),
    "an event of nothing": (("events", 0, 1), 2**63),
    "a line before the first": (("events", 0, 2), -1),
    "a line past every text": (("ops", 0, 5), [1, 0, 2**40, 0]),
    "an edge to nowhere": (("edges", 0, 2), 10**6),
    "an edge to no input": (("edges", 0, 3), 10**6),
    "an execution of nothing": (("executions", 0, 1), 10**6),
    "a pass that is not there": (("accumulations", 0, 4), 10**6),
    "a leaf of nothing": (("leaves", 0, 1), 10**6),
    "a gradient changed of nothing": (("rewrites", 0, 0, 0), 10**6),
    "a gradient that holds nothing": (("rewrites", 0, 0, 1), 10**6),
    "a change into nothing": (("writes", 0, 0, 1), 10**6),
    "times of other ops": (("times",), [1]),
    "a time before it began": (("times", 0), -1),
    "a loop that ends before it begins": (("loops",), [[5, 2]]),
    "a loop on no line": (("loops",), [[0, 2]]),
    "an arm on no line": (("arms",), [[[3, 4], [0, 2]]]),
}


@pytest.mark.parametrize("name", LIES)
def test_a_tape_that_lies_is_garbage(tape, name):
    body, (path, lie) = plain(tape), LIES[name]
    at = body
    for step in path[:-1]:
        at = at[step]
    if lie == "twenty-five":
        lie = at["figures"] * 25
    at[path[-1]] = at[3] if lie == "outputs" else lie
    with pytest.raises(frames.ProtocolError):
        arrives(body)


def test_a_long_tape_that_lies_is_garbage_too(tape):
    body = plain(tape)
    body["prints"] = ["x" * 1000] * 1000
    assert arrives(body).prints == tuple(body["prints"])
    body["calls"][0][3] = 0
    with pytest.raises(frames.ProtocolError):
        arrives(body)


def changed(body, dice):
    """Put another number somewhere into a tape, or leave an item out."""
    at = body[dice.choice([name for name, rows in body.items() if isinstance(rows, list) and rows])]
    while True:
        key = dice.randrange(len(at))
        if not isinstance(at[key], list) or not at[key] or dice.random() < 0.1:
            break
        at = at[key]
    if isinstance(at[key], int):
        at[key] = dice.choice((0, -1, 1, 7, 2**31, 2**63, at[key] + 1, at[key] - 1))
    else:
        del at[key]


def test_what_passes_can_be_shown(tape):
    """Tapes with something changed at random are refused, or every view takes them."""
    from gradscribe.playback import precompute
    from gradscribe.playback.graph import build, look
    from gradscribe.playback.layout import place
    from gradscribe.playback.tape import scenes
    from gradscribe.playback.tape.index import index_of

    dice, whole, passed = random.Random(), plain(tape), 0
    for _ in range(150):
        body = copy.deepcopy(whole)
        changed(body, dice)
        try:
            found = arrives(body)
        except frames.ProtocolError:
            continue
        passed += 1
        end = len(found.events)
        precompute.precompute(found, end)
        for scene in scenes.scenes(index_of(found)):
            picture = build.build_picture(found, scene, None)
            place.place(picture, "down", lambda: False)
            for position in (0, end // 2, end):
                look.look_at(found, picture, scene, position)
    assert passed


@pytest.mark.parametrize("count", [1024, 1025])
def test_only_few_numbers_travel_on_a_tape(tape, count):
    body = plain(tape)
    body["snapshots"][0] = [[count], "bool", "|b1", bytes(count)]
    if count > INLINE_ELEMENTS:
        with pytest.raises(frames.ProtocolError):
            arrives(body)
    else:
        assert arrives(body).snapshots[0].numel == count


@pytest.mark.parametrize(("side", "taken"), [(48, True), (49, False), (1 << 40, False)])
def test_a_thumbnail_has_a_size(tape, side, taken):
    body = plain(tape)
    snapshot = Snapshot((side, 0), "float32", thumb=b"", thumb_shape=(side, 0))
    body["snapshots"][0] = msgspec.msgpack.decode(msgspec.msgpack.encode(snapshot))
    if taken:
        assert arrives(body).snapshots[0].thumb_shape == (side, 0)
    else:
        with pytest.raises(frames.ProtocolError):
            arrives(body)
