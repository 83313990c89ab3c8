"""Presenter: update every view as a function of tape, position and selection.

`Presenter` reads the session and writes the widgets; user actions in a widget go to the session or
the clock, never from one widget to another.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.graph_questions import LARGE, GraphQuestions, WaysFinder
from gradscribe.app.document.module_expander import ModuleExpander
from gradscribe.app.document.scene_builder import AFTER_MS, INLINE_CARDS, SceneBuilder
from gradscribe.app.document.session import STDOUT_LIMIT, Session
from gradscribe.app.document.state import ENGINE_DIED, Result, View
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.safe_text import line_count
from gradscribe.engine.protocol.tape import Op, Tape
from gradscribe.playback.code import lines
from gradscribe.playback.flow.highlight import Answer, Highlight
from gradscribe.playback.flow.next_functions import walk
from gradscribe.playback.graph import look
from gradscribe.playback.graph.expansion import module_keys
from gradscribe.playback.graph.folding import breadcrumbs
from gradscribe.playback.graph.picture import Card, CardLook, Picture
from gradscribe.playback.tape import event_text, saved_memory, scenes, stops, track
from gradscribe.playback.tape.index import index_of
from gradscribe.playback.tape.loops import steps
from gradscribe.playback.tape.scenes import Scene
from gradscribe.playback.translation import ngettext, tr
from gradscribe.widgets.base.single_shot import single_shot
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.graph.paint.stage import Stage
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.inspector.inspector import Inspector
from gradscribe.widgets.inspector.panes.page import ProgramState, select
from gradscribe.widgets.tables.console import Console
from gradscribe.widgets.tables.ledger import Ledger
from gradscribe.widgets.tables.value_table import ValueTable
from gradscribe.widgets.transport.transport import Transport

EMPTY = Picture(cards=(), wires=())


@dataclass(frozen=True)
class Views:
    """The widgets that show a tape."""

    editor: CodeEdit
    graph: GraphView
    transport: Transport
    inspector: Inspector
    values: ValueTable
    ledger: Ledger
    console: Console


class Presenter(QObject):
    """Update the widgets of a window from its session."""

    captioned = Signal(str)
    counted = Signal(str)
    saved_memory_changed = Signal(object)
    """Bytes saved for backward at this position; None if the tape never saves any."""
    picture_shown = Signal()
    """Emitted when another picture is shown."""
    path_changed = Signal(object)
    """The path of modules (`Crumb`s) around the selected card, else around the playing one."""

    def __init__(
        self, session: Session, clock: PlaybackClock, views: Views, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._clock, self._views = session, clock, views
        self.scene_builder = SceneBuilder(self)
        self._unfolder = ModuleExpander(self)
        self._unfolder.found.connect(session.open_calls)
        self.scenes: tuple[Scene, ...] = ()
        """All scenes of the tape."""
        self.scene = Scene(0, 0, (0, 0))
        """The shown scene."""
        self.picture = EMPTY
        """The shown picture."""
        self._drawn: Tape | None = None
        self._printed = ""
        self._page_later = single_shot(self, self._show_page, AFTER_MS)
        self._page_held = self._page_asked = False
        self._pictured: tuple[object, ...] = ()
        """Run, start of the scene and so on of the requested picture."""
        self._viewed: View | None = None
        self._layers = (True, True)
        """The layers at the lines: values, gradients."""
        """The view that is shown, but for the question to the graph."""
        self.questions = GraphQuestions(self)
        self._answered: Answer | None = None
        """The answer whose cards were brought into view."""
        self._ways = WaysFinder(self)
        self._connect()
        self._show_view()

    def _connect(self) -> None:
        session, views = self._session, self._views
        session.tape_changed.connect(self._show_tape)
        session.result_changed.connect(self._show_result)
        session.moved.connect(self._show_position)
        session.view_changed.connect(self._show_view)
        session.doc_changed.connect(self._want_picture)
        session.doc_changed.connect(self._show_program)
        session.begun.connect(self._begin)
        session.source_replaced.connect(self._replace_source)
        session.checked.connect(self._show_check)
        session.numbers.peeked.connect(self._show_full)
        self._clock.playing_changed.connect(views.transport.set_playing)
        self._clock.speed_changed.connect(views.transport.set_speed)
        self._clock.pace_changed.connect(views.transport.set_pace)
        self.scene_builder.built.connect(self._show_picture)
        self.questions.changed.connect(self._show_answer)
        self._ways.found.connect(views.inspector.set_ways)
        self._listen()

    def _listen(self) -> None:
        """Connect user actions in the widgets to the session and the clock."""
        session, clock, views = self._session, self._clock, self._views
        views.editor.edited.connect(session.edit)
        views.editor.number_changed.connect(session.edit_live)
        views.editor.line_picked.connect(self.pick_line)
        views.editor.breakpoints.changed.connect(session.set_breakpoints)
        views.graph.picked.connect(session.select)
        views.graph.toggled.connect(self.toggle_module)
        views.transport.moved.connect(clock.seek)
        views.transport.play_pressed.connect(clock.toggle)
        views.transport.step_pressed.connect(clock.step)
        views.transport.back_pressed.connect(clock.back)
        views.transport.reset_pressed.connect(clock.reset)
        views.transport.speed_changed.connect(clock.set_speed)
        views.transport.step_picked.connect(clock.go_to_step)
        views.transport.pace_picked.connect(clock.set_pace)
        views.inspector.check_requested.connect(session.check)
        views.inspector.gradcheck_requested.connect(session.gradcheck)
        views.inspector.peek_requested.connect(session.numbers.peek)
        views.inspector.line_requested.connect(self._go_to_line)
        views.inspector.ways_requested.connect(self._find_ways)
        views.inspector.way_requested.connect(self.show_way)
        views.inspector.node_requested.connect(self.select_node)
        views.console.line_requested.connect(self._go_to_line)
        views.ledger.picked.connect(clock.seek)
        views.ledger.line_requested.connect(self._go_to_line)

    @property
    def scene_number(self) -> int:
        """Index of the shown scene."""
        return scenes.scene_index_at(self.scenes, self._session.view.position) if self.scenes else 0

    @property
    def is_drawn(self) -> bool:
        """True if the picture is of the current tape; it is built after the tape arrives."""
        return self._session.result.tape is self._drawn and not self.scene_builder.busy

    @property
    def is_answered(self) -> bool:
        """True if no answer of the graph is looked for or lights up."""
        return not (self.questions.is_busy or self._ways.is_busy)

    def expand_modules(self, depth: int | None = None) -> None:
        """Open modules ``depth`` levels deep, or all inside the visible ones.

        In a big scene this is asynchronous.
        """
        keys = module_keys(self.picture) if depth is None else frozenset[str]()
        self._unfolder.request(self._session.result.tape, self.scene, keys, depth)

    def levels(self) -> int:
        """Return the depth of nested module calls in the shown scene."""
        tape = self._session.result.tape
        first, stop = self.scene.ops
        deepest = 0
        for op in tape.ops[first:stop]:
            at, levels = op.call, 0
            while at is not None:
                at, levels = tape.calls[at].parent, levels + 1
            deepest = max(deepest, levels)
        return deepest

    def module_keys(self) -> frozenset[str]:
        """Return the keys of the visible modules, open or folded."""
        return module_keys(self.picture)

    # Tape and position

    def _show_tape(self) -> None:
        tape = self._session.result.tape
        self._pictured = ()
        self.scene_builder.forget()
        self._unfolder.forget()
        self._ways.forget()
        self.questions.forget()
        self._views.inspector.set_source(self._session.result.source)
        self.scenes = scenes.scenes(tape)
        starts = [scene.start for scene in self.scenes]
        transport = self._views.transport
        transport.set_track(track.segments(tape), len(tape.events), starts)
        transport.set_steps(steps.steps_of(tape), steps.step_marks(tape), self._describe)
        self._views.ledger.set_rows(track.ledger(tape))
        self._views.editor.breakpoints.set_reached(stops.lines_with_stops(tape))

    def _describe(self, position: int) -> str:
        """Return the step and the event of a position, for the time line's tooltip."""
        index = index_of(self._session.result.tape)
        found = steps.steps_of(index)
        event = event_text.caption(index, position - 1) if position else tr("Nothing has run")
        number = found.number_at(position)
        if not number:
            return tr(
                "event {position:,} of {length:,}: {event}",
                position=position,
                length=found.length,
                event=event,
            )
        start, stop = found.span(number)
        return tr(
            "step {number:,} of {found_count:,}, event {value:,} of {value_2:,}: {event}",
            number=number,
            found_count=len(found),
            value=position - start,
            value_2=stop - start,
            event=event,
        )

    def _show_result(self) -> None:
        result, views = self._session.result, self._views
        self._show_staleness()
        problem = result.problem
        # The death of an engine between two runs is not the program's fault.
        is_own = problem is not None and problem.type != ENGINE_DIED
        own = problem if is_own else None
        views.editor.set_problem(own)
        if result.stdout != self._printed:
            self._printed = result.stdout
            views.console.set_text(result.stdout)
        views.console.set_figures(result.tape.figures, _lines_skipped(result))
        views.console.set_warnings(result.stderr)
        views.console.set_problem(own)
        if result.engine == "starting":
            views.inspector.drop_pending_fetches()
        self._show_program()

    def _show_program(self) -> None:
        """Show in the inspector the text as it is now, and the error of its own latest run."""
        result, doc = self._session.result, self._session.doc
        problem = result.problem if doc.source == result.latest_source else None
        program = ProgramState(
            doc.source,
            doc.may_run,
            result.devices,
            problem.message if problem is not None else "",
            problem.place.line if problem is not None else 0,
        )
        self._views.inspector.set_program(program)

    def _show_staleness(self) -> None:
        """Mark what the current text would not make again, in the code and in the graph."""
        result, views, view = self._session.result, self._views, self._session.view
        if not result.stale:
            views.graph.set_stale(False)
            views.editor.set_stale(False)
            return
        # Up to there the run of the current text is the same.
        until = min(view.position, result.fresh)
        views.editor.set_stale(True, self._line_marks(until))
        if self.scene_builder.busy:
            views.graph.set_stale(True)
            return
        now = views.graph.look()
        then = look.look_at(result.tape, self.picture, self.scene, until)
        fresh = frozenset(
            card.key
            for card in self.picture.cards
            if _numbers(now.cards.get(card.key)) == _numbers(then.cards.get(card.key))
        )
        views.graph.set_stale(len(fresh) < len(self.picture.cards), fresh)

    def _show_position(self, position: int, ms: int) -> None:
        # The new picture, and a selection in it, each show the page, too: do it once.
        with self.single_page_update():
            self._show_at(position, ms)

    def _show_at(self, position: int, ms: int) -> None:
        tape, views = self._session.result.tape, self._views
        self.scene = self.scenes[scenes.scene_index_at(self.scenes, position)]
        self._want_picture()
        if self.scene_builder.busy:
            shown = look.playing_at(tape, self.scene, position)
        else:
            shown = look.look_at(tape, self.picture, self.scene, position)
            views.graph.set_look(shown, ms)
        views.transport.set_position(position)
        views.editor.set_marks(self._line_marks(position))
        if self._session.result.stale:
            self._show_staleness()
        views.editor.set_playing_line(shown.line, shown.phase)
        views.values.set_rows(track.value_rows(tape, position))
        views.values.set_position(position)
        views.ledger.set_position(position)
        if self.scene_builder.busy:
            # A big new tape keeps every view busy: show the page in a later event.
            self._page_later.start()
        else:
            self._show_page()
        self.captioned.emit(shown.caption)
        self.saved_memory_changed.emit(
            saved_memory.saved_bytes(tape, position)
            if saved_memory.peak_saved_bytes(tape)
            else None
        )

    def _want_picture(self) -> None:
        """Request the picture of the scene, unless it was the last one requested."""
        result, doc, view = self._session.result, self._session.doc, self._session.view
        wanted = (
            result.shown_id,
            self.scene.start,
            doc.open_calls,
            view.flow,
            view.gradient_only,
        )
        if wanted == self._pictured or not result.shown_id:
            return
        self._pictured = wanted
        self.scene_builder.request(
            result.tape,
            self.scene,
            doc.open_calls,
            result.shown_id,
            view.position,
            view.flow,
            view.gradient_only,
        )
        if self.scene_builder.busy:
            # The visible picture belongs to another tape; nothing may be looked up in it.
            self.picture = EMPTY

    def _show_picture(self, stage: Stage) -> None:
        with self.single_page_update():
            self._show_stage(stage)

    def _show_stage(self, stage: Stage) -> None:
        result, position = self._session.result, self._session.view.position
        picture = self.picture = stage.picture
        self._drawn = result.tape
        is_chosen = self._session.doc.open_calls is not None
        self._views.graph.set_stage(stage, animate=True, by_hand=is_chosen)
        self._views.graph.set_look(look.look_at(result.tape, picture, self.scene, position))
        if result.stale:
            self._show_staleness()
        self._views.graph.select(self._session.view.selection or None)
        self._show_highlight()
        if len(picture.cards) > INLINE_CARDS:
            self._page_later.start()
        else:
            self._show_page()
        self.counted.emit(counts_text(result.tape, picture))
        self.picture_shown.emit()

    # Selection

    def _line_marks(self, position: int) -> dict[int, lines.LineMark]:
        """Return the marks of the code at a position, of the layers that are on."""
        view = self._session.view
        return lines.line_marks(self._session.result.tape, position, view.values, view.gradients)

    def _show_layers(self) -> None:
        """Show or hide values, gradients, shapes and the order, in the graph and at the lines."""
        view, views = self._session.view, self._views
        views.graph.set_layers(view.values, view.gradients, view.shapes, view.order)
        if (view.values, view.gradients) != self._layers:
            self._layers = view.values, view.gradients
            views.editor.set_marks(self._line_marks(view.position))
            if self._session.result.stale:
                self._show_staleness()

    def _show_view(self) -> None:
        view, views = self._session.view, self._views
        self._show_layers()
        # Thousands of cards are not coloured anew for an answer: that takes longer than a turn.
        is_small = len(self.picture.cards) <= LARGE
        is_timed = view.highlight is not None and view.highlight.question == "critical" and is_small
        views.graph.set_coloring("time" if is_timed else view.coloring)
        self._show_highlight()
        views.editor.breakpoints.set_lines(view.breakpoints)
        rest = replace(view, highlight=None, breakpoints=())
        if rest == self._viewed:
            # A question changes nothing but the graph.
            return
        self._viewed = rest
        self._want_picture()
        views.graph.select(view.selection or None)
        card = self._card(view.selection)
        views.values.select(card.value if card else None)
        self._show_page()

    def _show_highlight(self) -> None:
        """Ask the question of the view about the shown picture."""
        tape = self._session.result.tape
        asked = self._session.view.highlight if tape is self._drawn else None
        self.questions.ask(tape, self.picture, asked)

    def _show_answer(self) -> None:
        """Fade the cards that are no part of the answer to the question, if there is any."""
        self._views.graph.set_focus(self.questions.lit)
        answer = self.questions.answer
        if answer is not self._answered:
            self._answered = answer
            if answer is not None:
                self._views.graph.reveal_all(answer.cards)

    def _find_ways(self, value: int) -> None:
        self._ways.request(self._session.result.tape, value)

    def selected_card(self) -> Card | None:
        """Return the selected card; None if there is none, or its picture is not of this tape."""
        if self._session.result.tape is not self._drawn:
            return None
        return self._card(self._session.view.selection)

    def show_ways(self) -> None:
        """Show the ways from the selection to the loss in the inspector."""
        self._views.inspector.show_ways()

    def show_way(self, turn: int) -> None:
        """Show the way after (1) or before (-1) the shown way of the selection alone."""
        card, asked = self.selected_card(), self._session.view.highlight
        answer = self.questions.answer
        if card is None:
            return
        if asked is None or (asked.question, asked.key) != ("ways", card.key):
            self._session.set_highlight(Highlight("ways", card.key))
        elif answer is not None and answer.ways:
            # All ways together come before the first and after the last one.
            number = (asked.way + 1 + turn) % (answer.ways + 1) - 1
            self._session.set_highlight(Highlight("ways", card.key, number))

    def selected_op(self) -> Op | None:
        """Return the op of the selected card; None if it is no single op."""
        card = self._card(self._session.view.selection)
        tape = self._session.result.tape
        # A new tape arrives before its picture; the old picture's indices do not fit it.
        if card is None or card.op is None or tape is not self._drawn:
            return None
        return tape.ops[card.op]

    def _card(self, key: str) -> Card | None:
        return next((card for card in self.picture.cards if card.key == key), None)

    @contextmanager
    def single_page_update(self) -> Iterator[None]:
        """Update the inspector's page only once, at the end of the block."""
        if self._page_held:
            yield
            return
        self._page_held, self._page_asked = True, False
        try:
            yield
        finally:
            self._page_held = False
            if self._page_asked:
                self._show_page()

    def _show_page(self) -> None:
        """Show the selection in the inspector, or without one the latest event."""
        if self._page_held:
            self._page_asked = True
            return
        self._page_later.stop()
        result, view = self._session.result, self._session.view
        page = select(self.picture, view.selection) if view.selection else None
        self._views.inspector.show_page(page, result.tape, view.position)
        key = view.selection or breadcrumbs.playing_card(self._views.graph.look())
        self.path_changed.emit(breadcrumbs.breadcrumbs(self.picture, key))

    def pick_line(self, line: int) -> bool:
        """Select the card of what a line made last; return whether there is one."""
        tape = self._session.result.tape
        first, stop = self.scene.ops
        for op in range(stop - 1, first - 1, -1):
            if tape.ops[op].place.line == line:
                card = next((c for c in self.picture.cards if op in c.ops), None)
                if card is not None:
                    self._session.select(card.key)
                    return True
        for value in tape.values:
            if value.is_leaf and value.place.line == line and value.id in self.picture.value_cards:
                self._session.select(self.picture.value_cards[value.id])
                return True
        return False

    def select_value(self, value: int) -> None:
        """Select the card of a value."""
        self._session.select(self.picture.value_cards.get(value, ""))

    def select_node(self, node: int) -> None:
        """Select the card of a backward node, or of the leaf with that value id."""
        self._session.select(self._node_key(node))

    def _node_key(self, node: int) -> str:
        tape, picture = self._session.result.tape, self.picture
        leaf = index_of(tape).first_version(node)
        cards = picture.node_cards, picture.value_cards
        found = (cards[0].get(node), cards[1].get(node), cards[1].get(leaf))
        return next(filter(None, found), "")

    def walk_next_functions(self) -> None:
        """Select the next card on the walk from the loss to the leaves; after the last the first.

        The loss is that of the latest pass which has begun and whose root is on the picture.
        """
        if self._session.result.tape is not self._drawn:
            return
        index = index_of(self._session.result.tape)
        position = self._session.view.position
        order = sorted(index.passes, key=lambda run: (index.passes[run][0] < position, run))
        for run in reversed(order):
            roots = [root for root in index.tape.passes[run].roots if root is not None]
            steps = [self._node_key(target) for target in walk(index, roots)]
            # Nodes of the same op, or inside a folded module, have a card together.
            keys = list(dict.fromkeys(filter(None, steps)))
            if keys:
                now = self._session.view.selection
                at = keys.index(now) + 1 if now in keys else 0
                self._session.select(keys[at % len(keys)])
                return

    def select_name(self, name: str) -> None:
        """Select the card of the last tensor with that name in the shown picture."""
        tape, cards = self._session.result.tape, self.picture.value_cards
        for value in reversed(tape.values):
            if name == value.name and value.id in cards:
                self._session.select(cards[value.id])
                return

    def toggle_module(self, key: str) -> None:
        """Open a folded module or fold an open one."""
        now = {frame.key for frame in self.picture.frames}
        self._session.open_calls(frozenset(now ^ {key}))

    def _go_to_line(self, line: int) -> None:
        self._views.editor.go_to_line(line)
        self._views.editor.setFocus()

    def _begin(self) -> None:
        # The previous program's values must not be shown at the new one's lines.
        self._views.editor.set_marks({})
        self._views.editor.set_playing_line(0, "forward")

    def _replace_source(self, source: str, fresh: bool) -> None:
        if fresh:
            self.scene_builder.reset_layout()
        self._views.editor.set_source(source, fresh=fresh)

    def _show_check(self, message: object) -> None:
        if isinstance(message, messages.Checked | messages.Gradchecked):
            self._views.inspector.set_check(message)

    def _show_full(self, message: object) -> None:
        if isinstance(message, messages.Peeked):
            self._views.inspector.set_fetched(message)

    def close(self) -> None:
        """Wait for the worker threads to end."""
        self._unfolder.close()
        self.questions.close()
        self._ways.close()
        self.scene_builder.close()


def _lines_skipped(result: Result) -> int:
    """Return the number of lines of output before the first that is shown."""
    whole = result.tape.stdout
    if not result.tape.figures or len(whole) <= STDOUT_LIMIT or not whole.endswith(result.stdout):
        return 0
    return line_count(whole) - line_count(result.stdout)


def _numbers(seen: CardLook | None) -> tuple[object, ...]:
    """Return what a card shows of the run."""
    if seen is None or not seen.reached:
        return ()
    return seen.snapshot, seen.gradient, seen.shares, seen.changed, seen.before, seen.reset


def counts_text(tape: Tape, picture: Picture) -> str:
    """Return ``13 nodes · 3 parameters``: nodes include folded ones, parameters are elements."""
    if not picture.cards:
        return ""
    nodes = sum(max(1, len(card.ops)) for card in picture.cards)
    sizes: dict[int, int] = {}
    for value in tape.values:
        if value.role == "parameter":
            sizes[value.tensor] = math.prod(value.shape)
    return (
        ngettext("{count:,} node", "{count:,} nodes", nodes)
        + " · "
        + ngettext("{count:,} parameter", "{count:,} parameters", sum(sizes.values()))
    )
