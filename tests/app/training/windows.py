"""As much of a window as keeps the training room."""

import msgspec

from gradscribe.app.files.file_writer import FileWriter
from gradscribe.app.files.unsaved.recovery_offers import KEY, RecoveryOffers
from gradscribe.app.training.saving.recovery import RecoveryContext, TrainRecovery
from gradscribe.app.training.saving.session_store import SessionStore
from gradscribe.app.training.session.engine_restart import RunRestorer
from gradscribe.app.training.session.session import TrainSession
from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.app.ui.notifications import NotificationBar
from gradscribe.engine.protocol.setup import Part
from tests.app.training.saving.test_session_store import HostLink

SETUP = msgspec.structs.replace(DEFAULT_SETUP, optimizer=Part("sgd", {"lr": 0.1}))


class Window:
    """The parts of a window that training needs, on an engine in this process."""

    def __init__(self, where, ground):
        self.link = HostLink()
        self.session = TrainSession(self.link)
        self.writing = FileWriter()
        self.saving = SessionStore(self.session, self.link, self.writing)
        self.restorer = RunRestorer(self.session, self.link, self.session)
        self.saving.resumed.connect(self.restorer.expect)
        self.notices, self.entered, self.asked = NotificationBar(ground), [], []
        self.offers = RecoveryOffers(self.notices)
        ways = RecoveryContext(
            where,
            self.notices,
            self.offers,
            lambda: self.entered.append(1),
            lambda: self.asked.append(1),
        )
        self.recovery = TrainRecovery(self.session, self.saving, self.restorer, ways)
        self.recovery.offer()

    def train(self, steps=30, setup=SETUP):
        self.session.store.setup = setup
        self.session.controller.begin()
        self.session.controller.advance(steps)
        self.link.work()

    def die(self):
        """End without a word: nothing more is written, and nobody holds the lock."""
        slot, self.recovery._slot = self.recovery._slot, None
        self.recovery._saver.close()
        self.recovery._saver = None
        for one in (*self.recovery._found, *self.recovery._claimed, slot):
            getattr(one, "slot", one).release()

    def close(self):
        self.writing.finish()
        self.recovery.close()
        self.restorer.close()
        self.session.close()

    @property
    def told(self):
        """The texts of all notices, those of recovered work one by one."""
        texts = []
        for notice in self.notices.waiting:
            texts += (
                [one.text for one in self.offers.offers] if notice.key == KEY else [notice.text]
            )
        return texts

    def choose(self, number):
        self.notices.buttons[number].click()
        self.recovery._opening.wait()
