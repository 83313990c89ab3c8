"""pandas is imported for the first table and not before."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

PROGRAM = """
import sys
from gradscribe.engine.protocol.setup import parse
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.serve import host
from gradscribe.engine.train.source import catalogue

catalogue.entries()
TrainingRun(parse({"data": "sine"}))
print("pandas" in sys.modules)
data = {"name": "csv", "path": sys.argv[1], "inputs": ["a"], "target": "b"}
TrainingRun(parse({"data": data, "model": "linear"}))
print("pandas" in sys.modules)
"""


def test_pandas_is_imported_for_the_first_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
