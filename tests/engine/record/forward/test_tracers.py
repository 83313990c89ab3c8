"""Tracers of torch run on fake and functional tensors: the program and its tape are whole."""

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
    assert error is tape.error is None
    assert not tape.truncated
    assert tape.stdout == output
    for leaf in tape.leaves:
        t = names.get(leaf.name)
        if t is not None and t.grad is not None:
            assert gradient(tape, leaf.name).tolist() == t.grad.tolist()
