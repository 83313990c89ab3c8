"""Programs that differentiate gradients, as tutorials, papers and issue threads write them."""

MLP = "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
PROGRAMS = {
    "third derivative of a cube": """\
x = torch.tensor(3.0, requires_grad=True)
y = x ** 3
(dy,) = torch.autograd.grad(y, x, create_graph=True)
(d2y,) = torch.autograd.grad(dy, x, create_graph=True)
(d3y,) = torch.autograd.grad(d2y, x)
""",
    "second derivative that nothing uses": """\
x = torch.linspace(0, 1, 4, requires_grad=True)
y = torch.sin(x) * torch.exp(x)
dy = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
d2y = torch.autograd.grad(dy.sum(), x, create_graph=True)[0]
""",
    "backward with create_graph": """\
x = torch.tensor(3.0, requires_grad=True)
y = x ** 3
y.backward(create_graph=True)
g = x.grad
x.grad = None
z = g * 2 + y
z.backward()
""",
    "backward twice without a reset": """\
x = torch.tensor(3.0, requires_grad=True)
y = x ** 3
y.backward(create_graph=True)
(x.grad / 2).backward()
""",
    "gradient penalty of WGAN": MLP
    + """\
real, fake, eps = torch.randn(3, 2), torch.randn(3, 2), torch.rand(3, 1)
mid = (eps * real + (1 - eps) * fake).requires_grad_(True)
grads = torch.autograd.grad(
    net(mid), mid, grad_outputs=torch.ones(3, 1), create_graph=True, retain_graph=True
)[0]
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
loss = net(fake).mean() - net(real).mean() + 10 * penalty
loss.backward()
""",
    "R1 penalty": MLP
    + """\
real = torch.randn(4, 2, requires_grad=True)
score = net(real)
(g,) = torch.autograd.grad(score.sum(), real, create_graph=True)
loss = F.softplus(-score).mean() + 5.0 * g.pow(2).reshape(4, -1).sum(1).mean()
loss.backward()
""",
    "double backpropagation": MLP
    + """\
x, y = torch.randn(4, 2, requires_grad=True), torch.randn(4, 1)
loss = F.mse_loss(net(x), y)
(gx,) = torch.autograd.grad(loss, x, create_graph=True)
(loss + gx.square().sum()).backward()
""",
    "Hessian-vector product": """\
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = torch.tensor([0.5, -1.0, 2.0])
f = (w ** 2).sum() * w.prod()
(g,) = torch.autograd.grad(f, w, create_graph=True)
(hvp,) = torch.autograd.grad(g @ v, w)
""",
    "Hessian-vector product with grad_outputs": """\
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = torch.tensor([0.5, -1.0, 2.0])
f = torch.logsumexp(w, 0)
(g,) = torch.autograd.grad(f, w, create_graph=True)
(hvp,) = torch.autograd.grad(g, w, grad_outputs=v)
""",
    "Hessian of two variables": """\
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
f = x ** 2 * y + x.sin() * y ** 2
fx, fy = torch.autograd.grad(f, (x, y), create_graph=True)
fxx, fxy = torch.autograd.grad(fx, (x, y), retain_graph=True)
fyx, fyy = torch.autograd.grad(fy, (x, y))
det = fxx * fyy - fxy * fyx
""",
    "Hessian by rows": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 3).sum() + w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = [torch.autograd.grad(g[i], w, retain_graph=True)[0] for i in range(2)]
H = torch.stack(rows)
""",
    "hessian of torch.func": """\
x = torch.tensor([1.0, 2.0, 3.0])
H = torch.func.hessian(lambda p: (p ** 3).sum() + p.prod())(x)
""",
    "hessian of torch.autograd.functional": """\
x = torch.tensor([1.0, 2.0, 3.0])
H = torch.autograd.functional.hessian(lambda p: (p ** 3).sum() + p.prod(), x)
""",
    "jacrev of grad": """\
x = torch.tensor([1.0, 2.0])
H = torch.func.jacrev(torch.func.grad(lambda p: p.sin().prod()))(x)
""",
    "penalty on a Jacobian": """\
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x = torch.tensor([0.1, 0.2], requires_grad=True)
J = torch.func.jacrev(lambda p: torch.tanh(W @ p))(x)
penalty = (J ** 2).sum()
penalty.backward()
""",
    "Jacobian by rows": """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.stack([x[0] * x[1], x[0].exp(), x[1].sin()])
J = torch.stack([torch.autograd.grad(y[i], x, create_graph=True)[0] for i in range(3)])
J.pow(2).sum().backward()
""",
    "gradients of samples": """\
w = torch.tensor([1.0, -2.0], requires_grad=True)
X, y = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.tensor([1.0, 0.0, 2.0])
each = torch.func.vmap(torch.func.grad(lambda w, x, y: (x @ w - y) ** 2), (None, 0, 0))(w, X, y)
total = (each ** 2).sum()
total.backward()
""",
    "derivative of a derivative with torch.func": """\
x = torch.tensor(0.5)
d2 = torch.func.grad(torch.func.grad(lambda t: torch.sin(t) * t))(x)
""",
    "MAML": """\
w, b = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0, requires_grad=True)
xs = torch.tensor([1.0, 2.0, 3.0])
ys = 2 * xs + 1
inner = ((w * xs + b - ys) ** 2).mean()
gw, gb = torch.autograd.grad(inner, (w, b), create_graph=True)
fast_w, fast_b = w - 0.1 * gw, b - 0.1 * gb
outer = ((fast_w * xs + fast_b - ys) ** 2).mean()
outer.backward()
""",
    "MAML of two inner steps": """\
w = torch.tensor([1.0, -1.0], requires_grad=True)
fast = w
for i in range(2):
    (g,) = torch.autograd.grad((fast ** 3).sum(), fast, create_graph=True)
    fast = fast - 0.1 * g
outer = (fast ** 2).sum()
outer.backward()
""",
    "learned learning rate": """\
rate = torch.tensor(0.1, requires_grad=True)
w = torch.tensor([1.0, -2.0], requires_grad=True)
(g,) = torch.autograd.grad((w ** 2).sum(), w, create_graph=True)
after = w - rate * g
after.pow(2).sum().backward()
""",
    "heat equation": """\
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
x, t = torch.rand(5, 1, requires_grad=True), torch.rand(5, 1, requires_grad=True)
u = net(torch.cat([x, t], dim=1))
u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
loss = ((u_t - 0.1 * u_xx) ** 2).mean()
loss.backward()
""",
    "Poisson equation in steps": """\
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(2):
    x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_(True)
    u = net(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    loss = ((u_xx + torch.sin(x)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "oscillator": """\
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
t = torch.linspace(0, 1, 4).view(-1, 1).requires_grad_(True)
x = net(t)
v = derivative(x, t)
a = derivative(v, t)
loss = ((a + 0.4 * v + 4 * x) ** 2).mean()
loss.backward()
""",
    "Laplacian": """\
p = torch.tensor([0.3, -0.7], requires_grad=True)
f = torch.exp(-(p ** 2).sum())
(g,) = torch.autograd.grad(f, p, create_graph=True)
laplacian = sum(torch.autograd.grad(g[i], p, retain_graph=True)[0][i] for i in range(2))
""",
    "Hamiltonian": """\
q, p = torch.tensor(1.0, requires_grad=True), torch.tensor(0.5, requires_grad=True)
k = torch.tensor(2.0, requires_grad=True)
H = p ** 2 / 2 + k * q ** 2 / 2
dq, dp = torch.autograd.grad(H, (q, p), create_graph=True)
(dp ** 2 + dq ** 2).backward()
""",
    "force matching": MLP
    + """\
places, force = torch.randn(3, 2, requires_grad=True), torch.randn(3, 2)
energy = net(places).sum()
forces = -torch.autograd.grad(energy, places, create_graph=True)[0]
loss = F.mse_loss(forces, force)
loss.backward()
""",
    "sharpness": MLP
    + """\
x, y = torch.randn(4, 2), torch.randn(4, 1)
loss = F.mse_loss(net(x), y)
params = list(net.parameters())
grads = torch.autograd.grad(loss, params, create_graph=True)
norm = sum(g.pow(2).sum() for g in grads)
norm.backward()
""",
    "Hutchinson's trace": """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad((w ** 4).sum(), w, create_graph=True)
v = torch.tensor([1.0, -1.0])
trace = (v * torch.autograd.grad(g, w, v)[0]).sum()
""",
    "Newton's method": """\
x = torch.tensor(2.0, requires_grad=True)
for i in range(3):
    f = x ** 4 - 3 * x ** 2
    (g,) = torch.autograd.grad(f, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    with torch.no_grad():
        x -= g / h
""",
    "custom function twice": """\
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2
x = torch.tensor(2.0, requires_grad=True)
(g1,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
(g2,) = torch.autograd.grad(g1, x, create_graph=True)
(g1 + g2).backward()
""",
    "two uses of one input": """\
x = torch.tensor(2.0, requires_grad=True)
y = x * x + x.exp() * x
(dy,) = torch.autograd.grad(y, x, create_graph=True)
dy.backward()
""",
    "gradient at an inner value": """\
a = torch.tensor(2.0, requires_grad=True)
b = a ** 2
c = b ** 3 + b
(db,) = torch.autograd.grad(c, b, create_graph=True)
db.backward()
""",
    "a stored gradient before one that is returned": """\
x = torch.tensor(3.0, requires_grad=True)
(x ** 2).backward()
y = x ** 3
(dy,) = torch.autograd.grad(y, x, create_graph=True)
(d2y,) = torch.autograd.grad(dy, x)
""",
    "implicit layer": """\
a = torch.tensor(2.0, requires_grad=True)
z = torch.tensor(1.4, requires_grad=True)
residual = z ** 2 - a
(dz,) = torch.autograd.grad(residual, z, create_graph=True)
(da,) = torch.autograd.grad(residual, a, create_graph=True)
slope = -da / dz
slope.backward()
""",
    "a hook with a pass of its own": """\
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
seen = []
def hook(g):
    with torch.enable_grad():
        (q,) = torch.autograd.grad((x * 5) ** 2, x, create_graph=True)
    seen.append(q)
y.register_hook(hook)
(g,) = torch.autograd.grad(y * y, x, create_graph=True)
g.backward()
""",
}
