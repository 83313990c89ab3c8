"""Export: pictures, films and tapes in files, and on the clipboard."""

import json

import pytest

from app.commands import export
from app.documents import Refused
from widgets import graph_export


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_picture_is_written(settled, tmp_path, kind):
    settled.answers["save"] = tmp_path / "graph"
    (export.export_svg if kind == "svg" else export.export_png)(settled)
    start = (tmp_path / f"graph.{kind}").read_bytes()[:200]
    assert b"<svg" in start or start.startswith(b"\x89PNG")


def test_the_picture_is_written_for_graphviz(settled, tmp_path):
    settled.answers["save"] = tmp_path / "graph"
    export.export_dot(settled)
    text = (tmp_path / "graph.dot").read_text(encoding="utf-8")
    assert text.startswith("digraph")
    assert text.count("->") == len(settled.showing.picture.wires)
    settled.answers["save"] = tmp_path / "no such folder" / "graph.dot"
    with pytest.raises(Refused):
        export.export_dot(settled)


def test_the_picture_is_put_on_the_clipboard(settled, qapp):
    qapp.clipboard().clear()
    export.copy_picture(settled)
    held = qapp.clipboard().image()
    assert held.size() == (settled.graph.picture_size() * 2).toSize()
    qapp.clipboard().clear()


def test_the_tape_is_written_as_json(settled, tmp_path):
    settled.answers["save"] = tmp_path / "tape"
    export.export_tape(settled)
    tape = json.loads((tmp_path / "tape.json").read_text())
    assert tape["status"] == "ok"
    grads = {leaf["name"]: leaf["grad"] for leaf in tape["leaves"]}
    assert grads == {"x": -4.0, "y": -4.0, "z": 3.0}


@pytest.mark.parametrize("name", ["graph", "graph.v2", "graph.txt"])
def test_the_ending_says_what_is_in_the_file(settled, tmp_path, name):
    settled.answers["save"] = tmp_path / name
    export.export_dot(settled)
    assert [path.name for path in tmp_path.glob("graph*")] == [f"{name}.dot"]


def test_a_folder_that_is_gone_is_told_before_anything_is_drawn(settled, tmp_path):
    settled.answers["save"] = tmp_path / "gone" / "a.gif"
    with pytest.raises(Refused, match="its folder does not exist"):
        export.export_gif(settled)
    assert not settled.is_filming


def test_the_playback_is_written_while_the_window_lives(settled, qtbot, tmp_path):
    settled.answers["save"] = tmp_path / "film"
    settled.clock.set_speed(8.0)
    with qtbot.waitSignal(settled.filming.ended, timeout=20_000) as ended:
        export.export_gif(settled)
        assert settled.is_filming
        assert not settled.over.film.isHidden()
    assert ended.args == ["Wrote film.gif"]
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")
    assert settled.over.film.isHidden()
    assert settled.status.message.text() == "Wrote film.gif"


def test_cancelling_leaves_no_file(settled, qtbot, tmp_path):
    settled.answers["save"] = tmp_path / "film.mp4"
    export.export_mp4(settled)
    export.cancel_film(settled)
    assert not settled.is_filming
    assert list(tmp_path.glob("film*")) == []
    assert list(tmp_path.glob(".film*")) == []


def test_of_two_films_at_once_the_second_is_refused(settled, tmp_path):
    settled.answers["save"] = tmp_path / "film.gif"
    export.export_gif(settled)
    with pytest.raises(Refused, match="still being written"):
        export.export_gif(settled)
    export.cancel_film(settled)


def test_it_is_told_where_an_image_is_too_small_to_be_read(settled, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(settled, "say", said.append)
    for kind in ("png", "svg"):
        settled.answers["save"] = tmp_path / "graph"
        monkeypatch.setattr(graph_export, "LONGEST", 60)
        (export.export_svg if kind == "svg" else export.export_png)(settled)
    export.copy_picture(settled)
    assert ["SVG has all of it" in words for words in said] == [True, False, True]
