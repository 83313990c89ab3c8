"""The command that shows what the doctor found."""

from gradscribe.app.commands import view


def test_it_brings_the_findings_to_the_front_even_where_their_pane_is_hidden(settled):
    settled.settings.put("below", False)
    view.open_findings(settled.context)
    assert settled.settings.flag("below")
    assert settled.below.currentIndex() == 2
