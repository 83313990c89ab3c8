"""Live objects of a setup, made by executing the sections of the exported script."""

import linecache
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast

import msgspec
import torch
from torch import nn

from gradscribe.engine.protocol.safe_text import type_name
from gradscribe.engine.protocol.setup import JsonValue, Part, Setup, SetupError
from gradscribe.engine.protocol.tape import Place, Problem
from gradscribe.engine.protocol.training.catalogue import EntryKind, Task
from gradscribe.engine.record.code_positions import compile_text
from gradscribe.engine.run.errors import USER_ERRORS, to_problem
from gradscribe.engine.sandbox.policy import program as policy
from gradscribe.engine.train.memory import trim_heap
from gradscribe.engine.train.source import catalogue, changes, codegen, steps
from gradscribe.engine.train.source.error_messages import explained
from gradscribe.engine.zoo.entry import Data, Loss, Model, Optimizer, Schedule, Shapes, Written
from gradscribe.engine.zoo.models.own import GUARDED
from gradscribe.engine.zoo.provided_files import ProvidedFiles, open_provided
from gradscribe.engine.zoo.provided_files import provided_files as given_files

FILENAME = "<training>"
POLICY_NAMES = ("torch", "nn", "F", "math", "device", "dtype")
"""The names that an untrusted module can use."""
Batch = tuple[torch.Tensor, torch.Tensor]


class ProgramError(Exception):
    """The code of a run raised; ``to_problem`` says what, and where if known."""

    def __init__(self, problem: Problem, place: str = "") -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.place = place


class TrainingProgram:
    """The live objects of a run: data, model, criterion, optimizer, and one step as a function."""

    def __init__(self, setup: Setup, files: ProvidedFiles | None = None) -> None:
        self.sections: dict[str, str] = {}
        """The source sections that have been executed, by name, in order."""
        self.files = given_files() if files is None else files
        """The contents of its data files, which may have changed on disk since."""
        self.names: dict[str, object] = {"__name__": "training", "kept": [], "frozen": []}
        self.names["open"] = partial(open_provided, files=self.files)
        self.setup = setup
        self._check_device(setup)
        self.written = self._write_data(setup)
        self._execute("imports", codegen.imports(self.written), "")
        self._execute("head", codegen.head(setup), "device")
        self._make_data(setup)
        self.setup = setup = fill_defaults(setup, self.task)
        self.shapes = Shapes(self._shape(setup), self._outputs(setup), self.task)
        targets = _targets(setup)
        raw = Shapes(tuple(self.x.shape[1:]), self.shapes.outputs, self.task)
        self._execute("split", codegen.split(setup, len(self.x)), "train")
        section = codegen.prepare(setup, raw, targets, self.task, self.raw_names)
        self._execute("prepare", section, "data")
        self._make_model(setup)
        self._make_step(setup)
        self.has_external_state = False
        """True if its module depends on state that a checkpoint does not have."""

    def rebuild_model(self) -> None:
        """Create model and optimizer again, and with them the state of the user's program."""
        self._make_model(self.setup)
        self._make_step(self.setup)

    def _make_model(self, setup: Setup) -> None:
        self._execute("model", codegen.model(setup, self.shapes), "model")
        if not isinstance(self.model, nn.Module):
            raise SetupError(f"the model is a {type_name(type(self.model))}, no nn.Module", "model")
        if not list(self.model.parameters()):
            raise SetupError("the model has no parameters to train", "model")
        self._check_fit(setup)
        self._execute("freeze", codegen.freeze(setup), "frozen")
        changes.check_learns(self.model, setup)
        self._execute("loss", codegen.loss(setup, self.task), "loss")
        self._execute("optimizer", codegen.optimizer(setup), "optimizer")

    # Names defined by the sections

    @property
    def x(self) -> torch.Tensor:
        """The data's inputs, before features."""
        return cast("torch.Tensor", self.names["x"])

    @property
    def y(self) -> torch.Tensor:
        """The data's raw targets."""
        return cast("torch.Tensor", self.names["y"])

    @property
    def model(self) -> nn.Module:
        """The model being trained."""
        return cast("nn.Module", self.names["model"])

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """Its optimizer."""
        return cast("torch.optim.Optimizer", self.names["optimizer"])

    @property
    def scheduler(self) -> torch.optim.lr_scheduler.LRScheduler | None:
        """The schedule, if there is one."""
        return cast("torch.optim.lr_scheduler.LRScheduler | None", self.names.get("scheduler"))

    @property
    def scaler(self) -> torch.amp.GradScaler | None:
        """The gradient scaler of float16 autocast."""
        return cast("torch.amp.GradScaler | None", self.names.get("scaler"))

    def tensor(self, name: str) -> torch.Tensor:
        """Return a tensor by its name in the source: ``x_train``, ``y_val``, ``train_rows``."""
        return cast("torch.Tensor", self.names[name])

    def criterion(self, output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss of an output."""
        return cast("Callable[..., torch.Tensor]", self.names["criterion"])(output, targets)

    @property
    def classes(self) -> int:
        """The number of classes; 0 for tasks without classes."""
        if self.task not in ("binary", "classes"):
            return 0
        return max(2, int(self.y.max()) + 1)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes, in the order of their numbers."""
        listed = cast("list[str]", self.names.get("class_names", []))[: self.classes]
        names = (name or str(i) for i, name in enumerate(listed))
        return (*names, *(str(i) for i in range(len(listed), self.classes)))

    def model_inputs(self, x: torch.Tensor) -> torch.Tensor:
        """Return raw inputs as model inputs: features computed, standardized, on its device."""
        features = self.names.get("features")
        inputs = cast("Callable[..., torch.Tensor]", features)(x) if features else x
        if "mean" in self.names:
            inputs = (inputs - self.tensor("mean")) / self.tensor("std")
        example = self.tensor("inputs")
        return inputs.to(example.device, example.dtype)

    def random_state(self) -> list[torch.Tensor]:
        """Return the states of torch's default generators: CPU, and the CUDA device if used."""
        states = [torch.get_rng_state()]
        if self.setup.device.startswith("cuda"):
            states.append(torch.cuda.get_rng_state(self.setup.device))
        return states

    def set_random_state(self, states: list[torch.Tensor]) -> None:
        """Restore the states of torch's default generators."""
        torch.set_rng_state(states[0])
        if len(states) > 1:
            torch.cuda.set_rng_state(states[1], self.setup.device)

    # Creating them

    def _check_device(self, setup: Setup) -> None:
        try:
            torch.zeros(1, device=setup.device)
        except (RuntimeError, AssertionError) as error:
            first = str(error).splitlines()[0]
            raise SetupError(f"no device {setup.device} here: {first[:120]}", "device") from None
        if setup.device.startswith("meta"):
            raise SetupError("the meta device holds no numbers", "device")

    def _write_data(self, setup: Setup) -> Written | None:
        """Return the data section of data in a file: what it is depends on what the file holds."""
        piece, options = catalogue.find("data", setup.data, Data)
        return None if piece.write is None else piece.write(options, self.files)

    def _make_data(self, setup: Setup) -> None:
        piece, options = catalogue.find("data", setup.data, Data)
        self.note = piece.note(options) if self.written is None else self.written.note
        place = "data.formula" if "formula" in options else "data"
        self._execute("data", codegen.data(setup, self.written), place)
        if len(self.x) == 0 or len(self.x) != len(self.y):
            raise SetupError("the data has no rows", "data")
        if not bool(torch.isfinite(self.x.float()).all() & torch.isfinite(self.y.float()).all()):
            raise SetupError("the data is not finite everywhere", place)
        if self.y.dtype == torch.int64 and int(self.y.min()) < 0:
            raise SetupError("classes are numbered from 0", "data")
        self.raw_names = piece.names or self._numbered()
        self.target_names: tuple[str, ...] = ()
        """The names of the targets, if they have any."""
        self.columns = tuple((name, 1) for name in self.raw_names)
        """The columns of the data, each with the number of inputs that it becomes."""
        if self.written is not None:
            self.columns = self.written.columns
            self.raw_names, self.target_names = self.written.input_names, self.written.target_names
        self.input_names = setup.features or self.raw_names

    def _numbered(self) -> tuple[str, ...]:
        if self.x.dim() != 2 or self.task == "tokens":
            return ()
        width = self.x.shape[1]
        return ("x",) if width == 1 else tuple(f"x{i + 1}" for i in range(width))

    @property
    def task(self) -> Task:
        """The task, derived from dtype and shape of the targets."""
        if self.y.dtype.is_floating_point:
            return "regression"
        if self.y.dim() > 1:
            return "tokens"
        return "binary" if int(self.y.max()) < 2 else "classes"

    def _shape(self, setup: Setup) -> tuple[int, ...]:
        return (len(setup.features),) if setup.features else tuple(self.x.shape[1:])

    def _outputs(self, setup: Setup) -> int:
        if self.task == "regression":
            return int(self.y.shape[1])
        if self.task == "tokens":
            return int(max(self.x.max(), self.y.max())) + 1
        return (
            1 if self.task == "binary" and _targets(setup) != "classes" else int(self.y.max()) + 1
        )

    def _execute(self, name: str, text: str, place: str) -> None:
        self.sections[name] = text
        filename = f"<training {name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        try:
            with suppress_warnings():
                if name == "model" and self.setup.model.options.get(GUARDED):
                    self._execute_guarded(text, filename)
                else:
                    exec(compile_text(text, filename), self.names)
        except USER_ERRORS as error:
            raise self._failure(error, name, place) from error

    def _execute_guarded(self, text: str, filename: str) -> None:
        """Create an untrusted model: the sandbox policy applies to it now and in each step."""
        code = policy.compile_guarded(text, filename)
        scope: dict[str, object] = {"__name__": "training"}
        scope |= {name: self.names[name] for name in POLICY_NAMES}
        names = policy.guarded_names(scope)
        exec(code, names)
        self.names["model"] = names["model"]

    def _failure(self, error: BaseException, name: str, place: str) -> Exception:
        found = to_problem(error, self.sections[name], f"<training {name}>")
        if name == "model" and self.setup.model.name == "own":
            source = str(_own_options(self.setup)["source"])
            where = map_to_source(found.place, self.sections[name], source)
            result = msgspec.structs.replace(explained(found, self.setup), place=where)
            return ProgramError(result, "model.source")
        is_said = isinstance(error, ValueError)
        message = found.message if is_said else f"{found.type}: {found.message}"
        lines = self.sections[name].splitlines()
        if place == "optimizer" and lines[(found.place.line or 1) - 1].startswith("scheduler"):
            place = "schedule"
        return SetupError(" ".join(message.split()), place)

    def failure(self, error: BaseException) -> Problem:
        """Return an exception that a step raised as a problem, located in the user's source."""
        text = self.sections["model"]
        found = to_problem(error, text, "<training model>")
        where = Place()
        found = explained(found, self.setup)
        if self.setup.model.name == "own":
            where = map_to_source(found.place, text, str(_own_options(self.setup)["source"]))
        return msgspec.structs.replace(found, place=where)

    def _check_fit(self, setup: Setup) -> None:
        steps.check_mistakes(setup, tuple(self.tensor("y_train").shape))
        names = [name for name, _ in self.model.named_parameters()]
        for prefix in setup.frozen:
            if not any(name.startswith(prefix) for name in names):
                listed = ", ".join(names[:8])
                message = f"no parameter is called or begins with {prefix!r}: {listed}"
                raise SetupError(message, "frozen")

    # One step

    def _make_step(self, setup: Setup) -> None:
        self._execute("step", steps.train_step_source(setup), "step")
        self._execute("evaluate", steps.evaluate_source(setup), "step")
        self.lines = steps.unrolled_lines(setup)
        self.step_function = cast("Callable[..., float]", self.names["train_step"])
        self.evaluate = cast("Callable[[], float]", self.names["evaluate"])
        self.has_validation = len(self.tensor("val_rows")) > 0

    def step(self, batches: list[Batch]) -> float:
        """Make one step and return its loss."""
        if self.setup.accumulate > 1:
            return self.step_function(batches)
        return self.step_function(*batches[0])

    def change(self, setup: Setup) -> None:
        """Apply settings that can change during a run; see `changed_keys` for which these are.

        Raises:
            SetupError: the new setup cannot be run; nothing has changed then.
        """
        setup = fill_defaults(setup, self.task)
        text = changes.statements(self.setup, setup, self.task)
        steps.train_step_source(setup)
        self._check_fit(setup)
        _check_optimizer(setup)
        before, sections = self.setup, dict(self.sections)
        sections["loss"] = codegen.loss(setup, self.task)
        sections["freeze"] = codegen.freeze(setup)
        sections["optimizer"] = codegen.optimizer(setup)
        sections["data"] = codegen.data(setup, self.written)
        self.setup = setup
        try:
            self._execute("change", text, "optimizer")
            changes.check_learns(self.model, setup)
        except Exception:
            self.setup = before
            self._execute("change", changes.undo_statements(before, setup, self.task), "")
            raise
        self.sections.update(sections)
        self._make_step(setup)
        if "keep_graphs" not in setup.mistakes:
            self.release_graphs()

    def release_graphs(self) -> None:
        """Release the losses that the mistake ``keep_graphs`` keeps alive with their graphs."""
        losses = cast("list[object]", self.names["kept"])
        if losses:
            losses.clear()
            trim_heap()


def _check_optimizer(setup: Setup) -> None:
    """Let torch validate the arguments: it does not check values set in a parameter group."""
    piece, options = catalogue.find("optimizer", setup.optimizer, Optimizer)
    try:
        arguments: dict[str, object] = {**codegen.hyperparameters(piece, options, setup)}
        cast("Callable[..., object]", piece.make)([torch.zeros(1)], **arguments)
    except (TypeError, ValueError) as error:
        raise SetupError(" ".join(str(error).split()), "optimizer") from None


def _own_options(setup: Setup) -> dict[str, JsonValue]:
    return catalogue.find("model", setup.model, Model)[1]


def map_to_source(place: Place, text: str, source: str) -> Place:
    """Map a place in a pasted section to the source it was pasted from."""
    lines = text.splitlines()
    if not 0 < place.line <= len(lines):
        return Place()
    text_line = lines[place.line - 1]
    matches = [i for i, line in enumerate(source.splitlines(), 1) if line == text_line]
    if not matches:
        return Place()
    moved = matches[0] - place.line
    return msgspec.structs.replace(place, line=matches[0], end_line=place.end_line + moved)


def fill_defaults(setup: Setup, task: Task) -> Setup:
    """Return the setup with all options of every part filled in, and a loss that fits the task."""
    default = {"regression": "mse", "binary": "bce"}.get(task, "cross_entropy")
    schedule = setup.schedule
    return msgspec.structs.replace(
        setup,
        data=_filled("data", setup.data, Data),
        model=_filled("model", setup.model, Model),
        loss=_filled("loss", setup.loss or Part(default), Loss),
        optimizer=_filled("optimizer", setup.optimizer, Optimizer),
        schedule=None if schedule is None else _filled("schedule", schedule, Schedule),
    )


def _filled(kind: EntryKind, part: Part, expected: type[catalogue.P]) -> Part:
    return Part(part.name, catalogue.find(kind, part, expected)[1])


_RESTARTS = (
    "data", "model", "features", "standardize", "train", "shuffle", "seed", "weight_seed",
    "data_seed", "device", "dtype",
)  # fmt: skip


def changed_keys(before: Setup, after: Setup) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys that differ: those that can change during a run, and those that restart it.

    Both setups are filled.
    """
    names = [f.name for f in msgspec.structs.fields(Setup)]
    differ = [name for name in names if getattr(before, name) != getattr(after, name)]
    anew = [name for name in differ if name in _RESTARTS]
    if "data" in differ and changes.is_same_data(before, after):
        anew.remove("data")
    if "loss" in differ and _targets(before) != _targets(after):
        anew.append("loss")
    return tuple(n for n in differ if n not in anew), tuple(anew)


def _targets(setup: Setup) -> str:
    assert setup.loss is not None
    return catalogue.find("loss", setup.loss, Loss)[0].targets


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Suppress torch's warnings: the doctor explains them better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
