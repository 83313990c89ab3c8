"""Fixes of tensors: shapes, dtypes, gradients, changes in place."""

import ast
import re
from collections.abc import Callable, Iterator

import torch

from gradscribe.engine.hints import operands
from gradscribe.engine.hints.fixes.context import ErrorFixRow, FailedProgram, indentation

_Match = re.Match[str]
_Fixes = Callable[[FailedProgram, _Match, _Match], Iterator[str]]
_FACTORIES = ("tensor", "zeros", "ones", "full", "arange", "eye")


def _fitting(fault: FailedProgram, _said: _Match, hint: _Match) -> Iterator[str]:
    """Replace the operand that a hint writes in a form that would fit."""
    wanted = hint[1]
    tree = _expression(wanted)
    bases = [f"{wanted}.T"]
    if isinstance(tree, ast.Attribute):
        bases = [ast.unparse(tree.value)]
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        bases = [ast.unparse(tree.func.value)]
    # The second operand of a product is the one that is changed, if both are the same.
    found = [n for n in fault.nodes(ast.expr) if isinstance(n, ast.Name | ast.Attribute)]
    for node in reversed(found):
        if ast.unparse(node) in bases:
            yield fault.with_node(node, wanted)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _tensors(fault: FailedProgram) -> list[tuple[ast.expr, torch.Tensor]]:
    """Return names and fields of the failing place that are tensors, in order of the source."""
    nodes = list(fault.nodes(ast.expr))
    if len(nodes) < 4 and ".backward(" in fault.source[slice(*fault.span)]:
        nodes = _made_of(fault, nodes)
    found: list[tuple[ast.expr, torch.Tensor]] = []
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute):
            thing = operands.value(node, fault.scope)
            if isinstance(thing, torch.Tensor):
                found.append((node, thing))
    return found


def _made_of(fault: FailedProgram, nodes: list[ast.AST]) -> list[ast.AST]:
    """Return the expressions in the call whose result, a loss, backward() was called on."""
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    for statement in ast.walk(fault.tree):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        if [ast.unparse(target) for target in statement.targets] == names[:1]:
            return [node for word in statement.value.args for node in ast.walk(word)]
    return []


def _converted(method: str, wrong: Callable[[torch.Tensor], bool], *, last: bool = False) -> _Fixes:
    """Return a fix that appends a method to the first operand that is wrong, or to the last."""

    def convert(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
        nodes = [node for node, tensor in _tensors(fault) if wrong(tensor)]
        for node in reversed(nodes) if last else nodes:
            yield fault.with_node(node, fault.text(node) + method)

    return convert


def _is_whole(tensor: torch.Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex())


def _is_double(tensor: torch.Tensor) -> bool:
    return tensor.dtype == torch.float64


def _is_real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point()


def _same_shape(fault: FailedProgram, said: _Match, _hint: _Match) -> Iterator[str]:
    """Add or remove the last dimension of the target, which is given last."""
    target, given = ([int(n) for n in text.split(",") if n.strip()] for text in said.groups())
    for node, tensor in reversed(_tensors(fault)):
        if list(tensor.shape) == target and [*target, 1] == given:
            yield fault.with_node(node, f"{fault.text(node)}.unsqueeze({len(target)})")
        elif list(tensor.shape) == target and target == [*given, 1]:
            yield fault.with_node(node, f"{fault.text(node)}.squeeze({len(given)})")


def _channels_first(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    for node, tensor in _tensors(fault):
        if tensor.dim() == 4:
            yield fault.with_node(node, f"{fault.text(node)}.permute(0, 3, 1, 2)")


def _in_features(fault: FailedProgram, said: _Match, hint: _Match) -> Iterator[str]:
    """Change the size of the layer, if a single layer of the program can be meant."""
    layers = [
        node.args[0]
        for node in ast.walk(fault.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "Linear"
        and node.args
        and ast.unparse(node.args[0]) == said[3]
    ]
    if len(layers) == 1:
        yield fault.with_node(layers[0], hint[1])


def _method(old: str, new: str) -> _Fixes:
    """Return a fix that replaces the call of a method in the failing place."""

    def replace(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
        start, end = fault.span
        at = fault.source.find(old, start, end)
        if at >= 0:
            yield fault.replaced(at, at + len(old), new)

    return replace


def _summed(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    for node in fault.nodes(ast.Call):
        assert isinstance(node, ast.Call)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "backward" and not node.args:
            end = fault.extent(called)[1] - len("backward")
            at = fault.source.rfind(".", 0, end)
            yield fault.replaced(at, at, ".sum()")


def _no_grad(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    """Put the statement that changes a leaf into ``with torch.no_grad():``."""
    for node in ast.walk(fault.tree):
        lines = (node.lineno, node.end_lineno) if isinstance(node, ast.stmt) else (0, 0)
        if lines == (fault.place.line, fault.place.line) and ";" not in fault.line:
            margin = " " * indentation(fault.line)
            text = f"{margin}with torch.no_grad():\n    {fault.line}"
            yield fault.with_line(fault.place.line, text)
            return


def _real_numbers(fault: FailedProgram, _said: _Match, _hint: _Match) -> Iterator[str]:
    """Give the call that makes the tensor a dtype, if it makes it here."""
    for node in fault.nodes(ast.Call):
        assert isinstance(node, ast.Call)
        name = ast.unparse(node.func).rpartition(".")[2]
        words = [word.arg for word in node.keywords]
        if name in _FACTORIES and "requires_grad" in words and "dtype" not in words:
            at = fault.extent(next(w for w in node.keywords if w.arg == "requires_grad"))[0]
            yield fault.replaced(at, at, "dtype=torch.float32, ")


_MATMUL = r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"
ROWS = (
    ErrorFixRow(_fitting, "", r"([\w.]+(?:\([-\d, ]*\))?) would fit"),
    ErrorFixRow(_in_features, _MATMUL, r"needs in_features=(\d+)"),
    ErrorFixRow(_method(".view(", ".reshape("), "view size is not compatible"),
    ErrorFixRow(_converted(".float()", _is_whole, last=True), "Found dtype (Long|Int|Short|Byte)"),
    ErrorFixRow(
        _converted(".float()", _is_double, last=True), "Found dtype Double but expected Float"
    ),
    ErrorFixRow(
        _converted(".long()", _is_real, last=True),
        "expected target dtype to be Long|expected scalar type Long",
    ),
    ErrorFixRow(_converted(".long()", _is_real), "argument #1 'indices'|used as indices must be"),
    ErrorFixRow(
        _converted(".float()", _is_double),
        r"(?i)same dtype, but (got|found):?.*double|Input type \(double\) and .* type \(float\)",
    ),
    ErrorFixRow(
        _converted(".float()", _is_whole),
        r"same dtype, but (got|found).*(Long|long long|Int)|could not infer output dtype|"
        r"not implemented for '(Long|Int|Short|Byte|Char|Bool)'|to the desired output type Long",
    ),
    ErrorFixRow(
        _same_shape,
        r"Target size \(torch.Size\(\[(.*?)\]\)\) must be the same as input size "
        r"\(torch.Size\(\[(.*?)\]\)\)",
    ),
    ErrorFixRow(_channels_first, "", r"\.permute\(0, 3, 1, 2\) brings them to the front"),
    ErrorFixRow(_summed, "implicitly created only for scalar outputs"),
    ErrorFixRow(_no_grad, "leaf Variable that requires grad is being used in an in-place"),
    ErrorFixRow(_real_numbers, "Only Tensors of floating point|only Tensors of floating point"),
    ErrorFixRow(_method(".numpy()", ".detach().numpy()"), r"Can't call numpy\(\)"),
)
