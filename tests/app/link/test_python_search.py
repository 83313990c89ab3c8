"""Pythons that a script may be meant for are found by their files."""

import pytest

from gradscribe.app.link.python_search import MOST, environment_name, find_pythons

pytestmark = pytest.mark.skipif("sys.platform == 'win32'", reason="environments have bin/python")


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """Let the user have no environments elsewhere."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "XDG_CACHE_HOME", "POETRY_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


def make(prefix, version="3.12.1", torch=""):
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").touch()
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    packages = prefix / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    if torch:
        (packages / f"torch-{torch}.dist-info").mkdir()
    return prefix


def listed(folder, used=()):
    return [(found.name, found.version, found.torch) for found in find_pythons(str(folder), used)]


def test_environments_beside_a_script_and_above_it(tmp_path):
    project = tmp_path / "mnist"
    (project / ".git").mkdir(parents=True)
    make(project / ".venv", torch="2.7.1+cpu")
    scripts = project / "scripts"
    make(scripts / "venv", version="3.11.4")
    make(tmp_path / ".venv")
    assert listed(scripts) == [
        ("scripts/venv", "3.11.4", ""),
        ("mnist/.venv", "3.12.1", "2.7.1+cpu"),
    ], "not beyond the repository"


def test_pixi_poetry_conda_and_the_active_one(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "fit"
    make(project / ".pixi" / "envs" / "default")
    (project / "pyproject.toml").write_text('[project]\nname = "My_Fit"\n')
    poetry = home / ".cache" / "pypoetry" / "virtualenvs"
    make(poetry / "my-fit-Ab3_-py3.12")
    make(poetry / "other-Ab3_-py3.12")
    (home / ".conda").mkdir()
    conda = tmp_path / "conda" / "envs" / "vision"
    make(conda).joinpath("pyvenv.cfg").unlink()
    (conda / "conda-meta").mkdir()
    (conda / "conda-meta" / "python-3.10.14-h1_0.json").touch()
    (home / ".conda" / "environments.txt").write_text(f"{conda}\n/gone\n\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(make(tmp_path / "active")))
    assert [name for name, _, _ in listed(project)] == [
        "default",
        "active",
        "my-fit-Ab3_-py3.12",
        "vision",
    ]
    assert listed(project)[3] == ("vision", "3.10.14", "")


def test_each_is_listed_once_and_those_used_before_are_last(tmp_path, monkeypatch):
    here = make(tmp_path / "p" / ".venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(here))
    used = make(tmp_path / "elsewhere") / "bin" / "python"
    names = [
        found.path
        for found in find_pythons(str(tmp_path / "p"), [str(here / "bin" / "python"), str(used)])
    ]
    assert names == [str(here / "bin" / "python"), str(used)]
    assert find_pythons("", [str(tmp_path / "gone")])[1:] == []


def test_what_is_broken_is_left_out(tmp_path):
    project = tmp_path / "p"
    (project / ".venv").mkdir(parents=True)
    (project / "venv").write_text("no folder")
    (project / "pyproject.toml").write_bytes(b"\xff[")
    (tmp_path / "home" / ".conda").mkdir(parents=True)
    (tmp_path / "home" / ".conda" / "environments.txt").write_bytes(b"\xff\xfe")
    assert listed(project) == []
    make(project / "env").joinpath("pyvenv.cfg").write_bytes(b"\xff")
    assert listed(project) == [("p/env", "3.12", "")]


def test_the_list_has_an_end(tmp_path):
    for number in range(MOST + 5):
        make(tmp_path / ".pixi" / "envs" / f"e{number:03}")
    assert len(listed(tmp_path)) == MOST


def test_the_python_of_this_process_is_not_listed(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.prefix", str(make(tmp_path / "p" / ".venv")))
    assert listed(tmp_path / "p") == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/mnist/.venv/bin/python", "mnist/.venv"),
        ("/conda/envs/vision/bin/python", "vision"),
        ("/a/p/.pixi/envs/default/bin/python", "default"),
        ("/usr/bin/python3", "usr"),
    ],
)
def test_names_are_those_of_the_environment(path, name):
    assert environment_name(path) == name
