"""kl_div of probabilities instead of their logarithms."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.findings.losses.nll_without_log import with_log_softmax
from gradscribe.engine.doctor.fixes import argument_of, call_at, parenthesized
from gradscribe.engine.protocol.tape import Op

_MAKERS = ("softmax", "sigmoid", "exp")


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of kl_div whose input, or whose logarithmic target, is no logarithm."""
    for op in evidence.tape.ops:
        if op.op != "kl_div" or len(op.inputs) < 2:
            continue
        logs = any(a.keyword == "log_target" and a.text == "True" for a in op.args)
        for index in (0, 1) if logs else (0,):
            maker = evidence.creator(evidence.before_pass_through(op.inputs[index]))
            if maker is None or maker.op not in _MAKERS:
                continue
            role = "target" if index else "input"
            message = (
                f"kl_div on line {op.place.line} expects log-probabilities as its {role}, and is "
                f"given the result of {maker.op} (line {maker.place.line})"
            )
            yield FoundCase(op.place, message, (maker.place,), _fix(evidence, op, maker, index))


def _fix(evidence: Evidence, op: Op, maker: Op, index: int) -> str:
    program = evidence.program
    used = evidence.users.get(maker.outputs[0], [])
    if maker.op == "softmax" and len(used) == 1:
        fix = with_log_softmax(program, maker)
        if fix:
            return fix
    call = call_at(program, op.place, "kl_div") or next(program.find(ast.Call, op.place), None)
    node = argument_of(call, index, ("input", "target")[index]) if call is not None else None
    if node is None:
        return ""
    return program.replaced((node, f"{parenthesized(program, node)}.log()"))


ENTRY = FindingKind(
    "kl-without-log",
    "A divergence without its logarithm",
    "kl_div takes the logarithm of the predicted probabilities, and the target's probabilities as "
    "they are. Given probabilities for both, the loss is no divergence: its minimum is elsewhere.",
    detect,
    sick=(
        """# a student of a frozen teacher
torch.manual_seed(0)
student, teacher = nn.Linear(6, 4), nn.Linear(6, 4).requires_grad_(False)
kl = nn.KLDivLoss(reduction="batchmean")
opt = optim.Adam(student.parameters(), lr=0.01)
x = torch.randn(32, 6)
for step in range(5):
    opt.zero_grad()
    loss = kl(student(x).softmax(-1), teacher(x).softmax(-1))  # !
    loss.backward()
    opt.step()
""",
        """# probabilities that are printed, too
torch.manual_seed(0)
x, goal = torch.randn(8, 4), torch.full((8, 3), 1 / 3)
model = nn.Linear(4, 3)
probs = F.softmax(model(x), dim=1)
print(probs.sum(1))
loss = F.kl_div(probs, goal, reduction="batchmean")  # !
loss.backward()
""",
        """# a Softmax layer
torch.manual_seed(0)
x, goal = torch.randn(8, 4), torch.full((8, 3), 1 / 3)
model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
loss = F.kl_div(input=model(x), target=goal, reduction="batchmean")  # !
loss.backward()
""",
    ),
    healthy=(
        """# logarithms
torch.manual_seed(0)
x, goal = torch.randn(8, 4), torch.full((8, 3), 1 / 3)
model = nn.Linear(4, 3)
loss = F.kl_div(model(x).log_softmax(1), goal, reduction="batchmean")
loss.backward()
""",
        """# both logarithms, the first taken by hand
torch.manual_seed(0)
x, teacher = torch.randn(8, 4), torch.randn(8, 3).log_softmax(1)
model = nn.Linear(4, 3)
kl = nn.KLDivLoss(reduction="batchmean", log_target=True)
loss = kl((model(x).softmax(1) + 1e-9).log(), teacher)
loss.backward()
""",
    ),
)
