"""The player in a notebook: the page of `to_html`, whole, in a frame that can reach nothing."""

from html.parser import HTMLParser

import pytest
import torch

import gradscribe as gs
from gradscribe import player


class Frames(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.others = [], []

    def handle_starttag(self, tag, attrs):
        (self.found if tag == "iframe" else self.others).append(dict(attrs))


@pytest.fixture
def tape():
    with gs.record() as tape:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        (w * 3).sum().backward()
    return tape


def frame(markup):
    parser = Frames()
    parser.feed(markup)
    assert parser.others == []
    (found,) = parser.found
    return found


def test_the_page_is_whole_and_its_frame_can_reach_nothing(tape):
    shown = tape.player(height=500)
    found = frame(shown._repr_html_())
    assert found["srcdoc"] == tape.to_html()
    assert found["sandbox"] == "allow-scripts"
    assert "height: 500px" in found["style"]
    assert shown._mime_() == ("text/html", shown._repr_html_())


def test_a_hostile_title_stays_a_title():
    found = frame(player.TapePlayer("<p>", '"><script>alert(1)</script>', 300)._repr_html_())
    assert found["title"] == '"><script>alert(1)</script>'
    assert found["srcdoc"] == "<p>"


def test_a_page_that_is_too_big_is_a_line(tape, monkeypatch):
    monkeypatch.setattr(player, "MOST_PAGE", 100)
    markup = tape.player()._repr_html_()
    assert "too big" in markup
    assert len(markup) < 200


@pytest.mark.parametrize("height", [0, -5, 10**9])
def test_a_height_out_of_range_is_refused(tape, height):
    with pytest.raises(ValueError, match="from 200 to 4000"):
        tape.player(height)


def test_before_the_end_there_is_no_player():
    with gs.record() as tape, pytest.raises(gs.RecordingError):
        tape.player()
