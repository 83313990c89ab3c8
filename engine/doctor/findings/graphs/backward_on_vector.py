"""backward on a tensor with more than one element."""

from collections.abc import Iterator

from gradscribe.engine.doctor.errors import matching_error, value_of_expression
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import receiver
from gradscribe.engine.doctor.snapshot_stats import shape


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the failed call, with the shape of what it was called on."""
    error = matching_error(evidence, "grad can be implicitly created only for scalar outputs")
    if error is None:
        return
    program = evidence.program
    calls = [c for c in program.calls("backward") if c.lineno == error.place.line]
    owner = receiver(calls[0]) if calls else None
    value = value_of_expression(evidence, owner) if owner is not None else None
    name = program.source(owner) if owner is not None else "the root"
    what = f"{name} has shape {shape(value.shape)}" if value is not None else f"{name} is no scalar"
    fix = ""
    if owner is not None:
        fix = program.replaced((owner, f"{_closed(name)}.sum()"))
    related = (evidence.place_of(value.id),) if value is not None else ()
    message = f"{what}: backward() without gradient= needs one number to start from"
    yield FoundCase(error.place, message, related, fix)


def _closed(text: str) -> str:
    simple = text.replace("_", "").replace(".", "").isalnum() or text.endswith((")", "]"))
    return text if (simple and not text.startswith("(")) or text.endswith(")") else f"({text})"


ENTRY = FindingKind(
    "backward-on-vector",
    "A vector has no backward of its own",
    "A vector has no single gradient: backward computes a vector-Jacobian product and must be told "
    "the vector. Make one number of it first, with .sum() or .mean(), or pass gradient=.",
    detect,
    sick=(
        """x = param([1.0, 2.0, 3.0])
y = x**2
y.backward()  # !
""",
    ),
    healthy=(
        """# a gradient is given
x = param([1.0, 2.0, 3.0])
y = x**2
y.backward(gradient=torch.tensor([1.0, 0.0, 2.0]))
print(x.grad)
""",
        """# one element of any shape
x = param([[2.0]])
y = x**3
y.backward()
""",
    ),
    spoils_training=False,
)
