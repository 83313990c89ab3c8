"""Arguments of an op: every tensor however deep, and words for all else."""

import textwrap

import pytest
import torch

from gradscribe.engine.record.forward.arguments import argument_tensors, result_tensors
from gradscribe.engine.run.run import record
from tests.engine.mirror import mirror


def test_tensors_are_found_however_deep_and_out_is_a_result():
    a, b, c, d = (torch.ones(1) for _ in range(4))
    found = argument_tensors((a, [b, (c,)], 3), {"x": {"y": d}, "out": torch.ones(1)})
    assert [id(t) for t in found] == [id(t) for t in (a, b, c, d)]
    assert result_tensors((a, None, [b]))[1] is b


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("x.sum(0, keepdim=True)", [("", ""), ("0", ""), ("True", "keepdim")]),
        ("x.to(torch.float64)", [("", ""), ("float64", "")]),
        ("x.view(x.shape)", [("", ""), ("(2, 3)", "")]),
        ("torch.cat([x, x], dim=1)", [("", ""), ("", ""), ("1", "dim")]),
        ("torch.softmax(x, 1, dtype=torch.float64)", [("", ""), ("1", ""), ("float64", "dtype")]),
        ("torch.where(x > 0, x, 0.0)", [("", ""), ("", ""), ("0.0", "")]),
        ("x[..., 1:]", [("", ""), ("(…, slice(1, None, None))", "")]),
        ("torch.add(input=x, other=2)", [("", "input"), ("2", "other")]),
    ],
)
def test_arguments_are_told_as_they_were_written(call, told):
    args = record(f"x = torch.ones(2, 3)\ny = {call}").ops[-1].args
    assert [(a.text, a.keyword) for a in args] == told
    assert all((a.value is not None) == (a.text == "") for a in args)


def test_a_list_changed_after_the_call_is_told_as_it_was():
    tape = record("s = [2, 3]\nx = torch.ones(6)\ny = x.reshape(s)\ns[0] = 99")
    assert [a.text for a in tape.ops[0].args] == ["", "(2, 3)"]


def test_a_tensor_given_twice_is_told_twice():
    op = record("x = torch.ones(2)\ny = x * x").ops[0]
    assert [a.value for a in op.args] == list(op.inputs)


def test_objects_of_the_programs_own_are_not_asked_for_anything():
    source = """
        import torch.fx
        class Noisy:
            def __getattr__(self, name):
                if name != "__torch_function__":
                    print("asked for", name)
                raise AttributeError(name)
            def __repr__(self):
                print("asked for words")
                return "?"
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)
            def forward(self, x):
                return F.linear(x.relu(), self.layer.weight, x[0, :2])
        net = Net()
        traced = torch.fx.symbolic_trace(net)
        print(traced.code)
        traced(torch.ones(2, 2)).sum().backward()
        try:
            torch.add(torch.ones(2), Noisy())
        except TypeError:
            print("refused")
        try:
            torch.ones(2)[Noisy(), 0]
        except (IndexError, TypeError):
            print("refused")
    """
    assert mirror(textwrap.dedent(source)).error is None
