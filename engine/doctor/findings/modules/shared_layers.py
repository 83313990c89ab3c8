"""Layers that are a single object: a list with a layer in it, multiplied."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.protocol.tape import Call

_COPIES = ("deepcopy", "copy", "clone")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield multiplied lists whose layer has parameters and is called again in the same pass."""
    program = evidence.program
    repeated = _repeated(evidence)
    for node in program.find(ast.BinOp) if repeated else ():
        display, times = _parts(node)
        if display is None or times is None or _is_single(times):
            continue
        made = [(element, _made(program, element)) for element in display.elts]
        kinds = {called_name(call) for _, call in made if call is not None}
        layers = [call for call in repeated if call.kind in kinds]
        if not layers:
            continue
        again = max(layers, key=lambda c: repeated[c])
        named = any(isinstance(element, ast.Name | ast.Attribute) for element in display.elts)
        message = (
            f"{program.source(node)} has the same {again.kind} object in each place: it is called "
            f"{repeated[again]} times in a pass, with the same {again.parameters} parameters"
        )
        fix = "" if named else _fix(program, node, display, times)
        yield FoundCase(program.place(node), message, (), fix, is_hint=named)


def _is_single(times: ast.expr) -> bool:
    return isinstance(times, ast.Constant) and times.value in (0, 1)


def _parts(node: ast.BinOp) -> tuple[ast.List | ast.Tuple | None, ast.expr | None]:
    """Return the list display of a multiplication and its other factor."""
    if isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.List | ast.Tuple) and not isinstance(other, ast.List):
                return one, other
    return None, None


def _made(program: ProgramTree, element: ast.expr) -> ast.Call | None:
    """Return the call that creates an element, also where it is a variable."""
    if isinstance(element, ast.Name | ast.Attribute):
        found = program.last_binding(ast.unparse(element), element.lineno)
        return _made(program, found) if isinstance(found, ast.Call) else None
    if not isinstance(element, ast.Call) or called_name(element) in _COPIES:
        return None
    own = [
        n.value
        for function in program.find(ast.FunctionDef)
        if function.name == called_name(element)
        for n in ast.walk(function)
        if isinstance(n, ast.Return) and isinstance(n.value, ast.Call)
    ]
    return own[0] if own else element


def _repeated(evidence: Evidence) -> dict[Call, int]:
    """Return the modules with parameters that were called several times between two passes."""
    counts: dict[tuple[int, int], int] = defaultdict(int)
    first: dict[int, Call] = {}
    most: dict[int, int] = {}
    round_ = 0
    for event in evidence.tape.events:
        if event.kind == "backward":
            round_ += 1
        elif event.kind == "enter":
            call = evidence.tape.calls[event.ref]
            if call.parameters:
                first.setdefault(call.module, call)
                counts[call.module, round_] += 1
    for (module, _), count in counts.items():
        most[module] = max(most.get(module, 0), count)
    return {first[module]: count for module, count in most.items() if count > 1}


def _fix(
    program: ProgramTree, node: ast.BinOp, display: ast.List | ast.Tuple, times: ast.expr
) -> str:
    """Create each layer in a comprehension."""
    elements = [program.source(element) for element in display.elts]
    name = "_"
    if len(elements) == 1:
        inner = f"{elements[0]} for {name} in range({program.source(times)})"
    else:
        layers = ", ".join(elements)
        inner = f"layer for {name} in range({program.source(times)}) for layer in ({layers})"
    around = next(program.above(node), None)
    starred = isinstance(around, ast.Starred)
    whole = f"[{inner}]"
    if isinstance(display, ast.Tuple) and not starred:
        whole = f"tuple({inner})"
    return program.replaced((node, whole))


_STEPS = """opt = optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(12, 6), torch.randn(12, 1)
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
"""

ENTRY = FindingKind(
    "shared-layers",
    "The layers of a list are one and the same",
    "Multiplying a list repeats its entries and copies none: all places share a single layer and "
    "its parameters. Create a layer for each, in a comprehension.",
    detect,
    sick=(
        """# in a ModuleList
class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6)] * depth)  # !
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)

torch.manual_seed(0)
net = Net()
"""
        + _STEPS,
        """# two entries in a Sequential
torch.manual_seed(0)
net = nn.Sequential(*[nn.Linear(6, 6), nn.Tanh()] * 2, nn.Linear(6, 1))  # !
"""
        + _STEPS,
        """# a class of its own, the number first
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return x + self.inner(x).tanh()

torch.manual_seed(0)
blocks = 4 * [Block(6)]  # !
net = nn.Sequential(*blocks, nn.Linear(6, 1))
"""
        + _STEPS,
        """# a layer with a name
torch.manual_seed(0)
layer = nn.Linear(6, 6)
net = nn.Sequential(*[layer] * 3, nn.Linear(6, 1))  # !
"""
        + _STEPS,
    ),
    healthy=(
        """# in a comprehension
torch.manual_seed(0)
net = nn.Sequential(*[nn.Linear(6, 6) for _ in range(3)], nn.Linear(6, 1))
"""
        + _STEPS,
        """# activations and sizes repeated
torch.manual_seed(0)
sizes = [6] * 3
acts = [nn.ReLU()] * 2
net = nn.Sequential(nn.Linear(6, 6), acts[0], nn.Linear(6, 6), acts[1], nn.Linear(6, 1))
"""
        + _STEPS,
        """# a layer that is applied again and again, on purpose
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.head = nn.Linear(6, 6), nn.Linear(6, 1)

    def forward(self, x):
        for _ in range(3):
            x = x + self.step(x).tanh() * 0.1
        return self.head(x)

torch.manual_seed(0)
net = Net()
"""
        + _STEPS,
    ),
)
