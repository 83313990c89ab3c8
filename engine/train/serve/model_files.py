"""A run's model as files of PyTorch: weights, an exported program, and ONNX."""

from collections.abc import Callable

from gradscribe.engine.models import files
from gradscribe.engine.models.files import Inputs, ModelFileError
from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.runs.run import TrainingRun

EXAMPLE_ROWS = 2
"""Rows of the data with which a model is traced; a file works for any number where it can."""


def _safetensors(run: TrainingRun) -> bytes:
    state = files.state_of(run.program.model)
    return files.weights_as_safetensors(state, {"step": str(run.step)})


def _state_dict(run: TrainingRun) -> bytes:
    data = files.state_dict(files.state_of(run.program.model))
    files.read_state(data, "pt")
    return data


def _exported_program(run: TrainingRun) -> bytes:
    files.state_of(run.program.model)
    return files.exported_program(run.program.model, _inputs(run))


def _onnx(run: TrainingRun) -> bytes:
    files.check_onnx()
    files.state_of(run.program.model)
    return files.onnx(run.program.model, _inputs(run))


def _inputs(run: TrainingRun) -> Inputs:
    return Inputs((run.program.tensor("inputs")[:EXAMPLE_ROWS],))


_WRITERS: dict[str, Callable[[TrainingRun], bytes]] = {
    "safetensors": _safetensors,
    "pt": _state_dict,
    "pt2": _exported_program,
    "onnx": _onnx,
}


def model_file(run: TrainingRun, kind: str) -> bytes:
    """Return a run's model as a file of a kind.

    Raises:
        SetupError: it cannot be written, with the reason.
    """
    try:
        return _WRITERS[kind](run)
    except ModelFileError as error:
        raise SetupError(str(error), "model") from error
