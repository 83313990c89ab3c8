"""Programs with several passes, unusual leaves, or graphs that torch builds by itself."""

NET = "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
PROGRAMS = {
    "gan": """\
gen, dis = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(), nn.Linear(3, 1))
z, real = torch.randn(4, 2), torch.randn(4, 2)
fake = gen(z)
loss_d = F.softplus(-dis(real)).mean() + F.softplus(dis(fake.detach())).mean()
loss_d.backward()
loss_g = F.softplus(-dis(fake)).mean()
loss_g.backward()
""",
    "siamese": NET
    + """\
a, b = torch.randn(4, 2), torch.randn(4, 2)
loss = F.pairwise_distance(net(a), net(b)).mean()
loss.backward()
""",
    "teacher and student": """\
teacher, student = nn.Linear(2, 3), nn.Linear(2, 3)
x = torch.randn(4, 2)
with torch.no_grad():
    soft = teacher(x).softmax(-1)
loss = F.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")
loss.backward()
""",
    "Hessian-vector product": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([0.5, -1.0])
loss = (w ** 3).sum() + w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
hv = (g * v).sum()
hv.backward()
""",
    "Hessian by rows": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 3).sum()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = [torch.autograd.grad(g[i], w, create_graph=True)[0] for i in range(2)]
torch.stack(rows).pow(2).sum().backward()
""",
    "jacrev": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
jacobian = torch.func.jacrev(lambda p: p.sin() * p)(w)
jacobian.pow(2).sum().backward()
""",
    "hessian": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
h = torch.func.hessian(lambda p: (p ** 3).sum() * p.prod())(w)
h.sum().backward()
""",
    "grad of func": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
g = torch.func.grad(lambda p: (p ** 3).sum())(w)
g.sum().backward()
""",
    "gradients of samples": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.randn(3, 2)
each = torch.func.vmap(torch.func.grad(lambda p, s: (p * s).sum() ** 2), (None, 0))(w, x)
each.pow(2).mean().backward()
""",
    "ensemble": """\
from copy import deepcopy
nets = [nn.Linear(2, 1) for _ in range(3)]
params, buffers = torch.func.stack_module_state(nets)
base = deepcopy(nets[0]).to("meta")
x = torch.randn(4, 2)
def call(p, b, t):
    return torch.func.functional_call(base, (p, b), (t,))
out = torch.func.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
out.pow(2).sum().backward()
""",
    "unrolled optimizer": """\
rate = torch.tensor(0.1, requires_grad=True)
w = torch.tensor([1.0, -2.0], requires_grad=True)
momentum, fast = torch.zeros(2), w
for i in range(3):
    (g,) = torch.autograd.grad((fast ** 2).sum() * rate.exp(), fast, create_graph=True)
    momentum = 0.9 * momentum + g
    fast = fast - rate * momentum
fast.pow(2).sum().backward()
""",
    "checkpoint": """\
from torch.utils.checkpoint import checkpoint
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
x = torch.randn(4, 2)
loss = checkpoint(net, x, use_reentrant=False).sum()
loss.backward()
""",
    "packed sequence": """\
from torch.nn.utils import rnn
gru = nn.GRU(2, 3, batch_first=True)
batch = rnn.pad_sequence([torch.randn(3, 2), torch.randn(2, 2)], batch_first=True)
packed = rnn.pack_padded_sequence(batch, torch.tensor([3, 2]), batch_first=True)
out, h = gru(packed)
padded, sizes = rnn.pad_packed_sequence(out, batch_first=True)
(padded.sum() + h.pow(2).sum()).backward()
""",
    "tied weights": """\
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Embedding(5, 3)
        self.out = nn.Linear(3, 5, bias=False)
        self.out.weight = self.into.weight
    def forward(self, i):
        return self.out(self.into(i).tanh())
net = Tied()
F.cross_entropy(net(torch.tensor([0, 1])), torch.tensor([1, 2])).backward()
""",
    "parametrization": """\
from torch.nn.utils import parametrize
class Symmetric(nn.Module):
    def forward(self, w):
        return (w + w.T) / 2
net = nn.Linear(2, 2)
parametrize.register_parametrization(net, "weight", Symmetric())
net(torch.randn(3, 2)).sum().backward()
""",
    "weight norm": """\
net = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
net(torch.randn(3, 2)).pow(2).sum().backward()
""",
    "closure of LBFGS": NET
    + """\
x, y = torch.randn(4, 2), torch.randn(4, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=2)
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss
opt.step(closure)
""",
    "gradient penalty": NET
    + """\
x = torch.randn(4, 2, requires_grad=True)
(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
penalty = (g.norm(dim=1) - 1).pow(2).mean()
penalty.backward()
""",
    "first order meta-learning": """\
w = torch.tensor([1.0, -1.0], requires_grad=True)
fast = w
for i in range(3):
    (g,) = torch.autograd.grad((fast ** 2).sum(), fast)
    fast = fast - 0.1 * g
fast.pow(2).sum().backward()
""",
    "MAML with functional_call": """\
net = nn.Linear(2, 1)
x, y = torch.randn(4, 2), torch.randn(4, 1)
names = dict(net.named_parameters())
inner = F.mse_loss(net(x), y)
grads = torch.autograd.grad(inner, names.values(), create_graph=True)
fast = {k: p - 0.1 * g for (k, p), g in zip(names.items(), grads)}
outer = F.mse_loss(torch.func.functional_call(net, fast, (x,)), y)
outer.backward()
""",
    "functional_call after backward": """\
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2))
    def forward(self, x):
        h = x * self.a
        return h.tanh()
net = Two()
loss = net(torch.tensor([1.0, 2.0])).sum()
loss.backward()
fast = {k: p - 0.1 * p.grad for k, p in net.named_parameters()}
again = torch.func.functional_call(net, fast, (torch.tensor([2.0, 1.0]),)).sum()
""",
    "losses of two tasks": """\
trunk, heads = nn.Linear(2, 3), nn.ModuleDict({"a": nn.Linear(3, 1), "b": nn.Linear(3, 1)})
h = trunk(torch.randn(4, 2)).relu()
for name, head in heads.items():
    head(h).pow(2).mean().backward(retain_graph=True)
""",
    "leaves in containers": """\
params = {"w": torch.ones(2, requires_grad=True), "b": (torch.ones(1, requires_grad=True),)}
extra = [torch.full((2,), 2.0, requires_grad=True) for _ in range(2)]
(params["w"] * extra[0] + params["b"][0] - extra[1]).pow(2).sum().backward()
""",
    "layers in a loop": """\
layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
x = torch.randn(3, 2)
for layer in layers:
    x = layer(x).tanh()
x.sum().backward()
""",
    "nested tensors": """\
a, b = torch.randn(2, 4, requires_grad=True), torch.randn(3, 4, requires_grad=True)
nt = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
w = torch.randn(4, 4, requires_grad=True)
out = F.linear(nt, w)
torch.nested.to_padded_tensor(out, 0.0).pow(2).sum().backward()
""",
    "double backward through a module": NET
    + """\
x = torch.randn(3, 2)
loss = net(x).pow(2).mean()
grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
sum(g.pow(2).sum() for g in grads).backward()
""",
    "implicit step": """\
w = torch.tensor(1.0, requires_grad=True)
z = torch.zeros(())
for i in range(4):
    z = torch.tanh(w * z + 1)
(dz,) = torch.autograd.grad(z, w, create_graph=True)
(z + dz).backward()
""",
    "GAN in a loop": """\
gen, dis = nn.Linear(2, 2), nn.Linear(2, 1)
opts = [torch.optim.SGD(net.parameters(), 0.1) for net in (gen, dis)]
for i in range(2):
    fake = gen(torch.randn(4, 2))
    opts[1].zero_grad()
    (dis(fake.detach()).mean() - dis(torch.randn(4, 2)).mean()).backward()
    opts[1].step()
    opts[0].zero_grad()
    dis(fake).mean().backward()
""",
    "hook on a gradient": """\
w = torch.ones(2, requires_grad=True)
(g,) = torch.autograd.grad((w ** 2).sum(), w, create_graph=True)
g.register_hook(lambda t: t * 2)
(g * w).sum().backward()
""",
    "accumulated batches": """\
net = nn.Linear(2, 1)
first = net(torch.randn(3, 2)).sum()
first.backward()
second = net(torch.randn(3, 2)).pow(2).sum()
second.backward()
""",
}
