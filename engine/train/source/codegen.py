"""Generate plain PyTorch source from a setup, section by section, to run and to export."""

import inspect
import re
from collections.abc import Callable, Sequence

from gradscribe.engine.protocol.setup import JsonValue, Part, Setup, SetupError
from gradscribe.engine.protocol.training.catalogue import Task
from gradscribe.engine.train.source import catalogue, huge_rates
from gradscribe.engine.zoo.entry import (
    Data,
    Loss,
    Model,
    Optimizer,
    Options,
    Schedule,
    Shapes,
    Written,
)

IMPORTS = """import csv
import math

import torch
import torch.nn.functional as F
from torch import nn
"""
_FEATURE = re.compile(r"(sin|cos)\(x(\d+)\)|x(\d+)(?:\^(\d))?(?:\*x(\d+))?")
STANDARDIZE_INPUTS = (
    "mean = inputs[train_rows].mean(dim=0)",
    "std = inputs[train_rows].std(dim=0, correction=0)",
    "std = torch.where(std > 0, std, 1.0)",
    "inputs = (inputs - mean) / std",
)
STANDARDIZE_TARGETS = (
    "y_mean = targets[train_rows].mean(dim=0)",
    "y_std = targets[train_rows].std(dim=0, correction=0)",
    "y_std = torch.where(y_std > 0, y_std, 1.0)",
    "targets = (targets - y_mean) / y_std",
)
MOST_MICRO = 64
"""Maximum number of micro-batches in one step."""


def pasted_source(thing: Callable[..., object] | type) -> str:
    """Return the source of a function or class, without comments for linters."""
    source = inspect.getsource(thing)
    return re.sub(r"  # (type: ignore|noqa).*", "", source).rstrip() + "\n"


def imports(written: Written | None = None) -> str:
    """Return the section of imports, sorted; with those that data in a file need."""
    more = "" if written is None else written.imports
    lines = [line for line in (IMPORTS + more).splitlines() if line]
    outside = ("import torch", "import pandas", "from torch")
    inside = sorted({line for line in lines if not line.startswith(outside)}, key=_import_order)
    libraries = [line for line in lines if line.startswith("import pandas")]
    libraries += [line for line in lines if line.startswith(("import torch", "from torch"))]
    return "\n".join([*inside, "", *libraries]) + "\n"


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def seeds(setup: Setup) -> tuple[int, int]:
    """Return the seeds of the weights and of the data."""
    weights = setup.seed if setup.weight_seed is None else setup.weight_seed
    return weights, setup.seed if setup.data_seed is None else setup.data_seed


def call_source(name: str, options: dict[str, JsonValue]) -> str:
    """Return the source of a call with keyword arguments, one per line if it is long."""
    arguments = [f"{key}={value!r}" for key, value in options.items()]
    line = f"{name}({', '.join(arguments)})"
    if len(line) < 90:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in arguments) + ")"


def head(setup: Setup) -> str:
    """Return the section that chooses device, dtype and threads."""
    threads = f"torch.set_num_threads({setup.threads})\n" if setup.threads else ""
    return f'device = torch.device("{setup.device}")\ndtype = torch.{setup.dtype}\n{threads}'


def data(setup: Setup, written: Written | None = None) -> str:
    """Return the section that makes ``x`` and ``y`` and orders their rows.

    ``written``: the source of data that depends on what a file holds.
    """
    piece, options = catalogue.find("data", setup.data, Data)
    uses = (*piece.uses, piece.make) if written is None else written.uses
    parts = [pasted_source(one) for one in uses]
    lines = [f"rng = torch.Generator().manual_seed({seeds(setup)[1]})"]
    if written is not None:
        lines.append(written.statements.rstrip())
    else:
        words = {**options, "rng": None}
        call_text = call_source(piece.make.__name__, words).replace("rng=None", "rng=rng")
        names = "x, y, class_names" if piece.class_names else "x, y"
        lines.append(f"{names} = {call_text}")
    if setup.train < 1:
        order = "torch.randperm(len(x), generator=rng)" if setup.shuffle else "torch.arange(len(x))"
        lines.append(f"order = {order}")
    else:
        lines.append("order = torch.arange(len(x))")
    return "\n\n".join(parts) + "\n\n" + "\n".join(lines) + "\n"


def split(setup: Setup, rows: int) -> str:
    """Return the lines that choose the rows to train on and those to validate on."""
    count = min(rows, max(1, round(setup.train * rows)))
    return f"train_rows, val_rows = order[:{count}], order[{count}:]\n"


def feature(text: str, inputs: int, names: Sequence[str] = ()) -> str:
    """Return the source of one column made of the inputs ``x``; ``names`` are those of the inputs.

    Raises:
        SetupError: it is not a feature, or names an input that does not exist.
    """
    match = _FEATURE.fullmatch(text.replace(" ", "")) or _FEATURE.fullmatch(_numbered(text, names))
    if match is None:
        listed = ", ".join(f"x{i} is {name}" for i, name in enumerate(names[:6], 1))
        which = f"; {listed}" if names and names[0] != "x1" else ""
        raise SetupError(
            f"{text!r} is no feature; write x1, x2^2, x1*x2, sin(x1){which}", "features"
        )
    wave, of, first, power, second = match.groups()
    numbers = [int(n) for n in (of, first, second) if n]
    if any(not 1 <= n <= inputs for n in numbers):
        raise SetupError(f"{text!r} names an input that the data does not have", "features")
    if wave:
        return f"torch.{wave}(x[:, {int(of) - 1}])"
    column = f"x[:, {int(first) - 1}]" + (f" ** {power}" if power else "")
    return f"{column} * x[:, {int(second) - 1}]" if second else column


def _numbered(text: str, names: Sequence[str]) -> str:
    """Return a feature with the numbers of inputs for their names: size^2 becomes x1^2."""
    numbers = {name: f"x{i}" for i, name in enumerate(names, 1) if name}
    longest = sorted(numbers, key=len, reverse=True)
    if not longest:
        return ""
    word = "|".join(map(re.escape, longest))
    found = re.sub(rf"(?<!\w)(?:{word})(?!\w)", lambda match: numbers[match[0]], text)
    return found.replace(" ", "")


def prepare(
    setup: Setup, shapes: Shapes, targets: str, task: Task, names: Sequence[str] = ()
) -> str:
    """Return the section that makes the model's inputs and targets from ``x`` and ``y``.

    ``names`` are those of the inputs, which features may have in place of x1 and so on.
    """
    lines = []
    if setup.features:
        if len(shapes.shape) != 1 or task == "tokens":
            raise SetupError("features are made of numbers, not of pictures or tokens", "features")
        columns = ",\n        ".join(feature(f, shapes.inputs, names) for f in setup.features)
        lines += ["def features(x):", f"    columns = [\n        {columns},\n    ]"]
        lines += ["    return torch.stack(columns, dim=1)", "", ""]
    lines.append("inputs = features(x)" if setup.features else "inputs = x")
    if setup.standardize and task != "tokens":
        lines += STANDARDIZE_INPUTS
    lines.append(f"targets = {_targets(targets, task, shapes.outputs)}")
    if setup.standardize and task == "regression":
        lines += STANDARDIZE_TARGETS
    to_inputs = "device" if task == "tokens" else "device, dtype"
    to_targets = "device" if targets == "classes" and task != "regression" else "device, dtype"
    lines += [
        f"inputs, targets = inputs.to({to_inputs}), targets.to({to_targets})",
        "x_train, y_train = inputs[train_rows], targets[train_rows]",
        "x_val, y_val = inputs[val_rows], targets[val_rows]",
    ]
    return "\n".join(lines) + "\n"


def _targets(targets: str, task: Task, outputs: int) -> str:
    if task == "regression" or targets == "classes":
        return "y"
    ones = "y.float().unsqueeze(1)" if task == "binary" else f"F.one_hot(y, {outputs}).float()"
    return ones if targets == "ones" else f"2 * {ones} - 1"


def model(setup: Setup, shapes: Shapes) -> str:
    """Return the section that makes the model from its seed."""
    piece, options = catalogue.find("model", setup.model, Model)
    _fits(piece, setup.model, shapes)
    try:
        expression = piece.write(options, shapes)
        parts = [*(pasted_source(one) for one in piece.uses(options)), piece.prepare(options)]
    except SyntaxError as error:
        raise SetupError(f"line {error.lineno}: {error.msg}", "model.source") from None
    except ValueError as error:
        raise SetupError(str(error), "model") from None
    lines = [f"torch.manual_seed({seeds(setup)[0]})", f"model = {expression}"]
    lines += [piece.after(options), "model = model.to(device, dtype)"]
    text = "\n".join(line for line in lines if line)
    return "\n\n".join([*(p for p in parts if p), text]) + "\n"


def _fits(piece: Model, part: Part, shapes: Shapes) -> None:
    words = {"image": "pictures", "tokens": "sequences of tokens"}
    has = "tokens" if shapes.task == "tokens" else "image" if len(shapes.shape) == 3 else ""
    takes = [words.get(inputs, "numbers") for inputs in piece.takes]
    found = words.get(has, "numbers")
    if takes and found not in takes:
        raise SetupError(f"{part.name} takes {takes[0]}, but the data is {found}", "model")


def freeze(setup: Setup, again: bool = False) -> str:
    """Return the lines that freeze parameters; with ``again`` those that unfreeze them.

    Parameters that a module froze itself are not included, so that they stay frozen.
    """
    prefixes = [repr(name) for name in setup.frozen]
    lines = ["parameters = dict(model.named_parameters())"]
    if "freeze_first" in setup.mistakes:
        lines += [
            "layers = [name.rpartition('.')[0] + '.' for name in parameters if '.' in name]",
            "first = layers[0] if layers else ''",
            "if all(name.startswith(first) for name in parameters):",
            "    # A single layer: what it multiplies by.",
            "    first = next(iter(parameters))",
        ]
        prefixes.append("first")
    if not prefixes:
        return ""
    lines += [
        f"frozen = [name for name in parameters if name.startswith(({', '.join(prefixes)},))]",
        "frozen = [name for name in frozen if parameters[name].requires_grad]",
    ]
    switch = "for name in frozen:\n    parameters[name].requires_grad_({})\n"
    return switch.format(True) if again else "\n".join(lines) + "\n" + switch.format(False)


def loss(setup: Setup, task: Task) -> str:
    """Return the section that makes ``criterion``."""
    assert setup.loss is not None
    piece, options = catalogue.find("loss", setup.loss, Loss)
    if task not in piece.tasks:
        words = {"regression": "numbers", "tokens": "tokens"}.get(task, "classes")
        raise SetupError(f"{setup.loss.name} does not fit targets that are {words}", "loss")
    expression = piece.write(options)
    if task == "tokens":
        expression = "token_cross_entropy"
    uses = [one for one in piece.uses if task == "tokens" or one.__name__ == expression]
    return "\n\n".join([*(pasted_source(one) for one in uses), f"criterion = {expression}\n"])


def optimizer(setup: Setup) -> str:
    """Return the lines that make the optimizer, its schedule and the scaler."""
    piece, options = catalogue.find("optimizer", setup.optimizer, Optimizer)
    arguments = hyperparameters(piece, options, setup)
    name = f"torch.optim.{piece.make.__name__}"
    text = "".join(f", {key}={value!r}" for key, value in arguments.items())
    lines = [f"optimizer = {name}(model.parameters(){text})"]
    if setup.schedule is not None:
        lines.append(f"scheduler = {schedule(setup, setup.schedule)}")
    if setup.amp == "float16":
        lines.append("scaler = torch.amp.GradScaler(device.type)")
    return "\n".join(lines) + "\n"


def hyperparameters(piece: Optimizer, options: Options, setup: Setup) -> dict[str, JsonValue]:
    """Return the arguments that differ from the constructor's defaults, and the learning rate."""
    defaults = {name: p.default for name, p in inspect.signature(piece.make).parameters.items()}
    arguments: dict[str, JsonValue] = {}
    for key, value in options.items():
        now = tuple(value) if isinstance(value, list) else value
        if now == "" and defaults[key] is None:
            continue
        if key == "lr" and "huge_lr" in setup.mistakes:
            now = huge_rates.huge_rate(float(str(value)), setup.optimizer.name)
        if key == "lr" or now != defaults[key]:
            arguments[key] = now  # type: ignore[assignment]
    return arguments


def schedule(setup: Setup, part: Part) -> str:
    """Return the call that makes a setup's schedule."""
    piece, options = catalogue.find("schedule", part, Schedule)
    if "huge_lr" in setup.mistakes:
        options = huge_rates.huge_rate_schedule(options, setup.optimizer.name)
    defaults = {n: p.default for n, p in inspect.signature(piece.make).parameters.items()}
    arguments = {k: v for k, v in options.items() if v != defaults[k]}
    text = "".join(f", {key}={value!r}" for key, value in arguments.items())
    return f"torch.optim.lr_scheduler.{piece.make.__name__}(optimizer{text})"
