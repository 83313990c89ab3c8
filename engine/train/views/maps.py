"""What the model, and each of its units, answers over the plane or the line of its inputs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import torch
from torch import nn

from engine.setup import Plain
from engine.train.program import Program
from engine.train.run import Run
from engine.train.views import bounds
from engine.train.views.arrays import Picture, packed, whole
from engine.training.answers import Unit

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""

MARGIN = 0.1
NARROWEST = 1e-4
"""What differs by less, as a part of the numbers themselves, is as good as the same."""
FARTHEST = 1e6
"""No plane that is asked for goes farther than this."""
MOST_GRIDS = 8
ROWS = 2000
"""Rows of the data that a view looks at."""
MOST_UNITS = 256
_ELEMENTWISE = (
    nn.ReLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Softplus,
    nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm,
    nn.Identity,
)  # fmt: skip
_PASSED_OVER = (nn.Flatten, nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)


def box(x: torch.Tensor) -> Box:
    """Return x0, y0, x1, y1 around the data, with a margin; for one input y is 0 to 1."""
    least, most = x.double().amin(dim=0), x.double().amax(dim=0)
    spread, size = most - least, torch.maximum(least.abs(), most.abs())
    # Of inputs that are all the same float32 has no grid; some room lets one see them.
    room = MARGIN * torch.where(spread > NARROWEST * size, spread, size.clamp(min=1.0))
    low, high = (least - room).tolist(), (most + room).tolist()
    if len(low) == 1:
        return low[0], 0.0, high[0], 1.0
    return low[0], low[1], high[0], high[1]


def width(run: Run) -> int:
    """Return how many numbers an example has: 0 for pictures and tokens."""
    x = run.program.x
    return x.shape[1] if x.dim() == 2 and x.is_floating_point() else 0


def plane(run: Run, options: Mapping[str, Plain]) -> Box:
    """Return the data's box, made larger to hold the one that ``around`` asks for, if it does."""
    made, asked = box(run.program.x), options.get("around")
    if not isinstance(asked, list) or len(asked) != 4:
        return made
    if not all(isinstance(one, int | float) and abs(one) < FARTHEST for one in asked):
        return made
    x0, y0, x1, y1 = (float(str(one)) for one in asked)
    return min(made[0], x0), min(made[1], y0), max(made[2], x1), max(made[3], y1)


def grid(run: Run, side: int, around: Box | None = None) -> torch.Tensor:
    """Return points (side * side, 2) over a box, the data's at first, the top row first."""
    made = _grids.setdefault(run.program, {})
    around = around or box(run.program.x)
    if (side, around) not in made:
        if len(made) >= MOST_GRIDS:
            made.clear()
        made[side, around] = _grid(around, side)
    return made[side, around]


_grids: WeakKeyDictionary[Program, dict[tuple[int, Box], torch.Tensor]] = WeakKeyDictionary()
"""Points made for a run: its data stays."""


def _grid(around: Box, side: int) -> torch.Tensor:
    x0, y0, x1, y1 = around
    across = torch.linspace(x0, x1, side)
    down = torch.linspace(y1, y0, side)
    return torch.stack([across.repeat(side), down.repeat_interleave(side)], dim=1)


def answer(run: Run, x: torch.Tensor) -> torch.Tensor:
    """Return the model's outputs for raw inputs, in the targets' own units."""
    output: torch.Tensor = run.program.model(run.program.inputs_of(x))
    if "y_mean" in run.program.names:
        output = output * run.program.tensor("y_std") + run.program.tensor("y_mean")
    return output.float()


def boundary(run: Run, options: Mapping[str, Plain]) -> Picture | None:
    """Return the output over the plane; for more classes than two their probabilities."""
    if width(run) != 2:
        return None
    side = bounds.side(run, whole(options, "side", 100, 4, 400))
    around = plane(run, options)
    output = answer(run, grid(run, side, around))
    if output.shape[1] > 1 and run.program.classes:
        output = torch.softmax(output, dim=1)
    values = output.T.reshape(-1, side, side)
    return Picture({"grid": packed(values), "box": packed(torch.tensor(around))})


def fit(run: Run, options: Mapping[str, Plain]) -> Picture | None:
    """Return the curve that the model draws over its one input."""
    if width(run) != 1:
        return None
    x0, _, x1, _ = box(run.program.x)
    points = bounds.rows(run, whole(options, "points", 200, 2, 2000))
    x = torch.linspace(x0, x1, points).unsqueeze(1)
    return Picture({"x": packed(x[:, 0]), "y": packed(answer(run, x))})


def residuals(run: Run, _options: Mapping[str, Plain]) -> Picture | None:
    """Return targets beside outputs, of a regression with one output."""
    program = run.program
    if program.task != "regression" or program.y.shape[1] != 1:
        return None
    rows = torch.arange(bounds.rows(run, min(ROWS, len(program.x))))
    trained = torch.isin(rows, program.tensor("train_rows"))
    return Picture(
        {
            "target": packed(program.y[rows, 0]),
            "output": packed(answer(run, program.x[rows])[:, 0]),
            "train": packed(trained, "|b1"),
        }
    )


@contextmanager
def outputs(run: Run) -> Iterator[list[tuple[str, nn.Module, torch.Tensor]]]:
    """Collect what each innermost module returns while the model runs in this context."""
    found: list[tuple[str, nn.Module, torch.Tensor]] = []
    handles = []
    for name, module in run.program.model.named_modules():
        if not list(module.children()):

            def note(module: nn.Module, _given: object, result: object, name: str = name) -> None:
                if isinstance(result, torch.Tensor):
                    found.append((name, module, result))

            handles.append(module.register_forward_hook(note))
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def layers(run: Run, x: torch.Tensor) -> list[tuple[str, nn.Module, torch.Tensor]]:
    """Return each layer's output with its activation applied, where that is a module.

    Of a model for pictures, which have four dimensions, those with channels too.
    """
    dims = (2, 4) if run.program.x.dim() == 4 else (2,)
    with outputs(run) as found:
        run.program.model(run.program.inputs_of(x))
    kept: list[tuple[str, nn.Module, torch.Tensor]] = []
    for name, module, output in found:
        if output.dim() not in dims or isinstance(module, _PASSED_OVER):
            continue
        if kept and isinstance(module, _ELEMENTWISE):
            kept[-1] = (kept[-1][0], module, output)
        else:
            kept.append((name, module, output))
    return kept


def describe(run: Run) -> tuple[Unit, ...]:
    """Return the layers whose units can be drawn."""
    if width(run) not in (1, 2) and run.program.x.dim() != 4:
        return ()
    found = layers(run, run.program.x[:2])
    return tuple(Unit(name, type(m).__name__, int(out.shape[1])) for name, m, out in found)


def units(run: Run, options: Mapping[str, Plain]) -> Picture | None:
    """Return a small map of each unit of each layer, one after the other."""
    inputs = width(run)
    if inputs not in (1, 2):
        return None
    side = bounds.side(run, whole(options, "side", 24, 4, 100))
    around = box(run.program.x)
    if inputs == 2:
        x = grid(run, side)
    else:
        x = torch.linspace(around[0], around[2], 4 * side).unsqueeze(1)
    found = [output.float().T for _, _, output in layers(run, x)]
    if not found:
        return None
    values = torch.cat(found)[:MOST_UNITS]
    values = values.reshape(len(values), side, side) if inputs == 2 else values
    return Picture({"grid": packed(values), "box": packed(torch.tensor(around))})
