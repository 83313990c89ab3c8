"""Making of the chart of a loop's steps, in turns between which the window stays alive."""

import threading
from collections.abc import Generator
from typing import TYPE_CHECKING

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QBoxLayout

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.ui.theming import Theming
from gradscribe.widgets.charts import preload

if TYPE_CHECKING:
    from gradscribe.widgets.charts.loop_chart import LoopChart

JOIN_S = 0.004
"""Longest wait for the import of the chart in one turn."""


def make_loop_chart(
    rows: QBoxLayout,
    look: Theming,
    clock: PlaybackClock,
    said: SignalInstance,
    importing: threading.Thread | None = None,
) -> Generator[None, None, "LoopChart"]:
    """Return a chart at the top of ``rows`` that follows the theme and seeks in the playback.

    ``importing``: the thread that imports pyqtgraph, if it was started before.
    """
    importing = importing or preload.start()
    while importing.is_alive():
        importing.join(JOIN_S)
        yield
    # Not at the top of the file: pyqtgraph is imported only once a loop is drawn.
    from gradscribe.widgets.charts.loop_chart import LoopChart

    yield
    chart = LoopChart(rows.parentWidget())
    rows.insertWidget(0, chart, 1)
    look.add(chart)
    chart.position_picked.connect(clock.seek)
    chart.said.connect(said)
    return chart
