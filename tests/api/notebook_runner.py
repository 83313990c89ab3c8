"""Run notebooks through Jupyter's own client: ``python notebook_runner.py NOTEBOOK... OUT``.

In a process of its own, so that the client's threads and warnings stay out of the tests.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main() -> None:
    """Write each notebook with its outputs to the folder OUT."""
    *notebooks, out = map(Path, sys.argv[1:])
    for path in notebooks:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        client = NotebookClient(notebook, timeout=100, kernel_name="python3")
        try:
            client.execute(cwd=str(out))
        except CellExecutionError as error:
            sys.stdout.write(f"{path.name}: {error}\n")
        nbformat.write(notebook, out / path.name)


if __name__ == "__main__":
    main()
