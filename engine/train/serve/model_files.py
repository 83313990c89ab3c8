"""A run's model as files of PyTorch: a state_dict, an exported program, and ONNX."""

import copy
import importlib.util
import io
from collections.abc import Callable

import torch
from torch import nn

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve.files import check_size

EXAMPLE_ROWS = 2
"""Rows of the data with which a model is traced; a file works for any number where it can."""
NO_ONNX = "ONNX needs a package that is not installed here: {}"


def state_dict(run: TrainingRun) -> bytes:
    """Return parameters and buffers as `torch.save` writes a ``state_dict``.

    ``torch.load(path, weights_only=True)`` reads it. Raises `SetupError` if it is too large, or
    if the model keeps more in it than tensors and plain data.
    """
    check_size(run)
    state = {name: value.detach().cpu() for name, value in run.program.model.state_dict().items()}
    data = _saved(lambda file: torch.save(state, file))
    torch.load(io.BytesIO(data), weights_only=True)
    return data


def exported_program(run: TrainingRun) -> bytes:
    """Return the model, in eval mode, as `torch.export.save` writes it (``.pt2``).

    Raises `SetupError` if it is too large or `torch.export` cannot follow its code.
    """
    return _saved(lambda file: torch.export.save(_traced(run), file))


def onnx(run: TrainingRun) -> bytes:
    """Return the model, in eval mode, as an ONNX file.

    Raises `SetupError` if a package is missing, or it cannot be written as ONNX.
    """
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise SetupError(NO_ONNX.format(" and ".join(missing)), "model")
    traced = _traced(run)
    try:
        program = torch.onnx.export(traced, dynamo=True, verbose=False)
    except Exception as error:
        raise SetupError(f"ONNX cannot be written: {_first_line(error)}", "model") from error
    if program is None:
        raise SetupError("ONNX cannot be written", "model")
    return bytes(program.model_proto.SerializeToString())


def _traced(run: TrainingRun) -> "torch.export.ExportedProgram":
    check_size(run)
    model = _copy(run.program.model).eval()
    inputs = run.program.tensor("inputs")[:EXAMPLE_ROWS].detach().cpu()
    shapes = ({0: torch.export.Dim.AUTO},)
    with torch.random.fork_rng():
        try:
            return torch.export.export(model, (inputs,), dynamic_shapes=shapes)
        except Exception as error:
            # Of a model that users wrote, anything may be raised.
            why = _first_line(error)
            raise SetupError(f"torch.export cannot follow the model: {why}", "model") from error


def _copy(model: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(model).cpu()
    except Exception as error:
        raise SetupError(f"the model cannot be copied: {_first_line(error)}", "model") from error


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


MODEL_FILES = {"pt": state_dict, "pt2": exported_program, "onnx": onnx}
"""Kind of file -> what writes it."""
