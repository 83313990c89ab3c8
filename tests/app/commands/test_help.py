"""Help: pages over the window."""

from gradscribe.app.commands import help as helps
from gradscribe.app.ui.palette import CommandPalette
from gradscribe.app.ui.popup import PopupCard


def test_the_table_of_keys_names_every_shortcut():
    from gradscribe.app import commands

    table = helps.shortcut_table()
    for one in commands.load():
        for key in one.keys:
            assert key in table


def test_each_page_opens(settled):
    settled.show()
    helps.keys(settled.context)
    assert settled.findChild(PopupCard).card.accessibleName() == "Keyboard shortcuts"
    helps.about(settled.context)
    assert "Gradscribe" in settled.findChildren(PopupCard)[-1].card.accessibleName()
    helps.palette(settled.context)
    assert settled.findChild(CommandPalette) is not None
