"""Loops of programs, each of ``{n}`` rounds, whose recording must grow as they do."""

FORMS = {
    "for loop with an optimizer": """
x = torch.linspace(-2, 2, 8).unsqueeze(-1)
model = nn.Linear(1, 1)
opt = optim.SGD(model.parameters(), lr=0.1)
for step in range({n}):
    opt.zero_grad()
    loss = F.mse_loss(model(x), 2 * x)
    loss.backward()
    opt.step()
""",
    "update by hand": """
x = torch.linspace(-1, 1, 8)
a, b = param(0.5), param(0.1)
for step in range({n}):
    loss = ((a * x + b - x.sin()) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        a -= 1e-3 * a.grad
        b -= 1e-3 * b.grad
        a.grad = None
        b.grad = None
""",
    "writes to entries": """
table = torch.zeros(9, 9)
for k in range({n}):
    table[k % 9, k % 8] += 1
print(table.sum())
""",
    "functional gradients": """
def f(w, x):
    return ((w * x) ** 2).sum()
w, x = torch.ones(3), torch.arange(3.0)
for k in range({n}):
    w = w - 0.01 * torch.func.grad(f)(w, x)
print(w)
""",
    "calls of grad": """
x = param(2.0)
for i in range({n}):
    (g,) = torch.autograd.grad(x * x, x)
print(g)
""",
    "minibatches by hand": """
x, y = torch.randn(32, 2), torch.randn(32, 1)
w = torch.zeros(2, 1, requires_grad=True)
for k in range({n}):
    at = torch.randint(0, 32, (4,))
    loss = ((x[at] @ w - y[at]) ** 2).mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad.zero_()
""",
    "nested loops": """
x = torch.randn(8, 3)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
for epoch in range({n} // 2):
    total = 0.0
    for batch in x.split(2):
        loss = net(batch).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(epoch, total)
""",
    "accumulated gradients": """
x = torch.randn(16, 3)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.01)
for k in range({n}):
    loss = net(x[k % 16]).pow(2).sum() / 4
    loss.backward()
    if k % 4 == 3:
        opt.step()
        opt.zero_grad()
""",
    "two optimizers": """
G = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
D = nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))
og, od = optim.Adam(G.parameters(), lr=0.01), optim.Adam(D.parameters(), lr=0.01)
loss_of = nn.BCEWithLogitsLoss()
for k in range({n} // 2):
    real, noise = torch.randn(4, 1), torch.randn(4, 2)
    fake = G(noise)
    od.zero_grad()
    d_loss = loss_of(D(real), torch.ones(4, 1))
    d_loss = d_loss + loss_of(D(fake.detach()), torch.zeros(4, 1))
    d_loss.backward()
    od.step()
    og.zero_grad()
    g_loss = loss_of(D(fake), torch.ones(4, 1))
    g_loss.backward()
    og.step()
""",
    "losses in a list": """
w = torch.ones(3, requires_grad=True)
losses = []
for i in range({n}):
    loss = (w * 2).sum()
    losses.append(loss)
    loss.backward()
    w.grad = None
print(len(losses))
""",
    "retained graph": """
w = torch.ones(3, requires_grad=True)
loss = (w ** 2).sum()
for i in range({n}):
    loss.backward(retain_graph=True)
print(w.grad)
""",
    "rows by index": """
data = torch.randn(20, 3)
w = torch.zeros(3, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
for k in range({n}):
    row = data[k % 20]
    loss = (row @ w - 1) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "validation after each step": """
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(20, 3)
for i in range({n}):
    net.train()
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        seen = net(x).pow(2).mean().item()
print(seen)
""",
    "validation in training mode": """
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(20, 3)
for i in range({n}):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    with torch.no_grad():
        seen = net(x[:9]).pow(2).mean().item()
print(seen)
""",
    "counting bigrams": """
words = ["emma", "olivia", "ava", "isabella"]
N = torch.zeros((27, 27), dtype=torch.int32)
for k in range({n} // 3):
    w = words[k % 4]
    for a, b in zip("." + w, w + "."):
        N[ord(a) % 27, ord(b) % 27] += 1
P = N.float() / N.sum(1, keepdim=True)
""",
    "unused and frozen parameters": """
net = nn.ModuleDict({{"a": nn.Linear(3, 4), "b": nn.Linear(4, 1), "c": nn.Linear(3, 3)}})
net["a"].weight.requires_grad_(False)
opt = optim.SGD([net["b"].weight], lr=0.01, momentum=0.9)
sched = optim.lr_scheduler.StepLR(opt, 10)
x = torch.randn(8, 3)
for i in range({n}):
    loss = net["b"](net["a"](x)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
""",
    "parameters made anew": """
for k in range({n}):
    net = nn.Linear(2, 1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.ones(4, 2)).pow(2).mean()
    loss.backward()
    opt.step()
""",
    "a module for each layer": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range({n})])
    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x)) / {n}
        return x
net = Net()
net(torch.ones(3, 2)).sum().backward()
""",
    "custom function": """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g
w = torch.ones(3, requires_grad=True)
for k in range({n}):
    loss = Square.apply(w).sum()
    loss.backward()
    w.grad = None
""",
    "views of one memory": """
buffer = torch.zeros({n}, 2)
rows = []
for k in range({n}):
    row = buffer[k]
    row += k
    rows.append(row)
print(len(rows))
""",
    "written under no_grad through views": """
w = torch.zeros(6, 2, requires_grad=True)
for k in range({n}):
    loss = (w[k % 6] - 1).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        w[k % 6] -= 0.1 * w.grad[k % 6]
    w.grad.zero_()
""",
    "transformer by hand": """
emb = nn.Embedding(9, 4)
q, k_, v = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
out = nn.Linear(4, 9)
opt = optim.AdamW(nn.ModuleList([emb, q, k_, v, out]).parameters(), lr=0.01)
ids = torch.randint(0, 9, (2, 5))
for step in range({n} // 2):
    x = emb(ids)
    scores = q(x) @ k_(x).transpose(1, 2) / 2
    scores = scores.masked_fill(torch.ones(5, 5).triu(1).bool(), float("-inf"))
    logits = out(scores.softmax(-1) @ v(x))
    loss = F.cross_entropy(logits.view(-1, 9), ids.view(-1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(q.parameters(), 1.0)
    opt.step()
""",
    "a history of numbers and tensors": """
w = torch.ones(3, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
history, grads, weights = [], [], []
for i in range({n}):
    loss = ((w - 2) ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
    grads.append(w.grad.clone())
    weights.append(w.detach().numpy().copy())
print(torch.stack(grads).mean())
""",
    "printing": """
w = torch.ones(3)
for i in range({n}):
    w = w * 1.01
    print(i, w.sum().item())
""",
    "validation that records a graph": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(20, 3)
for i in range({n}):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    seen = net(x[:9]).pow(2).mean().item()
""",
    "data that requires a gradient": """
w = torch.ones(3, requires_grad=True)
opt = optim.SGD([w], lr=0.01)
for i in range({n}):
    x = torch.ones(3, requires_grad=True)
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
""",
}
