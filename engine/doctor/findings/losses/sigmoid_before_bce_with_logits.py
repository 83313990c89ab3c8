"""Probabilities passed to the binary cross-entropy that takes raw scores."""

from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.losses.softmax_before_cross_entropy import (
    doubled_activations,
)


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of binary_cross_entropy_with_logits on the result of a sigmoid."""
    losses = ("binary_cross_entropy_with_logits",)
    yield from doubled_activations(evidence, losses, ("sigmoid", "softmax"))


ENTRY = FindingKind(
    "sigmoid-before-bce-with-logits",
    "Sigmoid twice",
    "binary_cross_entropy_with_logits applies the sigmoid itself. Applied twice, every probability "
    "lies between 0.5 and 0.73, and the loss can never get small. Give it raw scores.",
    detect,
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8, 1)).float()
model = nn.Linear(4, 1)
p = torch.sigmoid(model(x))  # !
loss = F.binary_cross_entropy_with_logits(p, y)
loss.backward()
""",
    ),
    healthy=(
        """# each with its own loss
torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8, 1)).float()
model = nn.Linear(4, 1)
logits = model(x)
a = F.binary_cross_entropy_with_logits(logits, y)
b = F.binary_cross_entropy(torch.sigmoid(logits), y)
(a + b).backward()
""",
        """# a gate before a linear layer
torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,)).float()
gate, out = nn.Linear(4, 4), nn.Linear(4, 1)
logits = out(x * torch.sigmoid(gate(x))).squeeze(-1)
loss = nn.BCEWithLogitsLoss()(logits, y)
loss.backward()
""",
    ),
)
