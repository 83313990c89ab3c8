"""Gradients that shrink from layer to layer in the backward pass."""

import math
from collections.abc import Iterator
from itertools import pairwise

from gradscribe.engine.doctor import gradient_scale_fixes, training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.doctor.snapshot_stats import format_number

RATIO = 1e-4


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the first pass whose first layer's gradient is under `RATIO` of the last layer's."""
    number, found = training.deep_pass(evidence)
    if not found:
        return
    first, last = found[0], found[-1]
    shrunk = math.isfinite(last.gradient) and first.gradient < RATIO * last.gradient
    if shrunk and _steadily(found):
        factor = (first.gradient / last.gradient) ** (1 / (len(found) - 1))
        message = (
            f"Over {len(found)} layers the gradient shrinks "
            f"from {format_number(last.gradient)} at the last "
            f"to {format_number(first.gradient)} at the first: to {factor:.0%} per layer"
        )
        related = (last.op.place, evidence.pass_place(number))
        yield FoundCase(first.op.place, message, related, _fix(evidence, found))


def _fix(evidence: Evidence, found: list[training.LayerGradient]) -> str:
    """Use ReLU and an initialization that preserves scale; for a recurrence only the latter."""
    program, own = evidence.program, gradient_scale_fixes.owners(evidence, found)
    if len({layer.op.place for layer in found}) == 1 and not any(o.endswith(".") for o in own):
        return gradient_scale_fixes.reinitialize(evidence, program, found, "xavier_normal_")
    curved = gradient_scale_fixes.with_relu(program, leaky=False)
    return (
        gradient_scale_fixes.reinitialize(evidence, ProgramTree(curved), found, "kaiming_normal_")
        if curved
        else ""
    )


def _steadily(found: list[training.LayerGradient]) -> bool:
    """Return whether the gradient shrinks over many layers, not just at a dead layer."""
    falls = sum(a.gradient < b.gradient for a, b in pairwise(found))
    zeros = sum(layer.gradient == 0 for layer in found)
    # Where it grows again there are branches in parallel, each with a scale of its own.
    if any(a.gradient > 10 * b.gradient > 0 for a, b in pairwise(found)):
        return False
    return falls >= 0.6 * (len(found) - 1 - zeros) and zeros < len(found) - 2


ENTRY = FindingKind(
    "vanishing-gradient",
    "Vanishing gradient",
    "Each layer multiplies the gradient by its slope: sigmoid's is at most 0.25. The first layers "
    "hardly learn. ReLU, better initial weights, normalisation or skip connections keep its size.",
    detect,
    "hint",
    setup_fix=SetupFix(activations={"sigmoid": "relu", "tanh": "relu"}),
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randn(16, 1)
layers = [nn.Linear(4, 16), nn.Sigmoid()]
for i in range(10):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]
model = nn.Sequential(*layers, nn.Linear(16, 1))
loss = F.mse_loss(model(x), y)  # !
loss.backward()
""",
    ),
    healthy=(
        """# ten layers with skip connections
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return x + torch.sigmoid(self.linear(self.norm(x)))

model = nn.Sequential(nn.Linear(4, 16), *[Block() for _ in range(10)], nn.Linear(16, 1))
loss = F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 1))
loss.backward()
""",
        """# two sigmoid layers solve XOR
torch.manual_seed(1)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
model = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 1), nn.Sigmoid())
opt = optim.Adam(model.parameters(), lr=0.1)
for step in range(30):
    loss = F.binary_cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    follows=SPOILED,
)
