"""Adapters from the views of a run, as the engine sends them, to the plots."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gradscribe.app.training.page import network_adapter
from gradscribe.app.training.page.page import OPTIMIZER_CAPTION, TrainingPage
from gradscribe.app.training.session.state import RunState, parameter_count
from gradscribe.engine.protocol.training import DataSample, ViewReply
from gradscribe.engine.protocol.training.replies import MAX_SURFACE_PARAMETERS, MAX_VIEW_PARAMETERS
from gradscribe.playback.text import formatting
from gradscribe.widgets.plots.drawing import shading
from gradscribe.widgets.plots.drawing.points import NO_POINTS, PlanePoints
from gradscribe.widgets.plots.views.boundary import Ground
from gradscribe.widgets.plots.views.histograms import NOTHING, Kind, TensorHistogram
from gradscribe.widgets.training.weight_table import EDIT_HINT

GRID_SIDE = 100
"""Grid points along each side of a decision boundary."""
BINS = 24
NO_STATE = "This optimizer has no state"
Floats = NDArray[np.float64]


def plot_kind(run: RunState) -> str:
    """Return the most informative plot: ``boundary``, ``fit``, ``residuals`` or ``confusion``."""
    begun, data = run.begun, run.data
    if begun is None or data is None:
        return "boundary"
    columns = data.x.shape[1] if len(data.x.shape) == 2 else 0
    if columns == 1 and begun.task in ("regression", "any"):
        return "fit"
    if columns == 2 and len(data.y.shape) <= 2:
        return "boundary"
    return "confusion" if begun.task in ("binary", "classes", "tokens") else "residuals"


def to_points(data: DataSample, names: Sequence[str], is_regression: bool) -> PlanePoints:
    """Return two-column data as points on the plane."""
    if len(data.x.shape) != 2 or data.x.shape[1] != 2 or not data.x.shape[0]:
        return NO_POINTS
    x = data.x.array().astype(np.float64)
    y = data.y.array()
    y = y.reshape(len(x), -1)[:, 0]
    held_back = ~data.train.array().astype(np.bool_)
    if is_regression:
        return PlanePoints(x[:, 0], x[:, 1], targets=y.astype(np.float64), validation=held_back)
    kinds = np.where(y < 0, 0, y).astype(np.intp)
    return PlanePoints(
        x[:, 0], x[:, 1], kinds=kinds, validation=held_back, names=class_labels(names)
    )


def with_drawn_points(points: PlanePoints, drawn: Floats | None) -> PlanePoints:
    """Return the points, replaced by those ``drawn`` by now: (n, 3) with their class, or None."""
    if drawn is None or drawn.shape[1] != 3:
        return points
    x, y, kinds = drawn.T
    same = len(x) == len(points) and np.allclose([points.x, points.y], [x, y], atol=1e-5)
    if same and points.kinds is not None and np.array_equal(points.kinds, kinds):
        return points
    return PlanePoints(x, y, kinds=kinds.astype(np.intp), names=points.names)


def class_labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return the display names of classes: a number becomes ``class 0`` and so on."""
    return tuple(f"class {name}" if name.isdecimal() else name for name in names)


def class_legend(
    task: str,
    names: Sequence[str],
    targets: Floats | None = None,
    target: Sequence[str] = (),
) -> str:
    """Return the legend of the plane's colours; ``target``: the name of the ``targets``."""
    if targets is not None:
        return shading.shading_legend(shading.shading_of(targets), "".join(target[:1]))
    if task != "binary" or len(names) < 2:
        return "pale: unsure"
    first, second = class_labels(names[:2])
    return f"blue: {second}, orange: {first}, pale: unsure"


def axes_note(names: Sequence[str]) -> list[str]:
    """Return a remark on the axes, if they are columns of a file."""
    if len(names) != 2 or tuple(names) == ("x1", "x2"):
        return []
    across, up = (formatting.elide_middle(name, shading.LONGEST_NAME) for name in names)
    return [f"across: {across}, up: {up}"]


def to_ground(
    view: ViewReply, is_regression: bool, points: PlanePoints, of_logits: bool = True
) -> Ground | None:
    """Return the ground of a ``boundary`` view; a single output is mapped to -1 to 1.

    Outputs that are not logits are compared with targets of -1 and 1, and stay as they are.
    """
    grid = view.arrays["grid"].array()
    x0, y0, x1, y1 = view.arrays["box"].array().astype(float).tolist()
    upward = grid[:, ::-1]
    if len(grid) > 1:
        return Ground((x0, y0, x1, y1), np.moveaxis(upward, 0, -1))
    output = upward[0].astype(np.float32)
    if is_regression:
        known = points.targets if points.targets is not None else np.empty(0)
        return Ground((x0, y0, x1, y1), output, shading.shading_of(known))
    if not of_logits:
        return Ground((x0, y0, x1, y1), output)
    return Ground((x0, y0, x1, y1), np.tanh(output / 2), logits=output)


def accuracy_text(view: ViewReply) -> str:
    """Return ``197 of 200 right`` of a ``scores`` view, or its validation loss."""
    facts = view.facts
    right, count = facts.get("train_right"), facts.get("train_count")
    if right is None or count is None:
        return ""
    words = f"{right:.0f} of {count:.0f} right"
    held, of = facts.get("val_right"), facts.get("val_count")
    return f"{words} · validation {held:.0f} of {of:.0f}" if held is not None and of else words


def to_histograms(run: RunState, view: ViewReply, kind: Kind) -> list[TensorHistogram]:
    """Return the histograms of a ``histograms`` view."""
    counts, edges = view.arrays["counts"].array(), view.arrays["edges"].array()
    if run.begun is None:
        return []
    if kind == "activation":
        names = [unit.name for unit in run.begun.units]
    else:
        names = [parameter.name for parameter in run.begun.parameters]
    return [
        TensorHistogram(name, kind, row.astype(np.intp), float(low), float(high))
        for name, row, (low, high) in zip(names, counts, edges, strict=False)
    ]


def optimizer_histograms(run: RunState, view: ViewReply) -> list[TensorHistogram]:
    """Return histograms of the optimizer's state, per kind of state and parameter."""
    found = []
    for name, flat in view.arrays.items():
        numbers = flat.array()
        for parameter in run.begun.parameters if run.begun is not None else ():
            part = numbers[parameter.start : parameter.start + math.prod(parameter.shape)]
            if part.size:
                found.append(histogram_of(f"{name} {parameter.name}", part))
    return found


def histogram_of(name: str, numbers: NDArray[np.float32]) -> TensorHistogram:
    """Return the histogram of the finite ones of ``numbers``."""
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    if not finite.size:
        return TensorHistogram(name, "weight", np.zeros(0, np.intp), math.nan, math.nan)
    low, high = float(finite.min()), float(finite.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return TensorHistogram(name, "weight", np.array([finite.size], np.intp), low, high)
    return TensorHistogram(name, "weight", np.histogram(finite, BINS, (low, high))[0], low, high)


def show_view(page: TrainingPage, run: RunState, view: ViewReply) -> None:
    """Show a view in its plot."""
    begun = run.begun
    is_regression = begun is not None and begun.task in ("regression", "any")
    match view.kind:
        case "boundary":
            points = to_points(run.data, (), is_regression) if run.data is not None else NO_POINTS
            loss = begun.setup.loss if begun is not None else None
            of_logits = loss is None or loss.name == "bce"
            page.boundary.show_ground(to_ground(view, is_regression, points, of_logits))
        case "fit" | "residuals" if view.kind != plot_kind(run):
            pass  # Requested before the data were known.
        case "fit":
            x, y = view.arrays["x"].array(), view.arrays["y"].array()
            page.fit.show_curve(x.reshape(-1), y.reshape(x.size, -1)[:, 0])
        case "residuals":
            show_residuals(page, view)
        case "confusion":
            train = view.arrays["train"].array() + view.arrays["val"].array()
            page.confusion.show_counts(train, begun.classes if begun is not None else ())
        case "scores":
            page.boundary.show_note(accuracy_text(view))
        case "gradients":
            names = [p.name for p in begun.parameters] if begun is not None else []
            norms = view.arrays["norms"].array().tolist()
            held = view.arrays["held"].array().tolist()
            pairs = zip(norms, held, strict=True)
            page.gradients.show_norms(names, [norm if has else None for norm, has in pairs])
        case "units":
            show_network(page, run)
        case "histograms":
            shown: Kind = "weight"
            page.histograms.show_histograms(to_histograms(run, view, shown))
        case "optimizer":
            page.optimizer.nothing = NOTHING if view.arrays or not view.step else NO_STATE
            page.optimizer.show_histograms(optimizer_histograms(run, view))
        case "weights":
            grads = view.arrays["grads"].array() if "grads" in view.arrays else None
            page.weights.show_flat(view.arrays["flat"].array(), grads)
            if page.units.isVisible():
                show_network(page, run)
        case "surface":
            show_surface(page, view)


def clear_plots(page: TrainingPage) -> None:
    """Clear all plots: the current run has not begun."""
    nothing = np.empty(0)
    page.boundary.show_points(NO_POINTS)
    page.boundary.show_ground(None)
    page.boundary.show_note("")
    page.fit.show_points(nothing, nothing)
    page.fit.show_curve(nothing, nothing)
    page.confusion.show_counts(np.zeros((0, 0), np.intp))
    page.gradients.show_norms((), ())
    page.surface.show_grid((0.0, 0.0, 1.0, 1.0), np.zeros((0, 0)), ("", ""))
    page.surface.set_caption("")
    page.units.show_layers((), "Nothing yet")
    for spreads in (page.histograms, page.optimizer):
        spreads.show_histograms(())
    page.weights.set_parameters(())


def show_network(page: TrainingPage, run: RunState) -> None:
    """Show units and weights once both are known, so that the plot is never partial.

    A model that is too big has no weights to show.
    """
    if "units" in run.views and (
        "weights" in run.views or parameter_count(run) > MAX_VIEW_PARAMETERS
    ):
        page.units.show_layers(network_adapter.network_layers(run))


def note_size_limits(page: TrainingPage, run: RunState) -> None:
    """Write into the captions of plots that a model has too many parameters for."""
    size = parameter_count(run)
    words = f"{size:,} parameters are too many to show"
    page.surface.set_caption(words if size > MAX_SURFACE_PARAMETERS else "")
    page.optimizer.set_caption(words if size > MAX_VIEW_PARAMETERS else OPTIMIZER_CAPTION)
    page.weights.heading.set_text("Weights", words if size > MAX_VIEW_PARAMETERS else EDIT_HINT)


def show_curve_data(page: TrainingPage, data: DataSample, drawn: Floats | None = None) -> None:
    """Show data of one input, or (n, 2) points ``drawn`` by now."""
    x = data.x.array().reshape(-1).astype(np.float64)
    y = data.y.array().reshape(len(x), -1)[:, 0].astype(np.float64)
    names = (*data.x_names[:1], *data.y_names[:1])
    pair = (names[0], names[1]) if len(names) == 2 else ("x", "y")
    held_back = ~data.train.array().astype(np.bool_)
    is_other = drawn is not None and drawn.shape[1] == 2
    if drawn is not None and is_other and drawn.shape[0] == len(x):
        is_other = not np.allclose([x, y], drawn.T, atol=1e-5)
    if drawn is not None and is_other:
        (x, y), held_back = drawn.T, np.zeros(len(drawn), np.bool_)
    page.fit.show_points(x, y, held_back, pair)
    page.fit.set_caption("")


def show_residuals(page: TrainingPage, view: ViewReply) -> None:
    """Show outputs over targets, with the line on which both agree."""
    target = view.arrays["target"].array().reshape(-1).astype(np.float64)
    output = view.arrays["output"].array().reshape(-1).astype(np.float64)
    held_back = ~view.arrays["train"].array().reshape(-1).astype(np.bool_)
    page.fit.show_points(target, output, held_back, ("target", "output"))
    ends = np.array([target.min(), target.max()]) if target.size else np.zeros(2)
    page.fit.show_curve(ends, ends)
    page.fit.set_caption("across the target, up the output; on the line they agree")


def show_surface(page: TrainingPage, view: ViewReply) -> None:
    """Show the loss over two directions, with the path; the axes are in the parameters' units."""
    a, b = (
        view.arrays[name].array().astype(np.float64) + view.facts.get(f"center_{name}", 0.0)
        for name in ("a", "b")
    )
    chosen = page.directions.currentData()
    names = {
        "parameters": (page.across.title(), page.up.title()),
        "pca": ("the path's main direction", "its second"),
    }.get(chosen, ("a random direction", "another"))
    box = (float(a[0]), float(b[0]), float(a[-1]), float(b[-1]))
    center = [view.facts.get("center_a", 0.0), view.facts.get("center_b", 0.0)]
    page.surface.show_grid(box, view.arrays["grid"].array().astype(np.float64), names)
    page.surface.show_path(view.arrays["path"].array().astype(np.float64) + center)
