"""Server for the requests of other processes to show a file in this window."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtCore import QEvent, QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QWidget

from gradscribe.app.files import open_requests
from gradscribe.app.files.open_requests import MOST_BYTES, OpenReply, OpenRequest
from gradscribe.playback.translation import tr


class RequestServer(QObject):
    """Listen for `OpenRequest` from processes of the same user, while the window is open.

    Without a private folder, or where the system refuses, nothing listens: other processes then
    open a window of their own.
    """

    def __init__(self, window: QWidget, show_file: Callable[[OpenRequest], str]) -> None:
        """Create a server that does not listen yet.

        Args:
            window: the window; while it is in use it is the first to be asked.
            show_file: shows what is requested, and returns why it cannot; empty if it can.
        """
        super().__init__(window)
        self._show_file = show_file
        self._folder: Path | None = None
        self._received: dict[QLocalSocket, bytes] = {}
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        window.installEventFilter(self)

    def listen(self) -> bool:
        """Listen from now on; return whether the system allows it."""
        try:
            folder = open_requests.private_folder()
            open_requests.forget_window(
                folder, os.getpid()
            )  # Of a process that had this id before.
            if not self._server.listen(open_requests.address(folder, os.getpid())):
                return False
            open_requests.list_window(folder, os.getpid())
        except OSError:
            self._server.close()
            return False
        self._folder = folder
        return True

    def close(self) -> None:
        """Stop listening."""
        self._server.close()
        if self._folder is not None:
            open_requests.forget_window(self._folder, os.getpid())
            self._folder = None

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Note that the window is the one used last."""
        if event.type() == QEvent.Type.WindowActivate and self._folder is not None:
            try:
                open_requests.list_window(self._folder, os.getpid())
            except OSError:
                self.close()  # The folder has been removed.
        return False

    def _accept(self) -> None:
        while (client := self._server.nextPendingConnection()) is not None:
            self._received[client] = b""
            client.readyRead.connect(lambda client=client: self._read(client))
            client.disconnected.connect(lambda client=client: self._forget(client))
            self._read(client)

    def _forget(self, client: QLocalSocket) -> None:
        if self._received.pop(client, None) is not None:
            client.deleteLater()

    def _read(self, client: QLocalSocket) -> None:
        if client not in self._received:
            return
        data = self._received[client] + client.readAll().data()
        if b"\n" not in data and len(data) <= MOST_BYTES:
            self._received[client] = data
            return
        reply = OpenReply(self._answer(data.partition(b"\n")[0]))
        client.write(msgspec.json.encode(reply) + b"\n")
        client.flush()
        client.disconnectFromServer()

    def _answer(self, line: bytes) -> str:
        try:
            request = msgspec.json.decode(line[: MOST_BYTES + 1], type=OpenRequest)
        except msgspec.DecodeError as error:
            return tr("The request cannot be read: {error}", error=error)
        if not os.path.isabs(request.path):
            return tr("{path!r} is no absolute path", path=request.path)
        return self._show_file(request)
