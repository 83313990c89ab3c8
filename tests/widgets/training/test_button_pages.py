"""Pages that take turns."""

from PySide6.QtWidgets import QApplication, QLabel

from gradscribe.widgets.training.button_pages import ButtonPages


def test_a_button_turns_to_its_page(qtbot):
    first, second = QLabel("a"), QLabel("b")
    made = ButtonPages(("A", first), ("B", second))
    qtbot.addWidget(made)
    assert made.stack.currentWidget() is first
    made.buttons.button(1).click()
    assert made.stack.currentWidget() is second
    assert [made.buttons.button(i).isChecked() for i in range(2)] == [False, True]


def test_buttons_without_room_for_their_titles_take_two_rows(shown):
    titles = ["Gradients", "Updates", "Rate", "Spread"]
    made = shown(ButtonPages(*((title, QLabel(title)) for title in titles)), 600, 200)
    buttons = made.buttons.buttons()
    assert len({button.y() for button in buttons}) == 1
    made.resize(220, 200)
    QApplication.processEvents()
    assert len({button.y() for button in buttons}) == 2
    for button in buttons:
        assert button.width() >= button.sizeHint().width()
        assert button.geometry().right() < made.width()
    made.resize(600, 200)
    QApplication.processEvents()
    assert len({button.y() for button in buttons}) == 1
