"""Graphs for the benchmarks of layout and painting: recorded programs, and a synthetic network.

Each program runs under the recorder; its picture is flattened, so that a layout engine without
frames can place the same cards and wires.
"""

import random

from msgspec.structs import replace

from gradscribe.engine.protocol.tape import Tape
from gradscribe.engine.run import run
from gradscribe.playback.graph import build
from gradscribe.playback.graph.picture import Card, Picture, Wire

SCALAR = """
import random
rng = random.Random(0)
def p():
    return param(rng.uniform(-1, 1))
xs = [torch.tensor(rng.uniform(-1, 1)) for _ in range({sizes}[0])]
for size in {sizes}[1:]:
    ys = []
    for _ in range(size):
        total = p()
        for x in xs:
            total = total + p() * x
        ys.append(torch.tanh(total))
    xs = ys
loss = (xs[0] - 1.0) ** 2
loss.backward()
"""

RESNET = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, before, width, stride, down):
        super().__init__()
        after = 4 * width
        self.conv1 = nn.Conv2d(before, width, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, after, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU()
        self.down = None
        if down:
            self.down = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        y = self.norm3(self.conv3(y))
        return self.relu(y + (x if self.down is None else self.down(x)))

def stage(before, width, count, stride):
    first = Block(before, width, stride, True)
    return nn.Sequential(first, *(Block(4 * width, width, 1, False) for _ in range(count - 1)))

class ResNet(nn.Module):
    def __init__(self, w=2):
        super().__init__()
        self.conv1 = nn.Conv2d(3, w, 7, 2, 3, bias=False)
        self.norm1 = nn.BatchNorm2d(w)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = stage(w, w, 3, 1)
        self.layer2 = stage(4 * w, 2 * w, 4, 2)
        self.layer3 = stage(8 * w, 4 * w, 6, 2)
        self.layer4 = stage(16 * w, 8 * w, 3, 2)
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32 * w, 10)

    def forward(self, x):
        x = self.pool(self.relu(self.norm1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.mean(x).flatten(1))

torch.manual_seed(0)
model = ResNet()
x = torch.randn(2, 3, 64, 64)
target = torch.tensor([1, 2])
loss = nn.functional.cross_entropy(model(x), target)
loss.backward()
"""

GPT = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).split(w, dim=2)
        d = w // self.heads
        if {loop}:
            mixed = []
            for h in range(self.heads):
                qh, kh, vh = (z[:, :, h * d:(h + 1) * d] for z in (q, k, v))
                s = qh @ kh.transpose(1, 2) / d ** 0.5
                mixed.append(torch.softmax(s, -1) @ vh)
            return self.out(torch.cat(mixed, 2))
        q, k, v = (z.view(b, t, self.heads, d).transpose(1, 2) for z in (q, k, v))
        s = q @ k.transpose(2, 3) / d ** 0.5
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        mixed = s.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(b, t, w))

class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))

class GPT(nn.Module):
    def __init__(self, layers, width=24, heads=12, words=50, steps=8):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(steps, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.layers(x)))

torch.manual_seed(0)
model = GPT({layers})
ids = torch.randint(0, 50, (1, 8))
logits = model(ids)
loss = nn.functional.cross_entropy(logits.view(-1, 50), ids.view(-1))
loss.backward()
"""

LSTM = """
torch.manual_seed(0)
W, U = torch.randn(4, 16, requires_grad=True), torch.randn(4, 16, requires_grad=True)
b = torch.zeros(16, requires_grad=True)
h, c = torch.zeros(2, 4), torch.zeros(2, 4)
xs = torch.randn({steps}, 2, 4)
for t in range({steps}):
    gates = xs[t] @ W + h @ U + b
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
loss = h.square().sum()
loss.backward()
"""

PROGRAMS = {
    "scalar MLP, 100": SCALAR.format(sizes=[2, 5, 3, 1]),
    "scalar MLP, 1,000": SCALAR.format(sizes=[3, 16, 16, 1]),
    "ResNet-50-like": RESNET,
    "GPT-2-small-like": GPT.format(loop=False, layers=12),
    "LSTM, 12 steps": LSTM.format(steps=12),
    "LSTM, 50 steps": LSTM.format(steps=50),
}
HEADS = GPT.format(loop=True, layers=78)
"""Attention written as a loop over its heads: ten thousand nodes in some 700 modules."""


def record(source: str) -> Tape:
    """Return a program's tape; its output is dropped."""
    return run.record(source)


def opened(tape: Tape) -> Picture:
    """Return the picture of a tape's first scene with every module open."""
    scene = build.scenes(tape)[0]
    keys: frozenset[str] = frozenset()
    while True:
        picture = build.build_picture(tape, scene, keys)
        more = {card.key for card in picture.cards if card.kind == "module"}
        if not more:
            return picture
        keys |= more | {frame.key for frame in picture.frames}


def flat(picture: Picture) -> Picture:
    """Return a picture without its frames."""
    return replace(
        picture, cards=tuple(replace(card, frame="") for card in picture.cards), frames=()
    )


def network(nodes: int, seed: int = 0) -> Picture:
    """Return a flat synthetic network: blocks, weights, skip connections and joining heads."""
    rng = random.Random(seed)
    cards: list[Card] = []
    wires: list[Wire] = []

    def leaf() -> str:
        key = f"w{len(cards)}"
        cards.append(Card(key, "parameter", key, width=128.0, height=38.0))
        return key

    def op(*inputs: str) -> str:
        key = f"n{len(cards)}"
        cards.append(Card(key, "op", key))
        wires.extend(
            Wire(f"{source}-{key}-{place}", source, key, operand=place)
            for place, source in enumerate(inputs)
        )
        return key

    x, far = leaf(), []
    while len(cards) < nodes:
        shape = rng.random()
        start = x
        if shape < 0.5:
            for _ in range(rng.randint(1, 3)):
                x = op(op(x, leaf(), leaf()))
            x = op(start, x)
        elif shape < 0.8:
            q, k, v = (op(x, leaf()) for _ in range(3))
            x = op(start, op(op(op(op(q, k)), v), leaf()))
        elif shape < 0.95:
            x = op(*(op(op(x, leaf())) for _ in range(rng.randint(2, 6))))
        else:
            x = op(far.pop(rng.randrange(len(far))), x) if far else op(x)
        if rng.random() < 0.06:
            far.append(x)
            far = far[-4:]
    return Picture(tuple(cards), tuple(wires))
