"""Commands on the selected tensor."""

import subprocess
import sys

import pytest
from PySide6.QtGui import QGuiApplication

from gradscribe.app.window.menus.context_menus import COMMANDS

SOURCE = "x = torch.randn(3, requires_grad=True)\ny = (x * -0.0).sum()\ny.backward()\n"


@pytest.fixture
def shown(settled, link, record):
    settled.editor.selectAll()
    settled.editor.insertPlainText(SOURCE)
    settled.session.run_now()
    link.answer(record(SOURCE))
    return settled


def test_a_test_that_is_copied_and_pasted_passes(shown, tmp_path):
    shown.presenter.select_name("x")
    shown.menus.refresh()
    shown.menus.perform_by("value.copy_test")
    text = QGuiApplication.clipboard().text()
    assert "grad=[-0.0, -0.0, -0.0]" in text
    (tmp_path / "test_pasted.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pasted.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout
    assert shown.context.session.doc.source == SOURCE


@pytest.mark.parametrize("subject", ["card", "wire", "module", "value", "line"])
def test_every_menu_of_a_tensor_offers_it(subject):
    assert "value.copy_test" in COMMANDS[subject]


def test_what_the_carets_line_made_is_selected_by_key(shown):
    shown.editor.go_to_line(2)
    shown.menus.refresh()
    shown.menus.perform_by("value.of_line")
    (node,) = {shown.presenter.selected_card().key} & set(shown.graph.stage().card_keys)
    assert node in shown.session.view.selection


def test_the_line_of_an_error_is_gone_to_by_key(settled, link, record):
    source = "x = torch.ones(2)\ny = x + torch.ones(3)\n"
    settled.editor.selectAll()
    settled.editor.insertPlainText(source)
    settled.session.run_now()
    link.answer(record(source))
    settled.editor.go_to_line(1)
    settled.menus.refresh()
    settled.menus.perform_by("run.error")
    assert settled.editor.caret_line() == 2
