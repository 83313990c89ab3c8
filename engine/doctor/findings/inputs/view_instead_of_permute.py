"""A view to the shape that a permute gives: the numbers stay where they were, and axes mix."""

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import parenthesized
from gradscribe.engine.doctor.program_tree import called_name, receiver
from gradscribe.engine.doctor.shapes.layouts import VIEWS, Layout, Layouts, TensorAxis, layouts_of
from gradscribe.engine.doctor.snapshot_stats import shape as shape_text
from gradscribe.engine.protocol.tape import Op

_MOST_AXES, _MOST_NUMBERS = 6, 1 << 20


class Scramble(NamedTuple):
    """A view whose result has the shape, and not the order, of permuted axes."""

    op: Op
    axes: list[TensorAxis]
    order: tuple[int, ...]
    """The order of ``axes`` that the result's shape stands for."""
    dims: tuple[int, ...]
    """The same as an order of the input's dimensions; empty if it is none."""
    is_split: bool
    """True if the last axis had to be split for it."""
    is_sure: bool

    @property
    def call(self) -> str:
        """The call that gives the order: ``transpose(1, 2)`` or ``permute(0, 2, 3, 1)``."""
        order = self.dims or self.order
        moved = [at for at, dim in enumerate(order) if at != dim]
        if len(moved) == 2:
            return f"transpose({moved[0]}, {moved[1]})"
        return f"permute({', '.join(map(str, order))})"


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield views whose result several dimensions would have to be moved for."""
    for scramble in scrambles(evidence):
        if scramble.call.startswith("permute"):
            yield case_of(evidence, scramble)


def scrambles(evidence: Evidence) -> Iterator[Scramble]:
    """Yield a scramble for each line with a view on the way to a loss."""
    seen = set()
    views = [op for op in evidence.tape.ops if op.op in VIEWS and op.phase == "forward"]
    for op in views:
        if not op.outputs or op.place in seen or op.op in ("squeeze", "unsqueeze"):
            continue
        if op.outputs[0] not in evidence.root_dependencies:
            continue
        scramble = _scramble(evidence, layouts_of(evidence), op)
        if scramble is not None:
            seen.add(op.place)
            yield scramble


def _scramble(evidence: Evidence, layouts: Layouts, op: Op) -> Scramble | None:
    before, after = (evidence.values[v].shape for v in (op.inputs[0], op.outputs[0]))
    layout = layouts.of(op.inputs[0])
    axes = [axis for part in layout for axis in part if axis.size > 1]
    sizes = [size for size in after if size > 1]
    if before == after or not 2 <= len(axes) <= _MOST_AXES or len(sizes) > _MOST_AXES:
        return None
    viewed = layouts.viewed(layout, after)
    if viewed is not None and not _straddles(axes, viewed):
        return None
    if not any(axis.made for axis in axes) and not _enters_module(evidence, op):
        return None
    order, is_split = _order(axes, sizes), False
    if order is None:
        axes, order, is_split = *_split_order(axes, sizes), True
    if order is None or _cuts_parts_anew(layouts, layout, after):
        return None
    if viewed is not None and not is_split and not _is_plain(evidence, op, axes, order, sizes):
        return None
    is_sure = (viewed is None or not is_split) and any(axis.made for axis in axes)
    dims = () if is_split else _dims(layout, order)
    return Scramble(op, axes, order, dims, is_split, is_sure)


def _cuts_parts_anew(layouts: Layouts, layout: Layout, after: tuple[int, ...]) -> bool:
    """Return whether dimensions that were put together from parts are cut at other places."""
    if not any(axis.is_part for part in layout for axis in part):
        return False
    whole = tuple((layouts.axis(_size(part), ""),) for part in layout)
    viewed = layouts.viewed(whole, after)
    axes = [axis for part in whole for axis in part]
    return viewed is not None and not _straddles(axes, viewed)


def _size(part: tuple[TensorAxis, ...]) -> int:
    return int(np.prod([axis.size for axis in part]))


def _is_plain(
    evidence: Evidence, op: Op, axes: list[TensorAxis], order: tuple[int, ...], sizes: list[int]
) -> bool:
    """Return whether axes that could have been cut and merged in order are rather exchanged.

    (4, 2) to (2, 4) also stacks pairs, and (12, 4, 6) to (4, 72) makes groups; of four dimensions,
    as channels of a layer or scores of classes it is no accident.
    """
    users = [evidence.tape.ops[i] for i in evidence.users.get(op.outputs[0], ())]
    last = axes[order[-1]]
    if last.made.startswith("conv") and sizes[-1] == last.size:
        return any(user.op in _BY_FEATURE for user in users)
    if len(sizes) < len(axes):
        return axes[0].made in _RECURRENT
    scores = any(user.op == "cross_entropy" for user in users)
    return sorted(axis.size for axis in axes) == sorted(sizes) and (len(axes) >= 4 or scores)


_BY_FEATURE = frozenset(
    "linear layer_norm multi_head_attention_forward lstm gru rnn_tanh rnn_relu cross_entropy "
    "matmul bmm softmax transpose".split()
)
_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def _straddles(axes: list[TensorAxis], viewed: Layout) -> bool:
    """Return whether a dimension was made of a part of an axis and something else."""
    whole = {axis.number for axis in axes}
    return any(len(part) > 1 and any(a.number not in whole for a in part) for part in viewed)


def _enters_module(evidence: Evidence, op: Op) -> bool:
    users = (evidence.tape.ops[i] for i in evidence.users.get(op.outputs[0], ()))
    return any(user.call is not None and user.call != op.call for user in users)


def _rows(
    axes: Sequence[TensorAxis], order: Sequence[int], sizes: Sequence[int]
) -> list[list[int]]:
    """Return which axes make up each dimension; empty if whole axes do not fit."""
    left, found = list(order), list[list[int]]()
    for size in sizes:
        row: list[int] = []
        while size > 1:
            if not left or size % axes[left[0]].size:
                return []
            size //= axes[left[0]].size
            row.append(left.pop(0))
        found.append(row)
    return found if not left else []


def _order(axes: Sequence[TensorAxis], sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Return the order of whole axes, nearest to theirs, that gives ``sizes``."""
    fitting = [
        order for order in itertools.permutations(range(len(axes))) if _rows(axes, order, sizes)
    ]
    return min(fitting, key=_inversions, default=None)


def _inversions(order: tuple[int, ...]) -> int:
    return sum(a > b for a, b in itertools.combinations(order, 2))


def _split_order(
    axes: list[TensorAxis], sizes: Sequence[int]
) -> tuple[list[TensorAxis], tuple[int, ...] | None]:
    """Return the axes and order if the last axis was to be split, its first part to be moved.

    As attention heads: of (batch, length, heads * width) to (batch, heads, length, width).
    """
    if len(sizes) != len(axes) + 1 or len(axes) < 2 or not axes[-1].made:
        return axes, None
    count, length, last = sizes[-3], axes[-2].size, axes[-1]
    if [axis.size for axis in axes[:-2]] != list(sizes[:-3]) or sizes[-2] != length:
        return axes, None
    if count * sizes[-1] != last.size or count == length:
        return axes, None
    split = [*axes[:-1], last._replace(size=count), last._replace(size=sizes[-1])]
    first = len(axes) - 2
    return split, (*range(first), first + 1, first, first + 2)


def _dims(layout: Layout, order: tuple[int, ...]) -> tuple[int, ...]:
    """Return an order of axes as an order of dimensions, if each moves as a whole."""
    places = [at for at, part in enumerate(layout) for axis in part if axis.size > 1]
    moved = [places[i] for i in order]
    whole = [dim for dim, _ in itertools.groupby(moved)]
    inside = all(
        list(group) == sorted(group)
        for group in ([i for i in order if places[i] == dim] for dim in whole)
    )
    return tuple(whole) if len(whole) == len(layout) and inside else ()


def case_of(evidence: Evidence, scramble: Scramble) -> FoundCase:
    """Return the case of a scramble, with the numbers that are at a wrong place."""
    op = scramble.op
    before, after = (evidence.values[v].shape for v in (op.inputs[0], op.outputs[0]))
    asked = shape_text(before)
    if scramble.is_split:
        asked = shape_text(tuple(axis.size for axis in scramble.axes))
    message = (
        f"{op.op} on line {op.place.line} makes {shape_text(after)} of {shape_text(before)} and "
        f"leaves all numbers in their order"
    )
    wrong = _misplaced(scramble)
    if wrong:
        message += f": {wrong[0]} of {wrong[1]} are elsewhere than after {scramble.call}"
        message += f" of {asked}" if scramble.is_split else ""
    maker = evidence.creator(evidence.before_pass_through(op.inputs[0]))
    related = (maker.place,) if maker is not None else ()
    fix = _fix(evidence, scramble)
    return FoundCase(op.place, message, related, fix, is_hint=not scramble.is_sure)


def _misplaced(scramble: Scramble) -> tuple[int, int] | None:
    """Return how many numbers are at another place than after a permute, and how many there are."""
    sizes = [axis.size for axis in scramble.axes]
    count = int(np.prod(sizes))
    if count > _MOST_NUMBERS:
        return None
    numbers = np.arange(count)
    moved = numbers.reshape(sizes).transpose(scramble.order).reshape(-1)
    return int((moved != numbers).sum()), count


def _fix(evidence: Evidence, scramble: Scramble) -> str:
    """Permute before the view, or for heads view first and transpose then."""
    program, op = evidence.program, scramble.op
    calls = [c for c in program.find(ast.Call, op.place) if called_name(c) == op.op]
    if len(calls) != 1 or op.op not in ("view", "reshape"):
        return ""
    call = calls[0]
    owner, given = receiver(call), list(call.args)
    if owner is None or call.keywords:
        return ""
    if ast.unparse(owner) == "torch":
        owner, given = given[0], given[1:]
    text = parenthesized(program, owner)
    given = _flat(given)
    if not given:
        return ""
    sources = [program.source(node) for node in given]
    after = "" if not _is_viewed(evidence, op) else ".contiguous()"
    if scramble.is_split:
        if len(given) != len(scramble.axes):
            return ""
        sources[-3], sources[-2] = sources[-2], sources[-3]
        moved = (
            f"{text}.{op.op}({', '.join(sources)}).transpose({len(given) - 3}, {len(given) - 2})"
        )
        return program.replaced((call, moved + after))
    if not scramble.dims:
        return ""
    shape = evidence.values[op.inputs[0]].shape
    permuted = tuple(shape[dim] for dim in scramble.dims)
    if permuted == evidence.values[op.outputs[0]].shape:
        return program.replaced((call, f"{text}.{scramble.call}{after}"))
    return program.replaced((call, f"{text}.{scramble.call}.reshape({', '.join(sources)})"))


def _flat(given: list[ast.expr]) -> list[ast.expr]:
    """Return the sizes that a view is given, one by one; empty if they are not written out."""
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = given[0].elts
    return [] if any(isinstance(node, ast.Starred) for node in given) else given


def _is_viewed(evidence: Evidence, op: Op) -> bool:
    """Return whether a later view, which needs contiguous numbers, follows directly."""
    users = (evidence.tape.ops[i] for i in evidence.users.get(op.outputs[0], ()))
    return any(user.op == "view" for user in users)


ENTRY = FindingKind(
    "view-instead-of-permute",
    "A view where dimensions were to be moved",
    "view and reshape only cut the row of numbers anew. To put channels last, or to move any other "
    "dimension, the numbers must move with it, by permute, movedim or transpose. Otherwise each "
    "row mixes values of different places.",
    detect,
    sick=(
        """# channels to the end
torch.manual_seed(0)
conv = nn.Conv2d(3, 8, 3, padding=1)
score = nn.Linear(8, 1)
opt = optim.Adam([*conv.parameters(), *score.parameters()], lr=0.01)
images = torch.randn(4, 3, 5, 5)
target = images.mean((1, 2, 3)).unsqueeze(1)
for step in range(4):
    cells = torch.relu(conv(images)).view(4, 25, 8)  # !
    loss = ((score(cells).mean(1) - target) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a class for each pixel
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 3, 1))
sgd = optim.SGD(net.parameters(), lr=0.05)
images, labels = torch.randn(2, 1, 4, 5), torch.randint(3, (2, 4, 5))
for step in range(3):
    logits = net(images)
    loss = F.cross_entropy(logits.reshape(-1, 3), labels.reshape(-1))  # !
    sgd.zero_grad()
    loss.backward()
    sgd.step()
""",
        """# features of a sequence of images for a transformer, in a module
class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(3, 12, 2, stride=2)
        self.layer = nn.TransformerEncoderLayer(12, 2, 16, dropout=0.0)
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        x = self.cut(x)
        n, c, h, w = x.shape
        x = torch.reshape(x, (h * w, n, c))  # !
        return self.head(self.layer(x)[0])

torch.manual_seed(0)
net = Patches()
opt = optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(5, 3, 6, 4), torch.randint(2, (5,))
for step in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
""",
    ),
    healthy=(
        """# permuted
torch.manual_seed(0)
conv = nn.Conv2d(3, 8, 3, padding=1)
score = nn.Linear(8, 1)
opt = optim.Adam([*conv.parameters(), *score.parameters()], lr=0.01)
images = torch.randn(4, 3, 5, 5)
target = images.mean((1, 2, 3)).unsqueeze(1)
for step in range(4):
    cells = conv(images).relu().permute(0, 2, 3, 1).reshape(4, 25, 8)
    loss = ((score(cells).mean(1) - target) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# flattened, and cut into groups of channels
torch.manual_seed(0)
conv, head = nn.Conv2d(1, 6, 3), nn.Linear(96, 2)
opt = optim.SGD([*conv.parameters(), *head.parameters()], lr=0.05)
x, y = torch.randn(5, 1, 6, 6), torch.randint(2, (5,))
for step in range(3):
    h = conv(x)
    h = h.view(5, 2, 3, 4, 4).transpose(1, 2).reshape(5, 6, 4, 4)
    loss = F.cross_entropy(head(h.flatten(1)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# windows, and rows of pixels as a sequence
torch.manual_seed(0)
net, gru, head = nn.Linear(8, 8), nn.GRU(8, 4, batch_first=True), nn.Linear(4, 1)
x, y = torch.randn(3, 8, 8), torch.randn(3, 1)
windows = net(x).view(3, 2, 4, 2, 4).permute(0, 1, 3, 2, 4).reshape(-1, 4, 4)
back = windows.view(3, 2, 2, 4, 4).permute(0, 1, 3, 2, 4).reshape(3, 8, 8)
out, h = gru(back.view(3, 4, 2, 8).mean(2))
loss = F.mse_loss(head(h[-1]), y)
loss.backward()
""",
    ),
)
