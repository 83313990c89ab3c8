"""A curve or a surface from a formula that the user types."""

import ast
import math

import torch

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.protocol.slips.near_words import did_you_mean
from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import NOISE, SIZE, Data, Options

FUNCTIONS = (
    "sin cos tan tanh sinh cosh exp log sqrt abs sign floor ceil sigmoid relu atan asin acos"
).split()
LONGEST = 500
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Load, ast.Constant,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.Mod, ast.USub, ast.UAdd,
)  # fmt: skip


def formula(
    formula: str, n: int, noise: float, low: float, high: float, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs in [low, high], (n, 1) or (n, 2), and the formula of them with noise."""
    names: dict[str, object] = {"pi": math.pi, "e": math.e}
    functions = "sin cos tan tanh sinh cosh exp log sqrt abs sign floor ceil"
    for name in f"{functions} sigmoid relu atan asin acos".split():
        names[name] = getattr(torch, name)
    code = compile(formula.replace("^", "**"), "formula", "eval")
    inputs = 2 if "x2" in code.co_names else 1
    x = low + (high - low) * torch.rand(n, inputs, generator=rng)
    names |= {"x": x[:, :1], "x1": x[:, :1], "x2": x[:, -1:]}
    y = eval(code, {"__builtins__": {}}, names) + torch.zeros(n, 1)
    return x, y + noise * torch.randn(n, 1, generator=rng)


def allowed(text: str) -> str:
    """Return why a formula is rejected, or an empty text; it may have names, numbers and signs."""
    if len(text) > LONGEST:
        return f"a formula has at most {LONGEST} characters"
    try:
        tree = ast.parse(text.replace("^", "**").strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"this is no formula: {getattr(error, 'msg', error)}"
    known = ("x", "x1", "x2", "pi", "e", *FUNCTIONS)
    for node in ast.walk(tree):
        # Checked before the call itself, so that a misspelt function is reported as such.
        of = node.func if isinstance(node, ast.Call) else node
        if isinstance(of, ast.Name) and of.id not in known:
            hint = did_you_mean(of.id, known) or f"; there are {', '.join(known)}"
            return f"unknown name {of.id!r}{hint}"
        if not isinstance(node, _NODES):
            return f"a formula has no {type(node).__name__.lower()}"
        if isinstance(node, ast.Constant) and not (
            type(node.value) in (int, float) and abs(node.value) < 1e9  # type: ignore[arg-type]
        ):
            return f"{node.value!r} is not a number below 1e9"
        if isinstance(node, ast.Call) and (
            not isinstance(node.func, ast.Name)
            or node.func.id not in FUNCTIONS
            or len(node.args) != 1
            or node.keywords
        ):
            return "a function is given one value, as in sin(x)"
    return _whole_powers(tree)


def _whole_powers(tree: ast.Expression) -> str:
    """Return why powers of numbers are rejected, or an empty text: 9**9**9 never ends."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            has_name = any(isinstance(n, ast.Name) for n in ast.walk(node.left))
            small = all(
                abs(n.value) <= 64  # type: ignore[arg-type]
                for n in ast.walk(node)
                if isinstance(n, ast.Constant)
            )
            nested = any(
                isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) for n in ast.walk(node.right)
            )
            if nested or not (has_name or small):
                return "a power of a power, or of a big number, is refused: write it out"
    return ""


def _note(options: Options) -> str:
    why = allowed(str(options["formula"]))
    if why:
        raise SetupError(why, "data.formula")
    return ""


ENTRY = Data(
    formula,
    "Formula",
    "y as a formula of x, or of x1 and x2",
    "regression",
    "n",
    options=(
        Option("formula", "text", "sin(2*x) + x/2", "Of x, or x1 and x2: sin(x1)*x2, x^3 - x"),
        SIZE,
        NOISE,
        Option("low", "float", -3.0, "Smallest input", low=-1000.0, high=1000.0),
        Option("high", "float", 3.0, "Largest input", low=-1000.0, high=1000.0),
    ),
    note=_note,
    group="Your own",
    noiseless={"noise": 0.0},
)
