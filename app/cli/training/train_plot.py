"""Plot of a training run: its curves, and the model's predictions with the data."""

import sys
from dataclasses import replace

import numpy as np
from PySide6.QtWidgets import QWidget

from gradscribe.app.cli.screenshot import use_offscreen
from gradscribe.app.cli.train import TrainOutcome
from gradscribe.app.files.documents import Refused
from gradscribe.app.window.startup import make_app
from gradscribe.widgets.base.boxes import hbox
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.plots.drawing.points import points_of
from gradscribe.widgets.plots.drawing.shading import shading_legend, shading_of
from gradscribe.widgets.plots.ground import to_ground
from gradscribe.widgets.plots.plot import Plot
from gradscribe.widgets.plots.step_series import StepSeries
from gradscribe.widgets.plots.training_view import ShownRun
from gradscribe.widgets.plots.views import confusion, fit_plot
from gradscribe.widgets.plots.views.boundary import BoundaryPlot
from gradscribe.widgets.plots.views.confusion import ConfusionMatrix
from gradscribe.widgets.plots.views.curve_plot import CurvePlot, PlotCurve
from gradscribe.widgets.plots.views.fit_plot import FitPlot, show_curve_data

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
    row = hbox(sheet, margins=(MARGIN, MARGIN, MARGIN, MARGIN), spacing=GAP)
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
    begun, views = outcome.begun, outcome.views
    run = ShownRun(begun, outcome.data, views)
    plot: Plot
    if "fit" in views:
        plot = FitPlot()
        show_curve_data(plot, outcome.data)
        fit_plot.ENTRY.show(plot, run, views["fit"])
    elif "boundary" in views:
        plot = _boundary(outcome)
    elif "confusion" in views:
        plot = ConfusionMatrix()
        confusion.ENTRY.show(plot, run, views["confusion"])
    else:
        return None
    plot.hide_tools()
    return plot


def _boundary(outcome: TrainOutcome) -> BoundaryPlot:
    data, begun = outcome.data, outcome.begun
    is_regression = begun.task == "regression"
    points = replace(points_of(data, (), is_regression), names=begun.classes)
    plot = BoundaryPlot()
    if points.targets is not None:
        plot.set_caption(shading_legend(shading_of(points.targets), "".join(data.y_names[:1])))
    of_logits = begun.setup.loss is not None and begun.setup.loss.name == "bce"
    plot.show_ground(to_ground(outcome.views["boundary"], is_regression, points, of_logits))
    plot.show_points(points)
    return plot
