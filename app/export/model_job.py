"""Jobs with the program's modules: written to files, and weights read for them."""

from collections.abc import Callable, Iterator
from pathlib import Path

from gradscribe.app.document.model_run import ModelRun
from gradscribe.app.export.image_job import run_in_thread
from gradscribe.app.export.queue import WAITING, ExportJob
from gradscribe.app.files import documents
from gradscribe.app.files.documents import Refused
from gradscribe.playback.translation import tr, translated

MOST_BYTES = 1 << 30
"""Largest file of weights that is read."""


class ModelJob(ExportJob):
    """A file of a module, written once an engine has made it."""

    verb = tr("Exporting")

    def __init__(self, path: Path, run: ModelRun, begin: Callable[[ModelRun], None]) -> None:
        super().__init__(path.name)
        documents.check_writable(path)
        self._path, self._run, self._begin = path, run, begin
        self._is_written = False

    def __len__(self) -> int:
        """Return 1: the progress is unknown."""
        return 1

    def steps(self) -> Iterator[int]:
        """Wait for the file's bytes and write them.

        Raises:
            Refused: the module cannot be exported, or the file cannot be written.
        """
        self._begin(self._run)
        while (answer := self._run.answer) is None:
            yield WAITING
        if answer.problem:
            raise Refused(
                tr(
                    "{name} was not written: {problem}",
                    name=self.name,
                    problem=translated(answer.problem),
                )
            )
        self._is_written = True
        yield from run_in_thread(lambda: documents.write_bytes(self._path, answer.data))
        if not self._run.is_same:
            self.done_text += tr(", with the weights of a new run, which differ from those shown")

    def try_cancel(self) -> bool:
        """End the engine; False if the file is being written already."""
        self._run.close()
        return not self._is_written


class WeightsJob(ExportJob):
    """Weights from a file, checked against a module in an engine."""

    verb = tr("Reading")

    def __init__(
        self,
        path: Path,
        run: ModelRun,
        begin: Callable[[ModelRun, bytes], None],
        then: Callable[[bytes], None],
    ) -> None:
        super().__init__(path.name)
        self._path, self._run, self._begin, self._then = path, run, begin, then
        self.busy_text = tr("{name} is still being read", name=path.name)
        self.cancelled_text = tr("{name} was not read", name=path.name)
        self.done_text = tr("{name} fits", name=path.name)

    def __len__(self) -> int:
        """Return 1: the progress is unknown."""
        return 1

    def steps(self) -> Iterator[int]:
        """Read the file, wait until it is checked, and hand over its weights.

        Raises:
            Refused: it cannot be read, has more than weights in it, or does not fit the module.
        """
        data = yield from run_in_thread(lambda: _read(self._path))
        self._begin(self._run, data)
        while (answer := self._run.answer) is None:
            yield WAITING
        if answer.problem:
            raise Refused(
                tr(
                    "{name} was not read: {problem}",
                    name=self.name,
                    problem=translated(answer.problem),
                )
            )
        self._then(answer.data)

    def try_cancel(self) -> bool:
        """End the engine."""
        self._run.close()
        return True


def _read(path: Path) -> bytes:
    try:
        with documents.open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Refused(
            tr("{name} cannot be read: {value}", name=path.name, value=error.strerror or error)
        ) from error
    if len(data) > MOST_BYTES:
        raise Refused(
            tr("{name} is larger than {value} GB", name=path.name, value=MOST_BYTES >> 30)
        )
    return data
