"""A view to the shape that a transpose gives: attention heads, recurrent states, time and batch."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.inputs.view_instead_of_permute import case_of, scrambles


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield views whose result two dimensions would have to be exchanged for."""
    for scramble in scrambles(evidence):
        if scramble.call.startswith("transpose"):
            yield case_of(evidence, scramble)


_ATTENTION = """torch.manual_seed(0)
B, L, H, D = 3, 6, 2, 4
q, k, v = (nn.Linear(8, H * D) for _ in range(3))
out = nn.Linear(H * D, 1)
layers = nn.ModuleList([q, k, v, out])
opt = optim.Adam(layers.parameters(), lr=0.01)
x = torch.randn(B, L, 8)
y = x.mean((1, 2))
"""
_STEPS = """
for step in range(3):
    a = torch.softmax(heads(q(x)) @ heads(k(x)).transpose(-1, -2) / D**0.5, -1)
    z = (a @ heads(v(x))).transpose(1, 2).reshape(B, L, H * D)
    loss = ((out(z).mean((1, 2)) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

ENTRY = FindingKind(
    "view-instead-of-transpose",
    "A view where two dimensions were to be exchanged",
    "view and reshape only cut the row of numbers anew. The shape is that of a transpose, the "
    "numbers are not: heads and positions, directions and samples, or time and batch are mixed.",
    detect,
    sick=(
        "# heads, cut and then viewed\n"
        + _ATTENTION
        + """
def heads(t):
    return t.view(B, L, H, D).view(B, H, L, D)  # !
"""
        + _STEPS,
        "# heads, viewed at once\n"
        + _ATTENTION
        + """
def heads(t):
    return t.view(B, H, L, -1)  # !
"""
        + _STEPS,
        """# heads put together again
torch.manual_seed(0)
proj, out = nn.Linear(6, 12), nn.Linear(12, 2)
opt = optim.SGD([*proj.parameters(), *out.parameters()], lr=0.05)
x, y = torch.randn(2, 5, 6), torch.randint(2, (2, 5))
for step in range(3):
    h = proj(x).view(2, 5, 3, 4).transpose(1, 2)
    h = (h @ h.transpose(-2, -1)).softmax(-1) @ h
    scores = out(h.reshape(2, 5, 12))  # !
    loss = F.cross_entropy(scores.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# the last states of both directions
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.head(h.view(x.size(0), -1))  # !

torch.manual_seed(0)
net = Reader()
opt = optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(5, 7, 4), torch.randint(2, (5,))
for step in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
""",
        """# scores of each place of a sequence for cross_entropy
torch.manual_seed(0)
emb, gru, head = nn.Embedding(9, 6), nn.GRU(6, 8, batch_first=True), nn.Linear(8, 9)
words = torch.randint(9, (4, 7))
out, _ = gru(emb(words[:, :-1]))
loss = F.cross_entropy(head(out).view(4, 9, 6), words[:, 1:])  # !
loss.backward()
""",
        """# time first, by a view of the data
torch.manual_seed(0)
rnn, head = nn.RNN(3, 8), nn.Linear(8, 1)
opt = optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(6, 5, 3), torch.randn(6, 1)
for step in range(3):
    out, h = rnn(x.view(5, 6, 3))  # !
    loss = F.mse_loss(head(out[-1]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        "# heads, cut and then transposed\n"
        + _ATTENTION
        + """
def heads(t):
    return t.view(B, L, H, D).transpose(1, 2)
"""
        + _STEPS,
        """# the states of two layers and directions, taken apart and put together
torch.manual_seed(0)
gru = nn.GRU(4, 6, num_layers=2, bidirectional=True, batch_first=True)
head = nn.Linear(12, 1)
x, y = torch.randn(5, 7, 4), torch.randn(5, 1)
out, h = gru(x)
last = h.view(2, 2, 5, 6)[-1]
both = last.transpose(0, 1).reshape(5, -1)
sides = out.view(5, 7, 2, 6)
pair = torch.cat([sides[:, -1, 0], sides[:, 0, 1]], dim=1)
loss = F.mse_loss(head(both), y) + F.mse_loss(head(pair), y)
loss.backward()
""",
        """# scores and words in rows, and a single sentence as a batch
torch.manual_seed(0)
emb, lstm, head = nn.Embedding(9, 6), nn.LSTM(6, 8), nn.Linear(8, 9)
words = torch.randint(9, (7,))
out, _ = lstm(emb(words).view(len(words), 1, -1))
scores = head(out.view(len(words), -1))
many = torch.randint(9, (5, 4))
out, _ = lstm(emb(many))
loss = F.cross_entropy(scores, words) + F.cross_entropy(head(out).view(-1, 9), many.view(-1))
loss = loss + F.cross_entropy(head(out).permute(1, 2, 0), many.T)
loss.backward()
""",
    ),
)
