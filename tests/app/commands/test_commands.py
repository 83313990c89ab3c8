"""The registry: every command is well declared, and none crashes a fresh window."""

import pytest
from PySide6.QtGui import QKeySequence

from gradscribe.app import commands
from gradscribe.app.commands import MENUS, command

ALL = commands.load()


def test_there_are_commands_in_every_menu():
    assert {one.place[0] for one in ALL} == set(MENUS)


def test_shortcuts_are_unique_and_understood_by_qt():
    keys = [key for one in ALL for key in (*one.keys, *one.bare)]
    assert len(keys) == len(set(keys))
    written = [QKeySequence(key).toString() for key in keys]
    assert all(written), dict(zip(keys, written, strict=True))
    assert len(set(written)) == len(written)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_a_command_says_what_it_does_in_a_sentence(one):
    assert one.tip
    assert one.tip[0].isupper()
    assert not one.tip.endswith(".")
    assert "\n" not in one.tip
    assert one.title[0].isupper()


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_bare_keys_never_come_alone(one):
    # A bare key is taken by whoever has the focus; the command must be in reach even then.
    assert not one.bare or one.keys


def test_two_commands_cannot_share_a_name():
    with pytest.raises(ValueError, match=r"file\.new"):
        command("file.new", "Again", "File/1")(lambda shell: None)


def test_commands_do_not_know_widgets():
    import subprocess
    import sys

    program = (
        "import sys, gradscribe.app.commands; gradscribe.app.commands.load();"
        "sys.exit('PySide6.QtWidgets' in sys.modules or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def give(window, menu):
    for one in ALL:
        if one.place[0] == menu and one.id != "file.quit":
            window.menus.perform(one)
            for choice in one.choices(window.context) if one.choices else ():
                window.menus.choose(choice)


@pytest.mark.parametrize("menu", MENUS)
def test_every_command_can_be_given_to_a_fresh_window(window, menu):
    give(window, menu)


@pytest.mark.parametrize("menu", MENUS)
def test_every_command_can_be_given_to_a_window_with_a_tape(settled, menu):
    give(settled, menu)


def test_quit_closes_the_window(window):
    window.show()
    window.menus.perform(next(one for one in ALL if one.id == "file.quit"))
    assert not window.isVisible()
