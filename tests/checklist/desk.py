"""The hands and eyes of a user at the window, for the tests of the checklist."""

import contextlib
import io
import warnings

from PySide6.QtWidgets import QLabel

from gradscribe.playback.graph.look import look_at
from gradscribe.playback.tape.scenes import scene_index_at, scenes
from gradscribe.widgets.inspector.panes.facts import facts


class Desk:
    """The window, its program typed by `run`."""

    def __init__(self, window, bot):
        self.window, self.bot = window, bot

    @property
    def session(self):
        return self.window.session

    @property
    def tape(self):
        return self.session.result.latest

    def run(self, source):
        """Type a program over the one that is there and wait until it has run."""
        editor, session = self.window.editor, self.session
        if session.result.latest_source != source or session.doc.source != source:
            editor.setFocus()
            editor.selectAll()
            editor.insertPlainText(source)
        self.bot.waitUntil(
            lambda: session.result.latest_source == source and not session.result.run_id,
            timeout=60_000,
        )
        self.window.clock.to_end()
        return self

    @property
    def output(self):
        return self.window.console.text()

    @property
    def problem(self):
        """Type and message of the problem that the console shows."""
        return self.window.console.problem_text()

    @property
    def findings(self):
        """Ids of the findings that have a card."""
        return {card.finding.id for card in self.window.findings.cards()}

    def rows(self):
        """Return name -> texts of value and gradient in the table of values."""
        model = self.window.values.view.model()
        return {
            model.index(r, 0).data(): (model.index(r, 1).data(), model.index(r, 2).data())
            for r in range(model.rowCount())
        }

    def value(self, name):
        return _number(self.rows()[name][0])

    def gradient(self, name):
        return _number(self.rows()[name][1])

    @property
    def cards(self):
        return self.window.presenter.picture.cards

    @property
    def wires(self):
        return self.window.presenter.picture.wires

    def card(self, name):
        """The card of the last tensor with that name, else of that title."""
        named = [card for card in self.cards if card.name == name]
        return (named or [card for card in self.cards if card.title == name])[-1]

    def select(self, name):
        """Select a card as a click on it does."""
        self.session.select(self.card(name).key)

    def facts(self, name):
        """Return label -> text of the facts that the inspector shows of a tensor."""
        self.select(name)
        return dict(facts(self.window.inspector.page()))

    def words(self, widget=None):
        """All text of labels that are shown in the inspector, or another widget."""
        root = widget or self.window.inspector
        labels = [one for one in root.findChildren(QLabel) if one.isVisibleTo(root)]
        return "\n".join(filter(None, (label.text() for label in labels)))

    def look(self):
        """The state of all cards and wires at the position."""
        tape, position = self.session.result.tape, self.session.view.position
        found = scenes(tape)
        scene = found[scene_index_at(found, position)]
        return look_at(tape, self.window.presenter.picture, scene, position)


def _number(text):
    return float(text.replace("−", "-").replace(",", ""))


def plain_output(source):
    """Return what plain Python prints, with the recorder nowhere near."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "<plain>", "exec"), {"__name__": "__main__"})
    return out.getvalue()
