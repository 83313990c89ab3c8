"""A module of the document as a file: the program runs again in an engine of its own."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gradscribe.app.document.side_run import run_document
from gradscribe.app.document.state import Doc, Limits
from gradscribe.app.link.client import Link
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.messages import ModelFile, ModelRequest
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.protocol.tape import Snapshot, Tape
from gradscribe.playback.translation import tr, translated

SPENT = tr("the program changes PyTorch itself, and its modules are gone when it has ended")


class ModelRun(QObject):
    """Runs a program, then makes a request about a module of it; `answer` has the reply.

    Names of a program are freed soon after its end, and torch.export takes seconds: neither
    concerns the engine of the window.
    """

    def __init__(self, link: Callable[[QObject], Link], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = link
        self._link: Link | None = None
        self._run_id = 0
        self._request = ModelRequest(0, "", "pt")
        self._shown = Tape()
        self.answer: ModelFile | None = None
        """The reply; None until it is there."""
        self.is_same = True
        """False if the weights are not those of the run that is shown."""

    def start(
        self, source: str, doc: Doc, limits: Limits, request: ModelRequest, shown: Tape
    ) -> None:
        """Run ``source``, whose tape is ``shown``, and make the request about it."""
        self.close()
        self.answer, self._request, self._shown = None, request, shown
        self._link = link = self._make(self)
        link.received.connect(self._take)
        link.start()
        self._run_id = run_document(link, source, doc, limits, watched_module=request.module)

    def _take(self, message: object) -> None:
        link = self._link
        if link is None:
            return
        if isinstance(message, messages.Recorded) and message.run_id == self._run_id:
            if message.is_draft:
                return
            problem = message.tape.error
            if problem is not None:
                self._fail(
                    tr(
                        "the program failed this time: {message_}",
                        message_=translated(problem.message),
                    )
                )
            elif message.spent:
                self._fail(SPENT)
            else:
                module = self._request.module
                self.is_same = weights(message.tape, module) == weights(self._shown, module)
                link.model_file(replace(self._request, run_id=self._run_id))
        elif isinstance(message, ModelFile):
            self.answer = message
            self.close()

    def _fail(self, problem: str) -> None:
        self.answer = ModelFile(
            self._run_id, self._request.module, self._request.kind, problem=problem
        )
        self.close()

    def close(self) -> None:
        """End the engine; a request without a reply gets none."""
        link, self._link = self._link, None
        if link is not None:
            link.received.disconnect(self._take)
            link.close()
            link.deleteLater()


def weights(tape: Tape, module: str) -> dict[str, Snapshot]:
    """Return the last numbers of each parameter of a module."""
    return {
        value.name: tape.snapshots[value.snapshot]
        for value in tape.values
        if value.name.startswith(f"{module}.") and value.is_leaf and value.snapshot is not None
    }


def modules_of(tape: Tape) -> list[tuple[str, str]]:
    """Return (name, kind) of the modules with parameters that the program has names for."""
    found = {
        call.name: call.kind
        for call in tape.calls
        if call.parent is None and call.name.isidentifier() and call.parameters
    }
    # A module without a variable goes by its class.
    return [(name, kind) for name, kind in found.items() if name != kind]
