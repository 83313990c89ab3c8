"""Screenshots: the real window and the real engine, without a screen."""

import json

import pytest
from PySide6.QtGui import QImage

from gradscribe.app.cli.screenshot import export_film, export_graph, screenshot, wait_until
from gradscribe.app.files.documents import Refused
from gradscribe.app.files.settings import Settings

pytestmark = pytest.mark.e2e


@pytest.fixture
def program(tmp_path):
    def write(text):
        path = tmp_path / "program.py"
        path.write_text(text)
        return str(path)

    return write


def test_the_first_example_is_drawn(qapp, tmp_path):
    out = tmp_path / "shot.png"
    assert screenshot(str(out)) == 0
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1440, 900)
    colors = {image.pixel(x, y) for x in range(0, 1440, 7) for y in range(0, 900, 7)}
    assert len(colors) > 50


def test_positions_differ(qapp, tmp_path):
    shots = []
    for at in (0, -1):
        out = tmp_path / f"{at}.png"
        assert screenshot(str(out), at=at, size=(1000, 640), theme="dark") == 0
        shots.append(out.read_bytes())
    assert shots[0] != shots[1]


def ground(path):
    """Return how light the picture is at its edge, from 0 to 255."""
    return QImage(str(path)).pixelColor(2, 800).lightness()


def test_the_theme_is_that_of_the_settings_unless_one_is_asked_for(qapp, tmp_path):
    settings = Settings.of_user()
    settings.put("theme", "dark")
    settings.flush()
    for name, theme in (("own", ""), ("asked", "light")):
        assert screenshot(str(tmp_path / f"{name}.png"), theme=theme) == 0
    assert ground(tmp_path / "own.png") < 60
    assert ground(tmp_path / "asked.png") > 200


def test_a_set_up_is_drawn_at_the_step_where_it_ends(qapp, tmp_path):
    setup = tmp_path / "moons.json"
    setup.write_text('{"data": "moons", "model": "mlp", "batch": 16, "steps": 90}')
    shots = []
    for name in ("first", "second"):
        out = tmp_path / f"{name}.png"
        assert screenshot(str(out), str(setup)) == 0
        shots.append(QImage(str(out)))
    assert shots[0] == shots[1]


def test_a_set_up_that_fails_exits_1(qapp, tmp_path):
    setup = tmp_path / "fast.json"
    setup.write_text('{"data": "line", "model": "linear", "optimizer": {"name": "sgd", "lr": 1e9}}')
    assert screenshot(str(tmp_path / "shot.png"), str(setup)) == 1


BRINGS = """
{before}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 1)

    def forward(self, x):
        return self.line(x)
"""


@pytest.mark.parametrize(
    ("before", "trusted", "code"),
    [("", False, 0), ("import subprocess", False, 1), ("import subprocess", True, 0)],
)
def test_a_set_up_that_brings_a_module_trains_as_far_as_it_is_trusted(
    qapp, tmp_path, before, trusted, code
):
    setup = tmp_path / "own.json"
    model = {"name": "own", "source": BRINGS.format(before=before)}
    setup.write_text(json.dumps({"data": "moons", "model": model, "steps": 20}))
    out = tmp_path / "shot.png"
    assert screenshot(str(out), str(setup), trusted=trusted) == code
    assert out.exists()


def test_a_program_that_fails_is_drawn_and_exits_1(qapp, tmp_path, program):
    out = tmp_path / "shot.png"
    assert screenshot(str(out), program("x = param(1.0)\nx.nothing()")) == 1
    assert out.exists()


def test_a_missing_file_exits_2_in_one_line(qapp, tmp_path, capsys):
    assert screenshot(str(tmp_path / "shot.png"), str(tmp_path / "none.py")) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_picture_that_cannot_be_written_exits_2(qapp, tmp_path, capsys):
    assert screenshot(str(tmp_path / "no" / "shot.png")) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_graph_alone_is_drawn(qapp, tmp_path, sum_times, kind):
    out = tmp_path / f"graph.{kind}"
    export_graph(sum_times, str(out))
    assert out.stat().st_size > 1000


def test_values_run_the_way_that_is_asked_for(qapp, tmp_path, sum_times):
    sizes = {}
    for flow in ("down", "right"):
        out = tmp_path / f"{flow}.png"
        export_graph(sum_times, str(out), flow=flow)
        sizes[flow] = QImage(str(out)).size()
    assert sizes["down"].height() > sizes["right"].height()
    assert sizes["right"].width() > sizes["down"].width()


def test_a_film_runs_the_way_that_is_asked_for(qapp, tmp_path, sum_times):
    films = {}
    for flow in ("down", "right"):
        export_film(sum_times, str(tmp_path / f"{flow}.gif"), flow=flow)
        films[flow] = (tmp_path / f"{flow}.gif").read_bytes()
    assert films["down"] != films["right"]


def test_other_pictures_are_refused(qapp, tmp_path, sum_times):
    with pytest.raises(Refused, match=r"\.svg, \.png or \.dot"):
        export_graph(sum_times, str(tmp_path / "graph.gif"))


def test_a_film_is_written_and_tells_how_far_it_is(qapp, tmp_path, sum_times):
    told = []
    export_film(sum_times, str(tmp_path / "a.gif"), progress=lambda *words: told.append(words))
    assert [done for _, done, _ in told] == list(range(1, told[-1][2] + 1))
    assert told[0][0] == "a.gif"
    with pytest.raises(Refused, match=r"\.gif or \.mp4"):
        export_film(sum_times, str(tmp_path / "a.avi"))


def test_waiting_ends_by_itself(qapp):
    assert not wait_until(lambda: False, 0.05)
    assert wait_until(lambda: True, 0.05)
