"""Options of the command line that opens the window."""

from gradscribe.app.cli import window_args
from gradscribe.app.document.state import Doc


def test_trust_is_the_button_of_the_file(window, tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("a = torch.ones(2)\n")
    window.session.load(Doc(script.read_text(), path=str(script), title="mine.py", foreign=True))
    window_args._trust(window)
    assert not window.session.doc.foreign
    assert window.settings.is_trusted(str(script), script.read_text())


def test_trust_with_a_file_reaches_the_window(monkeypatch, tmp_path):
    from gradscribe.app.window import startup

    script = tmp_path / "mine.py"
    script.write_text("a = 1\n")
    monkeypatch.setenv("DISPLAY", ":0")
    given = []
    monkeypatch.setattr(startup, "open_window", lambda *words: given.append(words) or 0)
    for words in ([str(script)], [str(script), "--trust"]):
        window_args.run(_parsed(words))
    assert [words[2] for words in given] == [None, window_args._trust]


def _parsed(words):
    from gradscribe.app.cli import main

    return main.parse(words)
