"""Programs that put functions of their own into torch: each runs as often as it is called."""

import gc
import sys
import textwrap
import weakref

import pytest
import torch

from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.record.forward import monkeypatches
from gradscribe.engine.record.forward.monkeypatches import is_torch_function, original_of
from gradscribe.engine.record.recorder import Recorder
from gradscribe.engine.run import run
from gradscribe.engine.run.run import record
from tests.engine.mirror import gradient, mirror, ops

PROGRAMS = {
    "a function in Python": """
        plain = F.relu
        try:
            F.relu = lambda x, inplace=False: plain(x) + 1
            y = F.relu(x) * 2
            z = nn.ReLU()(x)
        finally:
            F.relu = plain
    """,
    "a method in C": """
        plain = torch.Tensor.exp
        try:
            torch.Tensor.exp = lambda t: plain(t) * 3
            y = x.exp()
        finally:
            torch.Tensor.exp = plain
    """,
    "a method in Python": """
        plain = torch.Tensor.norm
        def norm(t, *args, **kwargs):
            print("norm of", tuple(t.shape))
            return plain(t, *args, **kwargs)
        try:
            torch.Tensor.norm = norm
            y = x.norm()
        finally:
            torch.Tensor.norm = plain
    """,
    "a method that wraps operators": """
        plain = torch.Tensor.__rsub__
        try:
            torch.Tensor.__rsub__ = lambda t, other: plain(t, other) * 5
            y = 1 - x
        finally:
            torch.Tensor.__rsub__ = plain
    """,
    "a counter around backward": """
        plain = torch.Tensor.backward
        def backward(t, *args, **kwargs):
            print("backward")
            plain(t, *args, **kwargs)
        try:
            torch.Tensor.backward = backward
            (x * x).sum().backward()
        finally:
            torch.Tensor.backward = plain
        y = x * 1
    """,
    "a counter around grad, and around what the recorder itself needs": """
        plain = torch.autograd.grad, torch.Tensor.clone, torch.Tensor.detach, torch.Tensor.copy_
        def counted(name, function):
            def call(*args, **kwargs):
                print(name)
                return function(*args, **kwargs)
            return call
        names = ["grad", "clone", "detach", "copy_"]
        owners = [torch.autograd, torch.Tensor, torch.Tensor, torch.Tensor]
        try:
            for owner, name, function in zip(owners, names, plain):
                setattr(owner, name, counted(name, function))
            y = x.clone() * 2
            big = torch.ones(64, 64, requires_grad=True) * x.sum()
            (g,) = torch.autograd.grad(big.sum() + y.sum(), x)
            y = y.detach() * x
        finally:
            for owner, name, function in zip(owners, names, plain):
                setattr(owner, name, function)
        del big
        print(g)
    """,
    "an object that can be called": """
        import functools
        plain = F.softplus
        class Counted:
            many = 0
            def __eq__(self, other):
                return self is other
            def __call__(self, *args, **kwargs):
                self.many += 1
                return plain(*args, **kwargs)
        counted = Counted()
        try:
            F.softplus = counted
            y = F.softplus(x)
            F.softplus = functools.partial(plain, beta=2.0)
            y = y + F.softplus(x)
        finally:
            F.softplus = plain
        print(counted.many)
    """,
    "one of torch.ops in the place of another": """
        plain = torch.relu
        try:
            torch.relu = torch.ops.aten.neg.default
            y = torch.relu(x)
            torch.relu = torch.ops.aten.exp
            y = y + torch.relu(x)
        finally:
            torch.relu = plain
    """,
    "one that hands itself over as torch's do": """
        from torch.overrides import handle_torch_function, has_torch_function_unary
        plain = F.relu
        def mine(x, inplace=False):
            if has_torch_function_unary(x):
                return handle_torch_function(mine, (x,), x, inplace=inplace)
            return x.clamp(min=-0.5)
        try:
            F.relu = mine
            y = F.relu(x)
        finally:
            F.relu = plain
    """,
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_program_puts_into_torch_runs_as_often_as_without_a_recorder(body):
    start = "x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)\n"
    end = "print(y)\ny.sum().backward()\nprint(x.grad)\n"
    tape = mirror(start + textwrap.dedent(body) + end)
    assert tape.error is None


def test_what_an_optimizer_calls_at_each_step_is_not_looked_up_in_all_of_torch(monkeypatch):
    monkeypatch.setattr(monkeypatches, "_BEFORE", None)
    tape = mirror(
        "w = param([1.0, 2.0])\nadam = optim.Adam([w])\nw.pow(2).sum().backward()\nadam.step()\n"
        "print(w, torch.ops.aten.mul(w, 2))"
    )
    assert tape.error is None
    assert ops(tape)[-1] == "mul"


def test_the_op_bears_the_name_of_the_function_that_is_wrapped():
    tape = mirror(
        "x = param([1.0, -1.0])\nplain = F.relu\nF.relu = lambda x, inplace=False: plain(x)\n"
        "F.relu(x).sum().backward()\nF.relu = plain\n"
    )
    assert ops(tape) == ["relu", "sum"]
    assert gradient(tape, "x").tolist() == [1.0, 0.0]


def test_it_runs_as_often_once_the_tape_is_full():
    tape = record(
        "plain = F.relu\nmany = 0\ndef mine(x, inplace=False):\n    global many\n    many += 1\n"
        "    return plain(x) + 1\nF.relu = mine\nx = torch.zeros(1)\n"
        "for _ in range(20):\n    x = F.relu(x)\nF.relu = plain\nprint(many, x.item())\n",
        event_limit=10,
    )
    assert tape.truncated
    assert tape.stdout == "20 20.0\n"


def test_what_a_program_put_into_torch_does_not_outlive_its_run():
    names = run.initial_names(Run(0, ""))
    source = (
        "plain = F.relu\ndef mine(x, inplace=False):\n    return plain(x)\n"
        "F.relu = mine\ny = F.relu(torch.ones(1))\nF.relu = plain\n"
    )
    with Recorder(source, "<gradscribe>") as recorder:
        exec(compile(source, "<gradscribe>", "exec"), names)
    recorder.release()
    kept = weakref.ref(names["mine"])
    assert [op.op for op in recorder.log.ops] == ["relu"]
    names.clear()
    del recorder
    gc.collect()
    assert kept() is None


def test_torchs_own_functions_stand_for_themselves():
    for func in (torch.relu, torch.Tensor.add, torch.Tensor.__add__, torch.nn.functional.relu):
        assert is_torch_function(func)
    assert not is_torch_function(lambda x: x)


def test_a_function_that_replaces_nothing_is_what_is_meant():
    def mine(x):
        return x

    assert not is_torch_function(mine)
    assert original_of(mine, sys._getframe()) is mine
