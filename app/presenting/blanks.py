"""Gradients that are blank in a lecture until they are revealed."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.presenter import Presenter
from gradscribe.app.document.session import Session
from gradscribe.playback.by_hand.hidden import hidden_so_far
from gradscribe.playback.by_hand.targets import GradientKey, gradient_key
from gradscribe.playback.tape.index import index_of


class Blanks(QObject):
    """Blank all gradients, and reveal them one at a time or all at once."""

    changed = Signal()

    def __init__(
        self, session: Session, presenter: Presenter, hide: Callable[[bool], None]
    ) -> None:
        """Follow a session; ``hide`` blanks all gradients or shows them."""
        super().__init__(session)
        self._session, self._presenter, self._hide = session, presenter, hide
        session.hiding_changed.connect(self.changed)

    @property
    def is_on(self) -> bool:
        """True while gradients are blank until they are revealed."""
        return self._session.hiding.is_on

    def switch(self) -> None:
        """Blank all gradients, or show all of them."""
        self._hide(not self.is_on)

    def waiting(self) -> list[GradientKey]:
        """Return the owners of blank gradients that have been computed so far, the first first."""
        session = self._session
        if not self.is_on:
            return []
        index = index_of(session.result.tape)
        return hidden_so_far(index, session.hiding.shown, session.view.position)

    def reveal_next(self) -> bool:
        """Reveal the gradient of the selected card, else the next; False if none is waiting."""
        waiting = self.waiting()
        if not waiting:
            return False
        selected = self._selected()
        self._session.show_gradients(selected if selected in waiting else waiting[0])
        return True

    def reveal_all(self) -> bool:
        """Reveal all gradients that have been computed so far; False if none is waiting."""
        waiting = self.waiting()
        if waiting:
            self._session.show_gradients(*waiting)
        return bool(waiting)

    def _selected(self) -> GradientKey | None:
        card = self._presenter.selected_card()
        if card is None or card.value is None:
            return None
        index = index_of(self._session.result.tape)
        return gradient_key(index, index.values[card.value])
