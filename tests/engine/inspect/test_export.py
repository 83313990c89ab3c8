"""The JSON: by hand for its form, from real programs for its sums."""

import json
import math
import struct
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.engine.inspect.export import encode, snapshot_to_json, to_json
from gradscribe.engine.protocol.tape import (
    Edge,
    Execution,
    Node,
    Op,
    Place,
    Problem,
    Snapshot,
    Tape,
)
from gradscribe.engine.run import run

KEYS = {
    "ops": ["id", "op", "inputs", "outputs", "line", "scope", "node"],
    "values": [
        *("id", "name", "shape", "dtype", "device", "requires_grad", "is_leaf"),
        *("version", "data"),
    ],
    "leaves": ["name", "value", "grad"],
}
PROGRAMS = {
    "two paths": "x = param(2.0)\ny = param(3.0)\nz = x*y\nw = z + x\nloss = w**2\nloss.backward()",
    "layers": (
        "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\n"
        "loss = net(torch.ones(5, 3)).pow(2).mean()\nloss.backward()"
    ),
    "twice": "x = param(2.0)\ny = x*x*x\ny.backward(retain_graph=True)\ny.backward()",
    "grad, then backward": (
        "x = param(2.0)\nh = x*x\nloss = (h*h).exp().log()\n"
        "g, = torch.autograd.grad(loss, h, retain_graph=True)\nloss.backward()"
    ),
    "unbind": "x = param([1.0, 2.0, 3.0])\na, b, c = x.unbind()\n(a*b + a).backward()",
    "second order": (
        "x = param(2.0)\ng, = torch.autograd.grad(x**3, x, create_graph=True)\ng.backward()"
    ),
    "an error in the middle": (
        "x = param([1.0, 2.0])\ny = x.exp()\nz = (y * 2).sin().sum()\n"
        "z.backward(retain_graph=True)\ny.add_(1)\nz.backward()"
    ),
    "a loop": (
        "net = nn.Linear(2, 1)\nopt = optim.SGD(net.parameters(), lr=0.1)\n"
        "for i in range(3):\n    opt.zero_grad()\n    loss = net(torch.ones(4, 2)).mean()\n"
        "    loss.backward()\n    opt.step()"
    ),
}


def snapshot(values, dtype=np.float32):
    array = np.asarray(values, dtype)
    return Snapshot(array.shape, str(array.dtype), array.dtype.str, array.tobytes())


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda name: name.replace(" ", "-"))
def document(request):
    return to_json(run.record(PROGRAMS[request.param]))


def test_the_keys_stand_in_their_order():
    document = to_json(run.record(PROGRAMS["two paths"]))
    assert list(document) == [
        *("format", "status", "error", "stdout", "torch", "device", "ops", "values", "nodes"),
        *("edges", "leaves", "events", "stderr", "findings", "fault", "steps"),
    ]
    for part, keys in KEYS.items():
        assert all(list(row) == keys for row in document[part])
    assert list(document["nodes"][0])[:4] == ["id", "name", "received", "order"]
    assert list(document["edges"][0])[:3] == ["from", "to", "gradient"]
    assert all(list(event)[:2] == ["kind", "line"] for event in document["events"])


def test_an_empty_tape_is_a_document():
    document = json.loads(encode(Tape(status="died")))
    assert (document["format"], document["status"], document["error"]) == (1, "died", None)
    assert document["ops"] == document["events"] == []


def test_an_error_tells_its_place():
    problem = Problem("TypeError", "no", "try", Place(1, 2, 3, 4))
    assert to_json(Tape(status="error", error=problem))["error"] == {
        "type": "TypeError",
        "message": "no",
        "hint": "try",
        "line": 1,
        "column": 2,
        "end_line": 3,
        "end_column": 4,
    }


def test_the_shares_of_the_two_paths_are_told():
    document = to_json(run.record(PROGRAMS["two paths"]))
    leaves = {row["name"]: row for row in document["leaves"]}
    assert (leaves["x"]["grad"], leaves["y"]["grad"]) == (64.0, 32.0)
    shares = [e["gradient"] for e in document["edges"] if e["to"] == leaves["x"]["value"]]
    assert sorted(shares) == [16.0, 48.0]


def test_what_a_node_received_is_the_sum_of_what_its_edges_brought(document):
    rows = [row for row in document["nodes"] if row["received"] and not row["hooked"]]
    assert rows
    for row in rows:
        for number, received in enumerate(row["received"]):
            brought = [
                np.asarray(edge["gradient"])
                for edge in document["edges"]
                if (edge["to"], edge["input_nr"]) == (row["id"], number)
                and edge["gradient"] is not None
            ]
            total = None if received is None else np.asarray(received)
            assert (total is None) == (not brought)
            assert total is None or np.allclose(sum(brought), total, rtol=1e-6)


def test_edges_begin_and_end_at_rows_that_are_there(document):
    nodes = {row["id"] for row in document["nodes"]}
    values = {row["id"] for row in document["values"]}
    assert len(nodes) == len(document["nodes"])
    assert not nodes & values
    for edge in document["edges"]:
        assert edge["from"] is None or edge["from"] in nodes
        assert edge["to"] in nodes | values


def test_events_name_what_is_there(document):
    ids = {
        "leaf": {row["id"] for row in document["values"]},
        "op": {row["id"] for row in document["ops"]},
        "node": {row["id"] for row in document["nodes"]},
        "accumulate": {row["id"] for row in document["values"]},
    }
    keys = {"leaf": "value", "accumulate": "value"}
    named = [event for event in document["events"] if event["kind"] in ids]
    assert named
    for event in named:
        kind = event["kind"]
        assert event[keys.get(kind, kind)] in ids[kind]


def test_leaves_are_torch_s_own_to_the_bit():
    source = PROGRAMS["layers"]
    document = json.loads(encode(run.record(source, seed=3)))
    torch.manual_seed(3)
    names = {"nn": torch.nn, "torch": torch}
    exec(source, names)
    plain = dict(names["net"].named_parameters(prefix="net"))
    told = {row["name"]: row["grad"] for row in document["leaves"]}
    assert told == {name: leaf.grad.tolist() for name, leaf in plain.items()}


def test_a_node_that_never_ran_received_nothing():
    document = to_json(run.record("x = param(1.0)\ny = x * 2"))
    (row,) = document["nodes"]
    assert (row["received"], row["order"], row["pass"]) == ([], None, None)


def test_a_gradient_caught_in_one_pass_does_not_count_in_another():
    tape = Tape(
        nodes=(Node(1, "A", 9, (None,)), Node(2, "B", 8, ((1, 0),))),
        executions=(Execution(2, 2, 0, 0, (0,), (0,)), Execution(1, 1, 1, 1, (1,), ())),
        edges=(Edge(0, 0, 1, 0, 0, 0), Edge(None, 0, 1, 0, 1, 1)),
        snapshots=(snapshot(5), snapshot(7)),
    )
    document = to_json(tape)
    caught, seed = document["edges"]
    assert (seed["to"], seed["gradient"]) == (1, 7.0)
    row = next(row for row in document["nodes"] if row["id"] == caught["to"])
    assert (row["name"], row["node"], row["received"], row["pass"]) == ("A", 1, [], 0)
    assert row["id"] not in (1, 2)


def test_a_recording_that_was_cut_says_so_at_its_end():
    document = to_json(Tape(truncated="too many events"))
    assert document["events"] == [{"kind": "truncated", "line": 0, "text": "too many events"}]


@given(st.floats(width=32))
def test_a_float32_comes_out_as_the_double_of_its_value(x):
    told = snapshot_to_json(snapshot(x))
    if math.isfinite(x):
        assert struct.pack("d", told) == struct.pack("d", x)
    else:
        assert told == ("nan" if math.isnan(x) else "inf" if x > 0 else "-inf")


@given(st.lists(st.floats(), min_size=1, max_size=30))
def test_json_can_carry_any_numbers(values):
    told = json.loads(encode(Tape(snapshots=(snapshot(values, "<f8"),))))
    assert told["format"] == 1
    spelled = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
    back = [
        spelled.get(x, x) for x in json.loads(json.dumps(snapshot_to_json(snapshot(values, "<f8"))))
    ]
    assert np.array_equal(np.asarray(back, "<f8"), np.asarray(values, "<f8"), equal_nan=True)


@pytest.mark.parametrize(
    ("tensor", "told"),
    [
        (torch.tensor(3), 3),
        (torch.tensor([True, False]), [True, False]),
        (torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8), [[1, 2], [3, 4]]),
        (torch.tensor([1.5], dtype=torch.bfloat16), [1.5]),
        (torch.tensor([1 + 2j, complex("nan")]), [[1.0, 2.0], ["nan", 0.0]]),
        (torch.zeros(2, 0), [[], []]),
        (torch.tensor([[1.0, math.inf]]), [[1.0, "inf"]]),
    ],
)
def test_every_kind_of_number_is_told(tensor, told):
    tape = run.record(f"t = {source_of(tensor)}\ny = t.clone()")
    assert to_json(tape)["values"][-1]["data"] == told


def source_of(tensor):
    """Return code that makes the tensor again."""
    listed = repr(tensor.tolist()).replace("nan", "math.nan").replace("inf", "math.inf")
    return f"torch.tensor({listed}, dtype={tensor.dtype})"


@pytest.mark.parametrize("size", [1001, 1024, 1025, 5000])
def test_past_a_thousand_elements_statistics_stand_for_the_numbers(size):
    torch.manual_seed(0)
    expected = torch.randn(size)
    data = to_json(run.record(f"x = torch.randn({size})\ny = x.clone()"))["values"][-1]["data"]
    assert list(data) == ["shape", "dtype", "mean", "std", "min", "max", "nan"]
    assert (data["shape"], data["dtype"], data["nan"]) == ([size], "float32", 0)
    assert data["mean"] == pytest.approx(expected.mean().item(), abs=1e-6)
    assert data["std"] == pytest.approx(expected.std().item(), rel=1e-6)
    assert (data["min"], data["max"]) == (expected.min().item(), expected.max().item())


def test_a_thousand_elements_are_still_listed():
    data = to_json(run.record("x = torch.ones(10, 100)\ny = x.clone()"))["values"][-1]["data"]
    assert np.asarray(data).shape == (10, 100)


def test_statistics_with_nan_are_spelled():
    source = "x = torch.full((2000,), math.nan)\ny = x.clone()"
    data = to_json(run.record(source))["values"][-1]["data"]
    assert (data["mean"], data["nan"]) == ("nan", 2000)


def test_a_long_tape_is_written_in_seconds():
    many = 40_000
    tape = Tape(
        ops=tuple(
            Op(i, "mul", (i,), (i + 1,), (), Place(1, 0, 1, 1), "", None, i) for i in range(many)
        ),
        nodes=tuple(Node(i, "MulBackward0", i, (None, None)) for i in range(many)),
        edges=tuple(Edge(None, 0, i, 0, i, 0) for i in range(many)),
        snapshots=tuple(snapshot([1.0, 2.0]) for _ in range(many)),
    )
    begun = time.process_time()
    assert len(encode(tape)) > many
    assert time.process_time() - begun < 5


def test_a_call_that_raised_stands_apart_with_the_tensors_it_got():
    document = to_json(run.record("a = torch.ones(2, 3)\nb = param(torch.ones(2, 3))\nc = a @ b"))
    fault = document["fault"]
    shapes = {row["id"]: row["shape"] for row in document["values"]}
    assert document["status"] == "error"
    assert fault["at"] is None
    assert fault["op"]["op"] == "matmul"
    assert fault["op"]["line"] == document["error"]["line"] == 3
    assert [shapes[one] for one in fault["op"]["inputs"]] == [[2, 3], [2, 3]]
    assert fault["op"]["outputs"] == []


def test_a_backward_node_that_raised_is_named():
    document = to_json(run.record(PROGRAMS["an error in the middle"]))
    names = {row["node"]: row["name"] for row in document["nodes"]}
    assert document["fault"]["op"] is None
    assert names[document["fault"]["at"]] == "ExpBackward0"


def test_a_program_that_ends_well_has_no_fault():
    assert to_json(run.record("x = param(1.0)\nx.exp().backward()"))["fault"] is None


def test_a_loop_that_was_recorded_in_part_has_the_numbers_of_all_steps():
    source = (
        "w = param(1.0)\nfor i in range(100):\n    l = w * w\n    l.backward()\n    w.grad = None\n"
    )
    tape = run.record(source, full_events=100)
    document = json.loads(encode(tape))
    (loop,) = document["steps"]
    assert (loop["line"], loop["end_line"], loop["steps"]) == (2, 5, 100)
    assert loop["full"][0] == {"step": 1, "event": 1}
    losses = next(column for column in loop["columns"] if column["kind"] == "loss")
    assert losses["steps"] == list(range(1, 101))
    assert losses["numbers"] == [1.0] * 100
    gaps = [event for event in document["events"] if event["kind"] == "gap"]
    left = {n for gap in gaps for n in range(gap["first"], gap["last"] + 1)}
    assert left | {row["step"] for row in loop["full"]} == set(range(1, 101))
