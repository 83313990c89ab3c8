"""Preload modules and files for cards that may be opened next, while idle."""

from collections.abc import Callable, Iterator
from importlib import import_module

from PySide6.QtCore import QObject

from app import examples, lessons
from app.training import starts
from playback.explain import rule
from widgets.once import once
from widgets.slices import Slices

CALM_MS = 1200
"""Delay before preloading, to let the first program run and be drawn."""
TURN_MS, REST_MS = 8, 30
"""Time slice of work, and pause between slices."""
CARDS = (
    *(f"widgets.lab.{name}" for name in ("cells", "arrange", "canvas", "waves", "axes_view")),
    *(f"widgets.lab.{name}" for name in ("memory_view", "jacobian_view", "page")),
    *(f"app.{name}" for name in ("shape_lab", "lesson_list", "gallery", "palette", "export_job")),
)
"""Modules of popup cards and exports, imported one at a time."""


class Preparing(QObject):
    """Import modules and read files in small steps, then call ``then``."""

    def __init__(self, then: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._slices = Slices(TURN_MS, self)
        self._slices.rest_ms = REST_MS
        self._slices.ended.connect(then)
        self._calm = once(self, self._slices.go_on, CALM_MS)

    def start(self) -> None:
        """Begin after `CALM_MS`."""
        self._slices.begin(_steps())
        self._calm.start()

    def stop(self) -> None:
        """Stop preloading."""
        self._calm.stop()
        self._slices.stop()


def _steps() -> Iterator[None]:
    for name in (*rule.files(), *CARDS):
        import_module(name)
        yield
    for load in (examples.load, starts.load, lessons.listed):
        load()
        yield
    for entry in lessons.entries():
        lessons.ours(entry.name)
        yield
