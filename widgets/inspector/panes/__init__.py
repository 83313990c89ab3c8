"""Panes of the inspector: every module of this package with an ``ENTRY`` is a pane."""

from importlib import import_module
from pkgutil import iter_modules

from gradscribe.engine import plugins
from gradscribe.playback.translation import tr
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


class PluginPanes:
    """The panes of plug-ins, by the plug-ins' names."""

    def __init__(self) -> None:
        self._names: dict[Pane, str] = {}

    def make(self) -> list[Pane]:
        """Create the panes, sorted by their ``order``; those that raise are left out."""
        for name, entry in plugins.entries("panes", "ENTRY", type).items():
            if not issubclass(entry, Pane):
                plugins.leave_out_name("panes", name, tr("{name} is no Pane", name=entry.__name__))
                continue
            try:
                self._names[entry()] = name
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                plugins.leave_out_name("panes", name, f"{type(error).__name__}: {error}")
        return sorted(self._names, key=lambda pane: (pane.order, self._names[pane]))

    def refuse(self, pane: Pane, error: Exception) -> bool:
        """Note that a pane raised while it was shown; return whether it is that of a plug-in."""
        name = self._names.pop(pane, None)
        if name is not None:
            plugins.leave_out_name("panes", name, f"{type(error).__name__}: {error}")
        return name is not None
