import sys

import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.run.script_imports import (
    next_to_sent_files,
    script_folder,
    script_imports,
)


def test_a_module_beside_the_script_is_imported_anew_each_time(tmp_path):
    beside = tmp_path / "beside_the_script.py"
    seen = []
    for text in ("found = 1", "found = 'another'"):
        beside.write_text(text)
        with script_imports(str(tmp_path)):
            import beside_the_script  # type: ignore[import-not-found]

            seen.append(beside_the_script.found)
        assert "beside_the_script" not in sys.modules
        assert str(tmp_path) not in sys.path
    assert seen == [1, "another"]


def test_what_was_loaded_before_and_what_is_installed_stay(tmp_path):
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "installed_beside.py").write_text("")
    with script_imports(str(tmp_path)):
        sys.path.insert(0, str(installed))
        import installed_beside  # type: ignore[import-not-found]

        sys.path.remove(str(installed))
    assert sys.modules.pop("installed_beside") is installed_beside
    assert sys.modules["pytest"] is pytest


def test_an_error_of_the_script_leaves_the_path_as_it_was(tmp_path):
    before = list(sys.path)
    with pytest.raises(ZeroDivisionError), script_imports(str(tmp_path)):
        raise ZeroDivisionError
    assert sys.path == before


@pytest.mark.parametrize("policy", [False, True])
def test_only_a_script_of_the_users_own_has_a_folder(tmp_path, policy):
    script = tmp_path / "script.py"
    script.write_text("")
    own = messages.Run(1, "", filename=str(script), policy=policy)
    assert script_folder(own) == ("" if policy else str(tmp_path))
    assert script_folder(messages.Run(1, "", filename="<editor>")) == ""


@pytest.mark.parametrize("name", ["/project/train.py", r"C:\project\train.py"])
def test_a_script_that_was_sent_is_next_to_its_files(monkeypatch, tmp_path, name):
    (tmp_path / "train.py").write_text("")
    request = messages.Run(1, "", name)
    assert next_to_sent_files(request) is request
    monkeypatch.setenv("GRADSCRIBE_SENT_FILES", str(tmp_path))
    there = next_to_sent_files(request)
    assert there.filename == str(tmp_path / "train.py")
    assert script_folder(there) == str(tmp_path)
    policed = messages.Run(1, "", name, policy=True)
    assert next_to_sent_files(policed) is policed
