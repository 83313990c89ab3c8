"""pandas, imported when it is first used: that takes longer than starting an engine."""

import importlib
from typing import TYPE_CHECKING


class LazyPandas:
    """Stand-in for the module ``pandas`` that imports it for the first attribute."""

    def __getattr__(self, name: str) -> object:
        return getattr(importlib.import_module("pandas"), name)


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = LazyPandas()

__all__ = ["pd"]
