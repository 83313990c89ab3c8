"""Healthy programs as tutorials have them: each model trained in each style.

A model defines ``model``, ``x``, ``y`` and ``loss_of(output, y)``; a style trains it. Whole
programs, each below a heading ``=== title``, are in ``healthy_whole.txt``.
"""

from collections.abc import Iterator
from pathlib import Path

_HEAD = """import copy
import math
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed({seed})
"""
_CLASSES = "x, y = torch.randn(32, {inputs}), torch.randint(0, {classes}, (32,))\n"
_REGRESSION = """x = torch.randn(32, {inputs})
y = torch.sin(x.sum(1, keepdim=True)) + 0.1 * torch.randn(32, 1)
"""
_CROSS = "loss_of = nn.CrossEntropyLoss()\n"
_MSE = "loss_of = nn.MSELoss()\n"
_IMAGES = "x, y = torch.rand(16, 1, 8, 8), torch.randint(0, 3, (16,))\n"
_SEQUENCES = "x, y = torch.randn(16, 6, 5), torch.randint(0, 3, (16,))\n"

MODELS = {
    "a line": """
x = torch.linspace(-1, 1, 32).unsqueeze(1)
y = 3 * x - 0.5 + 0.05 * torch.randn(32, 1)
model = nn.Linear(1, 1)
"""
    + _MSE,
    "softmax regression": _CLASSES.format(inputs=5, classes=3)
    + "model = nn.Linear(5, 3)\n"
    + _CROSS,
    "a logistic unit": """
x = torch.randn(32, 4)
y = (x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0]]) > 0).float()
model = nn.Linear(4, 1)
loss_of = nn.BCEWithLogitsLoss()
""",
    "probabilities from a sigmoid": """
x = torch.randn(32, 3)
y = (x.pow(2).sum(1, keepdim=True) > 2).float()
model = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1), nn.Sigmoid())
loss_of = nn.BCELoss()
""",
    "log-probabilities": _CLASSES.format(inputs=6, classes=4)
    + """
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)

model = Classifier()
loss_of = nn.NLLLoss()
""",
    "two hidden layers": _REGRESSION.format(inputs=3)
    + """
model = nn.Sequential(
    nn.Linear(3, 20), nn.ReLU(),
    nn.Linear(20, 20), nn.ReLU(),
    nn.Linear(20, 1),
)
"""
    + _MSE,
    "a smooth network": _REGRESSION.format(inputs=2)
    + "layers = [nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 1)]\n"
    + "model = nn.Sequential(*layers)\n"
    + "loss_of = nn.SmoothL1Loss()\n",
    "dropout and batch norm": _CLASSES.format(inputs=8, classes=3)
    + """
class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(8, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2),
        )
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.body(x))

model = Net()
"""
    + _CROSS,
    "a convolutional network": _IMAGES
    + """
class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 2 * 2, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))

model = ConvNet()
"""
    + _CROSS,
    "a residual network": _IMAGES
    + """
class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(out)))

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), Residual(8), nn.AvgPool2d(2), Residual(8),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3),
)
"""
    + _CROSS,
    "separable convolutions": _IMAGES
    + """
def separable(enter, leave):
    return nn.Sequential(
        nn.Conv2d(enter, enter, 3, padding=1, groups=enter), nn.Conv2d(enter, leave, 1),
        nn.GroupNorm(2, leave), nn.ReLU6(),
    )

model = nn.Sequential(
    nn.Conv2d(1, 4, 3, stride=2, padding=1), separable(4, 8), separable(8, 8),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3),
)
"""
    + _CROSS,
    "an autoencoder of images": """
x = torch.rand(16, 1, 8, 8)
y = x
model = nn.Sequential(
    nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(6, 4, 3, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(4, 6, 2, stride=2), nn.ReLU(),
    nn.ConvTranspose2d(6, 1, 2, stride=2), nn.Sigmoid(),
)
"""
    + _MSE,
    "a recurrent network": _SEQUENCES
    + """
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(5, 12, batch_first=True)
        self.out = nn.Linear(12, 3)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.out(states[:, -1])

model = Recurrent()
"""
    + _CROSS,
    "an LSTM in both directions": _SEQUENCES
    + """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 8, batch_first=True, bidirectional=True)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        states, (h, c) = self.lstm(x)
        return self.out(torch.cat([h[0], h[1]], dim=1))

model = Reader()
"""
    + _CROSS,
    "a GRU cell by hand": _SEQUENCES
    + """
class Stepper(nn.Module):
    def __init__(self, size=10):
        super().__init__()
        self.cell = nn.GRUCell(5, size)
        self.out = nn.Linear(size, 3)

    def forward(self, x):
        h = x.new_zeros(len(x), self.cell.hidden_size)
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
        return self.out(h)

model = Stepper()
"""
    + _CROSS,
    "words in a bag": """
x, y = torch.randint(0, 40, (24, 7)), torch.randint(0, 3, (24,))
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(40, 12, mode="mean")
        self.out = nn.Linear(12, 3)

    def forward(self, ids):
        return self.out(self.words(ids))

model = Bag()
"""
    + _CROSS,
    "attention by hand": _SEQUENCES
    + """
class Attention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.enter = nn.Linear(5, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        x = self.enter(x)
        b, t, w = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (z.view(b, t, self.heads, w // self.heads).transpose(1, 2) for z in (q, k, v))
        weights = (q @ k.transpose(-2, -1) / math.sqrt(w // self.heads)).softmax(dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(b, t, w)
        return self.out(self.norm(x + self.mix(mixed)).mean(dim=1))

model = Attention()
"""
    + _CROSS,
    "a transformer encoder": _SEQUENCES
    + """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(5, 8)
        self.place = nn.Parameter(0.02 * torch.randn(1, 6, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.layers(self.enter(x) + self.place).mean(1))

model = Encoder()
"""
    + _CROSS,
    "a small language model": """
ids = torch.randint(0, 20, (12, 9))
x, y = ids[:, :-1], ids[:, 1:]
class Language(nn.Module):
    def __init__(self, words=20, width=12):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.place = nn.Embedding(8, width)
        self.mix = nn.MultiheadAttention(width, 2, batch_first=True)
        self.feed = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 24), nn.GELU(), nn.Linear(24, width)
        )
        self.out = nn.Linear(width, words, bias=False)
        self.out.weight = self.word.weight
        self.register_buffer("mask", torch.triu(torch.ones(8, 8, dtype=torch.bool), 1))

    def forward(self, ids):
        h = self.word(ids) + self.place(torch.arange(ids.size(1), device=ids.device))
        h = h + self.mix(h, h, h, attn_mask=self.mask, need_weights=False)[0]
        return self.out(h + self.feed(h))

model = Language()
def loss_of(scores, goal):
    return F.cross_entropy(scores.reshape(-1, scores.size(-1)), goal.reshape(-1))
""",
    "a set": """
x = torch.randn(24, 5, 3)
y = x.norm(dim=2).max(dim=1, keepdim=True).values
class DeepSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, 16), nn.ELU(), nn.Linear(16, 16))
        self.all = nn.Sequential(nn.Linear(16, 16), nn.ELU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.all(self.each(x).mean(dim=1))

model = DeepSet()
"""
    + _MSE,
    "a mixture of experts": _CLASSES.format(inputs=6, classes=3)
    + """
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.experts = nn.ModuleList([
            nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)) for _ in range(3)
        ])

    def forward(self, x):
        weights = self.gate(x).softmax(dim=1)
        each = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (weights.unsqueeze(2) * each).sum(dim=1)

model = Experts()
"""
    + _CROSS,
    "gates": _REGRESSION.format(inputs=4)
    + """
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(4, 24), nn.Linear(12, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.scale * self.leave(F.glu(self.enter(x), dim=1))

model = Gated()
"""
    + _MSE,
    "a graph": """
edges = (torch.rand(10, 10) > 0.6).float()
adjacency = ((edges + edges.T) > 0).float().fill_diagonal_(1.0)
adjacency = adjacency / adjacency.sum(1, keepdim=True)
x, y = torch.randn(10, 6), torch.randint(0, 2, (10,))
class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 12), nn.Linear(12, 2)

    def forward(self, x):
        h = torch.relu(adjacency[: len(x), : len(x)] @ self.first(x))
        return adjacency[: len(x), : len(x)] @ self.second(h)

model = Graph()
"""
    + _CROSS,
    "waves": """
x = torch.linspace(-1, 1, 40).unsqueeze(1)
y = torch.sin(7 * x)
class Sine(nn.Module):
    def __init__(self, enter, leave, speed):
        super().__init__()
        self.linear, self.speed = nn.Linear(enter, leave), speed

    def forward(self, x):
        return torch.sin(self.speed * self.linear(x))

model = nn.Sequential(Sine(1, 16, 8.0), Sine(16, 16, 1.0), nn.Linear(16, 1))
"""
    + _MSE,
    "a low-rank change": _CLASSES.format(inputs=6, classes=3)
    + """
class LowRank(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.down = nn.Parameter(0.1 * torch.randn(base.in_features, rank))
        self.up = nn.Parameter(torch.zeros(rank, base.out_features))

    def forward(self, x):
        return self.base(x) + x @ self.down @ self.up

model = nn.Sequential(LowRank(nn.Linear(6, 16)), nn.ReLU(), LowRank(nn.Linear(16, 3)))
"""
    + _CROSS,
}

STYLES = {
    "plain": """
opt = optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    loss = loss_of(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "zeroed first, printed": """
optimizer = optim.Adam(model.parameters(), lr=1e-3)
history = []
for epoch in range(6):
    optimizer.zero_grad(set_to_none=True)
    prediction = model(x)
    loss = loss_of(prediction, y)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if epoch % 2 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
""",
    "momentum, a schedule, clipping": """
opt = optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4, nesterov=True)
schedule = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)
for epoch in range(6):
    opt.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    opt.step()
    schedule.step()
print(schedule.get_last_lr())
""",
    "batches with an evaluation": """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
optimizer = optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(2):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_of(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        val = loss_of(model(x), y)
    print(epoch, total / len(x), val.item())
""",
    "functions": """
def train(model, optimizer, batches):
    model.train()
    for inputs, targets in batches:
        outputs = model(inputs)
        loss = loss_of(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

@torch.no_grad()
def evaluate(model, inputs, targets):
    model.eval()
    return loss_of(model(inputs), targets).item()

optimizer = optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(3):
    batches = zip(x.split(8), y.split(8))
    print(train(model, optimizer, batches), evaluate(model, x, y))
""",
    "accumulation": """
parts = 4
opt = optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    opt.zero_grad()
    for xb, yb in zip(x.chunk(parts), y.chunk(parts)):
        loss = loss_of(model(xb), yb) / parts
        loss.backward()
    opt.step()
""",
    "a trainer": """
class Trainer:
    def __init__(self, model, loss_of, lr):
        self.model, self.loss_of = model, loss_of
        self.optimizer = optim.Adam(self.model.parameters(), lr=lr, betas=(0.9, 0.99))
        self.losses = []

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            loss = self.loss_of(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.detach())
        return torch.stack(self.losses)

    @torch.inference_mode()
    def predict(self, x):
        self.model.eval()
        return self.model(x)

trainer = Trainer(model, loss_of, lr=3e-3)
print(trainer.fit(x, y, 5))
print(trainer.predict(x).shape)
""",
    "by hand": """
rate = 0.05
for step in range(5):
    loss = loss_of(model(x), y)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= rate * p.grad
""",
    "asked for gradients": """
params = [p for p in model.parameters() if p.requires_grad]
for step in range(5):
    loss = loss_of(model(x), y)
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        for p, g in zip(params, grads):
            p.sub_(0.05 * g)
    print(step, loss.item())
""",
    "mixed precision": """
opt = optim.SGD(model.parameters(), lr=0.02)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for step in range(4):
    opt.zero_grad()
    loss = loss_of(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(opt)
    scaler.update()
""",
    "an average of the weights": """
opt = optim.AdamW(model.parameters(), lr=2e-3)
average = copy.deepcopy(model).requires_grad_(False)
for step in range(5):
    opt.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters()):
            slow.lerp_(fast, 0.1)
average.eval()
with torch.no_grad():
    print(loss_of(average(x), y).item())
""",
    "the best so far": """
opt = optim.Adam(model.parameters(), lr=5e-3)
plateau = optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
best, best_state, patience = float("inf"), None, 3
for epoch in range(8):
    model.train()
    opt.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        val = loss_of(model(x), y).item()
    plateau.step(val)
    if val < best:
        best, best_state, patience = val, copy.deepcopy(model.state_dict()), 3
    else:
        patience -= 1
        if patience == 0:
            break
model.load_state_dict(best_state)
print(best)
""",
    "groups and a penalty": """
decay = [p for p in model.parameters() if p.requires_grad and p.dim() > 1]
plain = [p for p in model.parameters() if p.requires_grad and p.dim() <= 1]
opt = optim.AdamW([
    {"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0},
], lr=1e-3)
for step in range(5):
    penalty = sum(p.abs().sum() for p in decay)
    loss = loss_of(model(x), y) + 1e-5 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a closure": """
opt = optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)
def closure():
    opt.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    return loss

for step in range(2):
    print(opt.step(closure).item())
""",
}


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each model in each style."""
    for number, (model, body) in enumerate(MODELS.items()):
        for style, loop in STYLES.items():
            yield f"{model}, {style}", _HEAD.format(seed=number) + body + loop


def whole() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each whole program of the text file."""
    text = (Path(__file__).parent / "healthy_whole.txt").read_text(encoding="utf-8")
    for part in text.split("=== ")[1:]:
        name, _, source = part.partition("\n")
        yield name.strip(), source
