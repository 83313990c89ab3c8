"""Help: pages over the window."""

from app.commands import help as helps
from app.overlay import Overlay
from app.palette import Palette


def test_the_table_of_keys_names_every_shortcut():
    from app import commands

    table = helps.shortcut_table()
    for one in commands.load():
        for key in one.keys:
            assert key in table


def test_each_page_opens(settled):
    settled.show()
    helps.keys(settled)
    assert settled.findChild(Overlay).card.accessibleName() == "Keyboard shortcuts"
    helps.about(settled)
    assert "Gradscribe" in settled.findChildren(Overlay)[-1].card.accessibleName()
    helps.palette(settled)
    assert settled.findChild(Palette) is not None
