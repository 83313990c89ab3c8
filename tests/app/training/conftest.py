"""A session on a link that answers when it is told to, and a room that shows it."""

import pytest
from PySide6.QtWidgets import QWidget

from tests.app.fakes import FakeDialogs
from tests.app.training.fakes import FakeTrainLink

ALIASES = {
    "Confusion matrix": "confusion",
    "Loss surface": "surface",
    "Gradient sizes": "gradients",
    "Histograms": "histograms",
    "Optimizer state": "optimizer",
}


@pytest.fixture
def train_link(qapp):
    return FakeTrainLink()


@pytest.fixture
def session(train_link):
    from gradscribe.app.training.session.session import TrainSession

    made = TrainSession(train_link)
    yield made
    made.close()


@pytest.fixture
def begun(session, train_link):
    """A session whose first run stands at step 0."""
    train_link.greet()
    session.controller.open()
    train_link.begin(1, session.setup)
    return session


@pytest.fixture
def room(qtbot, begun):
    """The room of a session, shown."""
    from gradscribe.app.training.page.page import TrainingPage
    from gradscribe.app.training.page.presenter import TrainPresenter

    # A bare host: a window with a layout hands its least size to the window system, and the
    # offscreen one warns that it cannot take it.
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(1300, 760)
    made = TrainingPage(host)
    made.setGeometry(0, 0, 1300, 760)
    made.host = host
    for _, widget in made.views:
        setattr(made, ALIASES.get(widget.accessibleName(), "_"), widget)
    made.presenter = TrainPresenter(begun, made, made)
    host.show()
    made.presenter.set_visible(True)
    begun.catalogue_changed.emit(begun.store.catalogue)
    begun.store.begun.emit(begun.run)
    # What there is to choose from is offered bit by bit.
    qtbot.waitUntil(lambda: made.form.parts["schedule"].choice.count() > 0)
    return made


@pytest.fixture
def window(qtbot, link, tmp_path):
    """Return a window with its training room on a `FakeTrainLink`, ``window.train_link``."""
    from gradscribe.app.files.documents import Drafts
    from gradscribe.app.files.settings import Settings
    from gradscribe.app.window.window import Window

    class Quiet(Window):
        """Trains nothing."""

        def make_train_link(self):
            self.train_link = FakeTrainLink()
            return self.train_link

    made = Quiet(link, Settings(tmp_path / "s.ini"), Drafts(tmp_path / "drafts"))
    made.context.dialogs = FakeDialogs()
    made.answers = made.context.dialogs.answers
    qtbot.addWidget(made)
    link.greet()
    made.open_first()
    yield made
    made.close()
