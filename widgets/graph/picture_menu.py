"""Entries of a graph's menu about its picture: all of it in view, on the clipboard, as a file."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSaveFile
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from gradscribe.playback.translation import tr
from gradscribe.widgets.base.menus import Entry

if TYPE_CHECKING:
    from gradscribe.widgets.graph.view import GraphView


def picture_entries(view: "GraphView") -> tuple[Entry, ...]:
    """Return the entries for a graph that has no commands of its own."""
    return (
        (tr("Fit the graph"), view.fit),
        (tr("Copy the picture"), lambda: QGuiApplication.clipboard().setPixmap(view.grab())),
        (tr("Save the picture as PNG…"), lambda: _ask_picture(view)),
    )


def _ask_picture(view: "GraphView") -> None:
    path, _ = QFileDialog.getSaveFileName(
        view, tr("Save the picture"), "graph.png", tr("PNG picture (*.png)")
    )
    if path:
        problem = save_picture(view, path)
        if problem:
            QMessageBox.warning(view, tr("Save the picture"), problem)


def save_picture(view: "GraphView", path: str) -> str:
    """Write what is in view as PNG, wholly or not at all; return why it failed, empty if not."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    view.grab().save(buffer, "PNG")
    buffer.close()
    file = QSaveFile(path)
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == data.size()
    if written and file.commit():
        return ""
    return tr("{path} cannot be written: {errorstring}", path=path, errorstring=file.errorString())
