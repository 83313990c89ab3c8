"""Tensors on different devices met in one op."""

import ast
from collections.abc import Iterator

from gradscribe.engine.doctor.errors import matching_error
from gradscribe.engine.doctor.evidence import Evidence
from gradscribe.engine.doctor.finding_kind import FindingKind, FoundCase, SetupFix
from gradscribe.engine.doctor.fixes import with_argument
from gradscribe.engine.doctor.mismatch import Operand, describe_operands, operands_on_line
from gradscribe.engine.doctor.program_tree import ProgramTree, called_name
from gradscribe.engine.doctor.scopes import enclosing_function


def detect(evidence: Evidence) -> Iterator[FoundCase]:
    """Yield the failing line with the devices of the tensors and modules there."""
    error = matching_error(
        evidence,
        "Expected all tensors to be on the same device",
        "is not on the expected device",
        "weight type .* should be the same",
        r"Tensor on device \w+",
    )
    if error is None or (error.message.startswith("Input type") and not _devices(error.message)):
        return
    line = error.place.line
    involved = operands_on_line(evidence, line, "device")
    message = describe_operands(involved) or error.message.split(" (when")[0]
    program = evidence.program
    yield FoundCase(
        program.line(line),
        message,
        tuple(p.place for p in involved),
        _fix(evidence, involved) or _made_elsewhere(evidence, line),
    )


def _fix(evidence: Evidence, involved: list[Operand]) -> str:
    """Move a tensor that differs to the device of the model, or of another tensor."""
    program = evidence.program
    leading = sorted(involved, key=lambda p: (not p.is_module, p.kind != "meta"))
    target = next((p for p in leading if p.node is not None), None)
    if target is None or target.node is None:
        return ""
    text = program.source(target.node)
    device = f"next({text}.parameters()).device" if target.is_module else f"{text}.device"
    for party in involved:
        if party.kind != target.kind and party.node is not None and not party.is_module:
            return program.replaced((party.node, f"{program.source(party.node)}.to({device})"))
    return ""


def _made_elsewhere(evidence: Evidence, line: int) -> str:
    """Create a tensor of the failing line on the device of the others."""
    program = evidence.program
    statement = program.statement(line)
    for node in ast.walk(statement) if statement is not None else ():
        if not isinstance(node, ast.Call) or called_name(node) not in _MAKERS:
            continue
        if ast.unparse(node.func) != f"torch.{called_name(node)}" or _says_device(node):
            continue
        inside = {id(n) for n in ast.walk(node)}
        given = _parameters(program, node)
        for other in ast.walk(statement) if statement is not None else ():
            if not isinstance(other, ast.Name) or id(other) in inside:
                continue
            if other.id in given or evidence.latest(other.id) is not None:
                return with_argument(program, node, f"device={other.id}.device")
    return _made_above(program, statement) if statement is not None else ""


def _made_above(program: ProgramTree, statement: ast.stmt) -> str:
    """Do the same for a tensor that the same function created on a line above."""
    function, given = enclosing_function(program, statement), _parameters(program, statement)
    for node in ast.walk(statement):
        made = (
            program.last_binding(node.id, statement.lineno) if isinstance(node, ast.Name) else None
        )
        if not isinstance(made, ast.Call) or called_name(made) not in _MAKERS or _says_device(made):
            continue
        if given and enclosing_function(program, made) is function:
            return with_argument(program, made, f"device={given[0]}.device")
    return ""


def _parameters(program: ProgramTree, node: ast.AST) -> list[str]:
    """Return the names of the parameters of the function around a node, without ``self``."""
    function = enclosing_function(program, node)
    return [a.arg for a in function.args.args if a.arg != "self"] if function else []


def _says_device(call: ast.Call) -> bool:
    return not call.args or any(keyword.arg == "device" for keyword in call.keywords)


_MAKERS = frozenset("tensor zeros ones full arange linspace eye rand randn randint empty".split())


def _devices(message: str) -> bool:
    return "cuda" in message.lower() and "torch.FloatTensor" in message


ENTRY = FindingKind(
    "device-mismatch",
    "Tensors on different devices",
    "An op runs where its tensors are, and torch moves nothing by itself. Move the model once and "
    "each batch as it comes, with .to(device).",
    detect,
    setup_fix=SetupFix(mistake="wrong_device"),
    sick=(
        """model = nn.Linear(3, 1).to("meta")
x = torch.randn(4, 3)
pred = model(x)  # !
""",
    ),
    healthy=(
        """# everything on the chosen device
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 1).to(device)
x, y = torch.randn(8, 3).to(device), torch.randn(8, 1, device=device)
loss = F.mse_loss(model(x), y)
loss.backward()
""",
        """# shapes worked out on the meta device
with torch.device("meta"):
    big = nn.Linear(100, 100)
out = big(torch.ones(2, 100, device="meta"))
print(out.shape)
""",
    ),
)
