"""Layers that behave differently in train and in eval mode carry a badge with it (row 61)."""

import pytest
import torch
from msgspec.structs import replace
from torch import nn

from gradscribe.playback.graph import module_modes
from gradscribe.playback.graph.build import build_picture
from gradscribe.playback.tape.scenes import scenes

PROGRAM = """from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 1))
{mode}
y = net(torch.ones(4, 2))
"""
LAYERS = {
    "Dropout(0.5)": True,
    "Dropout(0.0)": False,
    "AlphaDropout(0.2)": True,
    "Dropout2d(0.3)": True,
    "BatchNorm1d(3)": True,
    "BatchNorm1d(3, track_running_stats=False)": False,
    "InstanceNorm1d(3)": False,
    "InstanceNorm1d(3, track_running_stats=True)": True,
    "LayerNorm(3)": False,
    "GroupNorm(1, 3)": False,
    "RReLU()": True,
    "ReLU()": False,
    "LSTM(3, 3, num_layers=2, dropout=0.5)": True,
    "GRU(3, 3, num_layers=2)": False,
    "Linear(3, 3)": False,
}


@pytest.mark.parametrize("source", LAYERS)
def test_a_layer_has_a_mode_if_torch_computes_something_else_in_it(recorded, source):
    torch.manual_seed(1)
    layer = eval(f"nn.{source}", {"nn": nn})
    shape = {"Norm1d": (5, 3, 4), "GroupN": (5, 3, 4), "out2d(": (5, 3, 4, 4)}.get(
        next((part for part in ("Norm1d", "GroupN", "out2d(") if part in source), ""), (6, 5, 3)
    )
    x = torch.randn(shape)
    outputs = []
    for training in (True, False):
        torch.manual_seed(0)
        result = layer.train(training)(x)
        outputs.append(result[0] if isinstance(result, tuple) else result)
    differs = not torch.equal(*outputs)
    assert differs == LAYERS[source]
    tape = recorded(f"layer = torch.nn.{source}\ny = layer(torch.randn({shape}))")
    call = next(call for call in tape.calls if call.kind == source.partition("(")[0])
    assert module_modes.depends_on_mode(call) == differs


def marks_of(tape, open_calls=None):
    scene = scenes(tape)[0]
    return {card.title: card.mark for card in build_picture(tape, scene, open_calls).cards}


@pytest.mark.parametrize(("mode", "mark"), [("", "train"), ("net.eval()", "eval")])
def test_cards_say_the_mode_and_so_does_a_folded_model(recorded, mode, mark):
    tape = recorded(PROGRAM.format(mode=mode))
    found = module_modes.modes(tape)
    kinds = {tape.calls[number].kind: words for number, words in found.items()}
    assert kinds == {"Sequential": mark, "BatchNorm1d": mark, "Dropout": mark}
    folded = marks_of(tape, frozenset())
    assert [mark for mark in folded.values() if mark] == [mark]
    opened = marks_of(tape, frozenset({"call:net#0"}))
    badges = {title: words for title, words in opened.items() if words}
    # In eval mode Dropout returns its input, so that there is no op and no card.
    shown = {"1: BatchNorm1d", "dropout"} if mark == "train" else {"1: BatchNorm1d"}
    assert badges == dict.fromkeys(shown, mark)


def test_a_model_with_layers_in_both_modes_says_both(recorded):
    tape = recorded(PROGRAM.format(mode="net[1].eval()"))
    kinds = {tape.calls[n].kind: words for n, words in module_modes.modes(tape).items()}
    assert kinds == {"Sequential": "train and eval", "BatchNorm1d": "eval", "Dropout": "train"}


def test_zero_is_told_from_other_shares():
    from gradscribe.engine.protocol.tape import Call

    call = Call(0, "d", "Dropout", None, 0, True, 0, "p=0.05, inplace=False")
    assert module_modes.depends_on_mode(call)
    for about in ("p=0, inplace=False", "p=0.0, inplace=True", "p=0.00"):
        assert not module_modes.depends_on_mode(replace(call, about=about))


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_an_open_module_says_its_mode_where_the_layer_has_no_card(recorded, mode):
    tape = recorded(PROGRAM.format(mode=f"net.{mode}()"))
    picture = build_picture(tape, scenes(tape)[0], frozenset({"call:net#0"}))
    assert [frame.kind for frame in picture.frames] == [f"Sequential · {mode}"]


def test_an_op_between_layers_has_no_mode(recorded):
    """Each op of a model with a BatchNorm said *train*, also a ``cat`` or a ``relu``."""
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm = nn.BatchNorm1d(2)\n    def forward(self, x):\n"
        "        return torch.cat([torch.relu(self.norm(x)), x])\n"
        "net = Net()\ny = net(torch.ones(3, 2)).sum()"
    )
    marks = marks_of(tape, frozenset({"call:net#0"}))
    assert {title for title, mark in marks.items() if "train" in mark} == {"norm: BatchNorm1d"}
    assert {"relu", "cat"} <= set(marks)
