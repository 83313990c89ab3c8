"""Execute one step statement by statement and describe the effect of each."""

import torch

from gradscribe.engine.train.source.program import Batch, TrainingProgram

MOST_WORDS = 12
NEXT_BATCH = "inputs, targets = batches["
"""Beginning of the first statement of a micro-batch."""


class StepEvents:
    """A step that is executed statement by statement."""

    def __init__(self, program: TrainingProgram, batches: list[Batch]) -> None:
        self._program = program
        self._lines = program.lines
        self._scope = {**program.names, "batches": batches}
        self._scope["inputs"], self._scope["targets"] = batches[0]
        self.index = -1
        self.changed: tuple[str, ...] = ()
        self.loss = 0.0
        """The sum of the losses of all micro-batches so far; 0 before the first."""
        self._losses = 0
        self._last = 0.0
        self._before = 0.0
        """The sum of the losses of the micro-batches before this one."""
        self._scale = 1.0
        """The scale of the gradient scaler (float16 autocast) before this statement."""

    @property
    def done(self) -> bool:
        """True if every statement has run."""
        return self.index == len(self._lines) - 1

    @property
    def event(self) -> str:
        """The event of the last statement: ``forward``, ``backward``, ..."""
        return self._lines[self.index][0] if self.index >= 0 else ""

    @property
    def has_loss(self) -> bool:
        """True if a loss has been computed."""
        return self._losses > 0

    def advance(self) -> None:
        """Run the next statement."""
        before, self._scale = self._weights(), self._scale_now()
        event, text = self._lines[self.index + 1]
        if text.startswith(NEXT_BATCH):
            self._before = self.loss
        exec(compile(text, "<training step>", "exec", dont_inherit=True), self._scope)
        self.index += 1
        loss = self._scope.get("loss")
        if (event == "loss" or "closure" in text) and isinstance(loss, torch.Tensor):
            self._last = loss.item()
            self.loss = self._before + self._last
            self._losses += 1
        if self.done and not self._losses:
            # A whole step returns its loss, and raises this if it has none.
            raise NameError("name 'loss' is not defined")
        self.changed = tuple(self._describe(event, before))[:MOST_WORDS]

    def _weights(self) -> list[torch.Tensor]:
        return [p.detach().clone() for p in self._program.model.parameters()]

    def _describe(self, event: str, before: list[torch.Tensor]) -> list[str]:
        named = list(self._program.model.named_parameters())
        match event:
            case "zero_grad":
                return ["every gradient is None"]
            case "forward":
                output = self._scope["output"]
                assert isinstance(output, torch.Tensor)
                shape = ", ".join(map(str, output.shape))
                return [f"output is ({shape}), mean {output.detach().float().mean().item():.4g}"]
            case "loss":
                if self._before:
                    return [f"loss is {self._last:.6g}, {self.loss:.6g} with those before"]
                return [f"loss is {self._last:.6g}"]
            case "backward" | "clip":
                scaled = event == "backward" and self._scale != 1
                return [f"scaled by {self._scale:,.0f}"] * scaled + [
                    f"{name}.grad norm {p.grad.norm().item():.4g}"
                    for name, p in named
                    if p.grad is not None
                ]
            case "schedule":
                return [f"lr is {self._program.optimizer.param_groups[0]['lr']:.6g}"]
        return [*self._update_remarks(), *self._moved_parameters(before)]

    def _scale_now(self) -> float:
        """Return the factor of the loss before backward, which keeps float16 from underflowing."""
        scaler = self._program.scaler
        return scaler.get_scale() if scaler is not None else 1.0

    def _update_remarks(self) -> list[str]:
        """Return remarks on an update: a closure's loss, or that it was skipped."""
        if "closure" in self._lines[self.index][1]:
            return [f"loss was {self._last:.6g}"]
        scale = self._scale_now()
        if scale < self._scale:
            return [f"skipped: a gradient is not finite; the scale is {scale:,.0f} now"]
        return []

    def _moved_parameters(self, before: list[torch.Tensor]) -> list[str]:
        pairs = zip(self._program.model.named_parameters(), before, strict=True)
        moved = [(name, (p.detach() - old).norm().item()) for (name, p), old in pairs]
        lines = [f"{name} moved by {by:.4g}" for name, by in moved if by]
        if not lines and all(p.grad is None for p in self._program.model.parameters()):
            return ["nothing moved: every .grad is None, and the optimizer skips such a parameter"]
        return lines or ["nothing moved"]
