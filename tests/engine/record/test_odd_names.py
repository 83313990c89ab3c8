"""Classes and functions with odd names are recorded like any others."""

import pytest
import torch

from gradscribe.engine.run import run

ODD = """import torch
from torch import nn

class Odd(type):
    @property
    def __name__(cls):
        return 7

class Word(str):
    __getitem__ = startswith = endswith = encode = None

w = torch.tensor(3.0, requires_grad=True)
"""
FUNCTION = """
class OddFunction(type(torch.autograd.Function)):
    @property
    def __name__(cls):
        return 7

class Twice(torch.autograd.Function, metaclass=OddFunction):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2

Twice.apply(w).backward()
"""
MODULE = """
class Net(nn.Module, metaclass=Odd):
    def forward(self, x):
        return x * 2

Net()(w).backward()
"""
OPTIMIZER = """
class Mine(torch.optim.SGD, metaclass=Odd):
    pass

mine = Mine([w], lr=0.0)
(w * 2).backward()
mine.step()
"""
STANDING_IN = """
class Op:
    def __init__(self, name):
        self.__name__ = name
    def __call__(self, x):
        return torch.overrides.handle_torch_function(self, (x,), x)

class Nameless(Op):
    __name__ = property(lambda self: 1 / 0, lambda self, name: None)

class T(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if isinstance(func, Op):
            with torch._C.DisableTorchFunctionSubclass():
                return args[0] * 2
        return super().__torch_function__(func, types, args, kwargs or {})

x = w.as_subclass(T)
for op in (Op(7), Op([1]), Op(None), Op(b"x"), Op(Word("x")), Nameless("x")):
    y = op(x)
y.backward()
"""


@pytest.mark.parametrize("source", [FUNCTION, MODULE, OPTIMIZER, STANDING_IN])
def test_a_program_with_names_that_are_no_text_is_recorded_with_torch_s_gradient(source):
    names = {}
    exec(ODD + source, names)
    tape = run.record(ODD + source)
    assert tape.error is None
    (leaf,) = tape.leaves
    assert tape.snapshots[leaf.grad].array() == names["w"].grad.numpy()
    assert names["w"].grad == torch.tensor(2.0)


def test_a_class_is_called_what_its_statement_calls_it():
    tape = run.record(ODD + FUNCTION + MODULE + OPTIMIZER)
    assert tape.error is None
    assert "Twice" in {op.op for op in tape.ops}
    assert [call.kind for call in tape.calls] == ["Net"]
    assert [step.optimizer for step in tape.steps] == ["Mine"]


def test_names_that_nobody_can_write_are_left_alone():
    tape = run.record("globals()[5] = torch.ones(1)\nx = torch.ones(1, requires_grad=True)\n")
    assert tape.error is None
    assert [leaf.name for leaf in tape.leaves] == ["x"]
