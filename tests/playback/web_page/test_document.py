"""The file of a page: self-contained, small, safe, and with the numbers of plain torch."""

import base64
import hashlib
import json
import re

import pytest
import torch
from torch import nn

import gradscribe as gs
from gradscribe.playback.web_page import document
from gradscribe.playback.web_page.document import to_html

HOSTILE = "</script><script>alert(1)</script> \" ' & <!-- \u202e \u05d0\u05d1 \u2028 \ud800 ]]>"


def data_of(page):
    """Return the data in a page, as a browser finds it."""
    text = re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S)[1]
    return json.loads(text)


@pytest.fixture(scope="module")
def tape():
    with gs.record() as tape:
        x = torch.tensor(2.0, requires_grad=True)
        y = torch.tensor(3.0, requires_grad=True)
        z = x * y
        loss = (z + x) ** 2
        loss.backward()
    return tape


def test_the_page_of_a_small_program_is_small(tape):
    assert len(tape.to_html().encode()) < 200_000
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with gs.record() as run:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(16, 8)).pow(2).mean().backward()
            optimizer.step()
    assert len(run.to_html().encode()) < 1_000_000


def test_the_page_asks_for_nothing(tape):
    page = to_html(tape.index)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|\bsrc=|@import|url\((?!#)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none';")
    for kind, text in (("script", r"<script>(.*?)</script>"), ("style", r"<style>(.*?)</style>")):
        content = re.search(text, page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_hostile_texts_stay_texts(tape):
    page = to_html(tape.index, HOSTILE, HOSTILE)
    page.encode()
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
    data = data_of(page)
    assert data["title"] == HOSTILE.replace("\u202e", "\ufffd")
    assert "\u202e" not in "".join(data["source"])
    title = re.search(r"<title>(.*?)</title>", page, re.S)[1]
    assert "<" not in title


NUMBERS = {
    torch.float32: [0.1, -0.0, float("nan"), float("inf"), float("-inf"), 1e-45, 3.4028235e38],
    torch.float64: [0.1, 1 / 3, -0.0, 5e-324, float("nan")],
    torch.bfloat16: [0.1, 1 / 3, -0.0, 3.3e38, float("inf")],
    torch.float16: [0.1, 6e-8, 65504.0],
    torch.int64: [2**63 - 1, -(2**63), 2**53 + 1],
    torch.bool: [True, False],
    torch.complex64: [0.1 + 2j, complex("nan"), complex(-0.0, float("-inf"))],
}


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_every_number_is_exact(dtype):
    with gs.record() as tape:
        t = torch.tensor(NUMBERS[dtype], dtype=dtype)
        u = t.clone()
    (found,) = {tuple(n["text"]) for n in data_of(tape.to_html())["numbers"].values()}
    read = {torch.bool: lambda text: text == "True", torch.int64: int}.get(dtype, float)
    read = complex if dtype.is_complex else read
    again = torch.tensor([read(text) for text in found], dtype=dtype)
    parts = [torch.view_as_real(x) if dtype.is_complex else x for x in (again, u)]
    torch.testing.assert_close(*parts, rtol=0, atol=0, equal_nan=True)
    if parts[0].is_floating_point():
        # The sign of nan is no number.
        signs = [torch.where(x.isnan(), 0, x).signbit() for x in parts]
        assert torch.equal(*signs)


def test_values_and_gradients_are_those_of_torch(tape):
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    ((x * y + x) ** 2).backward()
    data = data_of(tape.to_html())
    shown = {s["title"]: s for s in data["subjects"].values()}
    for name, leaf in (("x", x), ("y", y)):
        value, gradient = shown[name]["value"][-1], shown[name]["gradient"][-1]
        assert float(data["numbers"][str(value)]["text"][0]) == leaf.item()
        assert float(data["numbers"][str(gradient)]["text"][0]) == leaf.grad.item()
        assert shown[name]["gradient"][1] == -1
    assert [row[:3] for row in last_rows(data) if row[0] == "x"] == [["x", "2.0000", "64.0000"]]


def last_rows(data):
    rows = []
    for _, first, removed, added in data["values"]["edits"]:
        rows[first : first + removed] = added
    return [data["values"]["rows"][number] for number in rows]


def test_a_run_that_is_too_long_is_there_in_part_and_says_so(monkeypatch):
    with gs.record() as tape:
        w = torch.tensor(1.0, requires_grad=True)
        for _ in range(60):
            (w * 2.0).backward()
    whole = data_of(tape.to_html())
    assert (len(whole["events"]), whole["leftOut"]) == (len(tape.data.events) + 1, [])
    most = len(tape.to_html()) // 3
    monkeypatch.setattr(document, "MOST_BYTES", most)
    page = tape.to_html()
    part = data_of(page)
    assert len(json.dumps(part, separators=(",", ":"))) <= most
    count = f"{len(part['events']) - 1:,} of {len(tape.data.events):,} events"
    assert any(count in text for text in part["leftOut"])
    assert part["scenes"][-1]["stop"] == len(part["events"]) - 1


def test_modules_open_in_every_way_that_fits():
    block = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    with gs.record() as tape:
        nn.Sequential(block, nn.Linear(2, 1))(torch.ones(1, 2)).sum().backward()
    (scene,) = data_of(tape.to_html())["scenes"]
    states = {frozenset(state["open"]) for state in scene["states"]}
    assert len(states) == len(scene["states"])
    assert frozenset() in states
    everything = frozenset().union(*states)
    assert everything in states
    assert len(everything) >= 3
    for key in everything:
        assert any(key in state for state in states)
        assert any(key not in state for state in states)
    assert scene["closed"] == []


def test_every_card_and_wire_has_its_place_in_every_state():
    with gs.record() as tape:
        nn.Sequential(nn.Linear(2, 2), nn.ReLU())(torch.ones(1, 2)).sum().backward()
    data = data_of(tape.to_html())
    for state in data["scenes"][0]["states"]:
        width, height = state["size"]
        for about, x, y, times in state["cards"]:
            wide, high = data["cards"][about]["size"]
            assert 0 <= x <= x + wide <= width + 1
            assert 0 <= y <= y + high <= height + 1
            assert data["timelines"][times][0] == data["scenes"][0]["start"]
        for _, source, target, route, _ in state["wires"]:
            assert max(source, target) < len(state["cards"])
            assert len(data["routes"][route]) % 6 == 2


@pytest.mark.parametrize("source", ["", "print('x')"])
def test_a_run_without_tensors_is_a_page(source):
    with gs.record() as tape:
        pass
    data = data_of(to_html(tape.index, source))
    assert [len(data["events"]), data["scenes"][0]["states"][0]["cards"]] == [1, []]
