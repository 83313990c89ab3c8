"""Choice of the Python that a document's program runs in, remembered by its file."""

import os
from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.session import Session
from gradscribe.app.files.settings import Settings
from gradscribe.app.link import launch
from gradscribe.app.link.device_query import DeviceQuery
from gradscribe.app.link.interpreters import (
    Interpreter,
    UnusablePython,
    lent_source,
)
from gradscribe.app.link.package_install import PackageInstall
from gradscribe.app.link.python_search import MOST, FoundPython, find_pythons, python_name
from gradscribe.app.link.remote.address import SCHEME
from gradscribe.app.link.remote.ask import find_python
from gradscribe.app.runtime.notice import Notice, NoticeActions
from gradscribe.app.runtime.worker import BackgroundWorker
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.structs import replace
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.single_shot import single_shot

KEY, LINE = "pythons", "line"
MOST_FILES, MOST_USED = 200, 10
"""Most files whose Python is remembered, and most Pythons that are offered since they were used."""


class _Devices(Struct):
    """Graphics devices of a Python, and the state of its files when it named them."""

    stamp: str
    names: tuple[str, ...] | None
    """None if it cannot import torch."""


class _Remembered(Struct):
    """The stored choices."""

    files: dict[str, Interpreter] = {}
    """Files to their Pythons, the newest last; those that run in Gradscribe's own are missing."""
    used: list[Interpreter] = []
    """Pythons used before, the newest first."""
    devices: dict[str, _Devices] = {}
    """By the paths of Pythons, the newest last."""


class PythonChoice(QObject):
    """Finds Pythons, asks the chosen one what it has, and lets the document run in it."""

    said = Signal(str)
    """Carries a line for the status line."""
    printed = Signal(str)
    """Carries output of an installation."""
    listed = Signal()
    """More is known of a Python that `found` returned."""

    def __init__(
        self, session: Session, settings: Settings, notices: NoticeActions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._settings, self._notices = session, settings, notices
        self._worker = BackgroundWorker(self)
        self._query = DeviceQuery(self)
        self._query.answered.connect(self._note_devices)
        self._install: PackageInstall | None = None
        self._preferred: Interpreter | None = None
        self.set_up: Callable[[], None] | None = None
        """Asks where PyTorch is to come from; None where this process's Python has it."""
        self._wanted = 0
        """Number of the newest choice: an earlier one that answers late is dropped."""
        session.python_of = self.remembered
        self._compared: tuple[object, ...] = ()
        """The recorded run and the torch whose difference was written last."""
        # Once the views have shown the run: its output replaces what the pane had.
        self._compare = single_shot(self, self._compare_torch, 0)
        session.doc_changed.connect(self._remember)
        for changed in (session.doc_changed, session.result_changed):
            changed.connect(lambda: self._compare.start())

    def found(self) -> list[FoundPython]:
        """Return the Pythons that the document may be meant for, by their files."""
        far = [python for python in self._stored().used if python.host]
        used = {python.path: python for python in self._stored().used if not python.host}
        found = find_pythons(launch.script_folder(self._session.doc.path), used)
        # What a Python has said of itself is better than what its files look like.
        known = [
            replace(python, version=known.version, torch=known.torch)
            if (known := used.get(python.path))
            else python
            for python in found
        ]
        return known + [
            FoundPython(python.url, python_name(python), python.version, python.torch)
            for python in far
        ]

    def devices(self, python: FoundPython) -> str | None:
        """Return the devices of a Python in words; None until it has named them.

        It is asked in the background, `listed` follows. A Python that lies next to a program from
        elsewhere is not asked: it came with the program, and to ask it is to run it.
        """
        if python.path.startswith(SCHEME):
            return None  # It is named by its engine; nobody is to log in for a menu.
        stored = self._stored()
        known = stored.devices.get(python.path)
        if known is not None and known.stamp == _stamp(python):
            return device_words(known.names)
        was_used = any(used.path == python.path for used in stored.used)
        if python.torch and (was_used or not self._session.doc.foreign):
            self._query.ask(python.path)
        return None

    def _note_devices(self, path: str, names: tuple[str, ...] | None) -> None:
        python = next((found for found in self.found() if found.path == path), None)
        if python is None:
            return
        stored = self._stored()
        stored.devices.pop(path, None)
        stored.devices[path] = _Devices(_stamp(python), names)
        for oldest in list(stored.devices)[:-MOST]:
            del stored.devices[oldest]
        self._store(stored)
        self.listed.emit()

    def remembered(self, path: str) -> Interpreter | None:
        """Return the Python that a file was run in last; None for Gradscribe's own."""
        if self._preferred is not None:
            preferred, self._preferred = self._preferred, None
            return preferred
        python = self._stored().files.get(path) if path else None
        if python is None or python.host or os.path.isfile(python.path):
            return python
        gone = tr("{path} is gone: the program runs in Gradscribe's own Python", path=python.path)
        self._notices.post(Notice(KEY, gone))
        return None

    def prefer(self, python: Interpreter) -> None:
        """Run the document that is opened next in this Python, whatever is remembered."""
        self._preferred = python

    def choose_own(self) -> None:
        """Run the document in Gradscribe's own Python."""
        self._wanted += 1
        self._session.set_interpreter(None)

    def choose(self, name: str) -> None:
        """Run the document in the Python with this name or path, once it has said what it has.

        A Python that cannot be used is refused in a notice, which offers to install what it lacks.
        """
        self._wanted += 1
        number, doc = self._wanted, self._session.doc.path
        self.said.emit(tr("Asking {name}…", name=name))

        def take(result: Callable[[], Interpreter]) -> None:
            if number != self._wanted or self._session.doc.path != doc:
                return
            try:
                self.use(result())
            except UnusablePython as refusal:
                self.said.emit("")
                self._refuse(refusal)

        self._worker.submit(lambda: _ask(name), take)

    def use(self, python: Interpreter) -> None:
        """Run the document in a Python that has said what it has."""
        self._notices.drop(KEY)
        stored = self._stored()
        others = [other for other in stored.used if other.url != python.url]
        stored.used = [python, *others][:MOST_USED]
        self._store(stored)
        self._session.set_interpreter(python)
        where = f"{'on' if python.host else 'of'} {python_name(python)}"
        self.said.emit(
            tr(
                "Runs in Python {version} {where}, torch {torch}",
                version=python.version,
                where=where,
                torch=python.torch,
            )
        )

    def note(self, message: object) -> None:
        """Show that the line to an engine on another machine is lost, until it is there again."""
        if not isinstance(message, messages.LineState):
            return
        if message.is_up:
            self._notices.drop(LINE)
            self.said.emit(
                tr("{host} is there again: what was missed has arrived", host=message.host)
            )
        else:
            text = tr(
                "Line to {host} lost, trying again: what runs there goes on", host=message.host
            )
            self._notices.show_now(Notice(LINE, text, more=message.why))

    def close(self) -> None:
        """End a running installation, and wait for the thread that asks a Python."""
        self._worker.close()
        self._query.close()
        if self._install is not None:
            self._install.close()

    def _refuse(self, refusal: UnusablePython) -> None:
        choices: tuple[tuple[str, Callable[[], None]], ...] = ()
        if refusal.packages:
            choices = (
                (tr("Install"), lambda: self._begin_install(refusal.path, refusal.packages)),
            )
        self._notices.show_now(Notice(KEY, str(refusal), choices))

    def _begin_install(self, path: str, packages: tuple[str, ...]) -> None:
        if self._install is not None:
            self.said.emit(tr("An installation is under way"))
            return
        self._install = install = PackageInstall(path, packages, self)
        install.printed.connect(self.printed)
        install.ended.connect(lambda problem: self._end_install(path, problem))
        self.printed.emit(f"$ {install.command}\n")
        install.start()

    def _end_install(self, path: str, problem: str) -> None:
        if self._install is not None:
            self._install.deleteLater()
            self._install = None
        if problem:
            self._notices.show_now(Notice(KEY, tr("Not installed: {problem}", problem=problem)))
        else:
            self.choose(path)

    def _compare_torch(self) -> None:
        """Write a line if a recorded run is shown that was made by another torch."""
        doc, result = self._session.doc, self._session.result
        recorded = doc.shows_file
        torch = doc.interpreter.torch if doc.interpreter is not None else result.torch
        compared = (recorded, torch)
        if recorded is None or not recorded.torch or not torch or compared == self._compared:
            return
        self._compared = compared
        if recorded.torch != torch:
            self.printed.emit(
                tr(
                    "Recorded with torch {torch}; this Python has torch {torch_2}: run again, "
                    "it may give other numbers\n",
                    torch=recorded.torch,
                    torch_2=torch,
                )
            )

    # The stored choices

    def _remember(self) -> None:
        doc = self._session.doc
        stored = self._stored()
        if not doc.path or stored.files.get(doc.path) == doc.interpreter:
            return
        stored.files.pop(doc.path, None)
        if doc.interpreter is not None:
            stored.files[doc.path] = doc.interpreter
        for oldest in list(stored.files)[:-MOST_FILES]:
            del stored.files[oldest]
        self._store(stored)

    def _stored(self) -> _Remembered:
        try:
            return msgspec.json.decode(self._settings.text(KEY), type=_Remembered)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return _Remembered()

    def _store(self, stored: _Remembered) -> None:
        self._settings.put(KEY, msgspec.json.encode(stored).decode())


def device_words(names: tuple[str, ...] | None) -> str:
    """Return ``cpu``, ``cpu and 2 × NVIDIA H100``; for None that torch cannot be imported."""
    if names is None:
        return tr("torch does not start")
    counted = (f"{count} × {name}" if count > 1 else name for name, count in Counter(names).items())
    return tr(" and ").join(("cpu", *counted))


def _stamp(python: FoundPython) -> str:
    """Return a text that changes with a Python's executable and its torch."""
    try:
        link, file = os.lstat(python.path), os.stat(python.path)
    except OSError:
        return ""
    return f"{link.st_mtime_ns} {file.st_mtime_ns} {python.torch}"


def _ask(name: str) -> Interpreter:
    lent_source()
    return find_python(name)
