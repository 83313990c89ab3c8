"""Shared fixtures of widget tests."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget

from gradscribe.widgets.graph.view import GraphView


@pytest.fixture
def shown(qtbot):
    """Return a function that shows a widget, ``width`` by ``height`` pixels, and returns it.

    It stands in a bare host: a window with a layout hands its least size to the window system,
    and the offscreen one warns that it cannot take it.
    """

    def show(widget, width=300, height=400):
        host = QWidget()
        host.resize(width, height)
        widget.setParent(host)
        widget.setGeometry(0, 0, width, height)
        widget.show()
        host.show()
        widget.host = host
        hosts.append(host)
        return widget

    hosts = []
    yield show
    for host in hosts:
        # Without a reference the collector would destroy it at any time, also in a paint event of
        # its own after the test has returned.
        host.close()
        host.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def view(qtbot):
    """Return a graph view as large as in the mock, in which nothing moves by itself."""
    made = GraphView()
    qtbot.addWidget(made)
    made.resize(810, 730)
    made.set_reduced_motion(True)
    made.show()
    yield made
    made.finish_motion()
