"""The folder of a sweep: a setup and a result for each trial, on the disk as soon as it ends."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gradscribe.app.files import documents
from gradscribe.app.training.sweep import rows as trial_rows
from gradscribe.app.training.sweep.rows import TrialRow
from gradscribe.app.training.sweep.trials import Sweep, Trial
from gradscribe.engine.protocol import setup as setups
from gradscribe.playback.translation import tr

FORMAT = 1
RESULT, SETUP = ".result.json", ".setup.json"
MAX_RESULT_BYTES = 1 << 28


class SweepFolder:
    """``NAME.trials`` next to ``NAME.json``.

    ``0007-3f9ac2d1b0e4.setup.json`` is the setup of a trial, which the window and ``gradscribe
    train`` open, ``0007-3f9ac2d1b0e4.result.json`` its result. The second part of the name is that
    of the setup's digest, by which a trial is found again.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        """The file with all rows."""
        self.path = results.with_name(f"{results.name.removesuffix('.json')}.trials")

    def prepare(self, resume: bool) -> None:
        """Create the folder.

        Raises:
            Refused: it cannot be made, or has results already and is not to be resumed.
        """
        try:
            self.path.mkdir(exist_ok=True)
            found = sum(1 for name in os.listdir(self.path) if name.endswith(RESULT))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise documents.Refused(
                tr("{path} cannot be made: {reason}", path=self.path, reason=reason)
            ) from error
        if found and not resume:
            raise documents.Refused(
                tr(
                    "{path} holds {found:,} finished trials: go on with --resume, or write to "
                    "another file",
                    path=self.path,
                    found=found,
                )
            )
        documents.check_writable(self.path / f"0{SETUP}")

    def finished(self, trials: Sequence[Trial]) -> dict[int, TrialRow]:
        """Return the rows of trials whose results are here, by number; damaged ones are left out.

        Raises:
            Refused: the folder cannot be read.
        """
        try:
            names = os.listdir(self.path)
        except OSError as error:
            raise documents.Refused(
                tr("{path} cannot be read: {strerror}", path=self.path, strerror=error.strerror)
            ) from error
        by_key = {name.removesuffix(RESULT)[-12:]: name for name in names if name.endswith(RESULT)}
        found = {}
        for trial in trials:
            name = by_key.get(trial.key)
            result = None if name is None else self.read(name)
            if name is not None and result is not None:
                setup = f"{self.path.name}/{name.removesuffix(RESULT)}{SETUP}"
                try:
                    row = trial_rows.row(trial, result, setup)
                except msgspec.ValidationError:
                    continue
                if row.status in trial_rows.ENDED:
                    found[trial.number] = row
        return found

    def read(self, name: str) -> dict[str, object] | None:
        """Return the result in a file of the folder; None if it is damaged."""
        try:
            if (self.path / name).stat().st_size > MAX_RESULT_BYTES:
                return None
            found = msgspec.json.decode((self.path / name).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, trial: Trial, result: dict[str, object]) -> TrialRow:
        """Write the setup and the result of a trial that has ended; return its row.

        Raises:
            Refused: the disk does not take them.
        """
        name = f"{trial.number:04}-{trial.key}"
        row = trial_rows.row(trial, result, f"{self.path.name}/{name}{SETUP}")
        setup = {"title": trial.title, "setup": setups.to_dict(trial.setup)}
        text = json.dumps(setup, ensure_ascii=False, indent=1) + "\n"
        documents.write_bytes(self.path / f"{name}{SETUP}", text.encode())
        if row.status in trial_rows.ENDED:
            # Last, because a result says that its trial is complete.
            documents.write_bytes(self.path / f"{name}{RESULT}", msgspec.json.encode(result))
        return row


def document(sweep: Sweep, rows: Sequence[TrialRow], seconds: float) -> dict[str, object]:
    """Return a sweep and its rows as a JSON object; see the README."""
    best = trial_rows.best(rows)
    return {
        "format": FORMAT,
        "setup": setups.to_dict(sweep.base),
        "swept": [axis.name for axis in sweep.axes],
        "trials": [msgspec.to_builtins(row) for row in rows],
        "best": None if best is None else best.number,
        "finished": sum(row.status in trial_rows.ENDED for row in rows),
        "seconds": seconds,
    }
