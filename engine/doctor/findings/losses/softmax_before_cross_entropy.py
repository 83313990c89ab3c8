"""Probabilities passed to a loss that computes them itself."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.fixes import unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.protocol.tape import Op, Place

_MAKERS = ("softmax", "sigmoid")
_LAYERS = {"softmax": "Softmax", "sigmoid": "Sigmoid"}


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield cross-entropies of the result of softmax or sigmoid."""
    yield from doubled_activations(evidence, ("cross_entropy", "cross_entropy_loss"), _MAKERS)


def doubled_activations(
    evidence: Evidence, losses: tuple[str, ...], makers: tuple[str, ...]
) -> Iterator[FoundCase]:
    """Yield losses whose input is the result of one of ``makers``, which they apply themselves."""
    for op in evidence.tape.ops:
        if op.op not in losses or not op.inputs:
            continue
        source = evidence.before_pass_through(op.inputs[0])
        maker = evidence.creator(source)
        if maker is None or maker.op not in makers:
            continue
        place = maker.place if maker.place.line else op.place
        where = f"line {place.line}" + (f", in {maker.scope}" if maker.scope else "")
        message = (
            f"{op.op} on line {op.place.line} applies {_own(op.op)} itself, and its input already "
            f"went through {maker.op} ({where})"
        )
        snapshot = evidence.snapshot(source)
        array = snapshot.array() if snapshot is not None else None
        if array is not None and array.size:
            message += f": it lies between {array.min():.3g} and {array.max():.3g}"
        fix = _fix(evidence.program, maker, place)
        related = (op.place, *_layers(evidence.program, maker))
        yield FoundCase(place, message, related, fix)


def _own(loss: str) -> str:
    return "log-softmax" if "cross_entropy" in loss and "binary" not in loss else "the sigmoid"


def _fix(program: ProgramTree, maker: Op, place: Place) -> str:
    """Remove the extra function: its call, or its layer."""
    for node in program.find(ast.Call, place):
        inner = unwrap_call(node, maker.op)
        if inner is not None:
            return program.replaced((node, program.source(inner)))
    layers = program.calls(_LAYERS[maker.op])
    return without_layer(program, layers[0]) if len(layers) == 1 else ""


def _layers(program: ProgramTree, maker: Op) -> list[Place]:
    """Return the place where the layer that ran is created, if it was a layer."""
    calls = program.calls(_LAYERS[maker.op]) if maker.call is not None else []
    return [program.line(call.lineno) for call in calls[:1]]


def without_layer(program: ProgramTree, layer: ast.Call) -> str:
    """Remove a layer at the end of a Sequential, or replace it by Identity."""
    around = next(program.above(layer), None)
    if (
        isinstance(around, ast.Call)
        and layer in around.args
        and called_name(around) == "Sequential"
    ):
        index = around.args.index(layer)
        if index and index == len(around.args) - 1 and not around.keywords:
            before, end = program.place(around.args[index - 1]), program.place(layer)
            gap = Place(before.end_line, before.end_column, end.end_line, end.end_column)
            return program.replaced((gap, ""))
    text = program.source(layer.func)
    return program.replaced((layer, f"{text[: -len(called_name(layer))]}Identity()"))


ENTRY = FindingKind(
    "softmax-before-cross-entropy",
    "Softmax twice",
    "cross_entropy takes raw scores. Squashed into 0 to 1 first, they can never become very "
    "different: the loss cannot get near 0 and gradients are small.",
    detect,
    setup_fix=SetupFix(mistake="softmax_first"),
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
probs = F.softmax(model(x), dim=1)  # !
loss = F.cross_entropy(probs, y)
loss.backward()
""",
    ),
    healthy=(
        """# raw scores, probabilities for people
torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
model = nn.Linear(4, 3)
scores = model(x)
loss = F.cross_entropy(scores, y)
loss.backward()
probabilities = scores.detach().softmax(dim=1)
print(probabilities[0])
""",
        """# attention inside, log_softmax with nll
torch.manual_seed(0)
q, k, v = torch.randn(3, 4, 8).unbind(0)
w = param(torch.eye(8))
attention = F.softmax(q @ w @ k.T / math.sqrt(8), dim=-1)
mask = torch.tril(torch.ones(4, 4))
masked = (q @ w @ k.T).masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
out = (attention + masked) @ v
loss = F.nll_loss(F.log_softmax(out, dim=1), torch.tensor([0, 1, 2, 3]))
loss.backward()
""",
    ),
)
