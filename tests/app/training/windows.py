"""As much of a window as keeps the training room."""

import msgspec

from app.notices import Notices
from app.training.keeping import TrainKeeping, Ways
from app.training.revival import Revival
from app.training.saving import Saving
from app.training.session import TrainSession
from app.training.state import START
from app.writing import Writing
from engine.setup import Part
from tests.app.training.test_saving import HostLink

SETUP = msgspec.structs.replace(START, optimizer=Part("sgd", {"lr": 0.1}))


class Window:
    """What of a window has to do with training, on an engine in this process."""

    def __init__(self, where, ground):
        self.link = HostLink()
        self.session = TrainSession(self.link)
        self.writing = Writing()
        self.saving = Saving(self.session, self.link, self.writing)
        self.revival = Revival(self.session, self.link)
        self.saving.resumed.connect(self.revival.expect)
        self.notices, self.entered, self.asked = Notices(ground), [], []
        ways = Ways(
            where, self.notices, lambda: self.entered.append(1), lambda: self.asked.append(1)
        )
        self.keeping = TrainKeeping(self.session, self.saving, self.revival, ways)
        self.keeping.offer()

    def train(self, steps=30, setup=SETUP):
        self.session.setup = setup
        self.session.begin()
        self.session.advance(steps)
        self.link.work()

    def die(self):
        """End without a word: nothing more is written, and nobody holds the lock."""
        slot, self.keeping._slot = self.keeping._slot, None
        self.keeping._saver.close()
        self.keeping._saver = None
        for one in (*self.keeping._found, *self.keeping._claimed, slot):
            getattr(one, "slot", one).release()

    def close(self):
        self.writing.finish()
        self.keeping.close()
        self.revival.close()
        self.session.close()

    @property
    def told(self):
        return [notice.text for notice in self.notices.waiting]

    def choose(self, number):
        self.notices.buttons[number].click()
        self.keeping._opening.finish()
