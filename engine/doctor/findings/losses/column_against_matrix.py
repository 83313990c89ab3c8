"""A column of targets meets predictions with several columns: all get the same target."""

import math
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.snapshot_stats import shape
from gradscribe.engine.protocol.tape import Op, Value

_DIFFERENCES = frozenset("sub rsub sub_ subtract".split())
_ERRORS = frozenset("pow pow_ square abs abs_ norm vector_norm float_power absolute".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the differences of computed (n, m) and given (n, 1) tensors that become an error."""
    for op in evidence.tape.ops:
        if op.op not in _DIFFERENCES or op.phase != "forward" or len(op.inputs) < 2:
            continue
        a, b = (evidence.values[i] for i in op.inputs[:2])
        for wide, column in ((a, b), (b, a)):
            if _is_slip(wide, column) and _becomes_error(evidence, op):
                yield _case(evidence, op, wide, column)


def _is_slip(wide: Value, column: Value) -> bool:
    """Return whether a computed matrix meets a column of data that the program made as such.

    A column that an op made (a mean that kept its dimension, ``x[:, None]``) is meant as one.
    """
    if len(wide.shape) != 2 or len(column.shape) != 2:
        return False
    rows, columns = wide.shape
    is_column = rows > 1 and columns > 1 and column.shape == (rows, 1)
    is_given = column.op is None and not column.requires_grad and column.base is None
    return is_column and is_given and wide.requires_grad and not wide.is_leaf


def _becomes_error(evidence: Evidence, op: Op) -> bool:
    """Return whether a difference is squared or its size taken on the way to a loss."""
    for out in op.outputs:
        if out not in evidence.root_dependencies:
            continue
        for number in evidence.users.get(out, ()):
            user = evidence.tape.ops[number]
            is_square = user.op in ("mul", "mul_") and user.inputs.count(out) == 2
            if user.op in _ERRORS or is_square:
                return True
    return False


def _case(evidence: Evidence, op: Op, wide: Value, column: Value) -> FoundCase:
    rows, columns = wide.shape
    names = [evidence.name(v.id, "one side") for v in (wide, column)]
    message = (
        f"{names[0]} {shape(wide.shape)} meets {names[1]} {shape(column.shape)}: {op.op} copies "
        f"the column to all {columns} columns, {math.prod(wide.shape)} differences instead of "
        f"{rows}"
    )
    related = tuple(evidence.place_of(v.id) for v in (wide, column))
    return FoundCase(op.place, message, related, "", _NO_FIX)


_NO_FIX = (
    "Give the model a single output, or the targets a column for each of its outputs; if every "
    "column is meant to have the same target, write target.expand_as(prediction)"
)

ENTRY = FindingKind(
    "column-against-matrix",
    "A column meets a matrix",
    "Shapes like (3, 4) and (3, 1) broadcast without an error. All outputs are then pulled to the "
    "same target, which is seldom meant.",
    detect,
    "hint",
    sick=(
        """torch.manual_seed(0)
x, target = torch.randn(3, 5), torch.randn(3, 1)
w = torch.randn(5, 4, requires_grad=True)
prediction = x @ w
loss = ((prediction - target) ** 2).mean()  # !
loss.backward()
""",
        """# the target first, absolute errors of a layer
torch.manual_seed(0)
layer = nn.Linear(5, 2)
x, target = torch.randn(6, 5), torch.tensor([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
error = target - layer(x)  # !
loss = error.abs().mean()
loss.backward()
""",
    ),
    healthy=(
        """# a scale and a shift for each row
torch.manual_seed(0)
x, scale, shift = torch.randn(3, 5), torch.rand(3, 1), torch.rand(3, 1)
w = torch.randn(5, 4, requires_grad=True)
loss = ((x @ w) * scale + shift).pow(2).mean()
loss.backward()
""",
        """# rows are centred, by their own mean and by that of data
torch.manual_seed(0)
x = torch.randn(3, 5)
w = torch.randn(5, 4, requires_grad=True)
y = x @ w
centred = y - y.mean(dim=1, keepdim=True)
other = y - x.mean(dim=1, keepdim=True)
third = y - torch.arange(3.0)[:, None] - torch.ones(3).unsqueeze(1)
loss = (centred**2).mean() + other.abs().mean() + (third**2).mean()
loss.backward()
""",
        """# one output and one target; the same target for all outputs, said so
torch.manual_seed(0)
x, target = torch.randn(3, 5), torch.randn(3, 1)
one, four = nn.Linear(5, 1), nn.Linear(5, 4)
loss = ((one(x) - target) ** 2).mean()
y = four(x)
loss = loss + ((y - target.expand_as(y)) ** 2).mean()
loss.backward()
""",
        """# a quantile loss with a column of targets
torch.manual_seed(0)
x, target = torch.randn(6, 5), torch.randn(6, 1)
layer = nn.Linear(5, 3)
q = torch.tensor([0.1, 0.5, 0.9])
error = target - layer(x)
loss = torch.maximum((q - 1) * error, q * error).mean()
loss.backward()
""",
    ),
)
