"""Export of an op of the user's tape as a program for the shape lab."""

import ast
import keyword

from gradscribe.engine.protocol.tape import Arg, Op, Snapshot, Tape, Value
from gradscribe.playback.lab.explain import METHODS
from gradscribe.playback.text import parse
from gradscribe.playback.translation import tr

MAX_WRITTEN_ELEMENTS = 200
"""Most elements of a tensor that is written out; bigger tensors become random or zero."""
_FUNCTIONAL = frozenset(
    "linear conv1d conv2d conv3d max_pool1d max_pool2d avg_pool2d mse_loss l1_loss cross_entropy "
    "nll_loss huber_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits gelu "
    "softplus leaky_relu elu silu layer_norm batch_norm dropout embedding normalize one_hot pad "
    "scaled_dot_product_attention".split()
)
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**"}
_ON_LISTS = frozenset(("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"))
_TAKEN = frozenset(("torch", "nn", "F", "optim", "math", "np", "tensor", "param", "device"))
"""Names that are defined in every program and must not be reassigned."""
_KINDS = ("float", "bfloat", "int", "uint", "bool", "complex")
_LETTERS = "abcdefghijklmnop"
_ATTRIBUTES = frozenset(("T", "mT", "H", "mH", "real", "imag"))


def program_for(tape: Tape, op: Op) -> str:
    """Return a complete program that creates the operands of ``op`` and ends with ``op``."""
    values = {value.id: value for value in tape.values}
    names = _names(tape, [values[i] for i in op.inputs if i in values])
    made = [_maker(name, values[i], tape.snapshots) for i, name in names.items()]
    return "\n".join([*made, _call(op, names)]) + "\n"


def _names(tape: Tape, inputs: list[Value]) -> dict[int, str]:
    """Return value -> variable: its own, without one a letter that no variable of the tape is."""
    known = {value.name for value in tape.values}
    letters = "".join(x for x in _LETTERS if x not in known) or _LETTERS
    found: dict[int, str] = {}
    taken, longer = set[str](), dict[str, str]()
    for value in inputs:
        plain = value.name.replace(".", "_")
        fits = plain.isidentifier() and not keyword.iskeyword(plain) and plain not in _TAKEN
        name = plain if fits else letters[len(found) % len(letters)]
        if value.id in found:
            continue
        short, name = name, longer.get(name, name)
        while name in taken:
            name += "_"
        # Where the search for the next free name starts: there may be thousands.
        longer[short] = name
        taken.add(name)
        found[value.id] = name
    return found


def _maker(name: str, value: Value, snapshots: tuple[Snapshot, ...]) -> str:
    snapshot = snapshots[value.snapshot] if value.snapshot is not None else None
    array = snapshot.array() if snapshot is not None else None
    dtype = "" if value.dtype == "float32" else f", dtype=torch.{value.dtype}"
    if array is not None and array.size <= MAX_WRITTEN_ELEMENTS and array.size:
        numbers = repr(array.tolist())
        # nan and inf are not built-in names.
        numbers = numbers.replace("nan", "math.nan").replace("inf", "math.inf")
        return f"{name} = torch.tensor({numbers}{dtype})"
    sizes = ", ".join(map(str, value.shape))
    if value.dtype.startswith(("float", "bfloat", "complex")):
        return tr(
            "{name} = torch.randn({sizes}{dtype})  # random numbers of its shape",
            name=name,
            sizes=sizes,
            dtype=dtype,
        )
    return tr(
        "{name} = torch.zeros({sizes}{value})  # zeros of its shape",
        name=name,
        sizes=sizes,
        value=dtype or "",
    )


def _call(op: Op, names: dict[int, str]) -> str:
    name = op.op.rstrip("_") if op.inplace else op.op
    parts = [_argument(arg, names) for arg in op.args] or list(names.values())
    if name in _OPERATORS and len(parts) == 2:
        return f"{parts[0]} {_OPERATORS[name]} {parts[1]}"
    if name in _FUNCTIONAL:
        return f"F.{name}({', '.join(parts)})"
    if name in _ON_LISTS:
        tensors = [p for p, arg in zip(parts, op.args, strict=True) if arg.value is not None]
        rest = [p for p, arg in zip(parts, op.args, strict=True) if arg.value is None]
        return tr(
            "torch.{name}([{join}]{join_2})",
            name=name,
            join=", ".join(tensors),
            join_2="".join(f", {part}" for part in rest),
        )
    if name in _ATTRIBUTES:
        return f"{parts[0]}.{name}"
    first = op.args[0] if op.args else None
    if name == "getitem" and len(parts) > 1:
        return f"{parts[0]}[{', '.join(parts[1:])}]"
    if name in METHODS and first is not None and first.value is not None and not first.keyword:
        return f"{parts[0]}.{name}({', '.join(parts[1:])})"
    return f"torch.{name}({', '.join(parts)})"


def _argument(arg: Arg, names: dict[int, str]) -> str:
    text = names.get(arg.value, "") if arg.value is not None else _literal(arg.text)
    return f"{arg.keyword}={text}" if arg.keyword else text


def _literal(text: str) -> str:
    """Return an argument's source text, ``...`` where it is no literal.

    The text comes from the ``repr`` of an object of the user's program, which may be any code.
    """
    plain = text.replace("…", "...").strip()
    if plain.startswith(_KINDS) and plain.isidentifier():
        return f"torch.{plain}"
    try:
        tree = parse.parse_expression(plain)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "..."
    return plain if all(map(_is_plain, ast.walk(tree.body))) else "..."


def _is_plain(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            return name == "slice"
        case ast.Call(func=ast.Name(id="slice"), keywords=[]):
            return True
    return isinstance(
        node,
        ast.Constant
        | ast.Tuple
        | ast.List
        | ast.UnaryOp
        | ast.BinOp
        | ast.operator
        | ast.unaryop
        | ast.expr_context,
    )
