"""`record`: what torch does in one's own process, as a tape."""

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, MethodType, TracebackType
from typing import TYPE_CHECKING, Generic, ParamSpec, Self, TypeVar, overload

from gradscribe.errors import RecordingError
from gradscribe.run_tape import RunTape

if TYPE_CHECKING:
    from gradscribe.engine.run.in_process import InProcessRecording

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
NUMBERS_BUDGET = 64 << 20
"""Bytes of big tensors whose numbers a tape has, small ones first; past it only statistics."""
_lock = threading.Lock()
_running: list[str] = []
"""Place at which the running recording has begun; empty if none runs."""


class Recording:
    """The context manager that `record` returns: ``with gs.record() as tape``."""

    def __init__(self, tape: RunTape | None = None, takes_numbers: bool = True) -> None:
        self._tape = RunTape() if tape is None else tape
        self._takes_numbers = takes_numbers
        self._recording: InProcessRecording | None = None
        self._frame: FrameType | None = None
        self._compiler: object = None

    def __enter__(self) -> RunTape:
        """Begin to record this thread, and the threads that it starts; return the tape to come.

        Raises:
            RecordingError: a recording is running already, or this recording was used before.
        """
        self.put_compiler_away()
        frame = _caller()
        try:
            self.begin(frame)
        except BaseException:
            self.resume_compiler(frame)
            raise
        return self._tape

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the recording and fill the tape; what the code raised goes on as it was."""
        from gradscribe.engine.run.in_process import visible_names

        frame, self._frame = self._frame, None
        try:
            self.end({} if frame is None else visible_names(frame), error)
        finally:
            self.resume_compiler(frame)

    def put_compiler_away(self) -> None:
        """Compile no more: in a compiled function torch would compile the recorder as well."""
        dynamo = sys.modules.get("torch._C._dynamo.eval_frame")
        self._compiler = dynamo.set_eval_frame(None) if dynamo is not None else None

    def resume_compiler(self, frame: FrameType | None) -> None:
        """Go on compiling, unless the compiled function around ``frame`` has returned since."""
        compiler, self._compiler = self._compiler, None
        above: FrameType | None = sys._getframe()
        while above is not None and above is not frame:
            above = above.f_back
        dynamo = sys.modules.get("torch._C._dynamo.eval_frame")
        if compiler and above is not None and dynamo is not None:
            dynamo.set_eval_frame(compiler)

    @property
    def is_running(self) -> bool:
        """True between its begin and its end."""
        return self._recording is not None

    def begin(self, frame: FrameType, code: CodeType | None = None) -> None:
        """Begin to record; the lines are those of the file of ``code``, else of ``frame``."""
        from gradscribe.engine.run.in_process import InProcessRecording, source_of

        filename = frame.f_code.co_filename if code is None else code.co_filename
        text = source_of(filename, frame.f_globals if code is None else None)
        if self._tape.has_begun:
            raise RecordingError("This recording was used before: call gradscribe.record() again")
        claim(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        try:
            self._recording = InProcessRecording(text, filename)
            self._recording.start()
        except BaseException:
            _running.clear()
            raise
        self._tape.begin(text, filename)
        self._frame = frame

    def end(self, names: dict[str, object], error: BaseException | None = None) -> RunTape:
        """End the recording, name its tensors after variables and return the tape."""
        recording, self._recording, self._frame = self._recording, None, None
        if recording is None:
            raise RecordingError("This recording has not begun")
        try:
            recording.stop(error)
            tape = recording.tape(names, NUMBERS_BUDGET if self._takes_numbers else 0)
            self._tape.fill(tape, big=recording.big)
        finally:
            _running.clear()
        return self._tape

    def __call__(self, function: Callable[P, R]) -> "RecordedFunction[P, R]":
        """Return the function recorded at each call: ``@gs.record()`` is ``@gs.record``."""
        return RecordedFunction(function)


class RecordedFunction(Generic[P, R]):
    """A function that is recorded at each call; `tape` is that of the last one."""

    def __init__(self, function: Callable[P, R]) -> None:
        _check_function(function)
        functools.update_wrapper(self, function)
        self._function = function
        self._tape: RunTape | None = None

    @property
    def tape(self) -> RunTape:
        """The tape of the last call, also of one that raised.

        Raises:
            RecordingError: it has not been called.
        """
        if self._tape is None:
            name = getattr(self._function, "__name__", "The function")
            raise RecordingError(f"{name} was not called: its tape is there after a call")
        return self._tape

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and return what it returns.

        Inside a recording, as where it calls itself, it is a part of that recording.
        """
        if _running:
            return self._function(*args, **kwargs)
        result, self._tape = _recorded(self, self._function, args, kwargs)
        return result

    def keep(self, tape: RunTape) -> None:
        """Make ``tape`` that of the last call."""
        self._tape = tape

    def __get__(self, owner: object, kind: type | None = None) -> Self | MethodType:
        """Bind it to an object, as a method."""
        return self if owner is None else MethodType(self, owner)


@overload
def record() -> Recording: ...
@overload
def record(function: Callable[P, R], /) -> RecordedFunction[P, R]: ...
@overload
def record(function: Callable[..., object], /, *args: object, **kwargs: object) -> RunTape: ...
def record(
    function: Callable[..., object] | None = None, /, *args: object, **kwargs: object
) -> object:
    """Record what torch does in this process; no number and no state of torch changes by it.

    ``with gs.record() as tape:`` records a block, ``tape = gs.record(function, *args, **kwargs)``
    a call, and ``@gs.record`` every call of a function, whose ``.tape`` is that of the last. A
    function alone is taken as decorated: call what is returned. The tape is filled when the block
    or the call ends, also by an exception, which goes on as without a recording.

    Recorded are the calling thread and the threads that it starts meanwhile. Lines are those of the
    file with the ``with`` or with the function. All numbers of tensors are on the tape up to 64 MB
    of them, past it their statistics, of the largest. Compiled code cannot be recorded: meanwhile
    ``torch.compile`` returns what it is given, and functions compiled before run uncompiled, whose
    last digits are those of plain PyTorch. What is printed is not on the tape.

    Raises:
        RecordingError: a recording is running already; recordings do not nest.
        TypeError: the function cannot be called, or is a coroutine or generator function.
    """
    if function is None:
        if args or kwargs:
            raise TypeError("record: name the function to call before its arguments")
        return Recording()
    if not args and not kwargs:
        return RecordedFunction(function)
    _check_function(function)
    return _recorded(None, function, args, kwargs)[1]


def _recorded(
    keeper: RecordedFunction[P, R] | None,
    function: Callable[..., R],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> tuple[R, RunTape]:
    recording = Recording()
    recording.put_compiler_away()
    frame = _caller()
    try:
        code, names = _code_of(function), _names_for(function, frame, args, kwargs)
        recording.begin(frame, code)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            tape = recording.end(names, error)
            if keeper is not None:
                keeper.keep(tape)
            raise
        return result, recording.end(names)
    finally:
        recording.resume_compiler(frame)


for _function in (
    record,
    _recorded,
    Recording.__enter__,
    Recording.__exit__,
    Recording.put_compiler_away,
    Recording.resume_compiler,
    RecordedFunction.__call__,
):
    # The mark that `torch.compiler.disable` sets, which would import torch: what records inside a
    # compiled function runs uncompiled.
    vars(_function)["_torchdynamo_disable"] = True


def _names_for(
    function: object, frame: FrameType, args: tuple[object, ...], kwargs: dict[str, object]
) -> dict[str, object]:
    """Return the variables of the caller, and those that the function sees from its start."""
    from gradscribe.engine.run.in_process import visible_names

    names = visible_names(frame)
    plain = inspect.unwrap(function) if callable(function) else function
    names.update(getattr(plain, "__globals__", {}))
    code, cells = getattr(plain, "__code__", None), getattr(plain, "__closure__", None)
    for name, cell in zip(code.co_freevars if code else (), cells or (), strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # The variable has no value yet.
            continue
    try:
        names |= inspect.signature(plain).bind(*args, **kwargs).arguments  # type: ignore[arg-type]
    except (TypeError, ValueError):
        names |= kwargs
    return names


def _code_of(function: object) -> CodeType | None:
    """Return the code whose file the tape shows; None for that of the caller."""
    import torch

    found = function
    if isinstance(found, torch.nn.Module):
        found = type(found).forward
    while isinstance(found, functools.partial):
        found = found.func
    if callable(found):
        found = inspect.unwrap(found)
    code = getattr(found, "__code__", None)
    inside = (os.path.dirname(torch.__file__) + os.sep, _PACKAGE)
    if not isinstance(code, CodeType) or code.co_filename.startswith(inside):
        return None
    return code


def _check_function(function: object) -> None:
    if not callable(function):
        raise TypeError(f"record needs a function, not {type(function).__name__}")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("record cannot follow a coroutine: use `with gs.record()` inside of it")
    if inspect.isgeneratorfunction(function):
        raise TypeError("record cannot follow a generator: use `with gs.record()` around its loop")


def claim(place: str) -> None:
    """Note where the recording of this process began.

    Raises:
        RecordingError: one is running already.
    """
    with _lock:
        if _running:
            raise RecordingError(
                f"A recording is running already, since {_running[0]}: recordings do not nest"
            )
        _running.append(place)


def _caller() -> FrameType:
    """Return the nearest frame outside of this module."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame
