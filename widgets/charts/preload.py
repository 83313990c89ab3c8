"""Import of pyqtgraph in the GUI thread, in short steps between turns of the event loop.

A thread must not import it: each class of Qt that is defined or first used is added to a table of
PySide that has no lock and that Qt reads in the GUI thread without Python's: see docs/decisions.
"""

import ast
import functools
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import TypeVar

from PySide6.QtCore import QObject

from gradscribe.widgets.base.time_slices import TimeSlices

T = TypeVar("T")
LIBRARY = "pyqtgraph"
TURN_MS, REST_MS = 8, 10
"""Longest import in a turn of the event loop, but for a single step, and pause between turns."""
JOIN_S = 0.004
"""Longest wait in a step for what is imported in a thread."""
QT_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtTest", "QtOpenGL", "QtOpenGLWidgets")
"""Modules that pyqtgraph imports, and of which it looks at every class."""


def steps() -> Iterator[None]:
    """Import pyqtgraph in steps of a few milliseconds; all who iterate share the same steps."""
    for _ in _shared_steps():
        yield


class ChartImport(QObject):
    """Calls functions once pyqtgraph is imported, in the order of their calls."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: list[Callable[[], object]] = []
        self._slices = TimeSlices(TURN_MS, self)
        self._slices.rest_ms = REST_MS
        self._slices.ended.connect(self._call)
        self._is_over = False

    def call(self, then: Callable[[], object]) -> None:
        """Call ``then`` once pyqtgraph is imported; at once if it is."""
        self._waiting.append(then)
        if self._is_over:
            self._call()
        else:
            self.start()

    def start(self) -> None:
        """Begin the import, unless that happened before."""
        if not self._is_over and not self._slices.busy:
            self._slices.run(steps())

    def _call(self) -> None:
        self._is_over = True
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()


@functools.cache
def _shared_steps() -> Iterator[None]:
    return _import_library()


def _import_library() -> Iterator[None]:
    if LIBRARY in sys.modules:
        return
    spec = find_spec(LIBRARY)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {LIBRARY!r}", name=LIBRARY)
    # Neither knows anything of Qt.
    with ThreadPoolExecutor(1, LIBRARY) as pool:
        yield from _wait(pool.submit(import_module, "numpy"))
        statements = yield from _wait(pool.submit(_parse, spec))
    # PySide makes a class when it is first looked at: pyqtgraph does so for all of them at once.
    for name in QT_MODULES:
        try:
            module = import_module(f"PySide6.{name}")
        except ImportError:
            # pyqtgraph does without some, where a system library is missing.
            continue
        yield
        for attribute in dir(module):
            getattr(module, attribute, None)
            yield
    if statements:
        yield from _run_statements(spec, statements)
    else:
        import_module(LIBRARY)


def _wait(future: Future[T]) -> Generator[None, None, T]:
    while not future.done():
        wait([future], JOIN_S)
        yield
    return future.result()


def _parse(spec: ModuleSpec) -> list[ast.stmt]:
    """Return the statements of a package's own module; none if there is no source."""
    get_source = getattr(spec.loader, "get_source", None)
    source = get_source(spec.name) if get_source is not None else None
    return ast.parse(source, spec.origin or spec.name).body if source else []


def _run_statements(spec: ModuleSpec, body: list[ast.stmt]) -> Iterator[None]:
    """Import a package as Python does, statement by statement.

    Who uses it between two steps finds it whole: the first look at a name that is still missing
    takes all remaining steps.
    """
    module = module_from_spec(spec)
    statements = iter(body)
    is_running = False

    def run_next() -> bool:
        nonlocal is_running
        statement = next(statements, None)
        if statement is None:
            module.__dict__.pop("__getattr__", None)
            return False
        code = compile(ast.Module([statement], []), spec.origin or spec.name, "exec")
        is_running = True
        try:
            exec(code, module.__dict__)
        except BaseException:
            sys.modules.pop(spec.name, None)
            raise
        finally:
            is_running = False
        return True

    def missing(name: str) -> object:
        # The library itself asks for names that it does not have yet.
        if not is_running:
            while run_next():
                pass
            if name in module.__dict__:
                return module.__dict__[name]
        raise AttributeError(f"module {spec.name!r} has no attribute {name!r}")

    module.__dict__["__getattr__"] = missing
    sys.modules[spec.name] = module
    while run_next():
        yield
