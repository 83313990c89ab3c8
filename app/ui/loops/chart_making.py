"""Making of the chart of a loop's steps, in turns between which the window stays alive."""

from collections.abc import Generator
from typing import TYPE_CHECKING

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QBoxLayout

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.ui.theming import Theming
from gradscribe.widgets.charts import preload

if TYPE_CHECKING:
    from gradscribe.widgets.charts.loop_chart import LoopChart


def make_loop_chart(
    rows: QBoxLayout,
    look: Theming,
    clock: PlaybackClock,
    said: SignalInstance,
) -> Generator[None, None, "LoopChart"]:
    """Return a chart at the top of ``rows`` that follows the theme and seeks in the playback."""
    yield from preload.steps()
    # Not at the top of the file: pyqtgraph is imported only once a loop is drawn.
    from gradscribe.widgets.charts.loop_chart import LoopChart

    yield
    chart = LoopChart(rows.parentWidget())
    rows.insertWidget(0, chart, 1)
    look.add(chart)
    chart.position_picked.connect(clock.seek)
    chart.said.connect(said)
    return chart
