"""An activation at the end of a model whose loss takes raw scores."""

import ast
from collections.abc import Iterator

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import RunFacts

SAME_NUMBERS = frozenset(
    "View UnsafeView ReshapeAlias Reshape Squeeze Unsqueeze Transpose Permute T Clone ToCopy Alias "
    "Slice Select Expand".split()
)
"""Backward nodes of ops that only move or copy numbers."""
MOST_MOVES = 20
CALLS = {"softmax": "softmax Softmax", "sigmoid": "sigmoid Sigmoid", "relu": "relu ReLU", "tanh":
         "tanh Tanh"}  # fmt: skip


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield a softmax, sigmoid, ReLU or tanh that is the model's last op before such a loss.

    The graph of the output proves it; numbers that only look like probabilities are not enough.
    """
    if not facts.wants_scores:
        return
    options = facts.setup.model.options
    if facts.setup.model.name == "mlp" and options.get("output") == "tanh":
        yield Advice("scores", "model.output", _words(facts, "tanh", ""), "Linear output", _LINEAR)
    if facts.setup.model.name != "own" or facts.evaluation is None:
        return
    node = facts.evaluation.output.grad_fn
    if (last := _last_op(node)) is None:
        return
    name, dim = last
    line = _line(str(options.get("source", "")), name)
    where = f", line {line}" if line else ""
    over_batch = name == "softmax" and dim == 0 and facts.evaluation.output.dim() > 1
    yield Advice("scores", "model.source", _words(facts, name, where, over_batch))


_LINEAR: dict[str, JsonValue] = {"model.output": "linear"}


def _last_op(node: torch.autograd.graph.Node | None) -> tuple[str, int] | None:
    """Return the activation that made an output, and the dimension of a softmax; else None."""
    for _ in range(MOST_MOVES):
        if node is None:
            return None
        name = node.name().removesuffix("0").removesuffix("Backward")
        if name in ("Softmax", "Sigmoid", "Relu", "Tanh"):
            return name.lower(), int(getattr(node, "_saved_dim", 1))
        if name not in SAME_NUMBERS or not node.next_functions:
            return None
        node = node.next_functions[0][0]
    return None


def _words(facts: RunFacts, name: str, where: str, over_batch: bool = False) -> str:
    loss = "Cross-entropy" if facts.loss.name == "cross_entropy" else "Binary cross-entropy"
    own = "softmax" if facts.loss.name == "cross_entropy" else "sigmoid"
    begin = f"The model ends in {name}{where}"
    if over_batch:
        return f"{begin}, over the examples of a batch; {loss.lower()} takes the scores without it"
    if name == own:
        return (
            f"{begin}, and {loss.lower()} applies its own: twice, scores stay close together and "
            f"gradients small. Return the scores before the {name}"
        )
    limits = {
        "softmax": "scores stay between 0 and 1",
        "sigmoid": "scores stay between 0 and 1",
        "relu": "scores cannot be negative",
        "tanh": "scores stay between −1 and 1",
    }
    more = f"{loss} takes scores of any size"
    return f"{begin}: {limits[name]}. {more}: end in a linear layer"


def _line(source: str, name: str) -> int:
    """Return the line of the last call of an activation in a module's source; 0 if unknown."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return 0
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if _called(call.func) in CALLS[name].split()]
    # Several may be inside; which of them is the last is not certain then.
    return named[0].lineno if len(named) == 1 else 0


def _called(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


ENTRY = AdviceKind(find, order=50)
