"""Views of a training run: every module of this package with an ``ENTRY`` is on the page."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from gradscribe.widgets.plots.training_view import TrainingView


def module_names() -> list[str]:
    """Return the names of this package's modules."""
    return [f"{__name__}.{module.name}" for module in iter_modules(__path__)]


def entries() -> list[TrainingView[Any]]:
    """Return the views of this package, sorted by their ``order``."""
    modules = map(import_module, module_names())
    found = [module.ENTRY for module in modules if hasattr(module, "ENTRY")]
    return sorted(found, key=lambda entry: (entry.order, entry.tab))
