"""Modules of the latest run as files: written, and weights from files checked against them."""

from torch import nn

from gradscribe.engine.models import files
from gradscribe.engine.models.files import Inputs, ModelFileError
from gradscribe.engine.protocol.messages import ModelFile, ModelRequest
from gradscribe.engine.protocol.safe_text import without_surrogates
from gradscribe.engine.run import run, watchdog

EXPORT_S = 120.0
"""Time limit: torch.export of a large model takes some tens of seconds."""
MAX_PROBLEM = 300


def model_file(request: ModelRequest) -> ModelFile:
    """Write a module, or check weights against it; a problem is said in a line."""
    problem = ""
    guard = watchdog.InterruptGuard(EXPORT_S, is_last=True)
    data = b""
    try:
        with guard:
            data = _made(request)
    except ModelFileError as error:
        problem = str(error)
    except watchdog.Interrupted:
        problem = "it took too long" if guard.why == "timeout" else "it was stopped"
    except MemoryError:
        problem = "it takes more memory than there is"
    except BaseException as error:  # noqa: BLE001 - a user's module may raise anything
        problem = f"{type(error).__name__}: {files.first_line(error)}"
    problem = without_surrogates(problem[:MAX_PROBLEM])
    return ModelFile(request.run_id, request.module, request.kind, data, problem)


def _made(request: ModelRequest) -> bytes:
    module, inputs = _module(request)
    if request.kind == "check":
        state = files.read_state(request.data, "safetensors" if request.is_safetensors else "pt")
        files.check_fit(state, module)
        return files.state_dict(state)
    if request.kind == "pt":
        return files.state_dict(files.state_of(module))
    if request.kind == "safetensors":
        return files.weights_as_safetensors(files.state_of(module))
    if inputs is None:
        raise ModelFileError(f"{request.module} was not called in this run")
    if request.data:
        # Those of the run that is shown, also where another run gets others.
        module.load_state_dict(files.read_state(request.data, "pt"))
    if request.kind == "pt2":
        return files.exported_program(module, inputs)
    return files.onnx(module, inputs)


def _module(request: ModelRequest) -> tuple[nn.Module, Inputs | None]:
    """Return the module of that name at the end of the run, and how it was called."""
    last = run.last_run
    if last is None or last.request.run_id != request.run_id or last.names is None:
        raise ModelFileError("the program ran again since")
    module = last.names.get(request.module)
    if not isinstance(module, nn.Module):
        raise ModelFileError(f"{request.module} is no module at the program's end")
    called = last.recorder.modules.called_with
    return module, Inputs(*called) if called is not None else None
