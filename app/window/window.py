"""The main window: it creates the widgets, lays them out and connects them to the session."""

from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QFrame, QMainWindow

from gradscribe.app.by_hand.backward_code import BackwardCode
from gradscribe.app.by_hand.controller import HandController
from gradscribe.app.by_hand.exercise_run import ExerciseRun
from gradscribe.app.commands import file, learn, tensor_edits, train
from gradscribe.app.commands.context import CommandContext
from gradscribe.app.compare.changes_controller import ChangesController, ChangeViews
from gradscribe.app.compare.controller import CompareController
from gradscribe.app.document.announcer import PlaybackAnnouncer
from gradscribe.app.document.clock import PlaybackClock
from gradscribe.app.document.fixes.error_fix import ErrorFix
from gradscribe.app.document.fixes.findings_controller import FindingsController
from gradscribe.app.document.line_table import LineTableController
from gradscribe.app.document.presenter import Presenter, Views
from gradscribe.app.document.session import Session
from gradscribe.app.document.state import Layer
from gradscribe.app.document.typing_assistance import AssistanceController
from gradscribe.app.export.queue import ExportQueue
from gradscribe.app.files import tape_files
from gradscribe.app.files.documents import Drafts, Refused
from gradscribe.app.files.file_watch import WatchHost
from gradscribe.app.files.open_requests import OpenRequest
from gradscribe.app.files.python_choice import PythonChoice
from gradscribe.app.files.run_histories import RunHistories
from gradscribe.app.files.settings import Settings
from gradscribe.app.files.unsaved.recovery import Recovery
from gradscribe.app.lessons.dock import LessonDock
from gradscribe.app.link.client import Link
from gradscribe.app.manual.window import Manual
from gradscribe.app.panels.controller import Panels
from gradscribe.app.panels.program_page import make_area, make_page
from gradscribe.app.ranks.controller import RanksController
from gradscribe.app.tour.stops import TourParts
from gradscribe.app.tour.tour import Tour
from gradscribe.app.training.page.window_title import WindowTitle
from gradscribe.app.training.page.workspaces import Workspaces
from gradscribe.app.training.session.link import TrainLink
from gradscribe.app.training.session.state import TrainEngine
from gradscribe.app.ui import column_settings
from gradscribe.app.ui.canvas.color_key import ColorKeyController
from gradscribe.app.ui.canvas.empty_state import EmptyState
from gradscribe.app.ui.canvas.graph_overlay import GraphOverlay
from gradscribe.app.ui.canvas.graph_search import GraphSearch, connect_overlay
from gradscribe.app.ui.dialogs import Dialogs
from gradscribe.app.ui.find_bar import FindBar
from gradscribe.app.ui.layout import Columns, Panel, scroll_area, separator, stacked, tab_widget
from gradscribe.app.ui.loops.history_tab import HistoryTab
from gradscribe.app.ui.loops.loop_curves import LoopCurves
from gradscribe.app.ui.notifications import NotificationBar
from gradscribe.app.ui.sending_files import SendingFiles
from gradscribe.app.ui.speech import SettingsAnnouncer
from gradscribe.app.ui.theming import Theming
from gradscribe.app.ui.tool_windows.cost_window import ProgramCosts
from gradscribe.app.ui.tool_windows.figure_charts import FigureCharts
from gradscribe.app.ui.tool_windows.parameter_window import ProgramParameters
from gradscribe.app.ui.tool_windows.tensor_windows import TensorWindows
from gradscribe.app.window import new_window
from gradscribe.app.window.bars import StatusLine, TopBar
from gradscribe.app.window.leaving import LeavingQuestion
from gradscribe.app.window.lecture_parts import keep_controls, make_lecture
from gradscribe.app.window.menus.menus import Menus
from gradscribe.app.window.menus.pointed_menus import PointedMenus
from gradscribe.app.window.output_tab import OutputTab
from gradscribe.app.window.pane_keys import make_pane_cycle
from gradscribe.app.window.plugin_notice import PluginNotice
from gradscribe.app.window.settings_follow import SettingsFollower
from gradscribe.app.window.start_items import open_start_page
from gradscribe.engine.protocol.training import Exported
from gradscribe.playback.translation import tr
from gradscribe.widgets.base.boxes import hbox, vbox
from gradscribe.widgets.base.focus.reading_order import ReadingOrder
from gradscribe.widgets.base.focus.ring import FocusRing
from gradscribe.widgets.base.labels import Heading, sheet
from gradscribe.widgets.base.menus import open_by_key
from gradscribe.widgets.base.stylesheet import set_sheet
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.editor.code_edit import CodeEdit
from gradscribe.widgets.editor.style import TEXT_PX
from gradscribe.widgets.graph.legend import Legend
from gradscribe.widgets.graph.view import GraphView
from gradscribe.widgets.inspector.inspector import Inspector
from gradscribe.widgets.tables.console import Console
from gradscribe.widgets.tables.findings import FindingsPane
from gradscribe.widgets.tables.ledger import Ledger
from gradscribe.widgets.tables.line_table import LineTable
from gradscribe.widgets.tables.value_table import ValueTable
from gradscribe.widgets.transport.transport import Transport

MIN_SIZE = (900, 600)
USUAL_SIZE = (1440, 900)
LIVE = tr("live — the graph follows as you type")
WAITS = tr("waits — read it, then press Run")
LAYING_OUT = tr("Laying out a big graph…")


class Window(QMainWindow):
    """The main window: its widgets, laid out and connected to the session."""

    painted = Signal()
    """The window was painted for the first time."""

    def __init__(self, link: Link, settings: Settings, drafts: Drafts) -> None:
        look = Theming(settings)
        look.suspend_style_sheet()
        super().__init__()
        self.setWindowTitle("Gradscribe")
        self.setAcceptDrops(True)
        self.settings, self.drafts = settings, drafts
        self.session = Session(link, self)
        self.clock = PlaybackClock(self.session, self)
        self._link, self.look = link, look
        self._painted = self._closed = False
        self._make_widgets()
        self.presenter = Presenter(self.session, self.clock, self.views, self)
        self.error_fix = ErrorFix(self.session, self.editor)
        self.finder = GraphSearch(self.session, self.presenter, self.graph, self.values)
        self.lesson_dock = self._make_lesson_dock()
        panes = (self.legend, self.findings, self.lesson_dock.pane, self.lines)
        self.look.add(*vars(self.views).values(), *panes)
        self._place()
        self.color_key = ColorKeyController(
            self.session, self.presenter, self.graph, self.over, self.settings, self.look, self
        )
        self.comparison = CompareController(self.ground, self.look, self)
        self.changes = self._make_changes()
        self.tensors = TensorWindows(self.session, self.inspector, self.look, self)
        self.parameters = ProgramParameters(
            self.session, self, self.look, lambda row: self.finder.show_value(row.value_id)
        )
        self.history = self._make_history()
        self.figure_charts = FigureCharts(self.console.figures, self.look, self)
        self.recovery = self._make_recovery()
        self.hand, self.backward_code = self._make_hand()
        self.python = self._make_python()
        self.typing, self.costs = self._make_typing(), ProgramCosts(self.session, self, self.look)
        self.presentation, self.lecture = make_lecture(self)
        self.tour = self._make_tour()
        self.context = self._make_context()
        FocusRing(self)
        self.menus = Menus(self.menuBar(), self.context, self)
        self.pointed_menus = PointedMenus(self.context, self.menus, self)
        self.plugin_notice = PluginNotice(self.workspaces.session, self.notices, self)
        self.leaving = LeavingQuestion(self, self.workspaces.session)
        self._connect()
        save = partial(train.save_session, self.context)
        recovery = self.recovery
        self.workspaces.keep(recovery.where, self.notices, recovery.offers, save, self.python.use)
        self.look.restore_style_sheet()
        self._recall()
        self._repaint(self.look.theme())
        self.editor.setFocus()

    # Construction

    def _make_widgets(self) -> None:
        self.look.setParent(self)
        column_settings.recall(self.settings)
        self.editor, self.graph = CodeEdit(), GraphView()
        self.transport, self.inspector = Transport(), Inspector()
        self.values, self.ledger = ValueTable(), Ledger()
        self.console, self.legend, self.findings = Console(), Legend(), FindingsPane()
        self.lines = LineTable()
        self.views = Views(
            editor=self.editor,
            graph=self.graph,
            transport=self.transport,
            inspector=self.inspector,
            values=self.values,
            ledger=self.ledger,
            console=self.console,
        )
        self.top = TopBar(self.transport.buttons)
        self.top.device.device_picked.connect(self.session.set_device)
        self.status = StatusLine()
        self.find_bar = FindBar(self.editor)
        self.hint = EmptyState(self.graph)
        self.over = GraphOverlay(self.graph)
        self.notices = NotificationBar()
        self.panels = Panels(self.settings, lambda: self.workspaces.current, self)
        self.panels.said.connect(self.status.say)
        self.export_queue = ExportQueue(self.over.film, self)
        self.ranks = RanksController(self.session, self.notices, self.status.say, self)

    def _make_lesson_dock(self) -> LessonDock:
        return LessonDock(
            self.session,
            self.clock,
            self.presenter,
            self.settings,
            lambda: self.recovery.snapshot(),
            lambda kept: self.recovery.restore(kept),
            self,
        )

    def _make_changes(self) -> ChangesController:
        views = ChangeViews(self.editor, self.presenter, self.comparison, self.below)
        where = self.drafts.where
        files = RunHistories(where.with_name("runs") if where else None)
        companion = self._link.companion
        return ChangesController(self.session, views, self.look, self.status.say, files, companion)

    def _make_hand(self) -> tuple[HandController, BackwardCode]:
        exercise = ExerciseRun(self.session, self.recovery.snapshot, self.recovery.restore)
        parts = self.session, self.presenter
        hand = HandController(*parts, self.settings, self.look, self.below, exercise)
        return hand, BackwardCode(*parts, self.look, hand, self)

    def _make_history(self) -> HistoryTab:
        selected = self.presenter.selected_card
        history = HistoryTab(self.session, self.clock, self.look, self.below, selected)
        history.said.connect(self.status.say)
        return history

    def _make_python(self) -> PythonChoice:
        python = PythonChoice(self.session, self.settings, self.notices, self)
        python.said.connect(self.status.say)
        python.printed.connect(self.output_tab.append)
        python.listed.connect(lambda: self.menus.refill("run.python"))
        self._link.received.connect(python.note)
        SendingFiles(self.session, self.notices, python)
        return python

    def _make_typing(self) -> AssistanceController:
        return AssistanceController(self.session, self.editor.assistance, self._link.language, self)

    def _make_recovery(self) -> Recovery:
        host = WatchHost(
            session=self.session,
            settings=self.settings,
            editor=self.editor,
            notices=self.notices,
            say=self.status.say,
            save_elsewhere=lambda: self.menus.perform_by("file.save_as"),
        )
        return Recovery(host, self.drafts, self)

    def _make_tour(self) -> Tour:
        top, parts = self.top, (self.ground, self.editor, self.graph, self.transport.buttons)
        lessons = top.lessons, self.menuBar(), self.lesson_dock.listed
        return Tour(TourParts(*parts, *lessons, self.session, self.clock), self.look, self)

    def _make_context(self) -> CommandContext:
        return CommandContext(
            session=self.session,
            clock=self.clock,
            settings=self.settings,
            drafts=self.drafts,
            recovery=self.recovery,
            notices=self.notices,
            dialogs=Dialogs(self, self.session),
            look=self.look,
            ground=self.ground,
            editor=self.editor,
            graph=self.graph,
            inspector=self.inspector,
            presenter=self.presenter,
            python=self.python,
            say=self.status.say,
            over=self.over,
            find_bar=self.find_bar,
            comparison=self.comparison,
            changes=self.changes,
            ranks=self.ranks,
            tensors=self.tensors,
            parameters=self.parameters,
            lessons=self.lesson_dock.learning,
            hand=self.hand,
            backward_code=self.backward_code,
            costs=self.costs,
            manual=Manual(self, self.look),
            tour=self.tour,
            findings_controller=self.findings_controller,
            error_fix=self.error_fix,
            loop_curves=self.loop_curves,
            history=self.history,
            workspaces=self.workspaces,
            panels=self.panels,
            training=self.workspaces.session,
            session_store=self.workspaces.saving,
            export_queue=self.export_queue,
            lecture=self.lecture,
            edit_step=self.transport.strip.edit_step,
            step_pane=make_pane_cycle(self).step,
            show_lessons=self.lesson_dock.show_lessons,
            show_palette=lambda: self.menus.show_palette(self.ground),
            show_start=lambda: open_start_page(self.context),
            close_window=self.close,
            companion=self._link.companion,
            open_window=self.open_another,
        )

    def _place(self) -> None:
        program = QFrame()
        column = vbox(program, spacing=0)
        self.heading = Heading(tr("Program"), LIVE)
        frame = vbox(None, margins=(16, 14, 12, 6))
        offer_row = hbox(None, (self.heading, 1))
        frame.addLayout(offer_row)
        column.addLayout(frame)
        column.addWidget(self.editor, 1)
        column.addWidget(self.find_bar)
        for pane in (self.legend, self.console, self.values, self.ledger, self.lines):
            pane.heading.hide()  # the tab says it
        found = scroll_area(self.findings)
        legend = scroll_area(self.legend)
        self.below = tab_widget(
            (tr("Legend"), legend),
            (tr("Output"), self.console),
            (tr("Findings"), found),
        )
        self.output_tab = OutputTab(self.below, self.console)
        self.loop_curves = LoopCurves(self.session, self.clock, self.look, self.below)
        offer_row.addWidget(self.loop_curves.offer, 0, Qt.AlignmentFlag.AlignTop)
        self.findings_controller = FindingsController(
            self.session, self.editor, self.findings, self.below, found, link=self._link.companion
        )
        self.tables = tab_widget(
            (tr("Values"), self.values), (tr("Line"), self.lines), (tr("Events"), self.ledger)
        )
        self.columns = Columns(
            (Panel(program, tr("Program")), Panel(self.below, tr("Legend, output and findings"))),
            stacked(self.ranks.bar, self.graph),
            (Panel(self.inspector, tr("Inspector")), Panel(self.tables, tr("Tables"))),
            self.lesson_dock.panel,
        )
        area = make_area(
            self.columns,
            (self.below, {"legend": legend, "output": self.console, "findings": found}),
            (self.tables, {"values": self.values, "lines": self.lines, "ledger": self.ledger}),
        )
        self.panels.add_area("program", area)
        page = make_page((self.top, separator(), self.notices), area, self.transport)
        make, strip = self.make_train_link, self.notices
        self.workspaces = Workspaces(page, self.top.switch, self.look, make, self, strip)
        self.ground = ReadingOrder()
        rows = vbox(self.ground, spacing=0)
        rows.addWidget(self.workspaces.stack, 1)
        rows.addWidget(self.status)
        self.setCentralWidget(self.ground)
        self.setMinimumSize(*MIN_SIZE)

    def _connect(self) -> None:
        session = self.session
        session.doc_changed.connect(self._show_doc)
        session.result_changed.connect(self._show_result)
        session.view_changed.connect(self._show_view)
        session.tape_changed.connect(self.menus.refresh)
        session.said.connect(self.status.say)
        self.clock.stopped.connect(lambda at: self.status.say(tr("Stopped at line {at}", at=at)))
        self.presenter.captioned.connect(self.status.caption)
        self.presenter.saved_memory_changed.connect(self.status.show_saved_memory)
        self.presenter.counted.connect(self.top.show_counts)
        self.presenter.picture_shown.connect(self._show_picture)
        self.presenter.scene_builder.busy_changed.connect(self._show_busy)
        self.clock.speed_changed.connect(lambda speed: self.settings.put("speed", float(speed)))
        self.settings.changed.connect(self._show_settings)
        self.settings.failed.connect(self.status.say)
        self.look.changed.connect(self._repaint)
        self.look.settled.connect(self.columns.restore_sizes)
        session.source_replaced.connect(lambda *_: file.offer_trust(self.context))
        session.source_replaced.connect(self.output_tab.forget)
        self._connect_graph()
        self.top.examples_pressed.connect(self.context.show_examples)
        self.inspector.lab_requested.connect(self.context.show_op_in_lab)
        self.top.lessons_pressed.connect(self.lesson_dock.show_lessons)
        tables = {
            "values": (self.tables, self.values),
            "ledger": (self.tables, self.ledger),
            "lines": (self.tables, self.lines),
            "output": (self.below, self.console),
        }
        open_lesson = partial(learn.open_lesson, self.context)
        self.line_steps = LineTableController(
            session, self.clock, self.presenter, self.lines, self.tables
        )
        self.lesson_dock.attach(self.ground, self.columns, tables, open_lesson, self.transport)
        self._connect_workspaces()
        self.export_queue.busy_changed.connect(self.menus.refresh)
        self.export_queue.ended.connect(self.status.say)
        self.top.layer_pressed.connect(self._set_layer)
        self.editor.refused.connect(self.status.say)
        self.editor.assistance.said.connect(self.status.say)
        self._show_doc()
        self._show_result()

    def _connect_workspaces(self) -> None:
        self.workspaces.entered.connect(self._enter)
        WindowTitle(self, self.session, self.workspaces)
        self.workspaces.commanded.connect(self.menus.perform_by)
        self.workspaces.said.connect(self.status.say)
        self.workspaces.withdrawn.connect(self.status.retract)
        self.workspaces.taped.connect(self.context.show_step)
        self.workspaces.made.connect(self._recall_training)
        self.workspaces.exported.connect(self._write_export)
        self.workspaces.session.store.runs_changed.connect(self.menus.refresh)

    def _connect_graph(self) -> None:
        for part in (self.presentation, self.lecture):
            part.changed.connect(self.menus.refresh)
        self.lecture.said.connect(self.status.say)
        self.panels.changed.connect(self.menus.refresh)
        self.hand.changed.connect(self.menus.refresh)
        self.hand.said.connect(self.status.say)
        self.hand.pane.code_pressed.connect(self.backward_code.show)
        self.changes.history.changed.connect(self.menus.refresh)
        self.ranks.changed.connect(self.menus.refresh)
        self.findings_controller.compared.connect(self.comparison.show)
        self.loop_curves.said.connect(self.status.say)
        self.loop_curves.found.connect(self.transport.strip.set_curves)
        self.loop_curves.grown.connect(self.transport.strip.set_growth)
        PlaybackAnnouncer(self.session, self.graph)
        SettingsAnnouncer(self.settings, self.status)
        self.graph.installEventFilter(self)
        self.graph.picked.connect(self.history.pick)
        self.graph.following_changed.connect(
            lambda: self.over.offer_following(self.graph.can_follow_on)
        )
        self.over.follow.pressed.connect(self.graph.follow_on)
        self.clock.playing_changed.connect(lambda plays: self.graph.follow_on() if plays else None)
        connect_overlay(self.over, self.finder, self.menus.perform_by)
        self.over.tools.color_pressed.connect(partial(self.menus.pop_up, "view.coloring"))
        self.graph.menu_requested.connect(self.menus.pop_up_for)
        self.console.files_requested.connect(partial(self.menus.perform_by, "file.save_figures"))
        self.inspector.menu_requested.connect(partial(self.menus.pop_up_for, "value"))
        choose = self.menus.choose
        self.inspector.property_requested.connect(lambda *a: choose(tensor_edits.changing(*a)))
        self.inspector.start_requested.connect(lambda *a: choose(tensor_edits.starting(*a)))
        self.values.menu_requested.connect(partial(self.menus.pop_up_for, "value"))
        self.lines.menu_requested.connect(partial(self.menus.pop_up_for, "value"))
        self.ledger.menu_requested.connect(partial(self.menus.pop_up_for, "event"))
        self.editor.menu_requested.connect(self.pointed_menus.open_for_line)
        self.findings.menu_requested.connect(self.pointed_menus.open_for_finding)
        self.transport.scrubber.menu_requested.connect(self.pointed_menus.open_for_position)

    def _recall_training(self) -> None:
        sizes = bytes(self.settings.shape("training").data())
        self.workspaces.widgets.arrangement.recall(sizes.decode("ascii", "replace"))
        self.panels.add_area("training", self.workspaces.widgets.area)
        self.presentation.add_graph(self.workspaces.widgets.graph.graph)
        self.menus.refresh()

    def _recall(self) -> None:
        settings = self.settings
        self.resize(*USUAL_SIZE)
        if not settings.shape("window").isEmpty():
            self.restoreGeometry(settings.shape("window"))
            # A window that fills the screen, from a lecture of yesterday, would puzzle.
            self.setWindowState(self.windowState() & ~Qt.WindowState.WindowFullScreen)
        self.columns.share_right(self.tables, self.values)
        self.columns.recall(settings)
        SettingsFollower(settings, self.session, self.clock, self).follow_all()
        self._show_view()
        keep_controls(self)
        for key in ("left", "memory", "complete", "follow"):
            self._show_settings(key)
        # Last: what it has to say would be taken for a remark of before.
        self.panels.recall()

    # Updates

    def _show_doc(self) -> None:
        doc = self.session.doc
        self.workspaces.session.controller.set_program(doc)
        if doc.may_run:
            self.notices.drop(file.OUTSIDE)
        self._show_heading()
        self.top.show_doc(doc)
        self.top.show_result(self.session.result, doc)

    def _show_heading(self) -> None:
        live = "" if self.settings.flag("presenting") else LIVE
        doc = self.session.doc
        waits = tape_files.origin(doc.shows_file) if doc.shows_file else WAITS
        self.heading.set_text(tr("Program"), live if doc.may_run else waits)

    def _show_result(self) -> None:
        result = self.session.result
        self.status.show_result(result, self.session.doc)
        self.top.show_result(result, self.session.doc)
        self.hint.show_result(result, self.session.doc)
        self.menus.refresh()
        self.output_tab.show_result(result)

    def _show_picture(self) -> None:
        self.hint.show_picture(has_cards=bool(self.presenter.picture.cards))

    def _show_view(self) -> None:
        self.top.show_view(self.session.view)
        self.menus.refresh()

    def _show_busy(self, busy: bool) -> None:
        if not (busy and self.presentation.is_on):
            (self.status.say if busy else self.status.retract)(LAYING_OUT)

    def _show_settings(self, key: str) -> None:
        if key in ("memory", "timeout", "access"):
            memory, seconds = self.settings.number("memory"), self.settings.number("timeout")
            is_open = self.settings.flag("access")
            self.session.set_limits(seconds, round(memory) << 20, is_open)
        if key == "complete":
            self.editor.assistance.is_automatic = self.settings.flag("complete")
        if key == "follow":
            self.graph.set_following("on" if self.settings.flag("follow") else "off")
            self.menus.refresh()
        if key == "pointer_ring":
            self.menus.refresh()
        if key in ("left", "below", "right", "presenting"):
            self._show_heading()
            self.menus.refresh()

    def _repaint(self, theme: Theme) -> None:
        set_sheet(self.heading, sheet(theme))
        self.editor.set_text_size(round(TEXT_PX * self.look.scale()))
        self.color_key.refresh()
        self.columns.set_text_scale(self.look.scale())

    def make_train_link(self) -> TrainEngine:
        """Return the link to the training page's own engine."""
        link = TrainLink(self, self._link.give_spare)
        # The choice of a Python is made later than this.
        link.received.connect(lambda message: self.python.note(message))
        return link

    def _enter(self, name: str) -> None:
        self.clock.pause()
        self.status.show_program(name == "program")
        self.workspaces.report_changed_module()
        self.menus.refresh()
        if name == "program":
            self.editor.setFocus()

    def _write_export(self, message: Exported) -> None:
        try:
            train.write_export(self.context, message.kind, message.data)
        except Refused as refusal:
            self.status.say(str(refusal))

    def _set_layer(self, name: Layer, on: bool) -> None:
        self.session.show_layers({name: on})
        self.settings.put(name, on)

    # Opening and closing

    def open_first(self, path: str = "") -> None:
        """Open the file given at start-up, else unsaved work, else the first example.

        Raises:
            Refused: the file cannot be read, or is not text.
        """
        file.open_first(self.context, path)

    def open_file(self, request: OpenRequest) -> None:
        """Open a file at a line or a position. Raises `Refused`."""
        file.open_request(self.context, request)

    def open_request(self, request: OpenRequest) -> str:
        """Show what another process asks for, in front; return why it cannot, or nothing."""
        try:
            self.open_file(request)
        except Refused as refusal:
            return str(refusal)
        if self.isMinimized():
            self.showNormal()
        self.raise_()
        self.activateWindow()
        return ""

    def open_empty(self) -> None:
        """Start with an empty program, as a further window does."""
        file.new(self.context)

    def open_another(self) -> int:
        """Open a further window next to this one; return the id of its process.

        Raises:
            Refused: it cannot be started.
        """
        # From here the other window knows where this one stands.
        self.settings.put_shape("window", self.saveGeometry())
        self.settings.flush()
        return new_window.start_window()

    def paintEvent(self, happened: QPaintEvent) -> None:
        """Emit `painted` once, so that slow work begins after the window is visible."""
        super().paintEvent(happened)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self.painted.emit)

    def eventFilter(self, watched: QObject, happened: QEvent) -> bool:
        """Let bare keys work in the graph, too; of a selected card Escape alone, for an answer."""
        if watched is not self.graph or happened.type() != QEvent.Type.KeyPress:
            return False
        assert isinstance(happened, QKeyEvent)
        if not self.session.view.selection and self.menus.press(happened):
            return True
        return self._end_answer(happened)

    def keyPressEvent(self, happened: QKeyEvent) -> None:
        """Handle bare keys that the focused widget did not use."""
        if open_by_key(happened):
            return
        if self.menus.press(happened) or self._end_answer(happened):
            return
        if happened.key() == Qt.Key.Key_Escape and self.presentation.escape():
            return
        super().keyPressEvent(happened)

    def _end_answer(self, pressed: QKeyEvent) -> bool:
        """Show the whole graph again on Escape; return whether anything was not shown."""
        if not self.color_key.hides_cards or pressed.key() != Qt.Key.Key_Escape:
            return False
        self.menus.perform_by("graph.all")
        return True

    def dragEnterEvent(self, happened: QDragEnterEvent) -> None:
        """Accept a file."""
        if _dropped(happened.mimeData().urls()):
            happened.acceptProposedAction()

    def dropEvent(self, happened: QDropEvent) -> None:
        """Open the file that was dropped."""
        path = _dropped(happened.mimeData().urls())
        try:
            file.open_path(self.context, path)
        except Refused as refusal:
            self.status.say(str(refusal))

    def closeEvent(self, happened: QCloseEvent) -> None:
        """Store unsaved work and the layout, and stop everything that runs."""
        super().closeEvent(happened)
        if self._closed:
            return
        if not (self.leaving.settle() and self.workspaces.settle() and self.recovery.leave()):
            happened.ignore()
            return
        self._closed = True
        self.settings.put_shape("window", self.saveGeometry())
        self.columns.remember(self.settings)
        column_settings.remember(self.settings)
        self.panels.remember()
        if self.workspaces.is_whole:
            sizes = self.workspaces.widgets.arrangement.sizes()
            self.settings.put_shape("training", QByteArray(sizes.encode()))
        self.settings.flush()
        self.clock.pause()
        self.export_queue.cancel()
        self.tour.end()
        for part in (
            *(self.presenter, self.loop_curves, self.history, self.changes, self.ranks),
            *(self.findings_controller, self.typing, self.python, self.workspaces),
            *(self.session, self.look),
        ):
            part.close()


def _dropped(urls: list[QUrl]) -> str:
    return next((url.toLocalFile() for url in urls if url.isLocalFile()), "")
