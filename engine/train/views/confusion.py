"""Confusion matrices of the training and the validation data, and the examples of a cell."""

from collections.abc import Mapping

import torch

from gradscribe.engine.protocol.setup import JsonValue
from gradscribe.engine.protocol.training.replies import RawArray
from gradscribe.engine.train.arrays import ViewData, int_option, to_array
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.views import scores
from gradscribe.engine.train.views.view import EngineView

MOST_EXAMPLES = 24
"""Most examples of a cell that are sent."""
MOST_NUMBERS = 1 << 18
"""Most numbers of their inputs together: of large inputs, fewer examples are sent."""
_SURE = ("bce", "cross_entropy")
"""Losses whose model puts out logits, which have probabilities."""


def _make(run: TrainingRun, options: Mapping[str, JsonValue]) -> ViewData | None:
    """Return ``train`` and ``val`` (classes, classes) int64: rows are the truth; per token.

    Options: ``part``, ``train``, ``val`` or ``both``, with ``true`` and ``answer``: two classes of
    which examples are sent, too: ``rows`` (n,) int64 of the data, their inputs ``x`` (n, ...) and,
    where the output has probabilities, ``sure`` (n,) float32, that of the answer. Of tokens
    ``wanted`` and ``given`` (n, length) int64.
    """
    program = run.program
    classes = program.shapes.outputs if program.task == "tokens" else program.classes
    if not classes:
        return None
    matrices, found = {}, []
    wanted, cell = options.get("part"), _cell(options, classes)
    for part in ("train", "val"):
        rows = scores.rows_of(run, part)
        counts = torch.zeros(classes * classes, dtype=torch.long)
        if len(rows):
            output = scores.output_of(run, rows)
            answers = scores.predicted(run, output)
            pairs = program.y[rows] * classes + answers
            counts = torch.bincount(pairs.reshape(-1), minlength=classes * classes)
            if wanted in (part, "both"):
                hits = (pairs == cell[0] * classes + cell[1]).reshape(len(rows), -1).any(dim=1)
                found.append((rows[hits], output[hits.to(output.device)], answers[hits]))
        matrices[part] = to_array(counts.reshape(classes, classes), "<i8")
    if found:
        rows, output, answers = (torch.cat(parts) for parts in zip(*found, strict=True))
        matrices |= _examples(run, rows, output, answers)
    return ViewData(matrices)


def _cell(options: Mapping[str, JsonValue], classes: int) -> tuple[int, int]:
    """Return the two classes of a cell: the truth and the answer."""
    true, answer = (int_option(options, name, 0, 0, classes - 1) for name in ("true", "answer"))
    return true, answer


def _examples(
    run: TrainingRun, rows: torch.Tensor, output: torch.Tensor, answers: torch.Tensor
) -> dict[str, RawArray]:
    program = run.program
    each = max(1, program.x[0].numel())
    count = max(1, min(MOST_EXAMPLES, MOST_NUMBERS // each))
    rows, output, answers = rows[:count], output[:count].float().cpu(), answers[:count]
    x = program.x[rows]
    arrays = {
        "rows": to_array(rows, "<i8"),
        "x": to_array(x, "<f4" if x.is_floating_point() else "<i8"),
    }
    loss = program.setup.loss
    if program.task == "tokens":
        arrays |= {"wanted": to_array(program.y[rows], "<i8"), "given": to_array(answers, "<i8")}
    elif loss is not None and loss.name in _SURE:
        if output.shape[1] > 1:
            sure = output.softmax(dim=1).gather(1, answers[:, None])[:, 0]
        else:
            sure = output[:, 0].abs().sigmoid()
        arrays["sure"] = to_array(sure)
    return arrays


ENTRY = EngineView("confusion", _make)
