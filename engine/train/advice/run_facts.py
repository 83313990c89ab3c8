"""Facts about a run that several kinds of advice need, each computed when first asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue
from gradscribe.engine.train.source.program import TrainingProgram
from gradscribe.engine.train.user_module import attributes
from gradscribe.engine.zoo.entry import Loss

ROWS = 256
"""Most rows of the training data that the model is evaluated on."""
BUILT = ("linear", "mlp", "polynomial")
"""Built-in models that take rows of numbers."""


@dataclass(frozen=True)
class Evaluation:
    """The model on some training data: what its first layer gets, and what it returns.

    ``first`` is (rows, inputs), or None without such a layer; ``output`` has its graph.
    """

    first: torch.Tensor | None
    output: torch.Tensor


class RunFacts:
    """A run's data and model, seen without changing them."""

    def __init__(self, run: TrainingRun, diverged: bool = False) -> None:
        self.run = run
        self.diverged = diverged
        """True if its loss has become infinite or NaN."""
        self.program: TrainingProgram = run.program
        self.setup: Setup = run.setup

    @property
    def rows(self) -> int:
        """The number of rows of the data."""
        return len(self.program.x)

    @property
    def has_columns(self) -> bool:
        """True if the inputs are columns of a table that were chosen by name."""
        return "inputs" in self.setup.data.options and self.program.x.dim() == 2

    @cached_property
    def places(self) -> dict[str, slice]:
        """Each chosen input column by name: its columns in ``x``, several for one of texts.

        Empty if the inputs are no columns of a table.
        """
        found, at = dict[str, slice](), 0
        for name, width in self.program.columns:
            found[name] = slice(at, at + width)
            at += width
        return found if self.has_columns and at == self.program.x.shape[1] else {}

    @cached_property
    def columns(self) -> dict[str, torch.Tensor]:
        """The numbers of each chosen input column: (rows, k) float64."""
        x = self.program.x.double()
        return {name: x[:, at] for name, at in self.places.items()}

    @property
    def target(self) -> str:
        """The names of the target's columns; empty for data that is not a table."""
        return ", ".join(self.program.target_names)

    @property
    def has_classes(self) -> bool:
        """True if the targets are classes."""
        return self.program.task in ("binary", "classes")

    @cached_property
    def class_counts(self) -> list[int]:
        """The number of rows of each class."""
        return torch.bincount(self.program.y, minlength=self.program.classes).tolist()

    @cached_property
    def trained_counts(self) -> list[int]:
        """The number of rows of each class among those that are trained on."""
        rows = self.program.tensor("train_rows")
        return torch.bincount(self.program.y[rows], minlength=self.program.classes).tolist()

    @property
    def input_names(self) -> Sequence[str]:
        """The names of the model's inputs, features included; empty if they have none."""
        return self.program.input_names

    @property
    def wants_scores(self) -> bool:
        """True if the loss takes raw scores, of which it makes probabilities itself."""
        return self.loss.name in ("bce", "cross_entropy") and self.has_classes

    @property
    def loss(self) -> Part:
        """The loss."""
        assert self.setup.loss is not None
        return self.setup.loss

    @property
    def target_encoding(self) -> str:
        """The encoding of classes that the loss takes: ``classes``, ``ones`` or ``signs``."""
        return catalogue.find("loss", self.loss, Loss)[0].targets

    @property
    def can_evaluate(self) -> bool:
        """True if the model can be called without changing the run.

        A lazy module would draw its weights, and one with external state would count the call.
        """
        program = self.program
        return not (program.has_external_state or any(map(is_lazy, program.model.parameters())))

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The model on the first training rows; None if it is not evaluated for advice.

        That is so for pictures and tokens, and where `can_evaluate` is false.
        """
        program, name = self.program, self.setup.model.name
        if not self.can_evaluate or not (name in BUILT or name == "own"):
            return None
        inputs = program.tensor("x_train")[:ROWS].clone()
        seen: list[torch.Tensor | None] = []

        def note(module: nn.Module, given: tuple[object, ...]) -> None:
            if not seen and given and isinstance(given[0], torch.Tensor):
                seen.append(None if isinstance(module, _NORMS) else given[0].detach().clone())

        layers = [m for m in program.model.modules() if isinstance(m, (*_LAYERS, *_NORMS))]
        handles = [layer.register_forward_pre_hook(note) for layer in layers]
        try:
            with attributes.evaluating(program), torch.enable_grad():
                output = program.model(inputs)
        finally:
            for handle in handles:
                handle.remove()
        if not isinstance(output, torch.Tensor):
            return None
        first = seen[0] if seen else None
        return Evaluation(first if first is not None and first.dim() == 2 else None, output)


_LAYERS = (nn.Linear, nn.Bilinear, nn.RNNBase, nn.RNNCellBase, nn.modules.conv._ConvNd)
"""Layers whose weights multiply what they get."""
_NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)
"""Layers that scale what they get themselves."""
