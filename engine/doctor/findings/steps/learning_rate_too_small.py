"""Steps so small that nothing changes."""

import math
from collections.abc import Iterator

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.findings.steps.learning_rate_too_big import known_rate, rate_case
from gradscribe.engine.doctor.snapshot_stats import is_zero

PASSES = 10
CHANGE, UPDATE = 0.01, 1e-4


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield training lines whose loss hardly changes, with tiny relative updates."""
    for curve in training.loss_curves(evidence):
        first, last = curve.losses[0], curve.losses[-1]
        if len(curve.losses) < PASSES or not all(map(math.isfinite, curve.losses)):
            continue
        spread = max(curve.losses) - min(curve.losses)
        if abs(first) < 1e-3 or spread > CHANGE * abs(first):
            continue
        ratios = [r for _, r in training.update_ratios(evidence)]
        if not ratios or max(ratios) > UPDATE or _is_still(evidence):
            continue
        message = (
            f"In {len(curve.losses)} passes the loss went from {first:.6g} to {last:.6g}"
            f"{known_rate(evidence)}: "
            f"no step changed a parameter by more than {max(ratios):.2g} of its size"
        )
        factor = min(_factor(max(ratios)), _largest_factor(evidence))
        case = rate_case(evidence, curve, message, factor)
        yield case if factor > 1 else case._replace(fix="", why_no_fix=_OTHER_CAUSE)
        return


_OTHER_CAUSE = "The rate is as large as rates are: look for what makes the gradients small"
_LARGEST, _LARGEST_ADAPTIVE = 1.0, 0.1
"""Largest rates that are proposed, for plain gradient descent and for Adam and the like."""


def _largest_factor(evidence: Evidence) -> float:
    """Return the factor of the rate up to the largest one that is proposed."""
    step = next((s for s in evidence.tape.steps if s.lr), None)
    if step is None or not step.lr:
        return math.inf
    plain = step.optimizer in ("SGD", "ASGD", "LBFGS", "Adadelta")
    return (_LARGEST if plain else _LARGEST_ADAPTIVE) / step.lr


def _is_still(evidence: Evidence) -> bool:
    """Return whether every gradient is zero, which no rate makes up for."""
    sent = [a.sent for a in evidence.tape.accumulations if a.sent is not None]
    return bool(sent) and all(is_zero(evidence.tape.snapshots[i]) for i in sent)


def _factor(ratio: float) -> float:
    """Return the power of ten that brings updates to about a hundredth of the parameters."""
    return 10.0 ** min(8, round(math.log10(0.01 / ratio))) if ratio > 0 else 1e3


ENTRY = FindingKind(
    "learning-rate-too-small",
    "Steps are too small",
    "About a thousandth of a parameter's size per step is usual. With far less, training needs "
    "thousands of times as long. Try a larger learning rate.",
    detect,
    "hint",
    setup_fix=SetupFix(mistake="huge_lr", rate=10.0),
    sick=(
        """torch.manual_seed(0)
x = torch.randn(32, 3)
y = x.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=1e-7)  # !
for step in range(30):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    healthy=(
        """# trained from the optimum on
torch.manual_seed(0)
x = torch.randn(32, 3)
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
w = param([[1.0], [2.0], [3.0]])
opt = optim.SGD([w], lr=0.1)
for step in range(15):
    loss = F.mse_loss(x @ w, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# fine-tuning with small steps
torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.Adam(model.parameters(), lr=1e-3)
for step in range(15):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    follows=SPOILED,
)
