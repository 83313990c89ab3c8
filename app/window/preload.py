"""Preload modules and files for cards that may be opened next, while idle."""

from collections.abc import Callable, Iterator
from importlib import import_module

from PySide6.QtCore import QObject

from gradscribe.app.document import examples
from gradscribe.app.lessons import catalogue
from gradscribe.app.training.setup import presets
from gradscribe.playback.explain import rule
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.base.time_slices import TimeSlices

CALM_MS = 1200
"""Delay before preloading, to let the first program run and be drawn."""
TURN_MS, REST_MS = 8, 30
"""Time slice of work, and pause between slices."""
CARDS = (
    "gradscribe.widgets.lab.cells",
    "gradscribe.widgets.lab.card_layout",
    "gradscribe.widgets.lab.canvas",
    "gradscribe.widgets.lab.error_underline",
    "gradscribe.widgets.lab.axes_view",
    "gradscribe.widgets.lab.memory_view",
    "gradscribe.widgets.lab.jacobian_view",
    "gradscribe.widgets.lab.page",
    "gradscribe.app.ui.shape_lab",
    "gradscribe.app.lessons.lesson_list",
    "gradscribe.app.ui.examples.gallery",
    "gradscribe.app.ui.palette",
    "gradscribe.app.export.image_job",
)
"""Modules of popup cards and exports, imported one at a time."""


class Preloader(QObject):
    """Import modules and read files in small steps, then call ``then``."""

    def __init__(self, then: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._slices = TimeSlices(TURN_MS, self)
        self._slices.rest_ms = REST_MS
        self._slices.ended.connect(then)
        self._calm = single_shot(self, self._slices.go_on, CALM_MS)

    def start(self) -> None:
        """Begin after `CALM_MS`."""
        self._slices.begin(_steps())
        self._calm.start()

    def stop(self) -> None:
        """Stop preloading."""
        self._calm.stop()
        self._slices.stop()


def _steps() -> Iterator[None]:
    for name in (*rule.rule_modules(), *CARDS):
        import_module(name)
        yield
    for load in (examples.load, presets.load, catalogue.summaries):
        load()
        yield
    for entry in catalogue.builtin_files():
        catalogue.builtin(entry.name)
        yield
