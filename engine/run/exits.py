"""`atexit` callbacks of a user program, called when the program ends, not when the engine does."""

import atexit
import sys
import traceback
from collections.abc import Callable
from typing import Any

from gradscribe.engine.sandbox.builtins import use_original_builtins

use_original_builtins(globals())


class AtexitCallbacks:
    """Context around a program that collects the `atexit` callbacks it registers.

    Only callbacks registered by ``filename`` itself: those of libraries belong to the process.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def __enter__(self) -> "AtexitCallbacks":
        self._before = atexit.register, atexit.unregister
        atexit.register = self._register  # type: ignore[assignment]
        atexit.unregister = self._unregister
        return self

    def _register(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:  # noqa: ANN401
        """Call ``func`` when the program ends; the last one registered is called first."""
        if sys._getframe(1).f_code.co_filename != self._filename:
            return self._before[0](func, *args, **kwargs)
        if not callable(func):
            raise TypeError("the first argument must be callable")
        self._calls.append((func, args, kwargs))
        return func

    def _unregister(self, func: Callable[..., Any]) -> None:
        """Remove ``func`` from the callbacks."""
        self._calls = [call for call in self._calls if call[0] != func]
        self._before[1](func)

    def __exit__(self, *_: object) -> None:
        atexit.register, atexit.unregister = self._before

    def call(self) -> None:
        """Run the callbacks, last registered first; an exception is printed to stderr."""
        calls, self._calls = self._calls, []
        for func, args, kwargs in reversed(calls):
            try:
                func(*args, **kwargs)
            except Exception:  # noqa: BLE001 - the remaining callbacks are called anyway
                text = traceback.format_exc(limit=-1)
                sys.stderr.write(f"Exception ignored in atexit callback:\n{text}")
