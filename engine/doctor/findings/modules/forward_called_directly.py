"""``model.forward(x)`` instead of ``model(x)``."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, receiver


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of a module's forward, except those through super."""
    program = evidence.program
    for call in program.calls("forward"):
        owner = receiver(call)
        if owner is None or (isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"):
            continue
        name = program.source(owner)
        if not _is_module(evidence, owner):
            continue
        message = f"{name}.forward(...) skips {name}'s hooks and everything else that a call does"
        assert isinstance(call.func, ast.Attribute)
        yield FoundCase(program.place(call), message, (), program.replaced((call.func, name)))


def _is_module(evidence: Evidence, owner: ast.expr) -> bool:
    """Return whether an expression is a module rather than a class or something else."""
    text, program = ast.unparse(owner), evidence.program
    known = any(leaf.name.startswith(f"{text}.") for leaf in evidence.tape.leaves)
    if known or any(call.name == text for call in evidence.tape.calls):
        return True
    bound = program.last_binding(text, owner.lineno)
    if isinstance(bound, ast.Call) and ast.unparse(bound.func).startswith(("nn.", "torch.nn.")):
        return True
    classes = list(program.find(ast.ClassDef))
    is_class = text[:1].isupper() or any(node.name == text for node in classes)
    # Any other name, such as a parameter, is a module if no other class has a forward.
    own = any(_is_plain(program, node) for node in classes)
    return not is_class and not own and _has_modules(program)


def _has_modules(program: ProgramTree) -> bool:
    calls = (ast.unparse(n.func) for n in program.find(ast.Call))
    return any(text.startswith(("nn.", "torch.nn.")) for text in calls)


def _is_plain(program: ProgramTree, node: ast.ClassDef) -> bool:
    """Return whether a class is no module but has a method forward."""
    has = any(
        isinstance(method, ast.FunctionDef) and method.name == "forward" for method in node.body
    )
    return has and not any(_says_module(program, base) for base in node.bases)


def _says_module(program: ProgramTree, base: ast.expr) -> bool:
    text = ast.unparse(base)
    if "Module" in text or text.startswith(("nn.", "torch.nn.")):
        return True
    classes = (n for n in program.find(ast.ClassDef) if n.name == text)
    return any(_says_module(program, inner) for known in classes for inner in known.bases)


ENTRY = FindingKind(
    "forward-called-directly",
    "The model is not called, only its forward",
    "Calling the module runs its hooks around forward; forward() alone skips them, and with them "
    "whatever a library or this window attached. Call the model like a function.",
    detect,
    sick=(
        """torch.manual_seed(0)
x = torch.randn(16, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
pred = model.forward(x)  # !
print(pred.shape)
""",
    ),
    healthy=(
        """# a subclass calls its parent's forward
torch.manual_seed(0)
class Scaled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)

model = Scaled(3, 1)
model(torch.randn(4, 3)).sum().backward()
""",
        """# a custom function with its own forward
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

x = param(3.0)
y = Square.apply(x)
y.backward()
""",
    ),
    spoils_training=False,
)
