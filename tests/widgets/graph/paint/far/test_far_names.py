"""Names of modules from afar: legible at every zoom, on nothing else, the outermost first."""

from itertools import combinations

import pytest
from PySide6.QtCore import QRectF

from gradscribe.engine.run.run import record
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.graph.look import look_at
from gradscribe.playback.layout.place import place
from gradscribe.playback.tape.scenes import scenes
from gradscribe.widgets.base.theme import Theme
from gradscribe.widgets.graph.paint import frames
from gradscribe.widgets.graph.paint.card.cards import Layers
from gradscribe.widgets.graph.paint.drawing import GraphDrawing
from gradscribe.widgets.graph.paint.far.far_names import HEIGHT, MAX_NAMES, PX, FarNames
from gradscribe.widgets.graph.paint.stage import Stage
from tests.programs import TOWER
from tests.widgets.pixels import near, painted

ZOOMS = (0.02, 0.05, 0.1, 0.17, 0.2, 0.3, 0.4)


def opened(levels, source=TOWER):
    """Return tape, stage and look of a program with some levels of modules open."""
    tape = record(source)
    scene = scenes(tape)[0]
    keys: frozenset[str] = frozenset()
    for _ in range(levels):
        cards = build_picture(tape, scene, keys).cards
        keys |= {card.key for card in cards if card.kind == "module"}
    picture = build_picture(tape, scene, keys)
    return Stage(tape, picture, place(picture)), look_at(tape, picture, scene, scene.stop)


@pytest.fixture(scope="module", params=[1, 2, 3, 4], ids=lambda n: f"{n} levels open")
def stage(request, qapp):
    return opened(request.param)[0]


@pytest.mark.parametrize("zoom", ZOOMS)
def test_names_cover_neither_cards_nor_each_other_and_have_a_legible_size(stage, zoom):
    found = FarNames(stage).at(zoom, with_cards=zoom < 0.18)
    for name in found:
        assert name.box.height() * zoom == pytest.approx(HEIGHT)
        assert not [key for key in stage.cards_in(name.box, 0.0) if key != name.key]
    assert not any(a.box.intersects(b.box) for a, b in combinations(found, 2))
    assert PX >= 9


@pytest.mark.parametrize("zoom", ZOOMS)
def test_the_outermost_module_has_a_name_at_every_zoom(stage, zoom):
    named = {name.key for name in FarNames(stage).at(zoom, with_cards=zoom < 0.18)}
    outer = min(stage.frames, key=stage.depths.__getitem__)
    tall = stage.frame_boxes[outer].height() * zoom >= 15
    assert outer in named or frames.is_legible(zoom, stage.head_room[outer]) or not tall


def test_a_frame_has_either_a_plate_or_a_name(stage):
    for zoom in (0.1, 0.3, 0.5, 1.0):
        named = {name.key for name in FarNames(stage).at(zoom, with_cards=False)}
        plates = {key for key in stage.frames if frames.is_legible(zoom, stage.head_room[key])}
        assert not named & plates
    assert not FarNames(stage).at(1.0, with_cards=False)


def test_blocks_are_named_before_what_is_in_them(qapp):
    stage, _ = opened(3)
    found = [name.key for name in FarNames(stage).at(0.17, with_cards=True)]
    depths = [
        stage.depths[key] if key in stage.frames else stage.depths[stage.cards[key].frame] + 1
        for key in found
    ]
    assert depths == sorted(depths)
    assert {0, 1, 2} <= set(depths)


def chain(blocks):
    """Return a stage with a chain of folded blocks of two shapes in turn."""
    source = (
        "net = nn.Sequential(*(nn.Sequential(nn.Linear(2, 2 + n % 2), nn.Tanh(), "
        f"nn.Linear(2 + n % 2, 2)) for n in range({blocks})))\nloss = net(torch.ones(1, 2)).sum()"
    )
    stage, _ = opened(3, source)
    assert sum(card.kind == "module" for card in stage.cards.values()) >= blocks // 4
    return stage


@pytest.mark.parametrize("zoom", [0.05, 0.1, 0.15])
def test_folded_modules_keep_names_from_afar(qapp, zoom):
    found = FarNames(chain(60)).at(zoom, with_cards=True)
    assert len(found) >= 4


def test_the_number_of_names_is_limited(qapp):
    assert len(FarNames(chain(1500)).at(0.17, with_cards=True)) <= MAX_NAMES


@pytest.mark.parametrize("zoom", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("name", ["light", "dark"])
def test_names_are_painted_whole_whatever_is_repainted(qapp, name, zoom):
    stage, look = opened(3)
    theme = Theme.load(name)
    drawing = GraphDrawing(stage, theme, Layers(), look)
    drawing.set_zoom(zoom)
    box = next(found.box for found in FarNames(stage).at(zoom, with_cards=zoom < 0.18))
    around = box.adjusted(-4, -4, 4, 4)

    def seen(times):
        def paint(painter):
            painter.translate(-around.topLeft())
            for _ in range(times):
                for _ in drawing.area_steps(painter, [QRectF(around)], zoom):
                    pass

        return painted(paint, (around.size() * zoom).toSize(), theme.canvas.name(), zoom)

    once, twice = seen(1), seen(2)
    assert near(once, theme.ink, 60) > 4
    assert abs(near(once, theme.ink, 60) - near(twice, theme.ink, 60)) <= 2


def test_modules_of_several_lists_are_named_after_their_list(qapp):
    source = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.enc = nn.ModuleList(nn.Sequential(nn.Linear(n, n), nn.Linear(n, n + 1)) "
        "for n in (2, 3))\n"
        "        self.dec = nn.ModuleList(nn.Sequential(nn.Linear(n, n), nn.Linear(n, n - 1)) "
        "for n in (4, 3))\n"
        "    def forward(self, x):\n        for part in [*self.enc, *self.dec]:\n"
        "            x = part(x)\n        return x\n"
        "net = Net()\nloss = net(torch.ones(1, 2)).sum()"
    )
    stage, _ = opened(2, source)
    texts = {name.text for name in FarNames(stage).at(0.2, with_cards=False)}
    assert {"net", "enc.0", "enc.1", "dec.0", "dec.1"} <= texts
    stage, _ = opened(1, source)
    texts = {name.text for name in FarNames(stage).at(0.17, with_cards=True)}
    assert {"enc.0: Sequential", "dec.1: Sequential"} <= texts
