"""A lecture: keys of a remote, a graph to read from afar, and what lies over the window."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMenuBar,
    QTabBar,
)

from gradscribe.app.files.documents import Drafts
from gradscribe.app.files.settings import Settings
from gradscribe.app.presenting.presentation import TEXT_SHARE
from gradscribe.app.ui import theming
from gradscribe.app.window.window import Window
from gradscribe.widgets.base.painting.glass import is_covered
from gradscribe.widgets.graph.paint import shapes
from tests.app.fakes import FakeLink

KEY, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
LOOP = """\
w = param(0.0)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(4):
    opt.zero_grad()
    loss = (w - 1.0) ** 2
    loss.backward()
    opt.step()
"""


@pytest.fixture
def shown(settled, qtbot):
    """A window on the screen, with the keyboard in it."""
    settled.resize(1440, 900)
    with qtbot.waitActive(settled):
        settled.show()
    return settled


@pytest.fixture
def lecture(shown):
    """A window that presents, at the start of its tape, in which nothing moves by itself."""
    settled = shown
    settled.graph.set_reduced_motion(True)
    settled.presentation.toggle()
    settled.look.finish()
    settled.clock.reset()
    return settled


def press(window, key, modifiers=Qt.KeyboardModifier.NoModifier):
    """Press a key as the system does: at the native window."""
    QTest.keyClick(window.windowHandle(), key, modifiers)


def point(window, x, y):
    QTest.mouseMove(window.windowHandle(), QPoint(x, y))


def wheel(window, modifiers, delta):
    middle = QPointF(window.rect().center())
    event = QWheelEvent(
        middle, middle, QPoint(), delta, Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(window.windowHandle(), event)


def show_program(window, link, record, qtbot, source):
    window.session.edit_live(source)
    link.answer(record(source))
    qtbot.waitUntil(lambda: window.presenter.is_drawn)


# Keys of a remote


def test_a_remote_goes_through_the_events(lecture):
    for position in (1, 2, 3):
        press(lecture, KEY.Key_PageDown)
        assert lecture.session.view.position == position
    press(lecture, KEY.Key_PageUp)
    assert lecture.session.view.position == 2
    press(lecture, KEY.Key_F5)
    assert lecture.session.view.position == 0
    press(lecture, KEY.Key_F5, SHIFT)
    assert lecture.clock.playing
    press(lecture, KEY.Key_F5, SHIFT)
    assert not lecture.clock.playing
    assert lecture.presentation.is_on


def test_a_remote_goes_through_the_steps_of_a_loop_where_these_are_played(
    lecture, link, record, qtbot
):
    show_program(lecture, link, record, qtbot, LOOP)
    lecture.clock.set_pace("step")
    lecture.clock.go_to_step(1)
    numbers = []
    for _ in range(3):
        press(lecture, KEY.Key_PageDown)
        numbers.append(lecture.transport.strip.entry.text())
    press(lecture, KEY.Key_PageUp)
    numbers.append(lecture.transport.strip.entry.text())
    assert numbers == ["2", "3", "4", "3"]


def test_text_grows_for_the_lecture_alone_up_to_three_times_its_size(lecture):
    for _ in range(20):
        press(lecture, KEY.Key_Equal, CTRL | ALT)
    assert lecture.look.scale() == 3.0
    press(lecture, KEY.Key_0, CTRL | ALT)
    assert lecture.look.scale() == 1.35
    press(lecture, KEY.Key_Minus, CTRL | ALT)
    assert 1.0 <= lecture.look.scale() < 1.35
    lecture.presentation.toggle()
    assert lecture.look.scale() == 1.0
    press(lecture, KEY.Key_Equal, CTRL | ALT)
    assert lecture.look.scale() > 1.0
    press(lecture, KEY.Key_0, CTRL | ALT)
    assert lecture.look.scale() == 1.0


def test_its_keys_work_while_the_keyboard_is_in_the_program_and_letters_are_typed(lecture):
    before = lecture.editor.toPlainText()
    lecture.editor.setFocus()
    press(lecture, KEY.Key_PageDown)
    assert lecture.session.view.position == 1
    QTest.keyClicks(lecture.editor, "b.")
    assert not lecture.presentation.is_black
    assert sorted(lecture.editor.toPlainText()) == sorted(before + "b.")


def test_a_list_over_the_window_has_its_keys_for_itself(lecture):
    lecture.context.show_palette()
    press(lecture, KEY.Key_PageDown)
    assert lecture.session.view.position == 0
    press(lecture, KEY.Key_Escape)
    assert lecture.presentation.is_on


def test_without_presenting_the_keys_are_as_ever(shown, link):
    runs = len(link.runs)
    press(shown, KEY.Key_F5)
    assert len(link.runs) == runs + 1
    shown.graph.setFocus()
    press(shown, KEY.Key_B)
    assert not shown.presentation.is_black


@pytest.mark.parametrize("key", ["B", "."])
def test_the_screen_goes_black_and_any_key_ends_that(lecture, key):
    press(lecture, ord(key))
    assert lecture.presentation.is_black
    taken = lecture.grab().toImage()
    spots = [(5, 5), (700, 400), (lecture.width() - 5, lecture.height() - 5)]
    assert all(taken.pixelColor(x, y).lightness() == 0 for x, y in spots)
    press(lecture, KEY.Key_Shift)
    assert lecture.presentation.is_black, "a modifier alone is no key"
    press(lecture, ord(key))
    assert not lecture.presentation.is_black
    assert lecture.graph.hasFocus()


@pytest.mark.parametrize(
    ("key", "modifiers"), [(KEY.Key_F11, NONE), (KEY.Key_B, CTRL | ALT), (KEY.Key_2, CTRL | ALT)]
)
def test_a_shortcut_too_only_ends_the_black_screen(lecture, key, modifiers):
    place = lecture.workspaces.current
    lecture.presentation.toggle_black()
    press(lecture, key, modifiers)
    assert not lecture.presentation.is_black
    assert not lecture.isFullScreen()
    assert lecture.workspaces.current == place


def test_a_click_on_the_black_screen_presses_nothing(lecture):
    press(lecture, KEY.Key_B)
    button = lecture.transport.buttons.play_button
    at = button.mapTo(lecture, button.rect().center())
    QTest.mouseClick(lecture.windowHandle(), LEFT, pos=at)
    assert not lecture.presentation.is_black
    assert not lecture.clock.playing


def test_the_next_key_of_a_remote_only_ends_the_black_screen(lecture):
    press(lecture, KEY.Key_PageDown)
    press(lecture, KEY.Key_B)
    press(lecture, KEY.Key_PageDown)
    assert not lecture.presentation.is_black
    assert lecture.session.view.position == 1
    press(lecture, KEY.Key_PageDown)
    assert lecture.session.view.position == 2


# Beginning and ending


def test_escape_ends_presenting_and_full_screen(lecture, qtbot):
    press(lecture, KEY.Key_F11)
    assert lecture.isFullScreen()
    assert lecture.presentation.is_on
    press(lecture, KEY.Key_Escape)
    assert not lecture.isFullScreen()
    assert not lecture.presentation.is_on
    assert lecture.menuBar().isVisible()


@pytest.mark.parametrize("place", ["graph", "editor"])
def test_f11_is_full_screen_without_presenting_too(shown, place):
    settled = shown
    getattr(settled, place).setFocus()
    size = settled.size()
    press(settled, KEY.Key_F11)
    assert settled.isFullScreen()
    assert settled.menuBar().isVisible()
    assert settled.menus._actions["present.full_screen"].isChecked()
    press(settled, KEY.Key_Escape)
    assert not settled.isFullScreen()
    assert settled.size() == size
    press(settled, KEY.Key_F11)
    press(settled, KEY.Key_F11)
    assert not settled.isFullScreen()
    assert not settled.menus._actions["present.full_screen"].isChecked()


def test_escape_of_a_remote_ends_it_though_a_card_is_selected(lecture):
    lecture.graph._pick(lecture.presenter.picture.cards[0].key)
    press(lecture, KEY.Key_Escape)
    assert not lecture.presentation.is_on


def test_a_window_does_not_begin_with_the_lecture_of_yesterday(qtbot, tmp_path):
    def start():
        window = Window(FakeLink(), Settings(tmp_path / "a.ini"), Drafts(tmp_path / "drafts"))
        qtbot.addWidget(window)
        window.open_first()
        with qtbot.waitExposed(window):
            window.show()
        return window

    yesterday = start()
    press(yesterday, KEY.Key_F11)
    press(yesterday, KEY.Key_F5, SHIFT)
    assert yesterday.isFullScreen()
    assert yesterday.presentation.is_on
    yesterday.close()
    today = start()
    assert not today.presentation.is_on
    assert not today.isFullScreen()
    assert not today.menuBar().isHidden()
    today.close()


def test_another_window_neither_begins_nor_ends_presenting(qtbot, tmp_path):
    lecture, other = Settings(tmp_path / "a.ini"), Settings(tmp_path / "a.ini")
    lecture.put("presenting", True)
    lecture.flush()
    with qtbot.waitSignal(other._teller.written):
        other.put("speed", 2.0)
        other.flush()
    assert not other.flag("presenting")
    with qtbot.waitSignal(lecture._teller.written):
        lecture.put("text", 1.5)
        lecture.flush()
    assert lecture.number("speed") == 1.0, "a window takes no setting from another"
    assert lecture.flag("presenting")


def test_the_line_that_plays_stays_in_view_when_presenting_begins_and_ends(
    shown, link, record, qtbot
):
    source = "w = param(1.0)\n" + "y = w * 2\n" * 80 + "z = y + 1\n"
    shown.editor.set_source(source)
    show_program(shown, link, record, qtbot, source)
    shown.resize(1000, 640)
    shown.clock.seek(shown.clock.length)
    line = 82
    qtbot.waitUntil(lambda: line in seen(shown))
    for _ in range(3):
        shown.presentation.toggle()
        shown.look.finish()
        qtbot.waitUntil(lambda: line in seen(shown))


def seen(window):
    editor = window.editor
    return [row.line for row in editor.rows() if row.bottom <= editor.viewport().height()]


# The graph


def test_the_text_of_cards_is_a_share_of_the_height_of_the_window(lecture, monkeypatch):
    for size in ((1000, 640), (1440, 900), (1920, 1080)):
        sizes = []
        write = shapes.write

        def note(painter, box, text, ink, px, *rest, sizes=sizes, write=write):
            if text:
                sizes.append(px * painter.worldTransform().m11())
            write(painter, box, text, ink, px, *rest)

        monkeypatch.setattr(shapes, "write", note)
        lecture.resize(*size)
        lecture.graph.canvas.drawing.sprites.clear()
        lecture.graph.canvas.repaint_all()
        lecture.graph.grab()
        monkeypatch.setattr(shapes, "write", write)
        assert sizes
        assert min(sizes) >= lecture.height() * TEXT_SHARE - 0.01


def test_what_plays_is_in_view_at_each_click_of_the_remote(lecture, link, record, qtbot):
    source = "\n".join(["x0 = param(1.0)", *(f"x{n + 1} = x{n} * 1.01" for n in range(40))])
    show_program(lecture, link, record, qtbot, source)
    press(lecture, KEY.Key_F5)
    zoom = lecture.graph.camera().zoom
    for _ in range(30):
        press(lecture, KEY.Key_PageDown)
        looks = lecture.graph.look().cards
        boxes = lecture.graph.stage().boxes
        active = [key for key, shown in looks.items() if shown.active]
        seen = [lecture.graph.camera().box_to_view(boxes[key]) for key in active]
        assert all(QRectF(lecture.graph.rect()).contains(box) for box in seen)
        assert lecture.graph.camera().zoom == zoom
    lecture.graph.fit()
    assert lecture.graph.camera().zoom < zoom
    press(lecture, KEY.Key_PageDown)
    assert lecture.graph.camera().zoom == zoom
    lecture.presentation.toggle()
    assert lecture.graph.camera().zoom < zoom


def test_only_what_a_lecture_needs_is_left(lecture):
    top, over = lecture.top, lecture.over
    gone = (lecture.menuBar(), lecture.status, lecture.inspector, lecture.tables, lecture.below)
    gone += (top.counts, top.examples, top.lessons, *top.layers.values(), over.tools, over.crumbs)
    stays = (lecture.editor, lecture.graph, lecture.transport, top.title, top.switch)
    lecture.clock.step()
    assert not any(part.isVisible() for part in gone)
    assert all(part.isVisible() for part in stays)
    lecture.presentation.toggle()
    lecture.look.finish()
    assert all(part.isVisible() for part in (*gone[:5], over.tools, *top.layers.values()))


def test_a_problem_is_said_all_the_same(lecture, link):
    from tests.app.fakes import broken

    lecture.session.edit_live("x = (")
    link.answer(broken())
    assert lecture.status.isVisible()
    assert "SyntaxError" in lecture.status.message.text()


# What lies over the window


def test_a_ring_goes_with_the_mouse(lecture):
    ring = lecture.presentation.ring
    for x, y in ((300, 300), (900, 500), (20, 890)):
        point(lecture, x, y)
        assert ring.isVisible()
        assert (ring.geometry().center() - QPoint(x, y)).manhattanLength() <= 2
    lecture.settings.put("pointer_ring", False)
    assert not ring.isVisible()
    point(lecture, 400, 400)
    assert not ring.isVisible()
    assert not is_covered(lecture.graph)


def test_a_click_passes_through_ring_and_spotlight_and_shows_a_ripple(lecture, qtbot):
    lecture.presentation.toggle_spotlight()
    key = lecture.presenter.picture.cards[0].key
    box = lecture.graph.camera().box_to_view(lecture.graph.stage().boxes[key])
    at = lecture.graph.mapTo(lecture, box.center().toPoint())
    point(lecture, at.x(), at.y())
    assert lecture.graph.canvas.hovered == key
    QTest.mouseClick(lecture.windowHandle(), LEFT, pos=at)
    assert lecture.session.view.selection == key
    ripple = lecture.presentation.ring.ripple
    assert ripple.isVisible()
    assert (ripple.geometry().center() - at).manhattanLength() <= 2
    qtbot.waitUntil(lambda: not ripple.isVisible())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_spotlight_dims_all_but_a_circle_at_the_mouse(lecture, theme):
    lecture.settings.put("theme", theme)
    lecture.look.finish()
    lecture.settings.put("pointer_ring", False)
    plain = lecture.grab().toImage()
    lecture.presentation.toggle_spotlight()
    far, near = QPoint(1300, 820), QPoint(800, 400)
    for at, other in ((near, far), (far, near)):
        point(lecture, at.x(), at.y())
        lit = lecture.grab().toImage()
        assert lit.pixelColor(at) == plain.pixelColor(at)
        assert lit.pixelColor(other).lightness() < 0.7 * plain.pixelColor(other).lightness()
    press(lecture, KEY.Key_Escape)
    assert lecture.grab().toImage().pixelColor(near) == plain.pixelColor(near)
    assert not lecture.presentation.has_spotlight
    assert lecture.presentation.is_on


def test_the_wheel_with_ctrl_and_shift_changes_its_size_and_nothing_else(lecture):
    press(lecture, KEY.Key_L, CTRL | ALT)
    spotlight, camera = lecture.presentation.spotlight, lecture.graph.camera()
    assert spotlight.isVisible()
    before = spotlight.radius
    wheel(lecture, CTRL | SHIFT, QPoint(0, 240))
    larger = spotlight.radius
    assert larger > before
    wheel(lecture, CTRL | SHIFT, QPoint(-240, 0))
    assert spotlight.radius == pytest.approx(before)
    assert lecture.graph.camera() == camera
    press(lecture, KEY.Key_Up, CTRL | ALT)
    assert spotlight.radius > before
    for _ in range(80):
        wheel(lecture, CTRL | SHIFT, QPoint(0, -120))
    assert spotlight.radius >= 20
    for _ in range(80):
        wheel(lecture, CTRL | SHIFT, QPoint(0, 120))
    assert spotlight.radius < lecture.height()
    press(lecture, KEY.Key_L, CTRL | ALT)
    wheel(lecture, CTRL | SHIFT, QPoint(0, 120))
    assert lecture.graph.camera().zoom != camera.zoom


def test_the_spotlight_works_without_presenting_and_fits_every_size(shown):
    settled = shown
    settled.presentation.toggle_spotlight()
    for size in ((1000, 640), (1700, 1000)):
        settled.resize(*size)
        assert settled.presentation.spotlight.size() == settled.size()
    press(settled, KEY.Key_Escape)
    settled.graph.setFocus()
    press(settled, KEY.Key_Escape)
    assert not settled.presentation.has_spotlight


def test_under_glass_the_graph_leaves_no_traces(lecture, link, record, qtbot):
    """A picture that is painted in turns would leave the ring on the screen where it was."""
    graph = lecture.graph
    assert is_covered(graph)
    graph.update()
    qtbot.waitUntil(lambda: graph.canvas._on_screen)
    show_program(lecture, link, record, qtbot, LOOP)
    assert not graph.canvas._ahead.busy
    graph.zoom_by(1.2)
    qtbot.waitUntil(lambda: not graph.canvas._sharpen.isActive())
    assert not graph.canvas._ahead.busy


def test_ending_it_stops_watching_the_window(lecture):
    press(lecture, KEY.Key_Escape)
    point(lecture, 500, 500)
    assert not lecture.presentation.ring.isVisible()
    position = lecture.session.view.position
    lecture.editor.setFocus()
    press(lecture, KEY.Key_PageDown)
    assert lecture.session.view.position == position


def layout(window):
    """Return the sizes of the columns, the titles of tabs, and what the top bar has."""
    columns, top = window.columns, window.top
    tabs = window.below
    parts = (top.examples, top.lessons, top._buttons.speed_label, *top.layers.values())
    return (
        [part.sizes() for part in (columns.across, columns.left, columns.right)],
        [tabs.tabText(at) for at in range(tabs.count())],
        [part.isVisible() for part in parts],
    )


def heights(window):
    """Return the height of the font of each visible text of the window."""
    kinds = (QAbstractButton, QLabel, QTabBar, QMenuBar)
    found = [part for kind in kinds for part in window.findChildren(kind) if part.isVisible()]
    return {part: QFontMetrics(part.font()).height() for part in found}


def test_after_presenting_no_text_of_the_first_picture_has_the_size_of_the_lecture(
    shown, qtbot, monkeypatch
):
    """The panels that come back, too, are dressed before the window is painted again."""
    qtbot.wait(0)
    before, seen = heights(shown), []
    press(shown, KEY.Key_F5, SHIFT)
    shown.look.finish()
    qtbot.waitUntil(lambda: not shown.menuBar().isVisible())
    QApplication.processEvents()
    resume = theming.resume_paint
    monkeypatch.setattr(
        theming, "resume_paint", lambda window: (seen.append(heights(shown)), resume(window))
    )
    press(shown, KEY.Key_Escape)
    qtbot.waitUntil(lambda: bool(seen))
    first = seen[0]
    assert shown.menuBar() in first
    same = before.keys() & first.keys()
    assert len(same) > 20
    wrong = {part: (before[part], first[part]) for part in same if before[part] != first[part]}
    assert not wrong


@pytest.mark.parametrize("leave", ["Esc", "Shift+F5"])
def test_after_presenting_everything_is_where_it_was(shown, qtbot, leave):
    shown.columns.left.setSizes([500, 230])
    shown.columns.across.setSizes([430, 640, 330])
    qtbot.wait(0)
    before = layout(shown)
    press(shown, KEY.Key_F5, SHIFT)
    shown.look.finish()
    qtbot.waitUntil(lambda: not shown.menuBar().isVisible())
    QApplication.processEvents()
    if leave == "Esc":
        press(shown, KEY.Key_Escape)
    else:
        shown.presentation.toggle()
    shown.look.finish()
    qtbot.waitUntil(shown.menuBar().isVisible)

    def check_same():
        (across, left, right), *others = layout(shown)
        assert [[across, left], *others] == [before[0][:2], *before[1:]]
        # The tables get their height from their rows, not from the user.
        assert right == pytest.approx(before[0][2], abs=8)

    qtbot.waitUntil(check_same)


def test_after_presenting_a_hidden_inspector_opens_as_wide_as_before(shown, qtbot):
    shown.columns.across.setSizes([0, 430, 640, 330])
    width = shown.columns.across.sizes()[3]
    shown.settings.put("right", False)
    for _ in range(2):
        shown.presentation.toggle()
        shown.look.finish()
        QApplication.processEvents()
    shown.settings.put("right", True)
    qtbot.waitUntil(lambda: shown.columns.across.sizes()[3] == width)


def test_an_engine_that_is_killed_while_presenting_is_said_and_ends_nothing(lecture, link):
    lecture.session.edit_live("x = param(2.0)")
    link.die("killed by signal 9")
    assert lecture.presentation.is_on
    assert lecture.status.isVisible()
    assert "signal 9" in lecture.status.message.text()
    press(lecture, KEY.Key_PageDown)
    press(lecture, KEY.Key_PageUp)
    link.greet()
    press(lecture, KEY.Key_Escape)
    lecture.look.finish()
    assert lecture.menuBar().isVisible()
    assert lecture.session.doc.source == "x = param(2.0)"


@pytest.mark.slow
def test_every_text_grows_with_the_lecture_and_has_its_own_size_after_it(shown, qtbot):
    kinds = (QLabel, QAbstractButton, QTabBar, QLineEdit)

    def sizes():
        texts = [part for kind in kinds for part in shown.findChildren(kind)]
        named = [part for part in texts if not part.objectName().startswith("qt_")]
        return {part: part.fontMetrics().height() for part in named}

    before = sizes()
    assert sum(isinstance(part, QTabBar) for part in before) >= 2
    for _ in range(2):
        press(shown, KEY.Key_F5, SHIFT)
        assert shown.presentation.is_on
        qtbot.waitUntil(
            lambda: all(sizes()[part] > size for part, size in before.items()), timeout=60_000
        )
        press(shown, KEY.Key_Escape)
        assert not shown.presentation.is_on
        qtbot.waitUntil(
            lambda: all(sizes()[part] == size for part, size in before.items()), timeout=60_000
        )
