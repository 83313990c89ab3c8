"""Modules written as files: weights, programs of `torch.export`, and ONNX."""

import copy
import importlib.util
import io
import pickle
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import nn

from gradscribe.engine.models import safetensors

MOST_BYTES = 500 << 20
"""Maximum bytes of the weights in one message."""

State = dict[str, torch.Tensor]


class ModelFileError(Exception):
    """A module cannot be written to a file or read from one; with the reason, in a line."""


class Inputs(NamedTuple):
    """Arguments with which a module was called."""

    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = {}


def state_of(module: nn.Module) -> State:
    """Return a module's parameters and buffers, on the CPU.

    Raises:
        ModelFileError: they are too large, or its ``state_dict`` has other things in it.
    """
    state = module.state_dict()
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            raise ModelFileError(f"{name} of its state_dict is no tensor")
    if sum(value.nbytes for value in state.values()) > MOST_BYTES:
        raise ModelFileError(f"the weights are more than {MOST_BYTES >> 20} MB")
    return {name: value.detach().cpu() for name, value in state.items()}


def state_dict(state: State) -> bytes:
    """Return weights as `torch.save` writes them; ``weights_only=True`` reads them."""
    return _saved(lambda file: torch.save(state, file))


def weights_as_safetensors(state: State, metadata: Mapping[str, str] = {}) -> bytes:
    """Return weights in the safetensors format."""
    try:
        return safetensors.write(state, {"format": "pt", **metadata})
    except safetensors.FormatError as error:
        raise ModelFileError(str(error)) from error


def exported_program(module: nn.Module, inputs: Inputs) -> bytes:
    """Return a module, in eval mode, as `torch.export.save` writes it (``.pt2``)."""
    traced = _traced(module, inputs)
    try:
        return _saved(lambda file: torch.export.save(traced, file))
    except Exception as error:
        raise ModelFileError(f"torch.export cannot save it: {first_line(error)}") from error


def onnx(module: nn.Module, inputs: Inputs) -> bytes:
    """Return a module, in eval mode, as an ONNX file."""
    check_onnx()
    traced = _traced(module, inputs)
    try:
        program = torch.onnx.export(traced, dynamo=True, verbose=False)
    except Exception as error:
        raise ModelFileError(f"ONNX cannot be written: {first_line(error)}") from error
    if program is None:
        raise ModelFileError("ONNX cannot be written")
    return bytes(program.model_proto.SerializeToString())


def check_onnx() -> None:
    """Raise `ModelFileError` if a package of ONNX is missing."""
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        names = " and ".join(missing)
        raise ModelFileError(f"ONNX needs a package that is not installed here: {names}")


def _traced(module: nn.Module, inputs: Inputs) -> "torch.export.ExportedProgram":
    model = _copy(module).eval()
    args = tuple(_plain(arg) for arg in inputs.args)
    kwargs = {name: _plain(arg) for name, arg in inputs.kwargs.items()}
    shapes = None
    if not kwargs and any(isinstance(arg, torch.Tensor) and arg.ndim for arg in args):
        # For any number of rows, where the code allows it.
        shapes = tuple(_rows(arg) for arg in args)
    with torch.random.fork_rng(devices=[]):
        try:
            return torch.export.export(model, args, kwargs, dynamic_shapes=shapes)
        except Exception as error:
            # Of a model that users wrote, anything may be raised.
            why = first_line(error)
            raise ModelFileError(f"torch.export cannot follow the model: {why}") from error


def _rows(arg: object) -> dict[int, object] | None:
    if isinstance(arg, torch.Tensor) and arg.ndim:
        return {0: torch.export.Dim.AUTO}
    return None


def _plain(arg: object) -> object:
    """Return an argument with its tensors on the CPU and outside of any graph."""
    if isinstance(arg, torch.Tensor):
        return arg.detach().cpu()
    if type(arg) in (list, tuple):
        made = [_plain(one) for one in arg]  # type: ignore[attr-defined]
        return made if type(arg) is list else tuple(made)
    if type(arg) is dict:
        return {key: _plain(one) for key, one in arg.items()}
    return arg


def _copy(module: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(module).cpu()
    except Exception as error:
        raise ModelFileError(f"the model cannot be copied: {first_line(error)}") from error


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


# Reading


def read_state(data: bytes, kind: str) -> State:
    """Return the weights of a file, ``pt`` or ``safetensors``; nothing in it runs.

    Raises:
        ModelFileError: it has more than tensors in it, or is spoilt.
    """
    if len(data) > 2 * MOST_BYTES:
        raise ModelFileError(f"it is larger than {2 * MOST_BYTES >> 20} MB")
    if kind == "safetensors":
        try:
            return safetensors.read(data)
        except safetensors.FormatError as error:
            raise ModelFileError(str(error)) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ModelFileError(
            "it has more in it than tensors and plain data: it is not read, as it could run code"
        ) from error
    except Exception as error:
        # A spoilt file may raise anything.
        raise ModelFileError(f"torch.load cannot read it: {first_line(error)}") from error
    return _state_in(found)


def _state_in(found: object) -> State:
    """Return the weights in what a file has, also in a checkpoint with other things around."""
    if isinstance(found, dict):
        for key in ("state_dict", "model_state_dict", "model"):
            if isinstance(found.get(key), dict):
                return _state_in(found[key])
        state = {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}
        if len(state) == len(found) and all(isinstance(name, str) for name in state):
            return state
    raise ModelFileError("it has no state_dict, of names and tensors, in it")


def check_fit(state: State, module: nn.Module) -> None:
    """Raise `ModelFileError` if a module could not load weights, with the first reason."""
    own = module.state_dict()
    missing = [name for name in own if name not in state]
    unknown = [name for name in state if name not in own]
    if missing:
        raise ModelFileError(f"it lacks {_some(missing)}")
    if unknown:
        raise ModelFileError(f"the module has no {_some(unknown)}")
    for name, value in own.items():
        if isinstance(value, torch.Tensor) and value.shape != state[name].shape:
            sizes = _shape(state[name].shape), _shape(value.shape)
            raise ModelFileError(f"{name} is {sizes[0]} in the file and {sizes[1]} in the module")


def _some(names: list[str]) -> str:
    more = len(names) - 2
    return ", ".join(name[:60] for name in names[:2]) + (f" and {more} more" if more > 0 else "")


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) if shape else "a scalar"
