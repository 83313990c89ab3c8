"""Batch and time exchanged: a layer runs along the dimension that the program has its batch in."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import with_argument
from gradscribe.engine.doctor.program_tree import called_name
from gradscribe.engine.doctor.shapes.layouts import (
    Layout,
    Layouts,
    TensorAxis,
    is_batch_first,
    layouts_of,
)
from gradscribe.engine.doctor.snapshot_stats import shape as shape_text
from gradscribe.engine.protocol.tape import Op

_RECURRENT = frozenset("lstm gru rnn_tanh rnn_relu".split())
_ATTENTION = "multi_head_attention_forward"
_PICKS = frozenset("getitem select mean sum amax max min logsumexp".split())
_LOSSES = frozenset(
    "linear cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss "
    "binary_cross_entropy binary_cross_entropy_with_logits".split()
)
Part = tuple[TensorAxis, ...]


class Roles(NamedTuple):
    """The layer that ran, and the dimensions that it took as time and as batch."""

    op: Op
    time: Part
    batch: Part


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield where one entry of a layer's batch is picked, and all its times are kept as a batch."""
    if not any(op.op in _RECURRENT or op.op == _ATTENTION for op in evidence.tape.ops):
        return
    layouts, after = layouts_of(evidence), dict[int, Roles]()
    taken: dict[tuple[int, int], list[tuple[Op, Roles]]] = {}
    for op in evidence.tape.ops:
        if op.phase != "forward" or not op.inputs or not op.outputs:
            continue
        if op.op in _RECURRENT or op.op == _ATTENTION:
            roles = _roles(layouts, op)
            yield from _from_loader(evidence, layouts, roles)
        else:
            roles = next((after[v] for v in op.inputs if v in after), None)
        if roles is None:
            continue
        before, behind = layouts.of(op.inputs[0]), layouts.of(op.outputs[0])
        if roles.batch in behind:
            after[op.outputs[0]] = roles
        elif (
            op.op in _PICKS
            and len(before) > 2
            and {roles.time, roles.batch} <= set(before)
            and roles.time in behind
            and _feeds(evidence, op)
        ):
            taken.setdefault((op.inputs[0], roles.op.id), []).append((op, roles))
    for rows in taken.values():
        if len({_argument(op) for op, _ in rows}) == 1:
            yield _case(evidence, *rows[0])


def _roles(layouts: Layouts, op: Op) -> Roles | None:
    layout: Layout = layouts.of(op.inputs[0])
    if len(layout) != 3:
        return None
    time, batch = layout[:2]
    if op.op in _RECURRENT and is_batch_first(op):
        time, batch = batch, time
    several = all(any(axis.size > 1 for axis in part) for part in (time, batch))
    return Roles(op, time, batch) if several and time != batch else None


def _argument(op: Op) -> str:
    return " ".join(a.text for a in op.args if a.value is None)


def _feeds(evidence: Evidence, op: Op) -> bool:
    """Return whether a loss or a layer uses an op's result on the way to a root."""
    if op.outputs[0] not in evidence.root_dependencies:
        return False
    users = [evidence.tape.ops[i] for i in evidence.users.get(op.outputs[0], ())]
    return any(user.op in _LOSSES or user.call not in (None, op.call) for user in users)


def _case(evidence: Evidence, op: Op, roles: Roles) -> FoundCase:
    times, batch = _count(roles.time), _count(roles.batch)
    kind, program, line = _kind(evidence, roles.op), evidence.program, op.place.line
    if op.op in ("getitem", "select"):
        rest = f"line {line} then picks one of {batch} samples"
    else:
        rest = f"line {line} then puts {batch} samples together"
    given = shape_text(_given(evidence, roles.op))
    message = (
        f"{kind} on line {roles.op.place.line} is given {given} and takes {times} as the time and "
        f"{batch} as the batch: {rest}, and its {times} times go on as if they were the batch"
    )
    maker = _maker(evidence, roles.op)
    related = [op.place, *([program.place(maker)] if maker is not None else [])]
    fix = _fix(evidence, maker) if maker is not None else ""
    # Attention from sample to sample may be a design; recurrence along them is not.
    is_hint = roles.op.op == _ATTENTION
    return FoundCase(roles.op.place, message, tuple(related), fix, is_hint=is_hint)


def _given(evidence: Evidence, op: Op) -> tuple[int, ...]:
    return evidence.values[op.inputs[0]].shape


def _count(part: Part) -> int:
    count = 1
    for axis in part:
        count *= axis.size
    return count


def _kind(evidence: Evidence, op: Op) -> str:
    for number in _around(evidence, op):
        if evidence.tape.calls[number].kind in _MAKERS:
            return evidence.tape.calls[number].kind
    return op.op


_MAKERS = ("LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer")


def _around(evidence: Evidence, op: Op) -> list[int]:
    """Return the module calls around an op, the outermost first."""
    found, number = list[int](), op.call
    while number is not None:
        found.insert(0, number)
        number = evidence.tape.calls[number].parent
    return found


def _maker(evidence: Evidence, op: Op) -> ast.Call | None:
    """Return the call that created the layer around an op, if only one can be it."""
    program, kind = evidence.program, _kind(evidence, op)
    calls = program.calls(kind)
    if len(calls) > 1:
        names = {evidence.tape.calls[n].name.rpartition(".")[2] for n in _around(evidence, op)}
        bound = (
            value
            for name, rows in program.bindings.items()
            if name.rpartition(".")[2] in names
            for _, value in rows
        )
        calls = [v for v in bound if isinstance(v, ast.Call) and called_name(v) == kind]
    return calls[0] if len(calls) == 1 else None


def _fix(evidence: Evidence, maker: ast.Call) -> str:
    """Create the layer with the batch where the program has it."""
    program = evidence.program
    given = next((k for k in maker.keywords if k.arg == "batch_first"), None)
    if given is None:
        return with_argument(program, maker, "batch_first=True")
    if isinstance(given.value, ast.Constant):
        return program.replaced((given.value, str(not given.value.value)))
    return ""


def _from_loader(evidence: Evidence, layouts: Layouts, roles: Roles | None) -> Iterator[FoundCase]:
    """Yield a layer that takes as time the samples that a loader stacked."""
    if roles is None or not roles.op.outputs or len(roles.time) != 1:
        return
    if roles.op.outputs[0] not in evidence.root_dependencies:
        return
    value = _source(evidence, roles.op.inputs[0])
    op = evidence.creator(value)
    if op is None or op.op != "stack" or layouts.of(value)[:1] != (roles.time,):
        return
    if not isinstance(evidence.program.statement(op.place.line), ast.For):
        return
    kind, maker = _kind(evidence, roles.op), _maker(evidence, roles.op)
    message = (
        f"{kind} on line {roles.op.place.line} takes {_count(roles.time)} as the time, and that is "
        f"the number of samples that the loader on line {op.place.line} put into a batch"
    )
    fix = _fix(evidence, maker) if maker is not None else ""
    yield FoundCase(roles.op.place, message, (op.place,), fix, is_hint=True)


def _source(evidence: Evidence, value: int) -> int:
    """Return the value before embeddings, linear layers and the like."""
    for _ in range(20):
        op = evidence.creator(value)
        if op is None or op.op not in _ALONG:
            return value
        shape = evidence.values[value].shape[:2]
        same = [v for v in op.inputs if evidence.values[v].shape[:2] == shape]
        if not same:
            return value
        value = same[0]
    return value


_ALONG = frozenset("embedding linear relu tanh dropout add mul layer_norm float to long".split())


_DATA = """torch.manual_seed(0)
x = torch.randn(12, 5, 4)
y = x.sum(1)[:, :3].argmax(1)
"""
_STEPS = """for step in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
"""

ENTRY = FindingKind(
    "batch-first",
    "Batch and time are exchanged",
    "Recurrent and attention layers take (time, batch, features) unless they are made with "
    "batch_first=True. Given a batch first they run from sample to sample, and each sample sees "
    "the others instead of its own past.",
    detect,
    sick=(
        """# the last output of an LSTM
class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        out, _ = self.lstm(x)  # !
        return self.head(out[:, -1])

"""
        + _DATA
        + """net = Seq()
opt = optim.Adam(net.parameters(), lr=0.01)
"""
        + _STEPS,
        """# a GRU over words, pooled
torch.manual_seed(0)
emb, gru, head = nn.Embedding(9, 6), nn.GRU(6, 8, num_layers=2), nn.Linear(8, 2)
opt = optim.SGD([*emb.parameters(), *gru.parameters(), *head.parameters()], lr=0.1)
words, label = torch.randint(9, (7, 5)), torch.randint(2, (7,))
for step in range(3):
    states, _ = gru(emb(words))  # !
    pooled = states.mean(dim=1)
    loss = F.cross_entropy(head(pooled), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a transformer whose first place stands for the whole
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model=4, nhead=2, dim_feedforward=8, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        hidden = self.encoder(x)  # !
        return self.head(hidden[:, 0, :])

"""
        + _DATA
        + """net = Encoder()
opt = optim.Adam(net.parameters(), lr=0.01)
"""
        + _STEPS,
        """# attention by itself
torch.manual_seed(0)
attention, head = nn.MultiheadAttention(4, 1), nn.Linear(4, 1)
x, y = torch.randn(6, 3, 4), torch.randn(6, 1)
mixed, _ = attention(x, x, x)  # !
loss = F.mse_loss(head((x + mixed).mean(1)), y)
loss.backward()
""",
        """# time comes first in the data, and the layer has it second
torch.manual_seed(0)
rnn, head = nn.RNN(4, 8, batch_first=True), nn.Linear(8, 1)
opt = optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(5, 9, 4), torch.randn(9, 1)
for step in range(3):
    out, h = rnn(x)  # !
    loss = F.mse_loss(head(out[-1]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a loader puts the batch first, and each place has a target
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(12, 5, 3), torch.randint(2, (12, 5)))
loader = torch.utils.data.DataLoader(data, batch_size=4)
lstm, head = nn.LSTM(3, 6), nn.Linear(6, 2)
opt = optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)
for xb, yb in loader:
    out, _ = lstm(xb)  # !
    loss = F.cross_entropy(head(out).flatten(0, 1), yb.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# batch first
torch.manual_seed(0)
lstm, head = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 3)
x, y = torch.randn(12, 5, 4), torch.randint(3, (12,))
out, (h, c) = lstm(x)
loss = F.cross_entropy(head(out[:, -1]), y) + F.cross_entropy(head(h[-1]), y)
loss = loss + F.cross_entropy(head(out.mean(1)), y)
loss.backward()
""",
        """# time first, picked, pooled, and with targets at each place
torch.manual_seed(0)
gru, head = nn.GRU(4, 8), nn.Linear(8, 3)
x, y = torch.randn(5, 12, 4), torch.randint(3, (12,))
every = torch.randint(3, (5, 12))
out, h = gru(x)
loss = F.cross_entropy(head(out[-1]), y) + F.cross_entropy(head(out.mean(0)), y)
loss = loss + F.cross_entropy(head(out).flatten(0, 1), every.flatten())
loss = loss + sum(F.cross_entropy(head(out[:, i]), every[:, i]) for i in range(12)) / 12
loss.backward()
""",
        """# transformers of both kinds, and a loader whose batches are transposed
torch.manual_seed(0)
first = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
second = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
head = nn.Linear(4, 1)
opt = optim.SGD([*first.parameters(), *second.parameters(), *head.parameters()], lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(8, 5, 4), torch.randn(8, 1))
for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    loss = F.mse_loss(head(first(x)[:, 0]), y)
    loss = loss + F.mse_loss(head(second(x.transpose(0, 1))[0]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
