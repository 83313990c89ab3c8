"""The user's own nn.Module, extracted from a program."""

import ast

import msgspec

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Model, Options, Shapes

STARTER = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))
"""
GUARDED = "guarded"
"""Option of an untrusted module, to which the sandbox policy applies."""
_KEPT = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)


def definitions(source: str) -> str:
    """Return a program's imports, classes, functions and plain constants, without other statements.

    A constant may be computed from preceding ones (``HIDDEN = 2 * WIDTH``), but not by calls.

    Raises SyntaxError if it is not valid Python.
    """
    tree = ast.parse(source)
    statements: list[ast.stmt] = []
    constants = set[str]()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_plain(node.value, constants):
            constants |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            statements.append(node)
        elif isinstance(node, _KEPT):
            statements.append(node)
    lines = source.splitlines()
    pieces = []
    for node in statements:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        pieces.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n\n".join(pieces)


_CONSTANT = (
    ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Load, ast.UnaryOp, ast.unaryop,
    ast.BinOp, ast.operator, ast.Subscript, ast.Slice,
)  # fmt: skip


def _is_plain(node: ast.expr | None, constants: set[str]) -> bool:
    """Return whether an expression consists of numbers, texts and names of constants."""
    return node is not None and all(
        isinstance(n, _CONSTANT) or (isinstance(n, ast.Name) and n.id in constants)
        for n in ast.walk(node)
    )


def module_classes(source: str) -> list[str]:
    """Return the names of all top-level classes of a program that look like modules, in order."""
    names: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            if any(b.rpartition(".")[2] == "Module" or b in names for b in bases):
                names.append(node.name)
    return names


def with_source(setup: Setup, source: str) -> Setup:
    """Return the setup with ``source`` as its module's program, if that has none yet."""
    if setup.model.name != "own" or setup.model.options.get("source") or not source:
        return setup
    model = Part("own", {**setup.model.options, "source": source})
    return msgspec.structs.replace(setup, model=model)


def with_policy(setup: Setup) -> Setup:
    """Return the setup with the sandbox policy for its module, if it has one."""
    if setup.model.name != "own":
        return setup
    options = {**setup.model.options, GUARDED: True}
    return msgspec.structs.replace(setup, model=Part("own", options))


def _name(options: Options) -> str:
    names = module_classes(str(options["source"]))
    name = str(options["class"]) or (names[-1] if names else "")
    if not name:
        raise ValueError("the program has no class that is an nn.Module")
    if name not in names:
        raise ValueError(f"the program has no nn.Module {name!r}; it has {', '.join(names)}")
    return name


def _write(options: Options, _shapes: Shapes) -> str:
    return f"{_name(options)}({options['arguments']})"


ENTRY = Model(
    _write,
    "Your own module",
    "An nn.Module of your program",
    (),
    options=(
        Option("source", "text", STARTER, "The program", lines=20),
        Option("class", "text", "", "Which class; empty: the last one"),
        Option("arguments", "text", "", "What it is called with: 2, hidden=8"),
        Option(GUARDED, "bool", False, "From elsewhere: PyTorch and NumPy, and nothing else"),
    ),
    prepare=lambda options: definitions(str(options["source"])),
    group="Your own",
)
