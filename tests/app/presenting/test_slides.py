"""Slides of a lecture: made of what is shown, shown again exactly, and saved with the run."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from gradscribe.app.commands import file, saved_run
from gradscribe.app.files import session_file, tape_files
from gradscribe.engine.protocol import tape_file
from gradscribe.widgets.graph.camera import Camera

KEY, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
SOURCE = """\
x = param(2.0)
y = x * 3
z = y ** 2
z.backward()
"""


@pytest.fixture
def shown(settled, link, record, qtbot):
    """A window with a backward pass on the screen, in which nothing moves by itself."""
    settled.resize(1440, 900)
    settled.graph.set_reduced_motion(True)
    with qtbot.waitActive(settled):
        settled.show()
    settled.session.edit_live(SOURCE)
    link.answer(record(SOURCE))
    qtbot.waitUntil(lambda: settled.presenter.is_drawn)
    return settled


def press(window, key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(window.windowHandle(), key, modifiers)


def present(window):
    window.presentation.toggle()
    window.look.finish()
    window.graph.setFocus()


def slide_at(window, position):
    window.clock.seek(position)
    press(window, KEY.Key_I, CTRL | ALT)


def card(window, name):
    return next(card for card in window.presenter.picture.cards if card.name == name)


def rows(window):
    found = window.lecture.panel.rows
    return [found.item(at).text() for at in range(found.count())]


# Making and going


def test_in_a_low_window_the_list_lies_below_all_buttons(shown, qtbot):
    slide_at(shown, 1)
    panel = shown.lecture.panel
    shown.resize(1000, 640)

    def top(part):
        return part.mapTo(panel, QPoint()).y()

    def is_clear():
        low = max(top(one) + one.height() for one in (panel.add, panel.later, panel.remove))
        parts = (panel.rows, panel.title, panel.note)
        ends = [low, *(top(part) + part.height() for part in parts)]
        return all(end <= top(part) for end, part in zip(ends, parts, strict=False))

    qtbot.waitUntil(is_clear)
    assert panel.rows.height() >= panel.rows.minimumHeight() > 40


def test_a_remote_goes_through_the_slides_and_stays_at_the_ends(shown):
    for position in (1, 3, 2):
        slide_at(shown, position)
    present(shown)
    seen = []
    for key in (KEY.Key_F5, KEY.Key_PageDown, KEY.Key_PageDown, KEY.Key_PageDown, KEY.Key_PageUp):
        press(shown, key)
        seen.append(shown.session.view.position)
    assert seen == [1, 3, 2, 2, 3]


def test_a_slide_shows_again_what_the_window_showed(shown, qtbot):
    session, graph = shown.session, shown.graph
    shown.clock.seek(3)
    session.select(card(shown, "y").key)
    session.show_layers({"shapes": False})
    camera = graph.camera().zoomed(1.7, QPointF(100, 80))
    graph.set_camera(camera)
    shown.lecture.slides.add()
    before = session.view
    session.select("")
    session.show_layers({"shapes": True})
    session.set_flow("right")
    qtbot.waitUntil(lambda: shown.presenter.is_drawn)
    shown.clock.reset()
    graph.fit()
    shown.lecture.go(0)
    qtbot.waitUntil(lambda: shown.presenter.is_drawn)
    assert session.view == before
    now = graph.camera()
    assert (now.zoom, now.x, now.y) == pytest.approx((camera.zoom, camera.x, camera.y))


def test_the_same_part_of_the_graph_is_seen_in_a_window_of_another_size(shown):
    graph = shown.graph
    graph.glide_to(Camera(1.5, -40.0, 30.0))
    shown.lecture.slides.add()
    middle = QPointF(graph.width() / 2, graph.height() / 2)
    before = graph.camera().to_scene(middle)
    shown.resize(1100, 700)
    graph.fit()
    shown.lecture.go(0)
    middle = QPointF(graph.width() / 2, graph.height() / 2)
    after = graph.camera().to_scene(middle)
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()))


def test_the_whole_graph_stays_whole(shown):
    shown.graph.fit()
    shown.lecture.slides.add()
    shown.graph.zoom_by(3.0)
    shown.lecture.go(0)
    assert shown.graph.shows_whole


def test_text_has_the_size_of_the_slide_while_presenting_alone(shown):
    shown.settings.put("presenting_text", 1.8)
    shown.lecture.slides.add()
    shown.settings.put("presenting_text", 1.2)
    shown.lecture.go(0)
    assert shown.settings.number("presenting_text") == 1.2
    present(shown)
    shown.lecture.go(0)
    assert shown.settings.number("presenting_text") == 1.8


def test_a_step_that_was_not_recorded_in_full_is_said(shown, link, record, qtbot):
    from gradscribe.engine.protocol.lecture.slides import Slide

    shown.session.set_slides((Slide(position=1, step=7),), ())
    shown.lecture.go(0)
    assert "Step 7" in shown.status.message.text()


# The panel


def test_the_panel_lists_slides_by_title_and_writes_title_and_note(shown, qtbot):
    slide_at(shown, 1)
    slide_at(shown, 2)
    panel = shown.lecture.panel
    assert shown.below.isVisible()
    assert panel.isVisible()
    assert rows(shown) == ["1  event 1", "2  event 2"]
    QTest.keyClicks(panel.title, "The chain ")
    QTest.keyClicks(panel.note, "Ask first")
    assert shown.lecture.slides.current.title == "The chain "
    assert panel.title.text() == "The chain ", "typing goes on with its space"
    assert rows(shown)[1] == "2  The chain "
    press(shown, KEY.Key_PageUp, CTRL | ALT)
    assert (panel.title.text(), panel.note.toPlainText()) == ("", "")
    press(shown, KEY.Key_PageDown, CTRL | ALT)
    assert (panel.title.text(), panel.note.toPlainText()) == ("The chain ", "Ask first")


def test_a_click_shows_a_slide_and_buttons_order_them(shown):
    for position in (1, 2, 3):
        slide_at(shown, position)
    panel = shown.lecture.panel
    first = panel.rows.visualItemRect(panel.rows.item(0)).center()
    QTest.mouseClick(panel.rows.viewport(), Qt.MouseButton.LeftButton, pos=first)
    assert shown.session.view.position == 1
    assert not panel.earlier.isEnabled()
    QTest.mouseClick(panel.later, Qt.MouseButton.LeftButton)
    assert [slide.position for slide in shown.lecture.slides.all] == [2, 1, 3]
    assert shown.lecture.slides.at == 1


def test_a_removed_slide_can_be_put_back(shown):
    for position in (1, 2, 3):
        slide_at(shown, position)
    shown.lecture.go(1)
    QTest.mouseClick(shown.lecture.panel.remove, Qt.MouseButton.LeftButton)
    assert [slide.position for slide in shown.lecture.slides.all] == [1, 3]
    shown.notices.notice.choices[0][1]()
    assert [slide.position for slide in shown.lecture.slides.all] == [1, 2, 3]


def test_slides_of_another_text_say_so(shown, link, record, qtbot):
    slide_at(shown, 1)
    other = SOURCE.replace("3", "4")
    shown.session.edit_live(other)
    link.answer(record(other))
    assert "changed" in rows(shown)[0]
    shown.session.edit_live(SOURCE)
    link.answer(record(SOURCE))
    assert rows(shown) == ["1  event 1"]


# Blank gradients


def numbers(window):
    """Return the tensors whose gradient is seen in the graph."""
    looks = window.graph.look().cards
    tape = window.session.result.tape
    seen = set()
    for one in window.presenter.picture.cards:
        look = looks.get(one.key)
        if look is not None and look.gradient is not None:
            snapshot = tape.snapshots[look.gradient]
            if snapshot.array() is not None:
                seen.add(one.name)
    return seen


def test_blank_gradients_are_revealed_by_the_remote_one_at_a_time_before_the_next_slide(shown):
    shown.clock.seek(shown.clock.length)
    assert {"x", "y"} <= numbers(shown)
    press(shown, KEY.Key_X, CTRL | ALT)
    assert not {"x", "y"} & numbers(shown)
    press(shown, KEY.Key_I, CTRL | ALT)
    slide_at(shown, 1)
    present(shown)
    press(shown, KEY.Key_F5)
    seen = [numbers(shown) & {"x", "y"}]
    for _ in range(3):
        press(shown, KEY.Key_PageDown)
        seen.append(numbers(shown) & {"x", "y"})
    assert seen[:3] == [set(), {"y"}, {"x", "y"}]
    assert shown.session.view.position == 1
    press(shown, KEY.Key_PageUp)
    assert not {"x", "y"} & numbers(shown), "the slide is as it was made"


def test_they_are_revealed_all_at_once_where_the_slide_says_so(shown):
    shown.clock.seek(shown.clock.length)
    press(shown, KEY.Key_X, CTRL | ALT)
    press(shown, KEY.Key_I, CTRL | ALT)
    QTest.keyClick(shown.lecture.panel.at_once, KEY.Key_Space)
    assert shown.lecture.slides.current.at_once
    present(shown)
    press(shown, KEY.Key_PageDown)
    assert {"x", "y"} <= numbers(shown)


def test_a_key_reveals_the_gradient_of_the_selected_card_first(shown):
    shown.clock.seek(shown.clock.length)
    press(shown, KEY.Key_X, CTRL | ALT)
    shown.session.select(card(shown, "x").key)
    press(shown, KEY.Key_V, CTRL | ALT)
    assert numbers(shown) & {"x", "y"} == {"x"}
    shown.session.select("")
    shown.graph.setFocus()
    press(shown, KEY.Key_V)
    assert numbers(shown) & {"x", "y"} == {"x", "y"}
    press(shown, KEY.Key_V)
    assert "no other gradient" in shown.status.message.text()


# The zoom


def test_a_key_zooms_to_a_card_goes_with_the_selection_and_back(shown):
    graph = shown.graph
    present(shown)
    QApplication.processEvents()
    before = graph.camera()
    shown.session.select(card(shown, "y").key)
    press(shown, KEY.Key_Z, CTRL | ALT)
    box = graph.camera().box_to_view(graph.stage().boxes[card(shown, "y").key])
    assert graph.camera().zoom > before.zoom
    assert max(box.width() / graph.width(), box.height() / graph.height()) > 0.3
    assert graph.rect().contains(box.toAlignedRect())
    press(shown, KEY.Key_Down)
    other = shown.session.view.selection
    assert other not in ("", card(shown, "y").key)
    assert graph.rect().contains(
        graph.camera().box_to_view(graph.stage().boxes[other]).toAlignedRect()
    )
    press(shown, KEY.Key_Z, CTRL | ALT)
    assert graph.camera() == before


# What stays


def test_the_teacher_chooses_what_stays_and_that_is_remembered(shown):
    present(shown)
    top, gone = shown.top, (shown.menuBar(), shown.inspector, shown.over.tools)
    assert not any(part.isVisible() for part in gone)
    for key in ("stays_menu", "stays_inspector", "stays_tools", "stays_layers", "stays_below"):
        shown.settings.put(key, True)
    assert all(part.isVisible() for part in (*gone, shown.below, *top.layers.values()))
    for key in ("stays_timeline", "stays_program", "stays_top"):
        shown.settings.put(key, False)
    assert not any(part.isVisible() for part in (shown.transport, shown.editor, top))
    shown.presentation.toggle()
    shown.look.finish()
    assert all(part.isVisible() for part in (shown.transport, shown.editor, top, shown.inspector))
    assert shown.settings.flag("stays_menu")


def test_the_menu_of_what_stays_has_each_part_with_a_mark(shown):
    one = next(one for one in shown.menus._commands if one.id == "present.stays")
    choices = {choice.title: choice for choice in one.choices(shown.context)}
    assert choices["Program"].checked
    assert not choices["Menu bar"].checked
    shown.menus.choose(choices["Menu bar"])
    assert shown.settings.flag("stays_menu")


# The file


@pytest.fixture
def saved(shown, tmp_path, qtbot):
    """Return a window and the file of its lecture of two slides, the second with blanks."""
    slide_at(shown, 2)
    QTest.keyClicks(shown.lecture.panel.title, "First")
    shown.clock.seek(shown.clock.length)
    press(shown, KEY.Key_X, CTRL | ALT)
    shown.graph.glide_to(Camera(1.5, -40.0, 30.0))
    press(shown, KEY.Key_I, CTRL | ALT)
    path = tmp_path / "chain.tape"
    shown.answers["save"] = path
    assert shown.session.doc.has_unsaved
    next(one for one in shown.menus._commands if one.id == "lecture.save").run(shown.context)
    qtbot.waitUntil(lambda: not shown.export_queue.busy)
    return shown, path


def test_a_lecture_is_saved_with_its_run_and_opens_exactly_without_running(
    saved, open_window, link, qtbot
):
    window, path = saved
    slides = window.session.doc.slides
    assert window.session.doc.saved_slides == slides
    other = open_window(home="student")
    other.resize(1440, 900)
    other.show()
    file.open_path(other.context, str(path))
    qtbot.waitUntil(lambda: other.presenter.is_drawn)
    assert [slide.title for slide in slides] == ["First", ""]
    assert other.session.doc.slides == slides
    assert other.session.view.position == 2
    assert other.lecture.panel.isVisible()
    assert not other.session.doc.has_unsaved
    other.lecture.step(1)
    assert other.session.view.position == window.clock.length
    assert other.session.hiding.is_on
    assert not other.session.doc.may_run


def test_an_older_reader_and_a_newer_one_find_the_run(saved):
    _, path = saved
    found = tape_files.read(path)
    bare = tape_file.RunFile(found.program, found.tape, found.view)
    assert tape_file.decode(b"".join(tape_file.encode(bare))).slides == ()


def test_a_file_with_spoilt_slides_opens_with_its_run_and_says_so(saved):
    window, path = saved
    data = bytearray(path.read_bytes())
    at = data.index(b"lecture\0")
    data[at + 60] ^= 0xFF
    path.write_bytes(data)
    found = tape_files.read(path)
    assert found.slides == ()
    assert found.has_numbers
    assert "spoilt" in found.trouble
    file.open_path(window.context, str(path))
    assert "not whole" in window.notices.notice.text
    assert window.session.result.tape.events
    assert window.session.doc.slides == ()


def test_slides_that_are_in_no_file_survive_another_document_and_a_crash(shown):
    slide_at(shown, 2)
    slides = shown.session.doc.slides
    kept = session_file.decode(session_file.encode(shown.recovery.look()))
    assert kept.doc.slides == slides
    shown.session.mark_saved("", "x", shown.session.doc.source)
    assert shown.session.doc.has_unsaved
    file.new(shown.context)
    assert shown.session.doc.slides == ()
    assert rows(shown) == []
    draft = shown.recovery.find_draft("")
    assert draft is not None
    assert draft.slides == slides


def test_a_lecture_without_a_place_to_write_is_refused_and_stays(shown, tmp_path):
    slide_at(shown, 2)
    shown.answers["save"] = tmp_path / "gone" / "a.tape"
    shown.menus.perform_by("lecture.save")
    assert "cannot be written" in shown.status.message.text()
    assert len(shown.session.doc.slides) == 1
    assert shown.session.doc.has_unsaved


def test_letters_are_typed_into_a_title_and_not_taken_as_keys(shown):
    slide_at(shown, 1)
    title = shown.lecture.panel.title
    assert isinstance(title, QLineEdit)
    title.setFocus()
    QTest.keyClicks(title, "zvab")
    assert title.text() == "zvab"
    assert not shown.lecture.zoom.is_on
    assert saved_run.has_run(shown.context)
