"""A tensor went through numpy in the middle of the computation."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.extraction_fixes import fix_extraction
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree, names, receiver
from gradscribe.engine.protocol.tape import Place

_WORDS = cuts.ExtractionNames(frozenset(("numpy",)), frozenset(), frozenset(("np", "numpy")))


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each array extracted from a tensor and then used to compute the loss."""
    program = evidence.program
    refused = matching_error(evidence, r"Can't call numpy\(\) on Tensor that requires grad")
    if refused is not None:
        yield from _refused(evidence, refused.place.line)
        return
    for taken in cuts.extractions(evidence, _WORDS):
        place = program.place(taken.call)
        message = (
            f"{program.source(taken.call)} on line {place.line} leaves torch: "
            f"{cuts.leaf_names(taken.leaves)} cannot get a gradient through numpy"
        )
        related = (evidence.place_of(taken.value.id), taken.leaves[0].place)
        fix = fix_extraction(program, taken)
        left = _still_numpy(fix, taken.call.lineno)
        yield FoundCase(place, message, related, "" if left else fix, _NO_FIX)


def _still_numpy(fix: str, line: int) -> bool:
    """Return whether the variable bound on a line of a fixed program is still passed to numpy."""
    program = ProgramTree(fix)
    statement = program.statement(line)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    bound = {name for target in targets for name in names(target)}
    calls = (n for n in program.find(ast.Call) if n.lineno >= line)
    return any(
        ast.unparse(call.func).startswith(("np.", "numpy."))
        and any(names(arg) & bound for arg in call.args)
        for call in calls
    )


_NO_FIX = "Write what numpy computes here with torch's own functions"


def _refused(evidence: Evidence, line: int) -> Iterator[FoundCase]:
    program = evidence.program
    calls = [c for c in program.calls("numpy") if c.lineno == line and receiver(c) is not None]
    message = "This tensor requires a gradient, and numpy would lose it without a word"
    if not calls:
        yield FoundCase(program.line(line), message)
        return
    place = program.place(calls[0])
    end = Place(
        place.end_line, place.end_column - len(".numpy()"), place.end_line, place.end_column
    )
    is_plain = program.source(calls[0]).endswith(".numpy()")
    fix = program.replaced((end, ".detach().numpy()")) if is_plain else ""
    yield FoundCase(place, message, (), fix)


ENTRY = FindingKind(
    "cut-by-numpy",
    "Through numpy and back",
    "numpy knows nothing of gradients. Use torch's own function of the same name inside a "
    "computation; for plots and logs write .detach().numpy().",
    detect,
    sick=(
        """x = param([1.0, 2.0])
y = np.exp((x * 2).numpy())  # !
""",
    ),
    healthy=(
        """# a plot's numbers
x = param([1.0, 2.0])
y = x**2
y.sum().backward()
curve = y.detach().numpy()
print(np.mean(curve), x.grad.numpy())
""",
        """# data from numpy
rng = np.random.default_rng(0)
x = torch.from_numpy(rng.normal(size=(12, 3)).astype(np.float32))
y = torch.from_numpy(rng.normal(size=(12, 1))).float()
model = nn.Linear(3, 1)
loss = F.mse_loss(model(x), y)
loss.backward()
""",
    ),
)
