"""Plot of a training run: its curves, and the model's predictions with the data."""

import sys

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gradscribe.app.cli.screenshot import use_offscreen
from gradscribe.app.cli.train import TrainOutcome
from gradscribe.app.files.documents import Refused
from gradscribe.app.window.startup import make_app
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.points import PlanePoints
from gradscribe.widgets.plots.drawing.shading import AROUND_ZERO, shading_legend, shading_of
from gradscribe.widgets.plots.plot import Plot
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.views.boundary import BoundaryPlot, Ground
from gradscribe.widgets.plots.views.confusion import ConfusionMatrix
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from gradscribe.widgets.plots.views.fit_plot import FitPlot

SIZE = (1200, 480)
MARGIN, GAP = 16, 24


def draw(outcome: TrainOutcome, path: str, theme: str = "light") -> None:
    """Draw loss curves and the fit, boundary or confusion matrix into the PNG ``path``.

    Raises:
        Refused: the file cannot be written.
    """
    use_offscreen()
    make_app(sys.argv)
    look = Theme.load(theme)
    sheet = QWidget()
    sheet.setAutoFillBackground(True)
    palette = sheet.palette()
    palette.setColor(sheet.backgroundRole(), look.surface)
    sheet.setPalette(palette)
    row = QHBoxLayout(sheet)
    row.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
    row.setSpacing(GAP)
    for plot in [loss_plot(outcome, look), prediction_plot(outcome)]:
        if plot is not None:
            plot.set_theme(look)
            row.addWidget(plot, 1)
    sheet.resize(*SIZE)
    sheet.ensurePolished()
    saved = sheet.grab().save(path, "PNG")
    sheet.deleteLater()
    if not saved:
        raise Refused(f"{path} cannot be written")


def loss_plot(outcome: TrainOutcome, look: Theme) -> CurvePlot:
    """Return the curves of training and validation loss."""
    setup = outcome.begun.setup
    caption = f"{setup.model.name} on {setup.data.name} · training, validation dashed"
    curves = []
    for name, label in (("loss", "training"), ("val", "validation")):
        values = np.asarray(outcome.curves[name])
        known = ~np.isnan(values)
        if known.any():
            series = StepSeries()
            series.extend(np.asarray(outcome.curves["step"])[known], values[known])
            color, dashes = (look.forward, ()) if name == "loss" else (look.data, (4.0, 3.0))
            curves.append(PlotCurve(label, series, color, dashes))
    plot = CurvePlot("Loss", caption, log=True)
    plot.set_curves(curves)
    return plot


def prediction_plot(outcome: TrainOutcome) -> Plot | None:
    """Return the plot of the predictions with the data; None if they cannot be drawn."""
    views = outcome.views
    if "fit" in views:
        return _fit(outcome)
    if "boundary" in views:
        return _boundary(outcome)
    if "confusion" in views:
        arrays = views["confusion"].arrays
        counts = arrays["train"].array() + arrays["val"].array()
        plot = ConfusionMatrix()
        plot.show_counts(counts.astype(np.intp), outcome.begun.classes)
        return plot
    return None


def _fit(outcome: TrainOutcome) -> Plot:
    arrays, data = outcome.views["fit"].arrays, outcome.data
    x, y = data.x.array()[:, 0], data.y.array().reshape(len(data.x.array()), -1)[:, 0]
    plot = FitPlot()
    plot.residuals.hide()
    names = (data.x_names or ("x",))[0], "y"
    plot.show_points(x, y, ~data.train.array(), names)
    plot.show_curve(arrays["x"].array(), arrays["y"].array()[:, 0])
    return plot


def _boundary(outcome: TrainOutcome) -> Plot:
    arrays, data, begun = outcome.views["boundary"].arrays, outcome.data, outcome.begun
    left, bottom, right, top = arrays["box"].array().tolist()
    grid = arrays["grid"].array()[:, ::-1]
    ground = (grid[0] if len(grid) == 1 else np.moveaxis(grid, 0, -1)).astype(np.float32)
    logits = None
    if begun.setup.loss is not None and begun.setup.loss.name == "bce" and len(grid) == 1:
        logits, ground = ground, np.tanh(ground / 2)
    x, y, validation = data.x.array(), data.y.array(), ~data.train.array()
    numbers = x[:, 0].astype(float), x[:, 1].astype(float)
    shading = AROUND_ZERO
    if begun.task == "regression":
        points = PlanePoints(*numbers, targets=y[:, 0].astype(float), validation=validation)
        shading = shading_of(y[:, 0])
    else:
        kinds = y.astype(np.intp)
        points = PlanePoints(*numbers, kinds=kinds, validation=validation, names=begun.classes)
    plot = BoundaryPlot()
    if points.targets is not None:
        plot.set_caption(shading_legend(shading, "".join(data.y_names[:1])))
    plot.show_ground(Ground((left, bottom, right, top), ground, shading, logits))
    plot.show_points(points)
    return plot
