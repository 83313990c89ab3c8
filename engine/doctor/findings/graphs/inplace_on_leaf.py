"""A leaf that requires a gradient was changed in place while autograd records."""

from collections.abc import Iterator

from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the failing line."""
    error = matching_error(
        evidence, r"leaf Variable that requires grad .*in-place", "view of a leaf Variable"
    )
    if error is None:
        return
    program, line = evidence.program, error.place.line
    statement = program.statement(line)
    fix = ""
    if statement is not None:
        last = statement.end_lineno or line
        fix = program.wrapped(statement.lineno, last, "with torch.no_grad():")
    message = "A leaf that requires a gradient is changed in place while autograd records"
    yield FoundCase(program.line(line), message, (), fix)


ENTRY = FindingKind(
    "inplace-on-leaf",
    "A parameter is changed where autograd watches",
    "An update is not part of the model, and autograd must not differentiate through it. Do it "
    "inside torch.no_grad(), or with an optimizer.",
    detect,
    sick=(
        """w = torch.zeros(3, requires_grad=True)
w[0] = 1.0  # !
""",
    ),
    healthy=(
        """# updates under no_grad, and through data
w, b = param([1.0, 2.0]), param(0.0)
loss = ((w * 2 + b) ** 2).sum()
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
b.data -= 0.1 * b.grad
""",
        """# weights initialised in place
torch.manual_seed(0)
layer = nn.Linear(3, 3)
nn.init.xavier_uniform_(layer.weight)
nn.init.zeros_(layer.bias)
loss = layer(torch.randn(4, 3)).pow(2).mean()
loss.backward()
""",
    ),
)
