"""Title of the main window: that of the program, or on the training page that of the run."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradscribe.app.document.session import Session
from gradscribe.app.training.page.workspaces import Workspaces
from gradscribe.playback.translation import tr


class WindowTitle(QObject):
    """Names in the title of ``window`` what the page that it shows is about."""

    def __init__(self, window: QWidget, session: Session, workspaces: Workspaces) -> None:
        super().__init__(window)
        self._window, self._session, self._workspaces = window, session, workspaces
        session.doc_changed.connect(self.update)
        workspaces.entered.connect(self.update)
        workspaces.session.store.runs_changed.connect(self.update)
        workspaces.session.catalogue_changed.connect(self.update)
        self.update()

    def update(self) -> None:
        """Show the title of the page that is visible."""
        if self._workspaces.current == "training":
            training = self._workspaces.session
            # Before the catalogue has come a run is called by the names of the engine.
            run = training.run if training.store.catalogue is not None else None
            title = tr("Training") if run is None else run.name
            path, is_modified = "", False
        else:
            doc = self._session.doc
            title, path = doc.title, doc.path
            is_modified = doc.modified and bool(doc.path)
        # A name may have the mark where Qt shows that a document is modified.
        self._window.setWindowTitle(f"{title.replace('[*]', '[*][*]')}[*] — Gradscribe")
        self._window.setWindowModified(is_modified)
        self._window.setWindowFilePath(path)
