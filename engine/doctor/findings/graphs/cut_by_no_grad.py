"""The forward pass of training runs inside no_grad."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor import cuts, modes
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase
from gradscribe.engine.doctor.program_tree import ProgramTree
from gradscribe.engine.protocol.tape import Place


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield each op inside no_grad that cuts wanted leaves off."""
    for cut, message in cuts.cuts_of_kind(evidence, "no_grad"):
        header, fix = _header(evidence, cut.op.place.line)
        last = evidence.pass_place(-1)
        where = f" (line {header.line})" if header.line else ""
        text = f"{message}: {cut.op.op} on line {cut.op.place.line} ran inside no_grad{where}"
        place = header if header.line else cut.op.place
        yield FoundCase(place, text, (cut.op.place, last), fix)


def _header(evidence: Evidence, line: int) -> tuple[Place, str]:
    """Return the line that disables gradient recording, and the program without it."""
    program = evidence.program
    block = cuts.block_without_grad(program, line)
    if block is not None:
        place = program.line(block.lineno)
        text = program.lines[block.lineno - 1]
        return Place(block.lineno, place.column, block.lineno, len(text)), program.dedented(block)
    decorator = _decorator(program, line)
    if decorator is not None:
        rest = [x for i, x in enumerate(program.lines, 1) if i != decorator.lineno]
        return program.place(decorator), "\n".join(rest)
    for node in program.calls("set_grad_enabled"):
        if ast.unparse(node).endswith("(False)") and node.lineno < line:
            return program.place(node), program.without(node.lineno)
    # The op may be inside a module: check the lines of the module calls as well.
    for call in evidence.tape.calls:
        outer = cuts.block_without_grad(program, modes.call_line(evidence, call))
        if outer is not None and call.parent is None:
            return Place(
                outer.lineno, outer.col_offset, outer.lineno, len(program.lines[outer.lineno - 1])
            ), program.dedented(outer)
    return Place(), ""


def _decorator(program: ProgramTree, line: int) -> ast.expr | None:
    statement = program.statement(line)
    for node in [statement, *program.above(statement)] if statement is not None else ():
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "no_grad" in ast.unparse(decorator) or "inference" in ast.unparse(decorator):
                    return decorator
    return None


ENTRY = FindingKind(
    "cut-by-no-grad",
    "Training runs inside no_grad",
    "Inside no_grad nothing is recorded, so there is no way back from the loss to the parameters. "
    "Keep it for evaluation and for updates by hand.",
    detect,
    sick=(
        """torch.set_grad_enabled(False)  # !
w = torch.ones(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
""",
    ),
    healthy=(
        """# deep Q-learning with a target network
torch.manual_seed(0)
q, target = nn.Linear(4, 2), nn.Linear(4, 2)
target.load_state_dict(q.state_dict())
opt = optim.Adam(q.parameters(), lr=0.01)
for step in range(4):
    s, s2 = torch.randn(8, 4), torch.randn(8, 4)
    a, r = torch.randint(0, 2, (8, 1)), torch.randn(8)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(dim=1).values
    loss = F.smooth_l1_loss(q(s).gather(1, a).squeeze(1), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        """# features of a frozen backbone
torch.manual_seed(0)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
backbone.eval()
head = nn.Linear(8, 3)
opt = optim.SGD(head.parameters(), lr=0.1)
for step in range(3):
    with torch.no_grad():
        features = backbone(x)
    loss = F.cross_entropy(head(features), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
)
