"""A run as a script of its own: the sections that it executes, and a loop around them."""

from engine.setup import Setup
from engine.train import steps
from engine.train.program import Program
from engine.train.run import Run

_ORDER = ("imports", "head", "data", "split", "prepare", "model", "freeze", "loss", "optimizer")
_TITLES = {
    "head": "Where it runs",
    "data": "Data",
    "prepare": "Inputs and targets",
    "model": "Model",
    "loss": "Loss, optimizer",
    "step": "One step",
}


class NoScript(ValueError):
    """The run cannot be told as one plain script."""


def script_of(run: Run, count: int) -> str:
    """Return the script of a run, live changes included. Raises `NoScript`."""
    if run.changes:
        at = ", ".join(str(step) for step, _ in run.changes[:5])
        raise NoScript(
            f"This run was changed by hand after step {at}. Fork it at step 0 with the settings "
            "of now to export a script."
        )
    return script(run.program, count)


def script(program: Program, count: int) -> str:
    """Return one file of plain PyTorch that makes ``count`` steps and prints ``step loss`` each."""
    setup, sections = program.setup, program.sections.texts
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
    if "keep_graphs" in setup.mistakes:
        parts.append("kept = []\n")
    rows = len(program.tensor("train_rows"))
    parts.append("# One step\n\n\n" + steps.function(setup))
    if _validates(setup, program):
        parts.append("\n" + steps.evaluate(setup))
    parts.append("\n" + steps.batches(setup, rows))
    parts.append("\n" + _loop(setup, program, count))
    return "\n".join(parts)


def _validates(setup: Setup, program: Program) -> bool:
    return setup.validate_every > 0 and program.has_validation


def _loop(setup: Setup, program: Program, count: int) -> str:
    batch = "*next(stream)"
    if setup.accumulate > 1:
        batch = f"[next(stream) for _ in range({setup.accumulate})]"
    validates = _validates(setup, program)
    lines = ["stream = batches()"]
    lines += ["evaluate()"] if validates else []
    lines += [
        f"for step in range(1, {count} + 1):",
        f"    loss = train_step({batch})",
        "    print(step, loss)",
    ]
    if validates:
        lines += [f"    if step % {setup.validate_every} == 0:", "        evaluate()"]
    return "\n".join(lines) + "\n"
