"""A linear model on data that no line divides, or that lie on no line."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train.advice.kind import AdviceKind
from gradscribe.engine.train.advice.run_facts import BUILT, RunFacts
from gradscribe.engine.train.user_module import attributes

LEAST_ROWS, MOST_ROWS, MOST_INPUTS = 40, 400, 64
"""Rows from which on neighbours can be asked, most rows that are, and most inputs: among more,
all distances are alike."""
SHARE = 0.5
"""Least share of what can be gained over guessing that a line has to gain. Moons give a line 0.75
of it and iris 0.97, as much as many data ever give; circles and XOR give it 0.1."""
GAIN = 0.2
"""Least gain of neighbours over guessing: below, data may be noise, which bending would fit."""
NEIGHBOURS = 5
TOLERANCE = 1e-4
MOST_TRUTHS = 4
"""Most inputs of a truth table: 16 rows."""


def find(facts: RunFacts) -> Iterator[Advice]:
    """Yield the advice to bend if a line gains less than half of what nearest neighbours gain.

    The best line is found by itself, so that a run that has not learned yet is not blamed.
    """
    inputs = facts.program.tensor("inputs").detach()
    width = inputs[0].numel()
    if facts.program.task == "tokens" or width > MOST_INPUTS or not _is_linear(facts):
        return
    inputs = inputs.flatten(1).double().cpu()
    if facts.has_classes and _is_truth_table(inputs):
        right = _line_share(inputs, facts.program.y)
        if right < 1:
            count = round(right * len(inputs))
            yield _advice(facts, f"No straight line divides these {len(inputs)} rows: at best "
                          f"{count} are on the right side")  # fmt: skip
        return
    if len(inputs) < LEAST_ROWS:
        return
    rows = torch.arange(0, len(inputs), -(-len(inputs) // MOST_ROWS))
    x = _standardized(inputs[rows])
    found = _divided(facts, x, rows) if facts.has_classes else _fitted(facts, x, rows)
    if found:
        yield _advice(facts, found)


def _advice(facts: RunFacts, words: str) -> Advice:
    words = f"{words}. A hidden layer with an activation can bend"
    is_own = facts.setup.model.name == "own"
    change: dict[str, JsonValue] = {} if is_own else {"model": "mlp"}
    return Advice("linear", "model", words, "" if is_own else "Use an MLP", change)


def _is_linear(facts: RunFacts) -> bool:
    """Return whether the model is a line in its inputs: f(a + b) - f(a) - f(b) + f(0) = 0."""
    program, name = facts.program, facts.setup.model.name
    if name == "linear":
        return True
    if not facts.can_evaluate or name not in (*BUILT, "own"):
        return False
    if name == "mlp":
        options = facts.setup.model.options
        activations = options.get("activation")
        named = activations if isinstance(activations, list) else [activations]
        if not options.get("layers"):
            # A tanh at the end moves no boundary between classes.
            return facts.has_classes or options.get("output") != "tanh"
        if set(named) != {"linear"}:
            return False
    a = program.tensor("x_train")[:64].detach()
    b = a.flip(0) + a.std(dim=0, correction=0) + 1
    with attributes.evaluating(program):
        sums = [program.model(part.clone()) for part in (a + b, a, b, torch.zeros_like(a))]
    both, first, second, none = (part.double() for part in sums)
    bend = (both - first - second + none).abs().max()
    return bool(bend <= TOLERANCE * (first - none).abs().max().clamp(min=1e-6))


def _is_truth_table(inputs: torch.Tensor) -> bool:
    count, width = inputs.shape
    if width < 2 or width > MOST_TRUTHS or count != 2**width:
        return False
    two = all(len(torch.unique(column)) == 2 for column in inputs.T)
    return two and len(torch.unique(inputs, dim=0)) == count


def _standardized(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(dim=0)) / x.std(dim=0, correction=0).clamp(min=1e-12)


def _divided(facts: RunFacts, x: torch.Tensor, rows: torch.Tensor) -> str:
    y = facts.program.y[rows]
    guess = torch.bincount(y).max().item() / len(y)
    near = y[_nearest(x)].mode(dim=1).values.eq(y).double().mean().item()
    if near - guess < GAIN:
        return ""
    line = _line_share(x, y)
    if line - guess >= SHARE * (near - guess):
        return ""
    return f"{_cut(x)} gets {line:.0%} of these rows right, their neighbours {near:.0%}"


def _fitted(facts: RunFacts, x: torch.Tensor, rows: torch.Tensor) -> str:
    y = facts.program.y[rows].double()
    if y.shape[1] != 1:
        return ""
    variance = (y - y.mean()).square().mean().item()
    if not variance > 0:
        return ""
    near = 1 - (y[_nearest(x)].mean(dim=1) - y).square().mean().item() / variance
    if near < GAIN:
        return ""
    ones = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    best = ones @ (torch.linalg.pinv(ones) @ y)
    line = max(0.0, 1 - (best - y).square().mean().item() / variance)
    if line >= SHARE * near:
        return ""
    return f"{_cut(x)} explains {line:.0%} of what the targets vary, their neighbours {near:.0%}"


def _cut(x: torch.Tensor) -> str:
    return {1: "A straight line", 2: "A straight line"}.get(x.shape[1], "A flat cut")


def _nearest(x: torch.Tensor) -> torch.Tensor:
    """Return for each row the indices of the nearest other rows: (rows, neighbours)."""
    distances = torch.cdist(x, x)
    distances.fill_diagonal_(float("inf"))
    return distances.topk(NEIGHBOURS, largest=False).indices


def _line_share(x: torch.Tensor, y: torch.Tensor) -> float:
    """Return the share of rows that the best softmax regression gets right."""
    classes = int(y.max()) + 1
    weights = torch.zeros(x.shape[1] + 1, classes, dtype=x.dtype, requires_grad=True)
    ones = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    # Without a penalty the weights of rows that a line divides grow without end.
    optimizer = torch.optim.LBFGS([weights], max_iter=50, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(ones @ weights, y) + 1e-5 * weights.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    with torch.enable_grad():
        optimizer.step(closure)  # type: ignore[no-untyped-call]
    return (ones @ weights.detach()).argmax(dim=1).eq(y).double().mean().item()


ENTRY = AdviceKind(find, order=60, of_data=True)
