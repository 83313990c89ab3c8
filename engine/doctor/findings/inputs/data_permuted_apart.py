"""Inputs and targets that meet in a loss in different orders."""

import ast
from collections.abc import Iterator

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.scopes import enclosing_function
from gradscribe.engine.doctor.shapes.rows import Rows, RowTable
from gradscribe.engine.protocol.tape import Op

_LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits sub rsub".split()
)
_FEWEST = 4


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield losses that compare predictions for some rows with the targets of others."""
    if not any(op.op in ("getitem", "index_select") for op in evidence.tape.ops):
        return
    table, seen = RowTable(evidence), set()
    for op in evidence.tape.ops:
        if op.op not in _LOSSES or len(op.inputs) < 2 or op.place in seen or not op.outputs:
            continue
        made, target = op.inputs[:2] if op.op != "rsub" else op.inputs[1::-1]
        if not evidence.values[made].requires_grad:
            made, target = target, made
        if evidence.values[target].requires_grad or not evidence.values[made].requires_grad:
            continue
        if op.outputs[0] not in evidence.root_dependencies:
            continue
        rows, goals = table.of(made), table.of(target)
        if rows is not None and goals is not None and _is_apart(evidence, target, rows, goals):
            seen.add(op.place)
            yield _case(evidence, table, op, (made, target))


def _is_apart(evidence: Evidence, target: int, rows: Rows, goals: Rows) -> bool:
    """Return whether the same entries, or entries by a permutation, meet in different orders."""
    if rows.size != goals.size or len(rows.order) != len(goals.order) or len(rows.order) < _FEWEST:
        return False
    if np.array_equal(rows.order, goals.order) or (rows.picked is None and goals.picked is None):
        return False
    indices = {v for v in (rows.indices, goals.indices) if v is not None}
    if indices & evidence.dependencies([target]) - {goals.indices}:
        return False  # The order itself is the target.
    if np.array_equal(np.sort(rows.order), np.sort(goals.order)):
        return True
    if rows.is_stacked and goals.is_stacked:
        return len(set((goals.order - rows.order).tolist())) > 1
    one = goals if rows.picked is None else rows
    other = rows if rows.picked is None else goals
    is_part = len(set(one.order.tolist())) == len(one.order)
    return other.picked is None and one.picked is not None and is_part and not _is_run(one)


def _is_run(rows: Rows) -> bool:
    """Return whether entries follow each other as they are."""
    return bool(np.all(np.diff(rows.order) == 1))


def _case(evidence: Evidence, table: RowTable, op: Op, pair: tuple[int, int]) -> FoundCase:
    target, (rows, goals) = pair[1], map(table.of, pair)
    assert rows is not None
    assert goals is not None
    same = int((rows.order == goals.order).sum())
    inputs, labels = (
        evidence.name(rows.root, "the inputs"),
        _name(evidence, target, goals),
    )
    how = "as it is" if goals.picked is None else "in another order"
    message = (
        f"The loss on line {op.place.line} compares {len(rows.order)} predictions with the targets "
        f"of other rows: {inputs} was put into a new order and {labels} is {how}. "
        f"{same} of {len(rows.order)} rows meet their own target"
    )
    if rows.picked is None:
        message = message.replace(
            f"{inputs} was put into a new order and {labels} is {how}",
            f"{labels} was put into a new order and {inputs} was not",
        )
    picked = [r.picked for r in (rows, goals) if r.picked is not None]
    related = (*(p.place for p in picked[1:]), op.place)
    is_hint = rows.picked is None or rows.is_stacked
    fix = _fix(evidence, table, op, pair)
    return FoundCase(picked[0].place, message, related, fix, "" if fix else _BOTH, is_hint=is_hint)


_BOTH = "Make the permutation once, in a variable, and index inputs and targets with it"


def _fix(evidence: Evidence, table: RowTable, op: Op, pair: tuple[int, int]) -> str:
    """Take the targets by the indices of the inputs, if these have a variable."""
    program = evidence.program
    target, (rows, goals) = pair[1], map(table.of, pair)
    if rows is None or goals is None or rows.picked is None or rows.picked.op != "getitem":
        return ""
    taken = next(program.find(ast.Subscript, rows.picked.place), None)
    if taken is None or any(isinstance(n, ast.Call) for n in ast.walk(taken.slice)):
        return ""
    index = program.source(taken.slice)
    maker = evidence.creator(target)
    if maker is not None and maker.op == "getitem" and _is_whole(table, maker.inputs[0]):
        node = next(program.find(ast.Subscript, maker.place), None)
        if node is None or enclosing_function(program, node) is not _function(evidence, taken):
            return ""
        if evidence.values[rows.picked.outputs[0]].shape[0] == len(rows.order):
            return program.replaced((node.slice, index))
        return program.replaced((node.value, f"{program.source(node.value)}[{index}]"))
    if goals.picked is not None or not _is_whole(table, target):
        return ""
    statement = program.statement(op.place.line)
    name = evidence.values[target].name
    nodes = [
        n
        for n in (ast.walk(statement) if statement is not None else ())
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if len(nodes) != 1 or enclosing_function(program, nodes[0]) is not _function(evidence, taken):
        return ""
    return program.replaced((nodes[0], f"{name}[{index}]"))


def _is_whole(table: RowTable, value: int) -> bool:
    """Return whether a value has all rows, in their own order."""
    rows = table.of(value)
    return rows is not None and rows.picked is None and len(rows.order) == rows.size


def _name(evidence: Evidence, target: int, goals: Rows) -> str:
    """Return the name of the data that targets were taken from, or else their own."""
    maker = evidence.creator(target)
    if maker is not None and maker.op in ("getitem", "index_select"):
        return evidence.name(maker.inputs[0], "the targets")
    return evidence.name(goals.root if maker is None else target, "the targets")


def _function(evidence: Evidence, node: ast.expr) -> object:
    return enclosing_function(evidence.program, node)


_DATA = """torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = optim.Adam(net.parameters(), lr=0.05)
x = torch.randn(60, 4)
y = (x[:, 0] > 0).long()
"""

ENTRY = FindingKind(
    "data-permuted-apart",
    "Inputs and targets are in different orders",
    "Each prediction is compared with the target in the same place. If only one of both is "
    "shuffled, or each in its own way, the model is asked for the answers of other inputs. Index "
    "both with the same permutation.",
    detect,
    sick=(
        "# only the inputs\n"
        + _DATA
        + """for epoch in range(3):
    order = torch.randperm(60)
    xs = x[order]  # !
    opt.zero_grad()
    loss = F.cross_entropy(net(xs), y)
    loss.backward()
    opt.step()
""",
        "# batches of a permutation, and batches in order\n"
        + _DATA
        + """for epoch in range(2):
    order = torch.randperm(60)
    for i in range(0, 60, 20):
        part = order[i : i + 20]
        xb = x[part].tanh()  # !
        yb = y[i : i + 20]
        opt.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        opt.step()
""",
        """# a permutation for each, before the training, and a loss by hand
torch.manual_seed(0)
features = torch.randn(30, 3)
prices = torch.randn(30, 1)
features = features[torch.randperm(30)]  # !
prices = prices[torch.randperm(30)]
model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
sgd = optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = ((model(features) - prices) ** 2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
""",
        """# an array of indices, batches, and a criterion
import numpy
torch.manual_seed(0)
numpy.random.seed(0)
x = torch.randn(40, 3)
y = x.sum(1, keepdim=True)
model, criterion = nn.Linear(3, 1), nn.MSELoss()
sgd = optim.SGD(model.parameters(), lr=0.1)

def train_epoch():
    indices = numpy.random.permutation(40)
    shuffled = x[indices]  # !
    for i in range(0, 40, 10):
        loss = criterion(model(shuffled[i : i + 10]), y[i : i + 10])
        sgd.zero_grad()
        loss.backward()
        sgd.step()

for epoch in range(2):
    train_epoch()
""",
        """# a loader for the inputs and a loader for the targets
torch.manual_seed(0)
xs, ys = torch.randn(24, 3), torch.randn(24, 1)
inputs = torch.utils.data.DataLoader(xs, batch_size=8, shuffle=True)
goals = torch.utils.data.DataLoader(ys, batch_size=8, shuffle=True)
model = nn.Linear(3, 1)
sgd = optim.SGD(model.parameters(), lr=0.05)
for xb, yb in zip(inputs, goals):  # !
    sgd.zero_grad()
    F.mse_loss(model(xb), yb).backward()
    sgd.step()
""",
        """# sorted to be drawn, and then trained with
torch.manual_seed(0)
x = torch.rand(20, 1)
y = torch.sin(3 * x)
model = nn.Linear(1, 1)
x = x[x[:, 0].argsort()]  # !
loss = F.mse_loss(model(x), y)
loss.backward()
""",
    ),
    healthy=(
        "# both\n"
        + _DATA
        + """for epoch in range(2):
    order = torch.randperm(60)
    xs, ys = x[order], y[order]
    for i in range(0, 60, 20):
        opt.zero_grad()
        F.cross_entropy(net(xs[i : i + 20]), ys[i : i + 20]).backward()
        opt.step()
    for part in order.split(20):
        opt.zero_grad()
        F.cross_entropy(net(x[part]), y[part]).backward()
        opt.step()
""",
        """# mixup
torch.manual_seed(0)
net = nn.Linear(4, 3)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
other = torch.randperm(16)
mixed = 0.7 * x + 0.3 * x[other]
scores = net(mixed)
loss = 0.7 * F.cross_entropy(scores, y) + 0.3 * F.cross_entropy(scores, y[other])
loss.backward()
""",
        """# a loader that shuffles pairs, a series and what follows, and targets made later
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(24, 3), torch.randn(24, 1))
model = nn.Linear(3, 1)
sgd = optim.SGD(model.parameters(), lr=0.05)
for xb, yb in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
    sgd.zero_grad()
    F.mse_loss(model(xb), yb).backward()
    sgd.step()
series = torch.sin(torch.arange(30) / 3).unsqueeze(1)
line = nn.Linear(1, 1)
F.mse_loss(line(series[:-1]), series[1:]).backward()
x = torch.randn(12, 3)
x = x[torch.randperm(12)]
F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
""",
        """# a permutation that is itself to be found
torch.manual_seed(0)
pieces, net = torch.randn(9, 4), nn.Linear(4, 9)
order = torch.randperm(9)
loss = F.cross_entropy(net(pieces[order]), order)
loss.backward()
""",
    ),
)
