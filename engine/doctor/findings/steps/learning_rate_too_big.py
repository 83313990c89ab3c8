"""A loss that blows up because the steps overshoot."""

import ast
import math
from collections.abc import Iterator
from itertools import pairwise

from gradscribe.engine.doctor import training
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import SPOILED, FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.fixes import optimizer_calls
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.doctor.scopes import dict_entry, literal_number
from gradscribe.engine.doctor.snapshot_stats import format_number
from gradscribe.engine.protocol.tape import Place


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield training lines whose loss diverged, unless data is unscaled or a sign is wrong."""
    if any(s.largest > 10 for s in training.data_scales(evidence)) or _is_ascent(evidence):
        return
    for curve in training.loss_curves(evidence):
        if not training.diverged(curve):
            continue
        ratios = [r for _, r in training.update_ratios(evidence) if math.isfinite(r)]
        large = ""
        if ratios:
            most = max(ratios)
            times = f"{most:.0%} of" if most < 100 else f"{format_number(most)} times"
            large = f"; one step changed a parameter by {times} its size"
        message = (
            f"The loss went from {format_number(curve.losses[0])} "
            f"to {format_number(curve.losses[-1])} in {len(curve.losses)} passes"
            f"{known_rate(evidence)}{large}"
        )
        yield rate_case(evidence, curve, message, _factor(curve.losses))
        return


def _factor(losses: tuple[float, ...]) -> float:
    """Return the factor for the rate, estimated from the growth of the loss per step.

    On a parabola of curvature c a step multiplies the loss by (1 - lr c)²; half of 1 / c is safe.
    """
    pairs = [(a, b) for a, b in pairwise(losses[:6]) if a > 0 and math.isfinite(b)]
    growth = max((b / a for a, b in pairs), default=1.0)
    factor = 0.5 / (1 + math.sqrt(max(growth, 1.0)))
    size = 10.0 ** math.floor(math.log10(factor))
    return math.floor(factor / size) * size


def _is_ascent(evidence: Evidence) -> bool:
    from gradscribe.engine.doctor.findings.losses import wrong_sign_loss

    return bool(list(wrong_sign_loss.detect(evidence)))


def known_rate(evidence: Evidence) -> str:
    """Return the first known learning rate as the end of a phrase, empty if there is none."""
    rate = next((s.lr for s in evidence.tape.steps if s.lr is not None), None)
    return f" with lr = {format_number(rate)}" if rate is not None else ""


def rate_case(
    evidence: Evidence, curve: training.LossCurve, message: str, factor: float
) -> FoundCase:
    """Return the case of a rate that ``factor`` corrects, at the rate if its place is known."""
    place, fix = _rate_place(evidence, factor)
    line = evidence.program.line(curve.line)
    return FoundCase(place if place.line else line, message, (line,), fix)


def _rate_place(evidence: Evidence, factor: float) -> tuple[Place, str]:
    """Return the place of the learning rate, and the program with ``factor`` times it."""
    program = evidence.program
    for _, call in optimizer_calls(program).values():
        rate = next((k.value for k in call.keywords if k.arg == "lr"), None)
        rate = rate or (call.args[1] if len(call.args) > 1 else None) or _of_group(call)
        number = literal_number(program, rate) if rate is not None else None
        if number is not None:
            return _scaled(program, number, factor)
        return program.place(rate if rate is not None else call), ""
    return _by_hand(evidence, factor)


def _of_group(call: ast.Call) -> ast.expr | None:
    """Return the rate of a parameter group: ``{"params": ..., "lr": 0.1}``."""
    for node in ast.walk(call):
        if isinstance(node, ast.Dict) or (
            isinstance(node, ast.Call) and called_name(node) == "dict"
        ):
            found = dict_entry(node, "lr")
            if found is not None:
                return found
    return None


def _scaled(program: ProgramTree, number: ast.Constant, factor: float) -> tuple[Place, str]:
    assert isinstance(number.value, int | float)
    return program.place(number), program.replaced((number, f"{number.value * factor:g}"))


def _by_hand(evidence: Evidence, factor: float) -> tuple[Place, str]:
    """Do the same for manual updates such as ``w -= 0.1 * w.grad``."""
    program = evidence.program
    updates = [m.op for ms in evidence.leaf_events.values() for m in ms if m.kind == "update"]
    lines = {evidence.tape.ops[op].place.line for op in updates if op is not None}
    rates = set[ast.Constant]()
    for line in lines:
        statement = program.statement(line)
        value = statement.value if isinstance(statement, ast.AugAssign) else None
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            number = literal_number(program, value.left)
            if number is not None:
                rates.add(number)
    if len(rates) == 1:
        return _scaled(program, rates.pop(), factor)
    if rates:
        edits = [(n, f"{n.value * factor:g}") for n in rates if isinstance(n.value, int | float)]
        return program.place(min(rates, key=lambda n: n.lineno)), program.replaced(*edits)
    for name in ("lr", "learning_rate", "eta", "alpha", "step_size"):
        for _, value in program.bindings.get(name, ()):
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                return _scaled(program, value, factor)
    return Place(), ""


ENTRY = FindingKind(
    "learning-rate-too-big",
    "Steps overshoot",
    "Each step jumps over the valley and lands higher on the other side, where the slope is "
    "steeper still. Try a much smaller learning rate.",
    detect,
    "hint",
    setup_fix=SetupFix(mistake="huge_lr", rate=0.1),
    sick=(
        """torch.manual_seed(0)
x = torch.linspace(0, 10, 50).unsqueeze(1)
y = 2 * x + 1
m = nn.Linear(1, 1)
opt = optim.SGD(m.parameters(), lr=0.1)  # !
for i in range(30):
    loss = F.mse_loss(m(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    healthy=(
        """# the loss jumps about and falls
torch.manual_seed(0)
x = torch.randn(64, 3)
y = x.sum(dim=1, keepdim=True) + 0.1 * torch.randn(64, 1)
model = nn.Linear(3, 1)
opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(20):
    rows = torch.randint(0, 64, (4,))
    loss = F.mse_loss(model(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# a schedule and weight decay
torch.manual_seed(0)
x, y = torch.randn(32, 3), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 1))
opt = optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.01)
schedule = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
for step in range(10):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
""",
    ),
    follows=SPOILED,
)
