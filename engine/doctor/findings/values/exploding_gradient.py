"""Gradients that grow from layer to layer in the backward pass."""

import math
from collections.abc import Iterator

from gradscribe.engine.doctor import gradient_scale_fixes, training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.snapshot_stats import format_number

_NO_FIX = (
    "Where the first weights are made, divide them by the square root of how many inputs they meet"
)
RATIO = 1e3


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the first pass whose first layer's gradient is `RATIO` times the last layer's."""
    number, found = training.deep_pass(evidence)
    if not found:
        return
    first, last = found[0], found[-1]
    grown = first.gradient > RATIO * last.gradient > 0 or not math.isfinite(first.gradient)
    if grown and math.isfinite(last.gradient):
        largest = max(training.gradient_norms(evidence, number), key=lambda row: row[1])
        message = (
            f"Over {len(found)} layers the gradient grows from {format_number(last.gradient)} "
            f"at the last to {format_number(first.gradient)} at the first; "
            f"{largest[0] or 'a leaf'} gets one of size {format_number(largest[1])}"
        )
        related = (last.op.place, evidence.pass_place(number))
        fix = gradient_scale_fixes.reinitialize(evidence, evidence.program, found, "xavier_normal_")
        yield FoundCase(first.op.place, message, related, fix, _NO_FIX)


ENTRY = FindingKind(
    "exploding-gradient",
    "Exploding gradient",
    "Each layer multiplies the gradient by its weights. One step then throws the first layers far "
    "away. Smaller initial weights, normalisation or clip_grad_norm_ bound it.",
    detect,
    "hint",
    setup_fix=SetupFix(clip_norm=1.0),
    sick=(
        """torch.manual_seed(0)
w = torch.randn(16, 16, requires_grad=True)
h = torch.randn(4, 16)
for t in range(12):
    h = h @ w  # !
loss = h.pow(2).mean()
loss.backward()
""",
    ),
    healthy=(
        """# a small convolutional network
torch.manual_seed(0)
x, y = torch.randn(4, 1, 8, 8), torch.randint(0, 3, (4,))
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3),
)
opt = optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a deep network with good initial weights
torch.manual_seed(0)
layers = []
for i in range(8):
    linear = nn.Linear(32, 32)
    nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
    layers += [linear, nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(32, 1))
loss = F.mse_loss(model(torch.randn(16, 32)), torch.randn(16, 1))
loss.backward()
""",
    ),
    follows=SPOILED,
)
