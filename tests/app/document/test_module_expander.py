"""Modules opened level by level, and big ones without a wait."""

import threading

import pytest

from gradscribe.app.document import module_expander
from gradscribe.app.document.module_expander import ModuleExpander
from gradscribe.engine.run.run import record
from gradscribe.playback.graph import build as graph_build
from gradscribe.playback.graph import expansion
from gradscribe.playback.graph.expansion import keys_inside, module_keys
from gradscribe.playback.tape import scenes

NET = """\
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Tanh()
    def forward(self, x):
        return self.b(self.a(x)) * 2
net = nn.Sequential(nn.Sequential(Inner(), nn.Linear(2, 3)), nn.ReLU(), nn.Linear(3, 1))
net(torch.ones(4, 2)).sum().backward()
"""


@pytest.fixture(scope="module")
def tape():
    return record(NET)


@pytest.fixture(scope="module")
def scene(tape):
    (found,) = scenes.scenes(tape)
    return found


@pytest.fixture
def unfolder(qtbot):
    made = ModuleExpander()
    made.heard = []
    made.found.connect(made.heard.append)
    yield made
    made.close()


def depths(tape, scene, keys):
    """Return the number of frames around each open frame, itself included."""
    parents = {
        frame.key: frame.parent for frame in graph_build.build_picture(tape, scene, keys).frames
    }

    def depth(key):
        return 1 + depth(parents[key]) if key in parents else 0

    return {depth(key) for key in parents}


def test_so_many_levels_are_opened_as_were_asked_for(tape, scene):
    assert keys_inside(tape, scene, depth=0) == frozenset()
    for depth in (1, 2, 3):
        assert max(depths(tape, scene, keys_inside(tape, scene, depth=depth))) == depth
    deepest = keys_inside(tape, scene, depth=9)
    assert deepest == keys_inside(tape, scene)
    opened = graph_build.build_picture(tape, scene, deepest)
    assert not [card for card in opened.cards if card.kind == "module"]
    assert module_keys(opened) == deepest


def test_it_goes_no_deeper_where_a_picture_would_show_nothing(tape, scene, monkeypatch):
    monkeypatch.setattr(expansion, "MAX_CARDS", 1)
    assert keys_inside(tape, scene) == frozenset()


def test_in_a_small_scene_the_answer_is_there_at_once(unfolder, tape, scene):
    unfolder.request(tape, scene, frozenset(), None)
    assert unfolder.heard == [keys_inside(tape, scene)]


def test_in_a_big_scene_nobody_waits_for_it(unfolder, tape, scene, qtbot, monkeypatch):
    monkeypatch.setattr(module_expander, "INLINE_OPS", 0)
    threads, build = [], graph_build.build_picture

    def noted(*given):
        threads.append(threading.get_ident())
        return build(*given)

    monkeypatch.setattr(graph_build, "build_picture", noted)
    unfolder.request(tape, scene, frozenset(), 2)
    assert unfolder.heard == []
    qtbot.waitUntil(lambda: bool(unfolder.heard))
    assert threading.get_ident() not in threads
    assert unfolder.heard == [keys_inside(tape, scene, depth=2)]


def test_what_another_tape_was_asked_for_is_dropped(unfolder, tape, scene, qtbot, monkeypatch):
    monkeypatch.setattr(module_expander, "INLINE_OPS", 0)
    held, build = threading.Event(), graph_build.build_picture

    def waiting(*given):
        assert held.wait(30)
        return build(*given)

    monkeypatch.setattr(graph_build, "build_picture", waiting)
    unfolder.request(tape, scene, frozenset(), None)
    unfolder.forget()
    unfolder.request(tape, scene, frozenset(), 1)
    held.set()
    qtbot.waitUntil(lambda: bool(unfolder.heard))
    assert unfolder.heard == [keys_inside(tape, scene, depth=1)]
