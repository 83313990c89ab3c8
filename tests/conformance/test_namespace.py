"""Torch's public namespace under the recorder's function mode: same arguments, same outcome."""

import inspect
import warnings
from types import FunctionType

import pytest
import torch
from torch.overrides import TorchFunctionMode, get_overridable_functions

from gradscribe.engine.record.forward.functions import DROPPED
from gradscribe.engine.record.recorder import Recorder
from tests.engine.mirror import mirror

torch.set_warn_always(False)


def _functions():
    """Return torch's overridable functions by name, properties left out."""
    found = {}
    for owner, functions in get_overridable_functions().items():
        for function in functions:
            name = getattr(function, "__name__", "")
            if callable(function) and name not in ("__get__", "__set__", "__delete__"):
                found[f"{getattr(owner, '__name__', owner)}.{name}"] = function
    return found


class _Arrivals(TorchFunctionMode):
    """Mode that notes what torch passes on to a function mode, and calls nothing."""

    def __init__(self, function):
        self.function, self.arrived = function, None

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is self.function:
            self.arrived = self.arrived or [*args, *(kwargs or {}).values()]
        return torch.zeros(())


def _dropped(function):
    """Return the parameters that torch does not pass on to a mode; None if none was called."""
    x = torch.ones(2, 2)
    parameters = inspect.signature(function).parameters.values()
    given = {}
    for p in parameters:
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            given[p.name] = x if p.default is p.empty else _Marker(p.name)
    many = [x, x] if any(p.kind is p.VAR_POSITIONAL for p in parameters) else []
    mode = _Arrivals(function)
    try:
        with mode:
            if many:
                names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
                function(*many, **{name: given[name] for name in names})
                given = {name: given[name] for name in names}
            else:
                function(**given)
    except Exception:  # noqa: BLE001 - it looks at an argument before it asks the mode
        if mode.arrived is None:
            return None
    if mode.arrived is None:
        return None
    seen = {id(thing) for thing in mode.arrived}
    return {name for name, thing in given.items() if id(thing) not in seen}


class _Marker:
    """An argument of no type that torch knows."""

    def __init__(self, name):
        self.name = name


def test_every_keyword_that_torch_drops_before_a_mode_is_known():
    asked, found = 0, {}
    for name, function in _functions().items():
        if not isinstance(function, FunctionType):
            continue
        lost = _dropped(function)
        if lost is not None:
            asked += 1
            if lost:
                found[name] = lost
    assert asked > 150, asked
    known = {(f.__name__, keyword) for f, keyword in DROPPED.items()}
    assert {(name.rpartition(".")[2], k) for name, lost in found.items() for k in lost} == known


PROGRAMS = [
    """a, b, c = torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 5)
out = torch.zeros(2, 5)
print(torch.chain_matmul(a, b, c, out=out) is out, out)
""",
    "print(torch.empty((1, 2, 3, 4)).dim_order(ambiguity_check=True))",
    "print(torch.empty((2, 3, 4, 5)).dim_order(ambiguity_check=[torch.contiguous_format]))",
    """w = param([1.0, 5.0])
F.l1_loss(w, torch.zeros(2), weight=torch.tensor([0.5, 3.0]), reduction="sum").backward()
print(w.grad)
""",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_dropped_keyword_counts_as_in_plain_torch(program):
    mirror(program)


def _inputs():
    """Return argument lists, made anew: a call may write to them."""
    torch.manual_seed(0)
    x, y = torch.rand(3, 3) + 0.5, torch.rand(3, 3) + 0.5
    ints, flags, v = torch.tensor([2, 0, 1]), torch.tensor([True, False, True]), torch.rand(3)
    batch = torch.rand(2, 3, 4)
    return [
        (),
        (x,),
        (v,),
        (ints,),
        (flags,),
        (batch,),
        (x, y),
        (v, v.clone()),
        (ints, ints.clone()),
        (x, 1),
        (x, 0.5),
        (x, -1),
        (x, (0, 1)),
        (ints, 1),
        ([x, y],),
        (x, v),
        (batch, 2),
        (x, 0, ints),
        (x, 0, 1),
        (x, y, x.clone()),
        (x, torch.float64),
        (x, ints, flags),
        (3, 4),
        ((2, 2),),
        (x, 0, 1, 2),
        (x.to(torch.complex64),),
        (x.double().requires_grad_(),),
    ]


CALL = compile("out = function(*args, **kwargs)", "<gradscribe>", "exec")


def _outcome(function, index, into, recorder):
    """Return the result of a call, or its error, and what the arguments are afterwards."""
    args, kwargs = _inputs()[index], {"out": torch.zeros(3, 3)} if into else {}
    names = {"function": function, "args": args, "kwargs": kwargs}
    torch.manual_seed(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if recorder is None:
                exec(CALL, names)
            else:
                with recorder:
                    exec(CALL, names)
    except Exception as error:  # noqa: BLE001 - its text is what counts
        result = "raised", type(error).__name__, str(error)
    else:
        result = _plain(names["out"])
    return result, _plain(args), _plain(kwargs)


def _plain(thing):
    """Return a value in a form that can be compared bit by bit."""
    if isinstance(thing, torch.Tensor):
        about = str(thing.dtype), tuple(thing.shape), str(thing.layout), thing.requires_grad
        kind = type(thing.grad_fn).__name__
        if thing.layout is not torch.strided or thing.is_meta or thing.is_quantized:
            return about, kind, str(thing)
        flat = thing.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        return about, kind, thing.stride(), flat.view(torch.uint8).numpy().tobytes()
    if isinstance(thing, tuple | list):
        return type(thing).__name__, [_plain(item) for item in thing]
    if isinstance(thing, dict):
        return {key: _plain(item) for key, item in thing.items()}
    return repr(thing) if isinstance(thing, int | float | bool | str | None) else type(thing)


UNSTEADY = (
    "fbgemm",
    "empty",
    "resize",
    "new_empty",
    "data_ptr",
    "storage",
    "_cdata",
    "__hash__",
    "share_",
)
"""Parts of names of functions whose result is uninitialized memory or an address."""


MOST_ERRORS = 2
"""Calls of a function that raise and are compared; most of the combinations make no sense."""


def _sensible(function):
    """Yield (index of the arguments, with ``out=``) of the calls of a function to compare."""
    errors = 0
    for index in range(len(_inputs())):
        for into in (False, True):
            expected = _outcome(function, index, into, None)
            raised = isinstance(expected[0], tuple) and expected[0][0] == "raised"
            errors += raised
            if raised and (into or errors > MOST_ERRORS):
                break
            if _outcome(function, index, into, None) == expected:
                yield index, into, expected
            if raised:
                break


@pytest.mark.conformance
@pytest.mark.timeout(900)
def test_every_public_function_gives_what_it_gives_without_the_mode():
    wrong, compared, functions = [], 0, set()
    for name, function in sorted(_functions().items()):
        if any(part in name for part in UNSTEADY):
            continue
        for index, into, expected in _sensible(function):
            actual = _outcome(function, index, into, Recorder("", "<gradscribe>"))
            compared += 1
            functions.add(name)
            if actual != expected:
                wrong.append((name, index, into, str(expected)[:200], str(actual)[:200]))
    assert not wrong, (len(wrong), wrong[:40])
    assert len(functions) > 1000, len(functions)
    assert compared > 3_000, compared
