"""View of a network: each unit's output and the weights between them."""

import math

import numpy as np
from numpy.typing import NDArray

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.training import Parameter, RunStarted, ViewReply, ViewRequest
from gradscribe.engine.protocol.training.replies import MAX_VIEW_PARAMETERS
from gradscribe.playback.translation import tr
from gradscribe.widgets.plots.drawing.units.weight_lines import LayerWeights
from gradscribe.widgets.plots.features import FEATURES
from gradscribe.widgets.plots.training_view import ShownRun, TrainingView
from gradscribe.widgets.plots.views.boundary import applies, plane_points
from gradscribe.widgets.plots.views.unit_maps import LayerMaps, UnitMaps

Floats = NDArray[np.float32]

PLAIN_INPUTS = FEATURES[:2]
"""The features of a model for which none are chosen."""


def network_layers(run: ShownRun) -> list[LayerMaps]:
    """Return the inputs and layers of a run, from its latest views ``units`` and ``weights``."""
    begun, view = run.begun, run.views.get("units")
    if begun is not None and view is not None and "samples" in view.arrays:
        return _of_picture(begun, view, run.views.get("weights"))
    if begun is None or view is None or not {"grid", "box"} <= view.arrays.keys():
        return []
    grid = view.arrays["grid"].array()
    if grid.ndim not in (2, 3):
        return []
    found = [_inputs(begun, view, grid)]
    weights = run.views.get("weights")
    given = begun.setup.features or PLAIN_INPUTS[: 1 if grid.ndim == 2 else 2]
    names = found[0].names
    known = all(name in names for name in given)
    sources, at = tuple(names.index(name) for name in given) if known else (), 0
    for unit in begun.units:
        part = grid[at : at + unit.width]
        at += unit.width
        if len(part):
            wires = _wires(begun, unit.name, sources, weights)
            maps = part[:, ::-1] if part.ndim == 3 else part
            found.append(LayerMaps(f"{unit.name} {unit.kind}".strip(), maps, wires=wires))
            sources = tuple(range(unit.width))
    return found if len(found) > 1 else []


def _of_picture(begun: RunStarted, view: ViewReply, weights: ViewReply | None) -> list[LayerMaps]:
    """Return the images to choose from, and the activations of all layers for the chosen one."""
    given = _pixels(view, "samples")
    if given is None:
        return []
    labels = view.arrays["labels"].array().reshape(-1) if "labels" in view.arrays else range(0)
    known, chosen = begun.classes, view.facts.get("chosen", 0.0)
    names = tuple(
        known[int(label)] if label in range(len(known)) else tr("example {label}", label=label)
        for label in labels[: len(given)]
    )
    on = tuple(place == chosen for place in range(len(names)))
    found = [LayerMaps("pictures", given, names, on, crisp=True)]
    for place, unit in enumerate(begun.units):
        maps = _pixels(view, f"layer{place}")
        if maps is None:
            continue
        last = place == len(begun.units) - 1 and len(known) == unit.width
        found.append(
            LayerMaps(
                f"{unit.name} {unit.kind}".strip(),
                maps,
                crisp=True,
                called=tuple(known) if last else (),
                filters=_filters(begun, unit.name, weights),
            )
        )
    return found if len(found) > 1 else []


def _pixels(view: ViewReply, key: str) -> Floats | None:
    """Return maps (units, rows, columns) of a view, the lowest row first; None if missing."""
    array = view.arrays.get(key)
    if array is None or len(array.shape) != 3 or 0 in array.shape:
        return None
    return array.array()[:, ::-1].astype(np.float32, copy=False)


def _filters(begun: RunStarted, name: str, weights: ViewReply | None) -> Floats | None:
    """Return the weights (filters, inputs, rows, columns) of a 2D convolution, else None."""
    parameters = {parameter.name: parameter for parameter in begun.parameters}
    weight = parameters.get(f"{name}.weight" if name else "weight")
    if weights is None or weight is None or len(weight.shape) != 4 or 0 in weight.shape:
        return None
    return _part(weights.arrays["flat"].array(), weight)


def _inputs(begun: RunStarted, view: ViewReply, grid: Floats) -> LayerMaps:
    """Return the inputs as maps; over a plane all features, with the unused ones off."""
    x0, y0, x1, y1 = view.arrays["box"].array().astype(float).tolist()
    across = np.linspace(x0, x1, grid.shape[-1], dtype=np.float32)
    if grid.ndim == 2:
        names = tuple(name for name in FEATURES if "x2" not in name)
        names = tuple(name for name in names if name in (begun.setup.features or PLAIN_INPUTS[:1]))
        return LayerMaps(
            "inputs", np.stack([_feature(name, across, across) for name in names]), names
        )
    up = np.linspace(y0, y1, grid.shape[-2], dtype=np.float32)
    plane = np.broadcast_to(across, grid.shape[-2:]), np.broadcast_to(up[:, None], grid.shape[-2:])
    chosen = begun.setup.features or PLAIN_INPUTS
    maps = np.stack([_feature(name, *plane) for name in FEATURES])
    on = tuple(name in chosen for name in FEATURES)
    return LayerMaps("inputs", maps, FEATURES, on, domain=(x0, y0, x1, y1))


def _feature(name: str, x: Floats, y: Floats) -> Floats:
    features: dict[str, Floats] = {
        "x1": x,
        "x2": y,
        "x1^2": x * x,
        "x2^2": y * y,
        "x1*x2": x * y,
        "sin(x1)": np.sin(x),
        "sin(x2)": np.sin(y),
    }
    return features[name]


def _wires(
    begun: RunStarted, name: str, sources: tuple[int, ...], view: ViewReply | None
) -> LayerWeights | None:
    """Return the weights of the linear layer ``name`` if its inputs are the units ``sources``."""
    parameters = {parameter.name: parameter for parameter in begun.parameters}
    weight = parameters.get(f"{name}.weight" if name else "weight")
    if view is None or weight is None or len(weight.shape) != 2:
        return None
    if weight.shape[1] != len(sources):
        return None
    flat = view.arrays["flat"].array()
    grads = view.arrays["grads"].array() if "grads" in view.arrays else None
    bias = parameters.get(f"{name}.bias" if name else "bias")
    return LayerWeights(
        weight.name,
        _part(flat, weight),
        _part(flat, bias) if bias is not None else np.zeros(0, np.float32),
        sources,
        _gradient(grads, weight),
        bias.name if bias is not None else "",
        _gradient(grads, bias) if bias is not None else None,
    )


def _gradient(grads: Floats | None, parameter: Parameter) -> Floats | None:
    """Return a parameter's gradient; None if it has none, as before the first backward pass."""
    part = _part(grads, parameter) if grads is not None else None
    return None if part is None or np.isnan(part).all() else part


def _part(flat: Floats, parameter: Parameter) -> Floats:
    end = parameter.start + math.prod(parameter.shape)
    return flat[parameter.start : end].reshape(parameter.shape)


def toggle_feature(setup: Setup, name: str) -> Setup:
    """Return the setup with a feature toggled; the last feature cannot be removed."""
    before = setup.features or PLAIN_INPUTS
    chosen = set(before) ^ {name}
    written = tuple(feature for feature in before if feature not in FEATURES)
    features = (*(feature for feature in FEATURES if feature in chosen), *written)
    if not features:
        return setup
    return replace(setup, features=() if features == PLAIN_INPUTS else features)


def _wishes(plot: UnitMaps, _run: ShownRun) -> tuple[ViewRequest, ...]:
    return ViewRequest("units", 50, {"sample": plot.sample}), ViewRequest("weights", 100)


def _show(plot: UnitMaps, run: ShownRun, view: ViewReply) -> None:
    """Show units and weights once both are known, so that the plot is never partial.

    A model that is too big has no weights to show.
    """
    too_big = run.begun is not None and run.begun.parameter_count > MAX_VIEW_PARAMETERS
    is_whole = "units" in run.views and ("weights" in run.views or too_big)
    if is_whole and (view.kind == "units" or plot.isVisible()):
        plot.show_layers(network_layers(run))


def _show_data(plot: UnitMaps, run: ShownRun, drawn: NDArray[np.float64] | None) -> None:
    if run.data is not None and applies(run):
        plot.show_points(plane_points(run, drawn))


def _begin(plot: UnitMaps, begun: RunStarted) -> None:
    if not begun.units:
        # Otherwise the old units stay until new ones arrive, to avoid flicker.
        plot.show_layers(())


ENTRY = TrainingView(
    tr("Network"),
    "model",
    20,
    UnitMaps,
    ("units", "weights"),
    wishes=_wishes,
    show=_show,
    clear=lambda plot: plot.show_layers((), tr("Nothing yet")),
    begin=_begin,
    show_data=_show_data,
)
