"""Export a run as a standalone script: the sections that it executes, and a loop around them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType

from gradscribe.engine.protocol.setup import Setup
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import changes as source_changes
from gradscribe.engine.train.source import codegen, steps
from gradscribe.engine.train.source.changes import Change
from gradscribe.engine.train.source.program import TrainingProgram

_ORDER = "imports head data check split prepare model freeze loss optimizer".split()
_TITLES = {
    "head": "Where it runs",
    "data": "Data",
    "prepare": "Inputs and targets",
    "model": "Model",
    "loss": "Loss, optimizer",
    "step": "One step",
}


Remarks = Mapping[str, Sequence[str]]
"""Remarks for a script by the name of the section that they stand above."""


def script(run: TrainingRun, count: int, remarks: Remarks = MappingProxyType({})) -> str:
    """Return a plain PyTorch script that makes ``count`` steps and prints ``step loss`` for each.

    It has all changes made during the run, and ``remarks`` as comments.
    """
    program, changes, setup = run.program, run.changes, run.checkpoints.before(0).setup
    sections = {**program.sections, "head": codegen.head(setup)}
    sections |= {
        "freeze": codegen.freeze(setup),
        "loss": codegen.loss(setup, program.task),
        "optimizer": codegen.optimizer(setup),
    }
    if path := setup.data.options.get("path"):
        sections["imports"] = sections["imports"].replace(
            "import csv\n", "import csv\nimport hashlib\n"
        )
        sections["check"] = _check(program, Path(str(path)).name)
    parts = [
        f'''"""{setup.model.name} on {setup.data.name}: plain PyTorch, written by Gradscribe.

It prints the step and its loss, one line for each step.
"""
'''
    ]
    for name in _ORDER:
        if sections.get(name, "").strip():
            title = f"# {_TITLES[name]}\n\n" if name in _TITLES else ""
            said = _comments(remarks.get(name, ()))
            text = sections[name].strip()
            if said and name == "prepare" and not setup.standardize:
                text = with_standardizing_offered(text, program.task == "regression")
            parts.append(title + said + text + "\n")
    setups = [setup, *(what for _, what in changes if isinstance(what, Setup))]
    if any("keep_graphs" in each.mistakes for each in setups):
        parts.append("kept = []\n")
    said = _comments(remarks.get("step", ()))
    parts.append(f"# One step\n\n{said}\n" + steps.train_step_source(setup))
    if _validates(setup, program):
        parts.append("\n" + steps.evaluate_source(setup))
    rows = len(program.tensor("train_rows"))
    varied = len({(each.batch, each.drop_last) for each in setups}) > 1
    batches = steps.next_batch_source if varied else steps.batches_source
    parts.append("\n" + batches(setup, rows))
    parts += _loops(setup, program, count, changes, varied)
    whole = "\n".join(parts)
    for module in ("csv", "math"):
        if not re.search(rf"\b{module}\.", whole):
            # The import section is the same for every run; a script imports only what it needs.
            whole = whole.replace(f"import {module}\n", "", 1)
    return whole


def _comments(remarks: Sequence[str]) -> str:
    """Return remarks as comment lines; each is on one line before, so that none can be code."""
    lines = [line for words in remarks for line in wrap(" ".join(words.split()), 96)]
    return "".join(f"# {line}\n" for line in lines)


def with_standardizing_offered(section: str, targets: bool) -> str:
    """Return the section that makes inputs and targets, with lines to standardize as comments."""
    lines = []
    for line in section.splitlines():
        lines.append(line)
        if line.startswith("inputs = "):
            lines += ["# To standardize them:", *(f"# {one}" for one in codegen.STANDARDIZE_INPUTS)]
        elif line.startswith("targets = ") and targets:
            lines += [f"# {one}" for one in codegen.STANDARDIZE_TARGETS]
    return "\n".join(lines)


def _check(program: TrainingProgram, name: str) -> str:
    """Return the lines that exit the script if its data file has changed since the run read it."""
    read = hashlib.sha256(program.x.numpy().tobytes() + program.y.numpy().tobytes())
    message = f"{name} is not as the run read it, so its losses would be others"
    return (
        "# Without this check the script trains on whatever the file holds\n"
        "read = hashlib.sha256(x.numpy().tobytes() + y.numpy().tobytes()).hexdigest()\n"
        f'if read != "{read.hexdigest()}":\n'
        f"    raise SystemExit({message!r})\n"
    )


def _validates(setup: Setup, program: TrainingProgram) -> bool:
    return setup.validate_every > 0 and program.has_validation


def _loops(
    setup: Setup,
    program: TrainingProgram,
    count: int,
    changes: Sequence[tuple[int, Change]],
    varied: bool,
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


def _change(setup: Setup, change: Change, program: TrainingProgram, varied: bool) -> str:
    if not isinstance(change, Setup):
        return source_changes.set_weight_statement(change.name, change.index, change.value)
    text = source_changes.statements(setup, change, program.task)
    if varied:
        text += steps.batch_size_change(setup, change, len(program.tensor("train_rows")))
    functions = []
    if steps.train_step_source(change) != steps.train_step_source(setup):
        functions.append(steps.train_step_source(change))
    if _validates(change, program) and (
        steps.evaluate_source(change) != steps.evaluate_source(setup)
        or not _validates(setup, program)
    ):
        functions.append(steps.evaluate_source(change))
    return "\n\n".join(part for part in (text, *functions) if part)


def _loop(setup: Setup, program: TrainingProgram, done: int, last: int, varied: bool) -> str:
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
