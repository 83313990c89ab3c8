"""Source code of a training step: as lines with events, as a function, and unrolled."""

from gradscribe.engine.protocol.setup import Setup, SetupError
from gradscribe.engine.protocol.step_order import RIGHT_ORDER
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.codegen import MOST_MICRO
from gradscribe.engine.zoo.entry import Data, Optimizer, Schedule

Line = tuple[str, str]
"""An event (``zero_grad``, ``forward``, ...) and its statements."""

MANUAL_UPDATE = """with torch.no_grad():
    for p in model.parameters():
        if p.grad is not None:
            # p -= lr * p.grad, rounded once, as in the optimizer
            p.sub_(p.grad, alpha=optimizer.param_groups[0]["lr"])"""
"""An update by plain gradient descent, to the same bits as the optimizer."""


def lines(setup: Setup) -> list[Line]:
    """Return the statements of a step with a single (micro-)batch, in order."""
    before, micro, after = _pieces(setup)
    return [*before, *micro, *after]


def _pieces(setup: Setup) -> tuple[list[Line], list[Line], list[Line]]:
    """Return the statements of a step before, for each and after its micro-batches."""
    piece, _ = catalogue.find("optimizer", setup.optimizer, Optimizer)
    if setup.accumulate > MOST_MICRO:
        raise SetupError(f"accumulate is more than {MOST_MICRO}", "accumulate")
    if setup.manual_update:
        _check_manual(setup)
    if piece.closure:
        return [], [("step", _closure(setup))], _schedule(setup)
    order = setup.order
    if "no_zero_grad" in setup.mistakes:
        order = tuple(name for name in order if name != "zero_grad")
    each = {name: [(name, text)] for name, text in _micro(setup)}
    repeated = [at for at, name in enumerate(order) if name in each]
    first, end = (repeated[0], repeated[-1] + 1) if repeated else (len(order), len(order))
    each |= {"zero_grad": [("zero_grad", "optimizer.zero_grad()")], "step": _update(setup)}
    before, micro, after = (
        [line for name in part for line in each[name]]
        for part in (order[:first], order[first:end], order[end:])
    )
    return before, micro, [*after, *_schedule(setup)]


def _check_manual(setup: Setup) -> None:
    """Check that ``p -= lr * p.grad`` is what the optimizer does.

    Raises:
        SetupError: it is not.
    """
    _, options = catalogue.find("optimizer", setup.optimizer, Optimizer)
    if setup.optimizer.name != "sgd":
        raise SetupError(
            "the update by hand is p -= lr * p.grad, which is that of sgd", "manual_update"
        )
    for name in ("momentum", "weight_decay", "maximize"):
        if options.get(name):
            raise SetupError(
                f"the update by hand is p -= lr * p.grad, but {name} is {options[name]}; "
                "leave it out",
                "manual_update",
            )
    if setup.amp == "float16":
        raise SetupError(
            "the update by hand does not undo the scale of a GradScaler; leave amp empty",
            "manual_update",
        )


def _micro(setup: Setup) -> list[Line]:
    backward = "loss.backward()"
    if setup.amp == "float16":
        backward = "scaler.scale(loss).backward()"
    return [
        ("forward", _cast(setup, f"output = model({_inputs(setup)})")),
        ("loss", _loss(setup)),
        ("backward", backward),
    ]


def _inputs(setup: Setup) -> str:
    return _to_wrong_device(setup, "inputs") if "wrong_device" in setup.mistakes else "inputs"


def _to_wrong_device(setup: Setup, name: str) -> str:
    return f'{name}.to("meta")' if setup.device == "cpu" else f"{name}.cpu()"


def _may_embed(setup: Setup) -> bool:
    """Return whether the model may have an embedding, which torch computes from meta indices."""
    tokens = catalogue.find("data", setup.data, Data)[0].task == "tokens"
    return setup.device == "cpu" and (tokens or setup.model.name == "own")


def _cast(setup: Setup, statement: str) -> str:
    if not setup.amp:
        return statement
    return f"with torch.autocast(device.type, torch.{setup.amp}):\n    {statement}"


def _loss(setup: Setup) -> str:
    output, targets = "output", "targets"
    if "softmax_first" in setup.mistakes:
        output = "torch.softmax(output, dim=-1)"
    if "wrong_device" in setup.mistakes and _may_embed(setup):
        targets = _to_wrong_device(setup, targets)
    if "column_target" in setup.mistakes:
        targets += ".squeeze(-1)"
    text = [_cast(setup, f"loss = criterion({output}, {targets})")]
    weights = "for p in model.parameters() if p.dim() > 1"
    if setup.l1:
        text.append(f"loss = loss + {setup.l1!r} * sum(p.abs().sum() {weights})")
    if setup.l2:
        text.append(f"loss = loss + {setup.l2 / 2!r} * sum(p.square().sum() {weights})")
    if setup.accumulate > 1:
        text.append(f"loss = loss / {setup.accumulate}")
    if "keep_graphs" in setup.mistakes:
        text.append("kept.append(loss)")
    return "\n".join(text)


def check_mistakes(setup: Setup, targets: tuple[int, ...]) -> None:
    """Check that a deliberate mistake has an effect with targets of this shape.

    Raises:
        SetupError: it has none; the text says for which shape it has.
    """
    if "column_target" in setup.mistakes and targets[1:] != (1,):
        assert setup.loss is not None
        rest = ", ".join(map(str, targets[1:]))
        raise SetupError(
            f"column_target drops the last of two dimensions, as of (N, 1), but for "
            f"{setup.loss.name} the targets are (N,{' ' * bool(rest)}{rest}) here",
            "mistakes",
        )


def _clip(setup: Setup) -> list[str]:
    clip = []
    if setup.clip_value:
        clip.append(f"nn.utils.clip_grad_value_(model.parameters(), {setup.clip_value!r})")
    if setup.clip_norm:
        clip.append(f"nn.utils.clip_grad_norm_(model.parameters(), {setup.clip_norm!r})")
    return clip


def _update(setup: Setup) -> list[Line]:
    result: list[Line] = []
    clip = _clip(setup)
    if setup.manual_update:
        update = MANUAL_UPDATE
    elif setup.amp == "float16":
        if clip:
            clip.insert(0, "scaler.unscale_(optimizer)")
        update = "scaler.step(optimizer)\nscaler.update()"
    else:
        update = "optimizer.step()"
    if clip:
        result.append(("clip", "\n".join(clip)))
    return [*result, ("step", update)]


def _schedule(setup: Setup) -> list[Line]:
    if setup.schedule is None:
        return []
    piece, _ = catalogue.find("schedule", setup.schedule, Schedule)
    return [("schedule", "scheduler.step(loss.item())" if piece.metric else "scheduler.step()")]


def _closure(setup: Setup) -> str:
    if setup.accumulate > 1:
        raise SetupError(f"{setup.optimizer.name} takes one batch a step", "accumulate")
    if setup.amp == "float16":
        raise SetupError(f"{setup.optimizer.name} does not go with a GradScaler", "amp")
    if setup.order != RIGHT_ORDER:
        raise SetupError(
            f"{setup.optimizer.name} runs the step itself, several times, in a closure; another "
            "order needs another optimizer",
            "order",
        )
    inner = ["optimizer.zero_grad()"] if "no_zero_grad" not in setup.mistakes else []
    inner += [statement for _, statement in _micro(setup)]
    inner += [*_clip(setup), "return loss"]
    body = indented("\n".join(inner))
    return f"def closure():\n{body}\nloss = optimizer.step(closure)"


def indented(text: str, by: int = 4) -> str:
    """Return the text with each line indented."""
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def train_step_source(setup: Setup) -> str:
    """Return the source of ``train_step``; its argument is a batch, or a list of batches."""
    before, micro, after = _pieces(setup)
    inner = "\n".join(text for _, text in micro)
    if setup.accumulate > 1:
        inner = f"for inputs, targets in batches:\n{indented(inner)}\n    total += loss.item()"
        before = [*before, ("", "total = 0.0")]
    texts = [*(t for _, t in before), inner, *(t for _, t in after)]
    end = "return total" if setup.accumulate > 1 else "return loss.item()"
    argument = "batches" if setup.accumulate > 1 else "inputs, targets"
    return f"def train_step({argument}):\n{indented(chr(10).join([*texts, end]))}\n"


def unrolled_lines(setup: Setup) -> list[Line]:
    """Return every statement of one whole step, with micro-batches unrolled."""
    before, micro, after = _pieces(setup)
    if setup.accumulate == 1:
        return [*before, *micro, *after]
    repeated: list[Line] = []
    for index in range(setup.accumulate):
        for name, text in micro[:1]:
            repeated.append((name, f"inputs, targets = batches[{index}]\n{text}"))
        repeated += micro[1:]
    return [*before, *repeated, *after]


def evaluate_source(setup: Setup) -> str:
    """Return the source of ``evaluate_source``: validation loss in eval mode, without gradients."""
    body = ["loss = criterion(model(x_val), y_val).item()"]
    if setup.amp:
        body = [_cast(setup, body[0])]
    if "validate_with_grad" not in setup.mistakes:
        body = ["with torch.no_grad():", indented("\n".join(body))]
    if "validate_in_train_mode" not in setup.mistakes:
        body = ["model.eval()", *body, "model.train()"]
    return "def evaluate():\n" + indented("\n".join([*body, "return loss"])) + "\n"


def batches_source(setup: Setup, rows: int) -> str:
    """Return the source of ``batches_source``, an endless generator of batches."""
    size = batch_size(setup, rows)
    if size == rows:
        return "def batches():\n    while True:\n        yield x_train, y_train\n"
    order = (
        f"torch.randperm({rows}, generator=order_rng)"
        if setup.shuffle
        else (f"torch.arange({rows})")
    )
    drop = f"            if len(rows) == {size}:\n    " if setup.drop_last else ""
    return (
        f"order_rng = torch.Generator().manual_seed({setup.seed})\n\n\n"
        "def batches():\n    while True:\n"
        f"        for rows in {order}.split({size}):\n"
        f"{drop}            yield x_train[rows], y_train[rows]\n"
    )


def next_batch_source(setup: Setup, rows: int) -> str:
    """Return the source of ``next_batch``, whose batch size can change within an epoch."""
    order = f"torch.randperm({rows}, generator=order_rng)"
    return (
        f"order_rng = torch.Generator().manual_seed({setup.seed})\n"
        f"batch, drop_last = {batch_size(setup, rows)}, {setup.drop_last}\n"
        "order, at = [], 0\n\n\n"
        "def next_batch():\n"
        "    global order, at\n"
        f"    if batch == {rows}:\n"
        "        return x_train, y_train\n"
        "    left = len(order) - at\n"
        "    if left == 0 or (drop_last and left < batch):\n"
        f"        order, at = {order if setup.shuffle else f'torch.arange({rows})'}, 0\n"
        "    rows = order[at : at + batch]\n"
        "    at += len(rows)\n"
        "    return x_train[rows], y_train[rows]\n"
    )


def batch_size_change(before: Setup, after: Setup, rows: int) -> str:
    """Return the statements that change the batch size of `next_batch_source`, if it changes."""
    size = batch_size(after, rows)
    if (size, after.drop_last) == (batch_size(before, rows), before.drop_last):
        return ""
    text = f"batch, drop_last = {size}, {after.drop_last}\n"
    return text + ("order, at = [], 0\n" if size == rows else "")


def batch_size(setup: Setup, rows: int) -> int:
    """Return the number of examples in a batch; full batches are not shuffled."""
    return rows if setup.batch == 0 or setup.batch >= rows else setup.batch
