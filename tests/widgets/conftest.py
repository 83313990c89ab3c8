"""What widget tests share."""

import pytest
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
        qtbot.addWidget(host)
        host.resize(width, height)
        widget.setParent(host)
        widget.setGeometry(0, 0, width, height)
        widget.show()
        host.show()
        widget.host = host
        return widget

    return show


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
