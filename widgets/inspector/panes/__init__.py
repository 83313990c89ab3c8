"""Panes of the inspector: every module of this package with an ``ENTRY`` is a pane."""

from importlib import import_module
from pkgutil import iter_modules

from gradscribe.widgets.inspector.panes.pane import Pane


def pane_classes() -> list[type[Pane]]:
    """Return the pane classes of this package, sorted by their ``order``."""
    classes: list[type[Pane]] = []
    for module in iter_modules(__path__):
        entry = getattr(import_module(f"{__name__}.{module.name}"), "ENTRY", None)
        if entry is not None:
            assert issubclass(entry, Pane), module.name
            classes.append(entry)
    return sorted(classes, key=lambda pane: (pane.order, pane.__name__))
