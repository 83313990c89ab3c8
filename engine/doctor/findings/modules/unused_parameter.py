"""A layer that was created but is not part of the computation."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.cuts import leaf_names
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import CUTS, FindingKind, FoundCase
from gradscribe.engine.protocol.tape import Place, Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield parameters of a trained model that no op used."""
    if any(op.op == "CheckpointFunction" for op in evidence.tape.ops):
        # What a reentrant checkpoint computes is no part of the tape until it runs again.
        return
    trained = {
        leaf.name.split(".")[0]
        for tensor, leaf in evidence.leaves.items()
        if tensor in evidence.updated and "." in leaf.name
    }
    called = {call.name.split(".")[0] for call in evidence.tape.calls}
    groups: dict[str, list[Value]] = {}
    for leaf in evidence.tape.leaves:
        value = evidence.values[leaf.value]
        owner = leaf.name.split(".")[0]
        if "." not in leaf.name or not value.requires_grad or owner not in trained & called:
            continue
        used = any(evidence.users.get(v.id) for v in evidence.versions[value.tensor])
        if used or value.tensor in evidence.received:
            continue
        path = leaf.name.rpartition(".")[0]
        if path == owner and _is_read(evidence, leaf.name):
            continue
        groups.setdefault(leaf.name if path == owner else path, []).append(value)
    for path, values in groups.items():
        message = (
            f"{leaf_names(tuple(values))} took part in no op of this run: {path} was made "
            f"but forward never uses it"
        )
        place = _made_at(evidence, path, values[0])
        yield FoundCase(place, message, (), _fix(evidence, path, place))


def _fix(evidence: Evidence, path: str, place: Place) -> str:
    """Remove the layer, if nothing else in the program refers to it."""
    program, last = evidence.program, path.rpartition(".")[2]
    fields = [n for n in program.find(ast.Attribute) if n.attr == last]
    statement = program.statement(place.line)
    alone = len(fields) == 1 and isinstance(statement, ast.Assign)
    return program.without(place.line) if alone and not last.isdigit() else ""


def _is_read(evidence: Evidence, name: str) -> bool:
    """Return whether the program reads a model's own parameter in any way."""
    field = name.rpartition(".")[2]
    reads = (n for n in evidence.program.nodes if isinstance(n, ast.Attribute) and n.attr == field)
    return any(isinstance(n.ctx, ast.Load) for n in reads)


def _made_at(evidence: Evidence, path: str, value: Value) -> Place:
    """Return the place where the layer was assigned, or else its module or parameter."""
    program, last = evidence.program, path.rpartition(".")[2]
    for name, rows in program.bindings.items():
        if name == f"self.{last}":
            return program.line(rows[0][0])
    made = program.bindings.get(path.split(".")[0], [])
    return value.place if value.place.line or not made else program.line(made[0][0])


ENTRY = FindingKind(
    "unused-parameter",
    "A layer is never used",
    "It has parameters, the optimizer holds them and they are saved, but the output does not "
    "depend on them, so they never learn. Call the layer in forward, or take it out.",
    detect,
    "hint",
    sick=(
        """torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 8)
        self.fc3 = nn.Linear(8, 1)
        self.norm = nn.LayerNorm(8)  # !
    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))
net = Net()
loss = net(torch.randn(8, 4)).pow(2).mean()
opt = optim.SGD(net.parameters(), lr=0.1)
loss.backward()
opt.step()
""",
    ),
    healthy=(
        """# two heads trained in turn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.heads = nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])

    def forward(self, x, task):
        return self.heads[task](torch.tanh(self.body(x)))

x, y = torch.randn(16, 4), torch.randn(16, 1)
model = Net()
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    loss = F.mse_loss(model(x, step % 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# tied weights and an embedding
torch.manual_seed(0)
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, 10, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.out(hidden)

tokens = torch.randint(0, 10, (4, 6))
model = Language()
opt = optim.AdamW(model.parameters(), lr=0.01)
for step in range(3):
    scores = model(tokens[:, :-1])
    loss = F.cross_entropy(scores.reshape(-1, 10), tokens[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
""",
    ),
    follows=CUTS,
)
