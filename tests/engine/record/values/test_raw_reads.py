"""Programs that watch torch's ops themselves: of the recorder's own work they must see nothing."""

import textwrap

import pytest
import torch

from gradscribe.engine.record.values.raw_reads import (
    has_readable_data,
    is_plain_strided,
    unwrapped,
)
from gradscribe.engine.run import run
from tests.engine.mirror import mirror, plain

WATCHING = {
    "a mode of one's own": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                print(func)
                return func(*args, **(kwargs or {}))
        def run():
            w = torch.randn(80, 80, requires_grad=True)
            with Log():
                y = (w * 2).sin()
                y.view(-1)[0].mul_(3.0)
                (y.t().sum() + w[0].sum()).backward()
            print(w.grad.sum().item())
        run()
    """,
    "a log of what a gradient that is there already is added to": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Log(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                print(func)
                return func(*args, **(kwargs or {}))
        x = torch.ones(3, requires_grad=True)
        (x * 2).sum().backward()
        with Log():
            (x * 3).sum().backward()
        print(x.grad)
    """,
    "a counter of FLOPs": """
        from torch.utils.flop_counter import FlopCounterMode
        model = nn.Linear(4, 5)
        with FlopCounterMode(display=False) as counter:
            model(torch.randn(2, 4)).sum().backward()
        print(counter.get_flop_counts())
    """,
    "tracing": """
        from torch.fx.experimental.proxy_tensor import make_fx
        def f(x):
            y = (x * 2).sin()
            y.mul_(3)
            return y.sum()
        for mode in ("real", "fake", "symbolic"):
            print(make_fx(f, tracing_mode=mode)(torch.randn(3)).code)
    """,
    "fake tensors": """
        from torch._subclasses.fake_tensor import FakeTensorMode
        def run():
            with FakeTensorMode():
                model = nn.Linear(3, 4)
                y = model(torch.randn(2, 3))
                y.sum().backward()
                print(type(y).__name__, model.weight.grad.shape)
        run()
    """,
    "a wrapper": """
        from torch.utils._pytree import tree_map
        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
                made.inner = inner
                return made
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                print(func)
                unwrapped = tree_map(lambda t: getattr(t, "inner", t), (args, kwargs or {}))
                result = func(*unwrapped[0], **unwrapped[1])
                return tree_map(lambda t: cls(t) if isinstance(t, torch.Tensor) else t, result)
        def run():
            x = Wrapper(torch.randn(3)).requires_grad_()
            (x * 2).sum().backward()
            print(x.grad.inner)
            y = (x * 2).exp()  # its node saves the result
            (y / x).sum().backward()
            print(x.grad.inner)
        run()
    """,
}


@pytest.mark.parametrize("program", WATCHING.values(), ids=WATCHING.keys())
def test_the_recorders_own_work_is_not_seen(program):
    program = textwrap.dedent(program)
    assert plain(program)[1], "the program should print what it saw"
    mirror(program)


def test_an_exported_program_holds_only_its_own_ops():
    mirror(
        textwrap.dedent("""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(2, 3)
            def forward(self, x):
                return torch.relu(self.linear(x))
        exported = torch.export.export(Model(), (torch.randn(1, 2),))
        print(exported.graph)
        exported.module()(torch.randn(1, 2)).sum().backward()
        """)
    )


def test_gradients_are_added_in_place_where_torch_would():
    """Adding into a copy gives other strides, which change the last bits further on."""
    lines = [
        "x = param(torch.randn(8, 64, 1, 16))",
        "y = x * 1",
        "y.register_hook(lambda g: print(g.stride()))",
        "loss = (y.permute(0, 2, 3, 1).contiguous() ** 2).sum() + (y + 0).square().sum()",
        "loss.backward()",
    ]
    program = "\n".join(lines)
    (_, strides, _) = plain(program)
    assert strides.startswith("(")
    assert run.record(program).stdout == strides


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_a_model_that_is_traced_is_traced_as_ever():
    tape = mirror(
        """
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
x = torch.ones(4, 2)
traced = torch.jit.trace(net, x)
print([node.kind() for node in traced.inlined_graph.nodes()])
traced(x).sum().backward()
print([p.grad.sum().item() for p in net.parameters()])
"""
    )
    assert tape.error is None
    assert [op.op for op in tape.ops][-1] == "sum"


@pytest.mark.parametrize("size", [3, 70])
def test_a_gradient_that_stands_for_many_has_no_numbers(size):
    tape = mirror(
        f"x = param(torch.randn({size}))\n"
        "y = (x.expand(len(x), -1) * 2)[:3].flatten()\n"
        "grad, eye = torch.autograd.grad, torch.eye(len(y))\n"
        "print(grad(y, x, eye, True, is_grads_batched=True)[0].sum())\n"
        "del eye\n"
        "print(torch.autograd.functional.jacobian(torch.exp, x, vectorize=True).sum())\n"
        "y.sum().backward()"
    )
    assert [p.kind for p in tape.passes] == ["grad", "grad", "backward"]
    assert all(e.gradient is not None for e in tape.edges if e.run == 2)


_PLAIN = torch.ones(2, 3)
ODD = {
    "nested": lambda: torch.nested.as_nested_tensor([_PLAIN]),
    "jagged": lambda: torch.nested.as_nested_tensor([_PLAIN], layout=torch.jagged),
    "sparse": lambda: _PLAIN.to_sparse(),
    "meta": lambda: _PLAIN.to("meta"),
    "empty": lambda: torch.ones(0, 3),
    "mkldnn": lambda: _PLAIN.to_mkldnn(),
}
TRANSFORMS = {
    "vmap": torch.func.vmap,
    "grad": lambda look: torch.func.grad(lambda x: look(x).sum()),
    "jacrev": torch.func.jacrev,
    "functionalize": torch.func.functionalize,
    "a batch of gradients": lambda look: (
        lambda x: torch.autograd.functional.jacobian(
            lambda y: _Looking.apply(y, look), x, vectorize=True
        )
    ),
}


class _Looking(torch.autograd.Function):
    generate_vmap_rule = False

    @staticmethod
    def forward(ctx, x, look):
        ctx.look = look
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return ctx.look(grad), None


@pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning")
@pytest.mark.parametrize("kind", ODD)
def test_what_has_no_address_is_no_everyday_tensor(kind):
    assert not is_plain_strided(ODD[kind]())


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_what_stands_for_others_is_no_everyday_tensor(kind):
    found = []

    def look(x):
        try:
            found.append((has_readable_data(x), is_plain_strided(x)))
        except RuntimeError:  # Torch has no address to give.
            found.append((has_readable_data(x), False))
        return x * 1

    TRANSFORMS[kind](look)(torch.ones(3))
    assert found
    assert not any(everyday for _, everyday in found)


def test_a_view_of_a_fake_tensor_is_not_asked_for_its_address():
    source = """
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode():
            f = torch.empty(100, 100, requires_grad=True)
            (f @ f)[5:].sum().backward()
        print(f.grad.shape)
    """
    tape = run.record(textwrap.dedent(source))
    assert [op.op for op in tape.ops][:3] == ["matmul", "getitem", "sum"]
    assert (tape.stdout, tape.stderr) == ("torch.Size([100, 100])\n", "")
    assert tape.error is None
    assert not tape.truncated


def test_views_parameters_and_inference_tensors_are_everyday():
    with torch.inference_mode():
        inferred = torch.ones(2)
    plain = [_PLAIN, _PLAIN[1:].t(), torch.nn.Parameter(_PLAIN), inferred, torch.tensor(True)]
    assert all(is_plain_strided(t) and has_readable_data(t) for t in plain)


def test_a_wrapper_of_a_transform_is_unwrapped_to_its_numbers():
    x = torch.tensor([1.0, 2.0])
    seen = []
    torch.func.grad(lambda t: (seen.append(unwrapped(t)), (t**3).sum())[1])(x)
    assert seen[0] is x
    assert unwrapped(x) is None


def test_a_tensor_inside_a_vmap_has_no_numbers_of_its_own():
    seen = []
    torch.func.vmap(lambda t: (seen.append(unwrapped(t)), t * 2)[1])(torch.ones(3))
    torch.func.vmap(torch.func.grad(lambda t: (seen.append(unwrapped(t)), t * 2)[1]))(torch.ones(3))
    assert seen == [None, None]
