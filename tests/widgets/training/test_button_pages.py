"""Pages that take turns."""

from PySide6.QtWidgets import QLabel

from gradscribe.widgets.training.button_pages import ButtonPages


def test_a_button_turns_to_its_page(qtbot):
    first, second = QLabel("a"), QLabel("b")
    made = ButtonPages(("A", first), ("B", second))
    qtbot.addWidget(made)
    assert made.stack.currentWidget() is first
    made.buttons.button(1).click()
    assert made.stack.currentWidget() is second
    assert [made.buttons.button(i).isChecked() for i in range(2)] == [False, True]
