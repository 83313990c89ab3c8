"""nll_loss of something other than log-probabilities."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.fixes import unwrap_call
from gradscribe.engine.doctor.program_tree import ProgramTree, receiver
from gradscribe.engine.protocol.tape import Op


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield calls of nll_loss whose input is no logarithm."""
    for op in evidence.tape.ops:
        if op.op != "nll_loss" or not op.inputs:
            continue
        maker = evidence.creator(evidence.before_pass_through(op.inputs[0]))
        if maker is None or maker.op not in ("softmax", "linear", "sigmoid", "relu", "addmm"):
            continue
        message = (
            f"nll_loss on line {op.place.line} expects log-probabilities, and is given the result "
            f"of {maker.op} (line {maker.place.line})"
        )
        yield FoundCase(op.place, message, (maker.place,), _fix(evidence, maker))


def _fix(evidence: Evidence, maker: Op) -> str:
    program = evidence.program
    return with_log_softmax(program, maker) if maker.op == "softmax" else _whole(program)


def with_log_softmax(program: ProgramTree, maker: Op) -> str:
    """Return the program with a softmax replaced by log_softmax; empty if its call is unknown."""
    for node in program.find(ast.Call, maker.place):
        if unwrap_call(node, "softmax") is not None:
            owner = receiver(node)
            start = program.source(owner) + "." if owner is not None else ""
            rest = program.source(node)[len(start) :]
            return program.replaced((node, start + "log_" + rest))
    layers = program.calls("Softmax")
    if len(layers) == 1:
        text = program.source(layers[0])
        return program.replaced((layers[0], text.replace("Softmax(", "LogSoftmax(", 1)))
    return ""


def _whole(program: ProgramTree) -> str:
    """Replace the loss by cross_entropy, which takes raw scores, if there is only one."""
    names = {"NLLLoss": "CrossEntropyLoss", "nll_loss": "cross_entropy"}
    found = [(call, name) for name in names for call in program.calls(name)]
    if len(found) != 1:
        return ""
    call, name = found[0]
    return program.replaced((call.func, program.source(call.func).replace(name, names[name])))


ENTRY = FindingKind(
    "nll-without-log",
    "A likelihood without its logarithm",
    "nll_loss only picks the target's entry and turns its sign. Without log_softmax before it the "
    "loss is negative and punishes nothing; cross_entropy does both.",
    detect,
    sick=(
        """torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
model = nn.Linear(4, 3)
probs = torch.softmax(model(x), dim=1)
loss = F.nll_loss(probs, y)  # !
loss.backward()
""",
    ),
    healthy=(
        """# a LogSoftmax layer
torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
model = nn.Sequential(nn.Linear(4, 3), nn.LogSoftmax(dim=1))
loss = nn.NLLLoss()(model(x), y)
loss.backward()
""",
        """# the logarithm taken by hand
torch.manual_seed(0)
x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
model = nn.Linear(4, 3)
loss = F.nll_loss(torch.log(model(x).softmax(1) + 1e-9), y)
loss.backward()
""",
    ),
)
