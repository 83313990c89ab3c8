"""Export: pictures, films and tapes in files, and on the clipboard."""

import io
import json

import av
import networkx as nx
import pytest

from gradscribe.app.commands import export, load
from gradscribe.app.export.film_card import FilmCard
from gradscribe.app.files.documents import Refused
from gradscribe.playback.tape.tempo import VideoTiming
from gradscribe.widgets.graph import snapshot


@pytest.fixture
def exported(settled, qtbot):
    """Return a function that runs a command of export to its end, and what was said then."""

    def run(command):
        with qtbot.waitSignal(settled.export_queue.ended, timeout=20_000) as ended:
            command(settled.context)
        return ended.args[0]

    return run


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_picture_is_written(settled, exported, tmp_path, kind):
    settled.answers["save"] = tmp_path / "graph"
    words = exported(export.export_svg if kind == "svg" else export.export_png)
    assert words == f"Wrote graph.{kind}"
    start = (tmp_path / f"graph.{kind}").read_bytes()[:200]
    assert b"<svg" in start or start.startswith(b"\x89PNG")


def test_the_picture_is_as_it_was_when_it_was_asked_for(settled, exported, tmp_path):
    settled.answers["save"] = tmp_path / "whole"
    exported(export.export_svg)
    settled.answers["save"] = tmp_path / "graph"
    export.export_svg(settled.context)
    settled.clock.seek(0)
    settled.session.show_layers({"gradients": False})
    assert exported(lambda _: None) == "Wrote graph.svg"
    assert (tmp_path / "graph.svg").read_bytes() == (tmp_path / "whole.svg").read_bytes()


def test_the_picture_is_written_for_graphviz(settled, exported, tmp_path):
    settled.answers["save"] = tmp_path / "graph"
    exported(export.export_dot)
    text = (tmp_path / "graph.dot").read_text(encoding="utf-8")
    assert text.startswith("digraph")
    assert text.count("->") == len(settled.presenter.picture.wires)
    settled.answers["save"] = tmp_path / "no such folder" / "graph.dot"
    with pytest.raises(Refused):
        export.export_dot(settled.context)


def test_the_run_is_written_as_a_page(settled, exported, tmp_path):
    settled.answers["save"] = tmp_path / "run"
    assert exported(export.export_html) == "Wrote run.html"
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="run">')[2].partition("</script>")[0])
    assert "\n".join(data["source"]) == settled.session.result.source
    assert len(data["events"]) == len(settled.session.result.tape.events) + 1
    settled.answers["save"] = tmp_path / "no such folder" / "run.html"
    with pytest.raises(Refused):
        export.export_html(settled.context)


def test_the_picture_is_put_on_the_clipboard(settled, exported, qapp):
    qapp.clipboard().clear()
    assert exported(export.copy_picture) == "Copied the picture"
    held = qapp.clipboard().image()
    assert held.size() == (settled.graph.snapshot().size * 2).toSize()
    qapp.clipboard().clear()


def test_the_tape_is_written_as_json(settled, exported, tmp_path):
    settled.answers["save"] = tmp_path / "tape"
    exported(export.export_tape)
    tape = json.loads((tmp_path / "tape.json").read_text())
    assert tape["status"] == "ok"
    grads = {leaf["name"]: leaf["grad"] for leaf in tape["leaves"]}
    assert grads == {"x": -4.0, "y": -4.0, "z": 3.0}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (export.export_graphml, "graphml"),
        (export.export_gexf, "gexf"),
        (export.export_graph_json, "json"),
    ],
)
def test_the_graph_is_written_for_other_programs(settled, exported, tmp_path, command, kind):
    settled.answers["save"] = tmp_path / "graph"
    assert exported(command) == f"Wrote graph.{kind}"
    data = (tmp_path / f"graph.{kind}").read_bytes()
    if kind == "json":
        graph = nx.node_link_graph(json.loads(data), edges="edges")
    else:
        graph = (nx.read_graphml if kind == "graphml" else nx.read_gexf)(io.BytesIO(data))
    grads = {known["name"]: known.get("grad") for _, known in graph.nodes(data=True)}
    assert {name: grads[name] for name in "xyz"} == {"x": -4.0, "y": -4.0, "z": 3.0}


@pytest.mark.parametrize("name", ["graph", "graph.v2", "graph.txt"])
def test_the_ending_says_what_is_in_the_file(settled, exported, tmp_path, name):
    settled.answers["save"] = tmp_path / name
    exported(export.export_dot)
    assert [path.name for path in tmp_path.glob("graph*")] == [f"{name}.dot"]


def film_card(window):
    """Return the card with the options of a film that is open."""
    return window.ground.findChildren(FilmCard)[-1]


def film(window, command, path):
    """Export the playback to a file, with the options that the card proposes."""
    command(window.context)
    card = film_card(window)
    card.path.setText(str(path))
    card.export.click()
    return card


def test_a_folder_that_is_gone_is_said_before_anything_is_drawn(settled, tmp_path):
    card = film(settled, export.export_gif, tmp_path / "gone" / "a.gif")
    assert "its folder does not exist" in card.path_error.text()
    assert not settled.export_queue.busy


def test_the_playback_is_written_while_the_window_lives(settled, qtbot, tmp_path):
    settled.clock.set_speed(8.0)
    with qtbot.waitSignal(settled.export_queue.ended, timeout=20_000) as ended:
        film(settled, export.export_gif, tmp_path / "film.gif")
        assert settled.export_queue.busy
    assert ended.args == ["Wrote film.gif"]
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")
    assert settled.over.film.isHidden()
    assert settled.status.message.text() == "Wrote film.gif"


def test_cancelling_leaves_no_file(settled, qtbot, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    settled.answers["save"] = folder / "film"
    for command in (export.export_svg, export.export_png):
        command(settled.context)
        export.cancel_film(settled.context)
        assert not settled.export_queue.busy
    for name in ("film.gif", "film.mp4"):
        film(settled, export.export_mp4, folder / name)
        assert settled.export_queue.busy
        export.cancel_film(settled.context)
        assert not settled.export_queue.busy
    assert list(folder.iterdir()) == []


def test_of_two_films_at_once_the_second_is_refused(settled, tmp_path):
    film(settled, export.export_gif, tmp_path / "film.gif")
    card = film(settled, export.export_gif, tmp_path / "other.gif")
    assert "still being written" in card.path_error.text()
    export.cancel_film(settled.context)


def test_a_film_shows_what_was_marked_at_the_speed_of_the_playback(settled, tmp_path):
    settled.clock.set_speed(4.0)
    settled.clock.seek(2)
    settled.menus.perform_by("file.film_from")
    settled.clock.seek(6)
    settled.menus.perform_by("file.film_to")
    assert "event 2 to 6" in settled.status.message.text()
    settled.answers["folder"] = tmp_path
    export.export_mp4(settled.context)
    made = film_card(settled).options()
    assert (made.first, made.stop, made.speed) == (2, 6, 4.0)
    assert film_card(settled).file().parent == tmp_path
    assert film_card(settled).file().suffix == ".mp4"


def test_a_film_is_of_the_tape_that_was_shown_when_its_card_opened(
    settled, qtbot, tmp_path, link, record
):
    settled.clock.set_speed(8.0)
    export.export_mp4(settled.context)
    card = film_card(settled)
    shown = VideoTiming(settled.session.result.tape.events, 30, 8.0)
    longer = "a = param(1.0)\nfor _ in range(30):\n    a = a * 1.0\n"
    settled.session.edit_live(longer)
    link.answer(record(longer))
    card.path.setText(str(tmp_path / "film.mp4"))
    with qtbot.waitSignal(settled.export_queue.ended, timeout=20_000):
        card.export.click()
    with av.open(str(tmp_path / "film.mp4")) as made:
        assert made.streams.video[0].frames == len(shown)


def test_it_is_told_where_an_image_is_too_small_to_be_read(
    settled, exported, tmp_path, monkeypatch
):
    monkeypatch.setattr(snapshot, "MAX_SIDE", 60)
    settled.answers["save"] = tmp_path / "graph"
    commands = (export.export_png, export.export_svg, export.copy_picture)
    said = [exported(command) for command in commands]
    assert ["SVG has all of it" in words for words in said] == [True, False, True]


FIGURES = """import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig("loss.png")
"""


def show_figures(window, link, source):
    """Run a program under the policy: as in the confinement, it writes no file itself."""
    from gradscribe.engine.protocol.messages import Run
    from gradscribe.engine.run import run

    window.session.apply_fix(source)
    link.answer(run.execute(Run(0, source, policy=True)))


@pytest.mark.checklist(178)
def test_178_savefig_goes_where_the_user_chooses(settled, link, tmp_path, qtbot):
    show_figures(settled, link, FIGURES)
    settled.answers["save"] = tmp_path / "chosen.png"
    settled.console.save_files.click()
    settled.context.file_writer.finish()
    qtbot.waitUntil(lambda: settled.status.message.text() == "Wrote chosen.png")
    data = (tmp_path / "chosen.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    (figure,) = settled.session.result.tape.figures
    assert data == figure.file, "as Matplotlib made it"


def test_178_several_files_go_into_a_folder_and_overwrite_nothing(settled, link, tmp_path, qtbot):
    source = FIGURES + 'plt.savefig("../../a.svg")\nplt.savefig("loss.png", dpi=20)\n'
    show_figures(settled, link, source)
    settled.answers["folder"] = tmp_path
    export.save_figures(settled.context)
    settled.context.file_writer.finish()
    qtbot.waitUntil(lambda: settled.status.message.text() == "Wrote 2 files")
    assert sorted(path.name for path in tmp_path.glob("*.[ps]*g")) == ["a.svg", "loss.png"]
    last = settled.session.result.tape.figures[-1]
    assert (tmp_path / "loss.png").read_bytes() == last.file
    with pytest.raises(Refused, match="there already"):
        export.save_figures(settled.context)


def test_178_nothing_is_offered_without_files(settled):
    assert settled.console.save_files.isHidden()
    (command,) = [one for one in load() if one.id == "file.save_figures"]
    assert not command.when(settled.context)
