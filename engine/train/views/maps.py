"""Outputs of the model and of its units over the plane or the line of its inputs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import torch
from torch import nn

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import UnitLayer
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source.program import TrainingProgram

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""

MARGIN = 0.1
NARROWEST = 1e-4
"""Relative spread below which inputs count as constant."""
FARTHEST = 1e6
"""Maximum coordinate of a requested plane."""
MOST_GRIDS = 8
_ELEMENTWISE = (
    nn.ReLU, nn.Tanh, nn.Sigmoid, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Softplus,
    nn.Dropout, nn.Dropout2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm,
    nn.Identity,
)  # fmt: skip
_SKIPPED = (nn.Flatten, nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)


def box(x: torch.Tensor) -> Box:
    """Return the bounding box of the data with a margin; for one input y is 0 to 1."""
    least, most = x.double().amin(dim=0), x.double().amax(dim=0)
    spread, size = most - least, torch.maximum(least.abs(), most.abs())
    # With constant inputs the grid would collapse in float32: use a wider margin.
    margin = MARGIN * torch.where(spread > NARROWEST * size, spread, size.clamp(min=1.0))
    low, high = (least - margin).tolist(), (most + margin).tolist()
    if len(low) == 1:
        return low[0], 0.0, high[0], 1.0
    return low[0], low[1], high[0], high[1]


def width(run: TrainingRun) -> int:
    """Return the number of inputs of an example: 0 for images and tokens."""
    x = run.program.x
    return x.shape[1] if x.dim() == 2 and x.is_floating_point() else 0


def view_box(run: TrainingRun, options: Mapping[str, JsonValue]) -> Box:
    """Return the data's box, extended to include the box of option ``around``, if given."""
    own, requested = box(run.program.x), options.get("around")
    if not isinstance(requested, list) or len(requested) != 4:
        return own
    if not all(isinstance(number, int | float) and abs(number) < FARTHEST for number in requested):
        return own
    x0, y0, x1, y1 = (float(str(number)) for number in requested)
    return min(own[0], x0), min(own[1], y0), max(own[2], x1), max(own[3], y1)


def grid(run: TrainingRun, side: int, around: Box | None = None) -> torch.Tensor:
    """Return grid points (side * side, 2) over a box, by default the data's; top row first."""
    cached = _grids.setdefault(run.program, {})
    around = around or box(run.program.x)
    if (side, around) not in cached:
        if len(cached) >= MOST_GRIDS:
            cached.clear()
        cached[side, around] = _grid(around, side)
    return cached[side, around]


_grids: WeakKeyDictionary[TrainingProgram, dict[tuple[int, Box], torch.Tensor]] = (
    WeakKeyDictionary()
)
"""Cache of grids by run: its data does not change."""


def _grid(around: Box, side: int) -> torch.Tensor:
    x0, y0, x1, y1 = around
    across = torch.linspace(x0, x1, side)
    down = torch.linspace(y1, y0, side)
    return torch.stack([across.repeat(side), down.repeat_interleave(side)], dim=1)


def model_output(run: TrainingRun, x: torch.Tensor) -> torch.Tensor:
    """Return the model's outputs for raw inputs, in the units of the raw targets."""
    output: torch.Tensor = run.program.model(run.program.model_inputs(x))
    if "y_mean" in run.program.names:
        output = output * run.program.tensor("y_std") + run.program.tensor("y_mean")
    return output.float()


@contextmanager
def leaf_outputs(run: TrainingRun) -> Iterator[list[tuple[str, nn.Module, torch.Tensor]]]:
    """Collect the output of each leaf module while the model runs in this context."""
    collected: list[tuple[str, nn.Module, torch.Tensor]] = []
    handles = []
    for name, module in run.program.model.named_modules():
        if not list(module.children()):

            def note(module: nn.Module, _given: object, result: object, name: str = name) -> None:
                if isinstance(result, torch.Tensor):
                    collected.append((name, module, result))

            handles.append(module.register_forward_hook(note))
    try:
        yield collected
    finally:
        for handle in handles:
            handle.remove()


def layers(run: TrainingRun, x: torch.Tensor) -> list[tuple[str, nn.Module, torch.Tensor]]:
    """Return each layer's output, after its activation if that is a module.

    For image models (4-D inputs), outputs with channels are included.
    """
    return [(name, module, output) for name, _, module, output in _named_outputs(run, x)]


def _named_outputs(
    run: TrainingRun, x: torch.Tensor
) -> list[tuple[str, str, nn.Module, torch.Tensor]]:
    """Return `layers`, each with the name of the module whose output it is as the second."""
    dims = (2, 4) if run.program.x.dim() == 4 else (2,)
    with leaf_outputs(run) as found:
        run.program.model(run.program.model_inputs(x))
    result: list[tuple[str, str, nn.Module, torch.Tensor]] = []
    for name, module, output in found:
        if output.dim() not in dims or isinstance(module, _SKIPPED):
            continue
        if result and isinstance(module, _ELEMENTWISE):
            result[-1] = (result[-1][0], name, module, output)
        else:
            result.append((name, name, module, output))
    return result


def can_draw_units(run: TrainingRun) -> bool:
    """Return whether its units can be drawn: as maps over the data, or as pictures."""
    return width(run) in (1, 2) or run.program.x.dim() == 4


def layers_by_depth(run: TrainingRun) -> tuple[UnitLayer, ...]:
    """Return the layers whose outputs are collected, in the order in which they run."""
    return tuple(
        UnitLayer(name, type(module).__name__, int(output.shape[1]), at)
        for name, at, module, output in _named_outputs(run, run.program.x[:2])
    )
