"""The gradients that a program asks for, and the names that code calls its tensors by."""

import pytest

from gradscribe.engine.run.run import record
from gradscribe.playback.by_hand import targets
from gradscribe.playback.tape.index import index_of

TWO_PASSES = """
w = param(2.0)
y = w * 3
y.backward()
loss = w * w + w
loss.backward()
"""


def index(source):
    return index_of(record(source))


def test_the_questions_go_from_the_loss_to_the_leaves():
    found = targets.all_targets(
        index("a = param(1.0)\nb = a * 2\nc = b + 1\nd = c * c\nd.backward()"), 99
    )
    assert [target.name for target in found] == ["c", "b", "a"]
    assert {target.root for target in found} == {"d"}


def test_the_root_and_what_gets_no_gradient_are_no_questions():
    source = (
        "x = torch.ones(2)\nw = param([1., 2.])\nu = param(1.0)\ny = (w * x).sum()\ny.backward()"
    )
    assert [t.name for t in targets.all_targets(index(source), 99)] == ["w"]


def test_the_pass_is_the_latest_that_began_at_the_position():
    at = index(TWO_PASSES)
    w = next(v.id for v in at.tape.values if v.name == "w")
    begin, end = at.passes[0]
    assert targets.target_of(at, w, end).number == 0
    assert targets.target_of(at, w, 0).number == 0
    assert targets.target_of(at, w, len(at.tape.events)).number == 1
    assert begin < end


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("w * 3", "mul"),
        ("w.exp()", "exp"),
        ("w * w", targets.SEVERAL),
        ("w + w.exp()", targets.SEVERAL),
    ],
)
def test_the_kind_is_the_op_of_the_last_link(use, kind):
    (found,) = targets.all_targets(index(f"w = param(2.0)\nloss = {use}\nloss.backward()"), 99)
    assert found.kind == kind


def test_names_of_modules_become_identifiers():
    source = (
        "net = nn.Sequential(nn.Linear(2, 1))\nloss = net(torch.ones(1, 2)).sum()\nloss.backward()"
    )
    at = index(source)
    names = {named.name for named in targets.code_names(at, 0, frozenset())}
    assert {"net_0_weight", "net_0_bias", "loss"} <= names
    assert all(name.isidentifier() for name in names)


def test_tensors_of_one_name_are_numbered():
    at = index("h = param(2.0)\nfor _ in range(2):\n    h = h * 3\nloss = h * 1\nloss.backward()")
    found = {named.name: named.value for named in targets.code_names(at, 0, frozenset())}
    values = [v.id for v in at.tape.values if v.name == "h"]
    assert [found["h_1"], found["h_2"], found["h"]] == values


def test_tensors_from_after_the_pass_have_no_name():
    at = index("w = param(2.0)\nloss = w * w\nloss.backward()\nlater = w * 5")
    assert "later" not in {named.name for named in targets.code_names(at, 0, frozenset())}


def test_a_leaf_that_is_stepped_is_asked_about_as_it_was():
    source = (
        "w = param(2.0)\nopt = optim.SGD([w], lr=0.5)\nloss = w ** 2\nloss.backward()\nopt.step()"
    )
    at = index(source)
    last = [v.id for v in at.tape.values if v.name == "w"][-1]
    target = targets.target_of(at, last, len(at.tape.events))
    assert at.values[target.value].snapshot is not None
    assert at.snapshot(at.values[target.value].snapshot).item() == 2


def test_in_a_loop_the_question_is_of_the_pass_at_the_position():
    source = "w = param(2.0)\nopt = optim.SGD([w], lr=0.25)\nfor _ in range(3):\n"
    source += "    opt.zero_grad()\n    loss = w ** 2\n    loss.backward()\n    opt.step()\n"
    at = index(source)
    for number, (begin, _) in at.passes.items():
        (target,) = targets.all_targets(at, begin + 1)
        assert target.number == number
        # Each step halves w.
        assert at.snapshot(at.values[target.value].snapshot).item() == 2 * 0.5**number


def test_the_questions_of_a_long_loop_are_found_with_one_look_at_each_tensor(monkeypatch):
    source = "w = param(2.0)\nfor _ in range({}):\n    loss = w ** 2\n    loss.backward()\n"
    looks = []
    plain = targets.gradient_key
    monkeypatch.setattr(targets, "gradient_key", lambda *at: looks.append(at) or plain(*at))
    for count in (20, 80):
        targets.all_targets(index(source.format(count)), 10**6)
        looks.append(None)
    first = looks.index(None)
    assert len(looks) - first < 6 * first
