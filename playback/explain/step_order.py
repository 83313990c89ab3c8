"""Effect of an order of zero_grad, forward, loss, backward and step, and the reason for it.

The order is followed for `STEPS` steps as torch does it: which gradients each update applies, and
which weights each loss is of. The words are about the first thing that differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from gradscribe.playback.translation import tr

STEPS = 4
"""Number of steps after which an order repeats itself."""
_FREED = tr(
    "The first backward() frees the tensors that the graph has saved, so that there is nothing to "
    "go back through a second time"
)
_CHANGED_IN_PLACE = tr(
    "optimizer.step() changes the weights in place between forward and backward, which needs them "
    "as they were: torch compares their versions"
)

Graph = tuple[int, int]
"""A graph by its step and the version of the weights that it was computed with."""


@dataclass
class OrderEffect:
    """Effect of an order over `STEPS` steps, up to an error."""

    error: str = ""
    """Type of the error that torch or Python raises; empty for none."""
    failing: str = ""
    """The statement that raises; ``return`` if the loss does not exist at the end of the step."""
    step: int = 0
    """The step that raises, counted from 1."""
    reason: str = ""
    losses: list[int] = field(default_factory=list)
    """The version of the weights that each step's loss is of."""
    updates: list[tuple[Graph, ...]] = field(default_factory=list)
    """The graphs whose gradients each update applied."""
    skipped: int = 0
    """Number of updates without any gradient."""

    @property
    def moves(self) -> bool:
        """True if an update changes weights."""
        return bool(self.updates)


def order_effect(order: Sequence[str]) -> OrderEffect:
    """Follow an order for `STEPS` steps."""
    run = _Follower()
    for step in range(1, STEPS + 1):
        if not run.step(order, step):
            break
    return run.effect


class _Follower:
    """The state of a loop: what ``.grad`` holds, and which graph ``loss`` stands for."""

    def __init__(self) -> None:
        self.effect = OrderEffect()
        self.grads: tuple[Graph, ...] = ()
        self.version = 0
        self.output: Graph | None = None
        self.loss: Graph | None = None
        self.is_freed = False

    def step(self, order: Sequence[str], step: int) -> bool:
        """Follow one step; return whether it raises nothing."""
        self.output = self.loss = None
        for name in order:
            if why := self._fail(name):
                error, reason = why
                self.effect.error, self.effect.reason = error, reason
                self.effect.failing, self.effect.step = name, step
                return False
            self._execute(name, step)
        if self.loss is None:
            self.effect.error, self.effect.failing, self.effect.step = "NameError", "return", step
            self.effect.reason = tr("No statement computes the loss, so that the step has none")
            return False
        self.effect.losses.append(self.loss[1])
        return True

    def _fail(self, name: str) -> tuple[str, str] | None:
        if name == "loss" and self.output is None:
            return "NameError", tr(
                "The loss is computed from output, which forward has not made yet"
            )
        if name != "backward":
            return None
        if self.loss is None:
            return "NameError", tr("backward() is a method of the loss, which does not exist yet")
        if self.is_freed:
            return "RuntimeError", _FREED
        if self.loss[1] != self.version:
            return "RuntimeError", _CHANGED_IN_PLACE
        return None

    def _execute(self, name: str, step: int) -> None:
        match name:
            case "zero_grad":
                self.grads = ()
            case "forward":
                self.output, self.is_freed = (step, self.version), False
            case "loss":
                self.loss = self.output
            case "backward" if self.loss is not None:
                self.grads = (*self.grads, self.loss)
                self.is_freed = True
            case "step" if self.grads:
                self.effect.updates.append(self.grads)
                self.version += 1
            case "step":
                self.effect.skipped += 1


def explain_order(order: Sequence[str]) -> str:
    """Return in a sentence or two what an order does; empty for the right order."""
    if tuple(order) == RIGHT_ORDER:
        return ""
    effect = order_effect(order)
    if effect.error:
        first = "" if effect.step == 1 else tr(" in step {step}", step=effect.step)
        return f"{effect.reason}: {effect.error}{first}."
    if not effect.moves:
        return _why_nothing_moves(order)
    words = [_accumulated(order, effect), _updated(order, effect)]
    if not any(words):
        words = [_unchanged(order)]
    return " ".join(filter(None, words))


def _why_nothing_moves(order: Sequence[str]) -> str:
    if "step" not in order:
        return tr("Gradients are computed and never used: nothing moves.")
    skips = tr("the optimizer skips every parameter whose .grad is None: nothing moves.")
    if "backward" not in order:
        return tr("No parameter gets a gradient, and {skips}", skips=skips)
    return tr(
        "zero_grad() clears the gradients before the optimizer reads them, and {skips}", skips=skips
    )


def _accumulated(order: Sequence[str], effect: OrderEffect) -> str:
    if "zero_grad" not in order:
        return tr("Gradients are never cleared, so each step adds to all before.")
    most = max(len(graphs) for graphs in effect.updates)
    if most == 1:
        return ""
    latest = effect.updates[-1]
    if len({step for step, _ in latest}) > 1:
        return tr(
            "An update sees the gradients of {latest_count} batches, as in accumulation.",
            latest_count=len(latest),
        )
    return tr(
        "backward() runs {latest_count} times before the gradients are cleared, so they add up.",
        latest_count=len(latest),
    )


def _updated(order: Sequence[str], effect: OrderEffect) -> str:
    times = len(effect.updates) / len(effect.losses)
    if times > 1.5:
        same = tr("with the same gradient, ") if order.count("backward") == 1 else ""
        return tr(
            "The optimizer updates {count} times a step, {same}so the weights go "
            "further; Adam and momentum also count each update.",
            count=order.count("step"),
            same=same,
        )
    right = order_effect(RIGHT_ORDER)
    if effect.losses == right.losses and effect.updates == right.updates[: len(effect.updates)]:
        return ""
    if "zero_grad" not in order:
        return ""
    return tr("The updates do not see the gradients of their own step.")


def _unchanged(order: Sequence[str]) -> str:
    extra = [name for name in ("forward", "loss", "zero_grad", "step") if order.count(name) > 1]
    if "forward" in extra:
        return tr(
            "The first output is dropped: the same losses, for more time. Dropout draws another "
            "mask, and batch norm counts the batch twice."
        )
    if "loss" in extra:
        return tr("The loss is computed again from the same output: the same losses.")
    if "zero_grad" in extra:
        return tr("Gradients that are cleared are cleared again: the same losses.")
    if order.index("step") < order.index("backward"):
        return tr(
            "The update comes at the beginning of the next step: the same losses, to the bit."
        )
    return tr("Gradients are cleared before backward all the same: the same losses, to the bit.")
