"""Data of computed tensors copied into a new tensor, which has no history."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name

_MAKERS = ("tensor", "FloatTensor", "Tensor")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield new tensors with copied data of tensors that the loss should depend on."""
    seen = set[ast.Call]()
    for taken in cuts.extractions_of_calls(evidence, _copies(evidence.program)):
        if taken.call in seen:
            continue
        seen.add(taken.call)
        place = evidence.program.place(taken.call)
        message = (
            f"{called_name(taken.call)}() on line {place.line} copies the numbers of "
            f"{evidence.program.source(taken.owner)} and leaves its history behind: "
            f"{cuts.leaf_names(taken.leaves)} cannot get a gradient through it"
        )
        related = (evidence.place_of(taken.value.id), taken.leaves[0].place)
        yield FoundCase(place, message, related, _fix(evidence, taken.call))


def _copies(program: ProgramTree) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yield calls that create a tensor, each with the parts it is made of."""
    for call in program.calls(*_MAKERS):
        if len(call.args) == 1:
            for part in _parts(program, call.args[0], call.lineno):
                yield call, part


def _parts(program: ProgramTree, given: ast.expr, line: int) -> Iterator[ast.expr]:
    """Yield the elements of a list, as far as known; the expression itself if it is no list."""
    if isinstance(given, ast.List | ast.Tuple):
        for element in given.elts:
            yield from _parts(program, element, line)
    elif isinstance(given, ast.ListComp):
        yield given.elt
        yield from _of_elements(program, given, line)
    elif isinstance(given, ast.Name):
        bound = program.last_binding(given.id, line)
        if isinstance(bound, ast.List | ast.Tuple | ast.ListComp):
            yield from _parts(program, bound, line)
            for call in program.calls("append"):
                if ast.unparse(call.func) == f"{given.id}.append" and call.args:
                    yield call.args[0]
        else:
            yield given
    else:
        yield given


def _of_elements(program: ProgramTree, given: ast.ListComp, line: int) -> Iterator[ast.expr]:
    """Yield what a comprehension takes out of a list's elements: ``[m[0] for m in memory]``."""
    loop, taken = given.generators[0], given.elt
    if not isinstance(loop.iter, ast.Name):
        return
    elements = list(_parts(program, loop.iter, line))
    if elements == [loop.iter]:
        return
    if ast.unparse(taken) == ast.unparse(loop.target):
        yield from elements
        return
    place = _place_in(loop.target, taken)
    for element in elements:
        if isinstance(element, ast.Tuple | ast.List) and 0 <= place < len(element.elts):
            yield element.elts[place]


def _place_in(target: ast.expr, taken: ast.expr) -> int:
    """Return which part of a loop's element is taken, by index or by name; -1 for none."""
    if isinstance(taken, ast.Subscript) and ast.unparse(taken.value) == ast.unparse(target):
        number = taken.slice.value if isinstance(taken.slice, ast.Constant) else None
        return number if isinstance(number, int) else -1
    names = [ast.unparse(e) for e in target.elts] if isinstance(target, ast.Tuple) else []
    text = ast.unparse(taken)
    return names.index(text) if text in names else -1


def _fix(evidence: Evidence, call: ast.Call) -> str:
    """Stack a list of tensors; use a tensor as it is."""
    program, given = evidence.program, call.args[0]
    if isinstance(given, ast.ListComp):
        return program.replaced((call, f"torch.stack({program.source(given)})"))
    parts = list(_parts(program, given, call.lineno))
    if parts == [given]:
        return program.replaced((call, program.source(given)))
    nested = isinstance(given, ast.List) and any(isinstance(e, ast.List) for e in given.elts)
    if nested or any(isinstance(part, ast.Constant) for part in parts):
        return ""
    return program.replaced((call, f"torch.stack({program.source(given)})"))


ENTRY = FindingKind(
    "cut-by-copy",
    "A new tensor made of numbers",
    "torch.tensor copies numbers and knows nothing of where they came from. Put computed tensors "
    "together with torch.stack or torch.cat, which autograd follows.",
    detect,
    sick=(
        """w = param([1.0, 2.0])
a = w[0] * 2
b = w[1] * 3
both = torch.tensor([a, b])  # !
loss = both.sum()
loss.backward()
""",
        """w = param([1.0, 2.0])
memory = []
for step in range(2):
    memory.append((w[step] * 2, step))
parts = torch.tensor([part for part, number in memory])  # !
loss = parts.sum()
loss.backward()
""",
    ),
    healthy=(
        """# what is logged
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
log = []
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    log.append(loss.item())
    loss.backward()
    opt.step()
mean = torch.tensor(log).mean()
""",
        """# a target
w = param([1.0, 2.0])
target = torch.tensor([3.0, 4.0])
loss = ((torch.stack([w[0] * 2, w[1]]) - target) ** 2).sum()
loss.backward()
""",
    ),
)
