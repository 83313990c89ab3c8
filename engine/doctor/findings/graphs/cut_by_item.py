"""A tensor became a Python number in the middle of the computation."""

from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.extraction_fixes import fix_extraction
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import called_name

_WORDS = cuts.ExtractionNames(
    frozenset(("item", "tolist")), frozenset(("float", "int")), frozenset(("math",))
)


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each number extracted from a tensor and then used to compute the loss."""
    for taken in cuts.extractions(evidence, _WORDS):
        place = evidence.program.place(taken.call)
        names = cuts.leaf_names(taken.leaves)
        name = called_name(taken.call)
        message = (
            f"{name}() on line {place.line} makes a plain Python number of "
            f"{evidence.program.source(taken.owner)}: {names} cannot get a gradient through it"
        )
        related = (evidence.place_of(taken.value.id), taken.leaves[0].place)
        yield FoundCase(place, message, related, fix_extraction(evidence.program, taken))


ENTRY = FindingKind(
    "cut-by-item",
    "A Python number in between",
    "A Python number has no history. Compute with the tensor, and take .item() only for printing "
    "and logging.",
    detect,
    sick=(
        """x = param(2.0)
y = x**2
z = torch.tensor(y.item() * 3, requires_grad=True)  # !
z.backward()
print(x.grad)
""",
    ),
    healthy=(
        """# logging
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
history, total = [], 0.0
for step in range(4):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
    total += loss.item()
print(f"{total / 4:.3f}", float(loss))
""",
        """# one loss weighs another
w = param([1.0, 2.0])
a = (w**2).sum()
b = w.abs().sum()
balance = a.item() / b.item()
loss = a + balance * b
loss.backward()
print(w.grad)
""",
    ),
)
