"""Tensors of different dtypes met in an op that needs the same dtype."""

import re
from collections.abc import Iterator

from gradscribe.engine.doctor.errors import matching_error, modules_at
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import parenthesized, with_argument
from gradscribe.engine.doctor.mismatch import describe_operands, operands_on_line

_LOSS = re.compile(r"cross_entropy|nll_loss|bce|binary_cross|CrossEntropyLoss|NLLLoss|BCE")
_CASTS = {
    "float32": ".float()",
    "float64": ".double()",
    "float16": ".half()",
    "bfloat16": ".bfloat16()",
    "int64": ".long()",
}


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the failing line with the dtypes of the tensors and modules there."""
    error = matching_error(
        evidence,
        "must have the same dtype",
        "expected scalar type .* but found",
        "to have the same dtype",
        "expected m1 and m2 to have the same dtype",
        r"Input type \(.*\) and (weight|bias) type \(.*\) should be the same",
        "Found dtype .* but expected",
        "only Tensors of floating point.*require gradients",
        "Only Tensors of floating point",
    )
    if error is None or _is_target(evidence, error.place.line, error.message):
        return
    program, line = evidence.program, error.place.line
    if "can require gradients" in error.message or "require gradient" in error.message:
        yield _whole_numbers(evidence, line)
        return
    involved = operands_on_line(evidence, line, "dtype")
    message = describe_operands(involved) or error.message
    fix = ""
    wanted = next((p.kind for p in involved if p.is_module), "")
    tensors = [p for p in involved if not p.is_module and p.node is not None]
    if not wanted:
        floats = [p.kind for p in tensors if p.kind.startswith(("float", "bfloat"))]
        wanted = "float32" if "float32" in floats else (floats[0] if floats else "")
    for party in tensors:
        if wanted in _CASTS and party.kind != wanted and party.node is not None:
            fix = program.replaced((party.node, program.source(party.node) + _CASTS[wanted]))
            break
    for call, parameters in () if fix else modules_at(evidence, line):
        wanted = parameters[0].dtype
        if wanted in _CASTS and len(call.args) == 1 and not tensors:
            name = program.source(call.func)
            message = f"{name} has parameters in {wanted}: {error.message}"
            fix = program.replaced(
                (call.args[0], parenthesized(program, call.args[0]) + _CASTS[wanted])
            )
    yield FoundCase(program.line(line), message, tuple(p.place for p in involved), fix)


def _is_target(evidence: Evidence, line: int, message: str) -> bool:
    """Return whether the error is about a loss's target, which another finding reports."""
    text = evidence.program.lines[line - 1] if 0 < line <= len(evidence.program.lines) else ""
    if "expected scalar type Long" in message or "Found dtype" in message:
        return True
    return bool(_LOSS.search(text))


def _whole_numbers(evidence: Evidence, line: int) -> FoundCase:
    program = evidence.program
    fix = ""
    for call in program.calls("tensor", "arange", "ones", "zeros", "randint"):
        if call.lineno <= line <= (call.end_lineno or line) and not any(
            k.arg == "dtype" for k in call.keywords
        ):
            fix = with_argument(program, call, "dtype=torch.float32")
    message = "This tensor holds whole numbers, and only real numbers have gradients"
    return FoundCase(program.line(line), message, (), fix)


ENTRY = FindingKind(
    "dtype-mismatch",
    "Tensors of different dtypes",
    "Products and layers work in one dtype; torch does not convert their operands. numpy and whole "
    "numbers are the usual source of float64 and int64: convert where the data comes in.",
    detect,
    sick=(
        """w = torch.tensor([1, 2, 3], requires_grad=True)  # !
""",
    ),
    healthy=(
        """# converted where it comes in
x = torch.from_numpy(np.linspace(0, 1, 12).reshape(4, 3)).float()
model = nn.Linear(3, 1)
model(x).sum().backward()
""",
        """# all in double precision
x = torch.ones(4, 3, dtype=torch.float64)
model = nn.Linear(3, 1).double()
model(x).pow(2).sum().backward()
""",
    ),
)
