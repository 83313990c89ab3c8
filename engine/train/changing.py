"""What changes while a run goes on, as source: executed, and part of the exported script."""

from dataclasses import dataclass

from torch import nn

from engine.setup import BadSetup, Setup
from engine.train import catalogue, texts
from engine.training.parts import Task
from engine.zoo.pieces import Data, Optimizer


@dataclass(frozen=True)
class Edit:
    """One element of a parameter, set by hand."""

    name: str
    index: int
    value: float


Change = Setup | Edit


def statements(before: Setup, after: Setup, task: Task) -> str:
    """Return the statements that make a run of ``before`` go on as one of ``after``.

    Both setups are filled, and differ only in what can change while a run goes on. How a step is
    made and which examples it sees is not told here.
    """
    parts = []
    if after.data != before.data:
        parts.append(f"class_names = split_names({after.data.options['names']!r})")
    if after.threads != before.threads:
        parts.append(f"torch.set_num_threads({after.threads or 1})")
    if after.loss != before.loss:
        parts.append(texts.loss(after, task))
    if texts.freeze(after) != texts.freeze(before):
        # A module's own frozen parameters stay so.
        parts.append(texts.freeze(before, again=True))
        parts.append("for parameter in model.parameters():\n    parameter.grad = None")
        parts.append(texts.freeze(after))
    parts.append(_optimizer(before, after))
    return "".join(part.rstrip() + "\n" for part in parts if part.strip())


def undone(before: Setup, after: Setup, task: Task) -> str:
    """Return the statements that make up for those of `statements` that did not come to an end."""
    return texts.loss(before, task) + texts.freeze(after, again=True) + texts.freeze(before)


def check_learns(model: nn.Module, setup: Setup) -> None:
    """Refuse a model of which nothing learns. Raises `BadSetup`."""
    if any(parameter.requires_grad for parameter in model.parameters()):
        return
    place = "frozen" if setup.frozen else "model"
    if "freeze_first" in setup.mistakes:
        place = "mistakes"
    raise BadSetup("every parameter is frozen, so that nothing can learn", place)


def is_the_same_data(before: Setup, after: Setup) -> bool:
    """Return whether two filled setups have the same examples, called otherwise at most."""
    if before.data.name != after.data.name:
        return False
    piece, _ = catalogue.find("data", after.data, Data)
    fixed = [one.name for one in piece.options if not one.live]
    return all(before.data.options[name] == after.data.options[name] for name in fixed)


def _optimizer(before: Setup, after: Setup) -> str:
    made = texts.optimizer(after)
    if made == texts.optimizer(before):
        return ""
    if after.optimizer.name != before.optimizer.name or after.amp != before.amp:
        return _left_over(before, after) + made
    piece, options = catalogue.find("optimizer", after.optimizer, Optimizer)
    _, old = catalogue.find("optimizer", before.optimizer, Optimizer)
    given = texts.hyperparameters(piece, options, after)
    lines = []
    for key, value in options.items():
        mistaken = after.mistakes != before.mistakes and key == "lr"
        if value != old[key] or mistaken:
            # An empty text stands for None.
            now = given.get(key, None if value == "" else value)
            lines.append(f"    group[{key!r}] = {tuple(now) if isinstance(now, list) else now!r}")
    text = "\n".join(["for group in optimizer.param_groups:", *lines]) + "\n" if lines else ""
    rates = "lr" in given and given["lr"] != texts.hyperparameters(piece, old, before)["lr"]
    if after.schedule != before.schedule or (rates and after.schedule is not None):
        text += _schedule(before, after, given["lr"])
    return text


def _schedule(before: Setup, after: Setup, lr: object) -> str:
    """Let a schedule begin anew from now on."""
    lines = [
        "for group in optimizer.param_groups:",
        f"    group['lr'] = {lr!r}",
        "    group.pop('initial_lr', None)",
    ]
    if after.schedule is not None:
        lines.append(f"scheduler = {texts.schedule(after, after.schedule)}")
    return "\n".join(lines) + "\n" + _left_over(before, after)


def _left_over(before: Setup, after: Setup) -> str:
    """Return what lets go of a schedule or a scaler that is used no more."""
    text = ""
    if before.schedule is not None and after.schedule is None:
        text += "scheduler = None\n"
    if before.amp == "float16" and after.amp != "float16":
        text += "scaler = None\n"
    return text


def weight(name: str, index: int, value: float) -> str:
    """Return what sets one element of a parameter; ``index`` counts row by row."""
    number = f"float({str(value)!r})" if value != value or abs(value) == float("inf") else value
    return (
        f"with torch.no_grad():\n    model.get_parameter({name!r}).view(-1)[{index}] = {number}\n"
    )
