"""Parameters that get gradients but are in no optimizer."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import parameters
from gradscribe.engine.doctor.cuts import leaf_names
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.steps.rebuilt_in_loop import made_layers
from gradscribe.engine.doctor.fixes import (
    arguments_without,
    functional,
    optimizer_calls,
    with_argument,
)
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, receiver
from gradscribe.engine.doctor.snapshot_stats import format_number, norm
from gradscribe.engine.protocol.tape import Place, Value


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield a single case for all parameters that no optimizer changes."""
    untrained = parameters.untrained(evidence)
    anew = {t for layer in made_layers(evidence) for t in layer.parameters} if untrained else ()
    missed = [
        leaf
        for tensor, leaf in untrained.items()
        if leaf.name
        and tensor not in anew
        and not parameters.is_data(evidence, tensor)
        and not evidence.program.reads_grad(leaf.name)
        and not parameters.rebuild_lines(evidence, leaf)[1]
        and _belongs(evidence, leaf)
    ]
    if not missed:
        return
    line = min((line for line, _ in optimizer_calls(evidence.program).values()), default=0)
    single = len(missed) == 1
    verb = "gets gradients but is" if single else "get gradients but are"
    sizes = _sizes(evidence, missed)
    change = "changes" if single else "change"
    hidden = _hidden_layers(evidence)
    if hidden is not None:
        sizes += (
            f"; parameters() does not look into the plain {_kind(hidden)} on line {hidden.lineno}"
        )
    message = f"{leaf_names(tuple(missed))} {verb} in no optimizer, and never {change}{sizes}"
    place = evidence.program.line(line) if line else Place()
    related = tuple(leaf.place for leaf in missed[:3])
    yield FoundCase(place if line else missed[0].place, message, related, _fix(evidence, missed))


def _belongs(evidence: Evidence, leaf: Value) -> bool:
    """Return whether a leaf should be trained.

    Optimizing an input (an attack, a style) leaves all parameters of the model alone on purpose.
    """
    if not parameters.is_module_parameter(leaf):
        return True
    optimized = [evidence.leaves[t] for t in evidence.optimized if t in evidence.leaves]
    if any(parameters.is_module_parameter(leaf) for leaf in optimized):
        return True
    return (
        bool(optimized)
        and not any(
            parameters.is_data(evidence, t) for t in evidence.optimized if t in evidence.leaves
        )
        and _meet(evidence, optimized)
    )


def _meet(evidence: Evidence, optimized: list[Value]) -> bool:
    """Return whether the optimized leaves are used after the modules, as a manual layer is."""
    tensors = {leaf.tensor for leaf in optimized}
    for op in evidence.tape.ops:
        own = any(evidence.values[i].tensor in tensors for i in op.inputs)
        others = [i for i in op.inputs if evidence.values[i].tensor not in tensors]
        if own and any(evidence.values[i].requires_grad for i in others):
            return True
    return False


def _sizes(evidence: Evidence, missed: list[Value]) -> str:
    last = {
        evidence.values[a.leaf].tensor: evidence.tape.snapshots[a.sent]
        for a in evidence.tape.accumulations
        if a.sent is not None
    }
    snapshot = last.get(missed[0].tensor)
    return "" if snapshot is None else f" (last gradient of size {format_number(norm(snapshot))})"


def _hidden_layers(evidence: Evidence) -> ast.expr | None:
    """Return a plain list of layers in ``self``, whose parameters the module does not see."""
    program = evidence.program
    for name, rows in program.bindings.items():
        for line, value in rows:
            if name.startswith("self.") and _holds_layers(program, name, value, line):
                return value
    return None


def _holds_layers(program: ProgramTree, name: str, value: ast.expr, line: int) -> bool:
    """Return whether ``name`` is bound to a plain list or dict that contains or gets layers."""
    if any(_makes_layer(program, item) for item in _inside(value)):
        return True
    if isinstance(value, ast.Name):
        bound = program.last_binding(value.id, line)
        is_list = isinstance(bound, ast.List | ast.ListComp)
        return is_list and bound is not None and _holds_layers(program, value.id, bound, line)
    return (
        isinstance(value, ast.List)
        and not value.elts
        and any(
            ast.unparse(call.func) == f"{name}.append" and _makes_layer(program, item)
            for call in program.calls("append")
            for item in call.args
        )
    )


def _inside(value: ast.expr) -> list[ast.expr]:
    """Return the elements of a list or dict display or comprehension."""
    if isinstance(value, ast.List):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    if isinstance(value, ast.ListComp):
        return [value.elt]
    return [value.value] if isinstance(value, ast.DictComp) else []


def _makes_layer(program: ProgramTree, value: ast.expr) -> bool:
    """Return whether a call creates a module, of torch or of a class of the program."""
    if not isinstance(value, ast.Call):
        return False
    own = {
        node.name
        for node in program.find(ast.ClassDef)
        if any(
            ast.unparse(base).startswith(_TORCHS) or "Module" in ast.unparse(base)
            for base in node.bases
        )
    }
    text = ast.unparse(value.func)
    return text in own or text.startswith(_TORCHS)


_TORCHS = ("nn.", "torch.nn.")


def _kind(hidden: ast.expr) -> str:
    return "dict" if isinstance(hidden, ast.Dict | ast.DictComp) else "list"


def _plain_field(program: ProgramTree, missed: list[Value]) -> ast.Call | None:
    """Return the call that creates a module attribute which should be an `nn.Parameter`."""
    if len(missed) != 1 or "." not in missed[0].name:
        return None
    rows = program.bindings.get(f"self.{missed[0].name.rpartition('.')[2]}", [])
    made = rows[0][1] if len(rows) == 1 else None
    asks = isinstance(made, ast.Call) and any(k.arg == "requires_grad" for k in made.keywords)
    return made if isinstance(made, ast.Call) and asks else None


def _fix(evidence: Evidence, missed: list[Value]) -> str:
    """Add the missing parameters to the first optimizer."""
    program = evidence.program
    calls = [call for _, call in optimizer_calls(program).values()]
    hidden = _hidden_layers(evidence)
    if hidden is not None:
        start = "torch.nn" if functional(program).startswith("torch.nn") else "nn"
        return program.replaced(
            (hidden, f"{start}.Module{_kind(hidden).title()}({program.source(hidden)})")
        )
    plain = _plain_field(program, missed)
    if plain is not None:
        bare = arguments_without(program, plain, "requires_grad")
        fresh = f"nn.Parameter({program.source(plain.func)}({bare}))"
        return program.replaced((plain, fresh))
    if len(calls) != 1 or not calls[0].args:
        return ""
    if any("." in leaf.name and leaf.name.split(".")[0] not in program.bindings for leaf in missed):
        return ""
    first, call = calls[0].args[0], calls[0]
    if isinstance(first, ast.List) and all(leaf.name.isidentifier() for leaf in missed):
        names = ", ".join(leaf.name for leaf in missed)
        return with_argument(program, first, names)
    owners = list(dict.fromkeys(leaf.name.split(".")[0] for leaf in missed))
    text = program.source(first)
    if text.endswith(".parameters()") and text.split(".")[0] in owners:
        return program.replaced((first, f"{text.split('.')[0]}.parameters()"))
    optimized = {
        evidence.leaves[t].name.split(".")[0] for t in evidence.optimized if t in evidence.leaves
    }
    if (
        len(owners) == 1
        and owners[0] in (_chosen_from(program, first), *optimized)
        and len(optimized) == 1
    ):
        return program.replaced((first, f"{owners[0]}.parameters()"))
    if "*" in text or any(leaf.name.isidentifier() for leaf in missed):
        more = [leaf.name for leaf in missed if leaf.name.isidentifier()]
        more += [
            f"*{o}.parameters()"
            for o in owners
            if any(leaf.name.startswith(o + ".") for leaf in missed)
        ]
        start = text[1:-1] if text.startswith("[") else f"*{text}"
        return program.replaced((call.args[0], f"[{start}, {', '.join(more)}]"))
    more = [f"*{owner}.parameters()" for owner in owners]
    return program.replaced((first, f"[*{text}, {', '.join(more)}]"))


def _chosen_from(program: ProgramTree, given: ast.expr) -> str:
    """Return the module that a list of parameters was taken from; empty if unknown."""
    if isinstance(given, ast.Name):
        given = program.last_binding(given.id, given.lineno) or given
    if not isinstance(given, ast.ListComp) or not given.generators[0].ifs:
        return ""
    source = given.generators[0].iter
    owner = receiver(source) if isinstance(source, ast.Call) else None
    is_all = isinstance(source, ast.Call) and called_name(source) in (
        "parameters",
        "named_parameters",
    )
    return ast.unparse(owner) if owner is not None and is_all else ""


ENTRY = FindingKind(
    "optimizer-misses-parameter",
    "The optimizer does not hold a parameter",
    "An optimizer changes only what it was given when it was made. The rest gets gradients, pays "
    "for them, and keeps its first values.",
    detect,
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = optim.SGD(head.parameters(), lr=0.1)  # !
for step in range(3):
    loss = F.mse_loss(head(torch.tanh(encoder(x))), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# two optimizers, two learning rates
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
slow = optim.SGD(encoder.parameters(), lr=0.01)
fast = optim.Adam([{"params": head.parameters(), "lr": 0.05}])
for step in range(3):
    loss = F.mse_loss(head(torch.tanh(encoder(x))), y)
    slow.zero_grad()
    fast.zero_grad()
    loss.backward()
    slow.step()
    fast.step()
""",
        """# an input is optimised, the model only judges
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
image = torch.randn(1, 4, requires_grad=True)
opt = optim.Adam([image], lr=0.1)
for step in range(4):
    opt.zero_grad()
    loss = F.cross_entropy(model(image), torch.tensor([2]))
    loss.backward()
    opt.step()
""",
    ),
)
