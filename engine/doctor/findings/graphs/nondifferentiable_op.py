"""argmax, a comparison, a cast to integers or rounding on the path to the loss."""

from collections.abc import Iterator

from gradscribe.engine.doctor import cuts
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.rewrites import smooth_fixes
from gradscribe.engine.doctor.snapshot_stats import is_zero
from gradscribe.engine.protocol.tape import Op, Value

_FLAT = frozenset("round floor ceil sign trunc fix heaviside sgn floor_divide round_ sign_".split())


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield ops without a derivative that cut leaves off, and flat ops that send only zeros."""
    for cut, message in cuts.cuts_of_kind(evidence, "nondifferentiable"):
        made = evidence.values[cut.op.outputs[0]].dtype
        text = (
            f"{message}: {cut.op.op} on line {cut.op.place.line} gives {made}, "
            f"which has no gradient"
        )
        last = evidence.pass_place(-1)
        fix = smooth_fixes.fix_gradient(evidence, cut.op)
        yield FoundCase(
            cut.op.place, text, (cut.leaves[0].place, last), fix, smooth_fixes.why_no_fix(cut.op)
        )
    yield from _flat(evidence)


def _flat(evidence: Evidence) -> Iterator[FoundCase]:
    nodes = {run.node for run in evidence.tape.executions}
    flat = [
        op
        for op in evidence.tape.ops
        if op.op in _FLAT and op.node in nodes and op.outputs[0] in evidence.root_dependencies
    ]
    for op in flat:
        leaves = _starved(evidence, op)
        if leaves:
            names = cuts.leaf_names(leaves)
            text = (
                f"The gradient of {names} is exactly 0: {op.op} is flat, its slope is 0 everywhere"
            )
            fix = smooth_fixes.fix_gradient(evidence, op)
            yield FoundCase(op.place, text, (leaves[0].place,), fix, smooth_fixes.why_no_fix(op))


def _starved(evidence: Evidence, op: Op) -> tuple[Value, ...]:
    """Return the leaves before an op all of whose gradients were zero."""
    before = {evidence.values[v].tensor for v in evidence.dependencies(op.inputs)}
    found = []
    for tensor, leaf in evidence.leaves.items():
        sent = [
            evidence.tape.snapshots[a.sent]
            for a in evidence.tape.accumulations
            if a.sent is not None and evidence.values[a.leaf].tensor == tensor
        ]
        if tensor in before and sent and all(is_zero(s) for s in sent):
            found.append(leaf)
    return tuple(found)


ENTRY = FindingKind(
    "nondifferentiable-op",
    "An op without a slope",
    "Choosing, comparing, rounding and whole numbers change in jumps, so there is nothing to "
    "follow downhill. Use a smooth stand-in in the loss (softmax and cross-entropy instead of "
    "argmax), and the op itself only to measure.",
    detect,
    sick=(
        """x = torch.tensor([1.5, 2.5], requires_grad=True)
y = x.int()  # !
z = (y.float() * 2).sum()
z.backward()
""",
    ),
    healthy=(
        """# accuracy beside the loss
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
model = nn.Linear(4, 3)
opt = optim.Adam(model.parameters(), lr=0.01)
for step in range(3):
    scores = model(x)
    loss = F.cross_entropy(scores, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    accuracy = (scores.argmax(dim=1) == y).float().mean()
    print(f"{loss.item():.3f} {accuracy.item():.2f}")
""",
        """# a mask from a comparison, a branch on a value
x = param([1.0, -2.0, 3.0])
mask = (x > 0).float()
y = (x * mask).sum()
if y > 1:
    y = y * 2
y.backward()
""",
    ),
)
