"""Export a run as a standalone script: the sections that it executes, and a loop around them."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from engine.setup import Setup
from engine.train import changing, steps, texts
from engine.train.changing import Change
from engine.train.program import Program
from engine.train.run import Run

_ORDER = (
    "imports",
    "head",
    "data",
    "check",
    "split",
    "prepare",
    "model",
    "freeze",
    "loss",
    "optimizer",
)
_TITLES = {
    "head": "Where it runs",
    "data": "Data",
    "prepare": "Inputs and targets",
    "model": "Model",
    "loss": "Loss, optimizer",
    "step": "One step",
}


def script_of(run: Run, count: int) -> str:
    """Return the script of a run up to step ``count``, with all changes made during it."""
    return script(run.program, count, run.past.before(0).setup, run.changes)


def script(
    program: Program,
    count: int,
    first: Setup | None = None,
    changes: Sequence[tuple[int, Change]] = (),
) -> str:
    """Return a plain PyTorch script that makes ``count`` steps and prints ``step loss`` for each.

    ``first`` is the setup at step 0 if it was changed since, ``changes`` the changes by step.
    """
    setup = program.setup if first is None else first
    sections = {**program.sections.texts, "head": texts.head(setup)}
    sections |= {
        "freeze": texts.freeze(setup),
        "loss": texts.loss(setup, program.task),
        "optimizer": texts.optimizer(setup),
    }
    if path := setup.data.options.get("path"):
        sections["imports"] = sections["imports"].replace(
            "import csv\n", "import csv\nimport hashlib\n"
        )
        sections["check"] = _check(program, Path(str(path)).name)
    parts = [
        (
            f'"""{setup.model.name} on {setup.data.name}: plain PyTorch, written by Gradscribe.\n\n'
            'It prints the step and its loss, one line for each step.\n"""\n'
        )
    ]
    for name in _ORDER:
        if sections.get(name, "").strip():
            title = f"# {_TITLES[name]}\n\n" if name in _TITLES else ""
            parts.append(title + sections[name].strip() + "\n")
    setups = [setup, *(what for _, what in changes if isinstance(what, Setup))]
    if any("keep_graphs" in each.mistakes for each in setups):
        parts.append("kept = []\n")
    parts.append("# One step\n\n\n" + steps.function(setup))
    if _validates(setup, program):
        parts.append("\n" + steps.evaluate(setup))
    rows = len(program.tensor("train_rows"))
    varied = len({(each.batch, each.drop_last) for each in setups}) > 1
    parts.append("\n" + (steps.drawing(setup, rows) if varied else steps.batches(setup, rows)))
    parts += _loops(setup, program, count, changes, varied)
    whole = "\n".join(parts)
    for module in ("csv", "math"):
        if not re.search(rf"\b{module}\.", whole):
            # The import section is the same for every run; a script imports only what it needs.
            whole = whole.replace(f"import {module}\n", "", 1)
    return whole


def _check(program: Program, name: str) -> str:
    """Return the lines that exit the script if its data file has changed since the run read it."""
    read = hashlib.sha256(program.x.numpy().tobytes() + program.y.numpy().tobytes())
    message = f"{name} is not as the run read it, so its losses would be others"
    return (
        "# Without this check the script trains on whatever the file holds\n"
        "read = hashlib.sha256(x.numpy().tobytes() + y.numpy().tobytes()).hexdigest()\n"
        f'if read != "{read.hexdigest()}":\n'
        f"    raise SystemExit({message!r})\n"
    )


def _validates(setup: Setup, program: Program) -> bool:
    return setup.validate_every > 0 and program.has_validation


def _loops(
    setup: Setup, program: Program, count: int, changes: Sequence[tuple[int, Change]], varied: bool
) -> list[str]:
    """Return a loop for each range of steps between changes, and the changes between them."""
    first = ["" if varied else "stream = batches()", "evaluate()"]
    parts = ["\n" + "\n".join(line for line in first[: 1 + _validates(setup, program)] if line)]
    done, titled = 0, 0
    for at, change in changes:
        if at >= count:
            break
        text = _change(setup, change, program, varied)
        if isinstance(change, Setup):
            before, setup = setup, change
            if not text and _loop(before, program, 0, 0, varied) == _loop(
                setup, program, 0, 0, varied
            ):
                continue
        else:
            before = setup
        if at > done:
            parts.append(_loop(before, program, done, at, varied))
            done = at
        head = f"# What was changed after step {at}\n\n" if titled != at or at == 0 else ""
        titled = at
        parts.append(head + text)
    parts.append(_loop(setup, program, done, count, varied))
    return parts


def _change(setup: Setup, change: Change, program: Program, varied: bool) -> str:
    if not isinstance(change, Setup):
        return changing.weight(change.name, change.index, change.value)
    text = changing.statements(setup, change, program.task)
    if varied:
        text += steps.other_batches(setup, change, len(program.tensor("train_rows")))
    functions = []
    if steps.function(change) != steps.function(setup):
        functions.append(steps.function(change))
    if _validates(change, program) and (
        steps.evaluate(change) != steps.evaluate(setup) or not _validates(setup, program)
    ):
        functions.append(steps.evaluate(change))
    return "\n\n".join(part for part in (text, *functions) if part)


def _loop(setup: Setup, program: Program, done: int, last: int, varied: bool) -> str:
    """Return the loop over the steps after ``done`` up to ``last``."""
    draw = "next_batch()" if varied else "next(stream)"
    batch = f"*{draw}"
    if setup.accumulate > 1:
        batch = f"[{draw} for _ in range({setup.accumulate})]"
    lines = [
        f"for step in range({done + 1}, {last} + 1):",
        f"    loss = train_step({batch})",
        "    print(step, loss)",
    ]
    if _validates(setup, program):
        lines += [f"    if step % {setup.validate_every} == 0:", "        evaluate()"]
    return "\n".join(lines) + "\n"
