"""Classes that are no tensors but take part in torch's functions: what they call is recorded."""

import pytest

from tests.engine.mirror import mirror, ops

METADATA = """
class Tagged:
    def __init__(self, data, tag):
        self.data, self.tag = data, tag
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__, len(args))
        tags = [a.tag for a in args if isinstance(a, Tagged)]
        plain = [a.data if isinstance(a, Tagged) else a for a in args]
        plain = [[x.data if isinstance(x, Tagged) else x for x in a] if isinstance(a, list) else a
                 for a in plain]
        return cls(func(*plain, **(kwargs or {})), "+".join(tags))
    def __add__(self, other):
        return torch.add(self, other)
w = torch.tensor([1.0, 2.0], requires_grad=True)
"""


def test_what_a_lookalike_calls_is_on_the_tape_with_its_nodes():
    source = METADATA + (
        "y = torch.sum(torch.mul(Tagged(w, 'a'), 3) + w)\n"
        "y.data.backward()\n"
        "print(y.tag, y.data, w.grad)\n"
        "print(torch.cat([Tagged(w, 'b'), w]).data, F.relu(Tagged(w, 'c')).data)\n"
    )
    tape = mirror(source)
    assert ops(tape) == ["mul", "add", "sum", "cat", "relu"]
    assert all(node.op is not None for node in tape.nodes)
    # Everything happens where the class calls torch's function.
    assert {op.place.line for op in tape.ops} == {
        source.splitlines().index(
            '        return cls(func(*plain, **(kwargs or {})), "+".join(tags))'
        )
        + 1
    }


def test_one_that_computes_by_other_means_makes_no_op():
    tape = mirror(
        "class Diagonal:\n"
        "    def __init__(self, n, value):\n"
        "        self.n, self.value = n, value\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return func.__name__, args[0].value / args[0].n\n"
        "print(torch.mean(Diagonal(5, 2)))\n"
    )
    assert not tape.ops


@pytest.mark.parametrize(
    "call",
    [
        "torch.cat([w, Refusing()])",
        "w + Refusing()",
        "torch.add(w.as_subclass(Sub), Refusing())",
        "F.linear(Refusing(), w)",
        "torch.mul(Raising(), w)",
        "torch.add(Refusing(), Tagged(w, 'd')).data.sum().backward()",
    ],
)
def test_one_that_refuses_or_raises_does_so_as_without_a_recorder(call):
    mirror(
        METADATA + "class Sub(torch.Tensor):\n"
        "    pass\n"
        "class Refusing:\n"
        "    tag, data = 'r', w\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return NotImplemented\n"
        "    def __radd__(self, other):\n"
        "        return 'from the right'\n"
        "class Raising:\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        raise ValueError(func.__name__)\n"
        f"print({call})\n"
    )
