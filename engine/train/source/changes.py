"""Changes during a run as source code, which is executed and part of the exported script."""

from dataclasses import dataclass

from torch import nn

from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.training.catalogue import Task
from gradscribe.engine.train.source import catalogue, codegen
from gradscribe.engine.zoo.entry import Data, Optimizer


@dataclass(frozen=True)
class WeightEdit:
    """A manual edit of one element of a parameter."""

    name: str
    index: int
    value: float


Change = Setup | WeightEdit


def statements(before: Setup, after: Setup, task: Task) -> str:
    """Return the statements that change a run from setup ``before`` to ``after``.

    Both setups are filled, and differ only in what can change during a run. Changes of the step
    function and of the batches are not included.
    """
    parts = []
    if after.data != before.data:
        parts.append(f"class_names = split_names({after.data.options['names']!r})")
    if after.threads != before.threads:
        parts.append(f"torch.set_num_threads({after.threads or 1})")
    if after.loss != before.loss:
        parts.append(codegen.loss(after, task))
    if codegen.freeze(after) != codegen.freeze(before):
        # A module's own frozen parameters stay so.
        parts.append(codegen.freeze(before, again=True))
        parts.append("for parameter in model.parameters():\n    parameter.grad = None")
        parts.append(codegen.freeze(after))
    parts.append(_optimizer(before, after))
    return "".join(part.rstrip() + "\n" for part in parts if part.strip())


def undo_statements(before: Setup, after: Setup, task: Task) -> str:
    """Return the statements that undo a partly executed change."""
    return codegen.loss(before, task) + codegen.freeze(after, again=True) + codegen.freeze(before)


def check_learns(model: nn.Module, setup: Setup) -> None:
    """Raise `SetupError` if the model has no parameter that learns."""
    if any(parameter.requires_grad for parameter in model.parameters()):
        return
    place = "frozen" if setup.frozen else "model"
    if "freeze_first" in setup.mistakes:
        place = "mistakes"
    raise SetupError("every parameter is frozen, so that nothing can learn", place)


def is_same_data(before: Setup, after: Setup) -> bool:
    """Return whether two filled setups have the same examples; their names may differ."""
    if before.data.name != after.data.name:
        return False
    piece, _ = catalogue.find("data", after.data, Data)
    fixed = [option.name for option in piece.options if not option.live]
    return all(before.data.options[name] == after.data.options[name] for name in fixed)


def _optimizer(before: Setup, after: Setup) -> str:
    source = codegen.optimizer(after)
    if source == codegen.optimizer(before):
        return ""
    if after.optimizer.name != before.optimizer.name or after.amp != before.amp:
        return _drop_unused(before, after) + source
    piece, options = catalogue.find("optimizer", after.optimizer, Optimizer)
    _, old = catalogue.find("optimizer", before.optimizer, Optimizer)
    arguments = codegen.hyperparameters(piece, options, after)
    lines = []
    for key, value in options.items():
        mistaken = after.mistakes != before.mistakes and key == "lr"
        if value != old[key] or mistaken:
            # An empty text stands for None.
            now = arguments.get(key, None if value == "" else value)
            lines.append(f"    group[{key!r}] = {tuple(now) if isinstance(now, list) else now!r}")
    text = "\n".join(["for group in optimizer.param_groups:", *lines]) + "\n" if lines else ""
    rates = (
        "lr" in arguments and arguments["lr"] != codegen.hyperparameters(piece, old, before)["lr"]
    )
    if after.schedule != before.schedule or (rates and after.schedule is not None):
        text += _schedule(before, after, arguments["lr"])
    return text


def _schedule(before: Setup, after: Setup, lr: object) -> str:
    """Return the statements that restart the schedule."""
    lines = [
        "for group in optimizer.param_groups:",
        f"    group['lr'] = {lr!r}",
        "    group.pop('initial_lr', None)",
    ]
    if after.schedule is not None:
        lines.append(f"scheduler = {codegen.schedule(after, after.schedule)}")
    return "\n".join(lines) + "\n" + _drop_unused(before, after)


def _drop_unused(before: Setup, after: Setup) -> str:
    """Return the statements that drop a schedule or a scaler that is no longer used."""
    text = ""
    if before.schedule is not None and after.schedule is None:
        text += "scheduler = None\n"
    if before.amp == "float16" and after.amp != "float16":
        text += "scaler = None\n"
    return text


def set_weight_statement(name: str, index: int, value: float) -> str:
    """Return the statement that sets one element of a parameter; ``index`` is row-major."""
    number = f"float({str(value)!r})" if value != value or abs(value) == float("inf") else value
    return (
        f"with torch.no_grad():\n    model.get_parameter({name!r}).view(-1)[{index}] = {number}\n"
    )
