"""What a program wants done at its end: called there, and not when the engine ends."""

import atexit
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from engine.untouched import keep_builtins

keep_builtins(globals())


class Exits:
    """A context around a program: `atexit` as Python has it, but at the program's own end.

    Only what ``filename`` itself registers: what libraries register belongs to the process.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []

    def __enter__(self) -> Self:
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
        """Call ``func`` no more."""
        self._calls = [call for call in self._calls if call[0] != func]
        self._before[1](func)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        atexit.register, atexit.unregister = self._before

    def call(self) -> None:
        """Call them; one that raises is told of on standard error, as Python does."""
        calls, self._calls = self._calls, []
        for func, args, kwargs in reversed(calls):
            try:
                func(*args, **kwargs)
            except Exception:  # noqa: BLE001 - whatever it is, the next one is called
                told = traceback.format_exc(limit=-1)
                sys.stderr.write(f"Exception ignored in atexit callback:\n{told}")
