"""Runs of small tables, and the advice on them."""

from gradscribe.engine.protocol.setup import parse
from gradscribe.engine.protocol.training.advice import Advice
from gradscribe.engine.train import advice
from gradscribe.engine.train.runs import measure
from gradscribe.engine.train.runs.run import TrainingRun


def table(path, columns, name="table.csv"):
    """Write a table; return the data of a setup with all columns but the last as inputs."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    file = path / name
    file.write_text("\n".join(lines) + "\n")
    *inputs, target = columns
    return {"name": "csv", "path": str(file), "inputs": inputs, "target": target}


def made(**setup: object) -> TrainingRun:
    """Return the run of a setup given as in JSON."""
    return TrainingRun(parse(setup))


def at_start(kind, diverged=False, **setup) -> list[Advice]:
    """Return the advice of a kind on a setup before its first step."""
    return [one for one in advice.on_setup(made(**setup), diverged) if one.kind == kind]


def after(kind, steps, **setup) -> list[Advice]:
    """Return the advice of a kind after some steps."""
    run = made(**setup)
    measure.measure_step(run)
    run.advance(steps - 2)
    measure.measure_step(run)
    return [one for one in advice.on_progress(run) if one.kind == kind]


def words(found) -> str:
    """Return the words of the only piece of advice."""
    (one,) = found
    return one.words
