"""Pages that take turns."""

from PySide6.QtWidgets import QLabel

from widgets.training.pages import Pages


def test_a_button_turns_to_its_page(qtbot):
    first, second = QLabel("a"), QLabel("b")
    made = Pages(("A", first), ("B", second))
    qtbot.addWidget(made)
    assert made.stack.currentWidget() is first
    made.buttons.button(1).click()
    assert made.stack.currentWidget() is second
    assert [made.buttons.button(i).isChecked() for i in range(2)] == [False, True]
