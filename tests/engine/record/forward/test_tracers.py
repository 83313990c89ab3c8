"""Tracers and compilers of torch: the program does what it does without a recorder."""

import pytest

from gradscribe.engine.run import run
from tests.engine.mirror import gradient, plain

TRACERS = {
    "aot_function": """
from functorch.compile import aot_function, make_boxed_func
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
compiler = lambda graph, inputs: make_boxed_func(graph.forward)
aot_function(lambda a, b: (a * b).sin(), compiler, compiler)(a, b).sum().backward()
print(a.grad)
""",
    "aot_module": """
from functorch.compile import aot_module, make_boxed_func
torch.manual_seed(1)
net = nn.Linear(2, 2)
made = aot_module(net, fw_compiler=lambda graph, inputs: make_boxed_func(graph.forward))
made(torch.ones(3, 2)).sum().backward()
print(net.weight.grad)
""",
    "make_fx": """
from torch.fx.experimental.proxy_tensor import make_fx
for mode in ("real", "fake", "symbolic"):
    print(make_fx(lambda x: (x * 2).sin().sum(), tracing_mode=mode)(torch.ones(3)).code)
print(make_fx(torch.func.functionalize(lambda x: x.clone().add_(1)))(torch.ones(3)).code)
""",
    "export": """
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
made = torch.export.export(net, (torch.ones(4, 2),))
print(made.graph_module.code, made.module()(torch.ones(4, 2)).shape)
""",
    "export_strict": """
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
made = torch.export.export(net, (torch.ones(4, 2),), strict=True)
print(made.graph_module.code)
net(torch.ones(4, 2)).sum().backward()
print(net[0].weight.grad.shape)
""",
    "dynamo": """
import torch._dynamo
def backend(made, inputs):
    print(made.code)
    return made.forward
x = torch.ones(3, requires_grad=True)
torch._dynamo.optimize(backend)(lambda x: (x * 2).sin())(x).sum().backward()
print(x.grad, torch._dynamo.export(lambda x: x.sin() + 1)(torch.ones(2)).graph_module.code)
""",
    "compile": """
@torch.compile(backend="aot_eager")
def g(x):
    return x.cos()
x = torch.ones(3, requires_grad=True)
torch.compile(g, backend="eager")(x).sum().backward()
print(x.grad)
""",
    "cond": """
x = torch.tensor([0.5, 1.0], requires_grad=True)
y = torch.cond(x.sum() > 1, lambda x: x.sin() * 2, lambda x: x.cos(), (x,))
y.sum().backward()
print(y, x.grad)
""",
    "map": """
from torch._higher_order_ops import map
x = torch.arange(6.0).reshape(3, 2).requires_grad_()
y = map(lambda x: x.sin(), x)
y.sum().backward()
print(y, x.grad)
""",
    "while_loop": """
from torch._higher_order_ops import while_loop
step = lambda i, x: (i + 1, x * 2)
print(while_loop(lambda i, x: i < 3, step, (torch.tensor(0), torch.tensor([0.5, 1.0]))))
""",
    "scan": """
from torch._higher_order_ops.scan import scan
x = torch.arange(6.0).reshape(3, 2).requires_grad_()
carried, y = scan(lambda c, x: (c + x, c * x), torch.ones(2), x)
(carried.sum() + y.sum()).backward()
print(carried, y, x.grad)
""",
    "flex_attention": """
from torch.nn.attention.flex_attention import flex_attention
q, k, v = (torch.randn(1, 1, 16, 8) for _ in range(3))
print(flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score * 2).sum())
""",
    "fake": """
from torch._subclasses.fake_tensor import FakeTensorMode
w = torch.ones(3, requires_grad=True)
with FakeTensorMode(allow_non_fake_inputs=True) as mode:
    net = nn.Linear(3, 2)
    net(torch.ones(5, 3)).sum().backward()
    optim.SGD(net.parameters(), lr=0.1).step()
    print(mode.from_tensor(w) + 1, w + 1)
(w * 3).sum().backward()
print(w.grad)
""",
    "functional": """
made = torch._to_functional_tensor(torch.ones(3))
torch._enable_functionalization(reapply_views=True)
try:
    twice = made * 2
    twice.view(3, 1).mul_(2)
finally:
    torch._disable_functionalization()
torch._sync(twice)
print(torch._from_functional_tensor(twice))
""",
    "meta": """
net = nn.Linear(3, 2, device="meta")
net(torch.ones(4, 3, device="meta")).sum().backward()
optim.Adam(net.parameters()).step()
print(net.weight.grad.shape, net.to_empty(device="cpu").weight.device)
""",
}


@pytest.mark.parametrize("name", TRACERS)
def test_a_tracer_does_what_it_does_in_plain_torch(name):
    names, output, error = plain(TRACERS[name])
    tape = run.record(TRACERS[name])
    # A release may lack a tracer, or refuse the program: then with the same words.
    assert (error and str(error)) == (tape.error and tape.error.message)
    assert not tape.truncated
    assert tape.stdout == output
    for leaf in tape.leaves:
        t = names.get(leaf.name)
        if t is not None and t.grad is not None:
            assert gradient(tape, leaf.name).tolist() == t.grad.tolist()


def test_a_compiled_call_is_an_op_between_its_arguments_and_its_results():
    tape = run.record(TRACERS["cond"])
    (cond,) = (op for op in tape.ops if op.op == "cond")
    names = {v.id: v.name for v in tape.values}
    assert "x" in {names[i] for i in cond.inputs}
    assert [names[o] for o in cond.outputs] == ["y"]
    assert {n.op for n in tape.nodes if "Cond" in n.name} == {tape.ops.index(cond)}


def test_after_a_compiled_call_torch_is_recorded_as_before():
    source = TRACERS["cond"] + "net = nn.Linear(2, 1)\nnet(y.detach()).sum().backward()\n"
    tape = run.record(source)
    assert tape.error is None
    assert tape.calls[-1].name == "net"
    assert tape.passes[-1].line == 7
