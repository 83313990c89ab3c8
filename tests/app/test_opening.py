"""The first window: a file that cannot be opened is refused before anything is shown."""

from app.opening import make_app, open_window


def test_there_is_one_application(qapp):
    assert make_app(["gradscribe"]) is qapp
    assert qapp.applicationName() == "gradscribe"


def test_a_file_that_is_not_there_is_refused(qapp, tmp_path, capsys):
    assert open_window(str(tmp_path / "none.py")) == 2
    assert "none.py" in capsys.readouterr().err
