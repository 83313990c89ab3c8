"""Edits that load weights, run by torch."""

import torch

from gradscribe.playback.code.weight_edits import with_weights

SOURCE = "import torch\nnet = torch.nn.Linear(2, 1)\ny = net(torch.ones(1, 2))\n"


def run(source):
    names = {}
    exec(source, names)
    return names


def test_a_module_loads_the_weights_before_it_is_called(tmp_path):
    path = tmp_path / "w 'é\".pt"
    torch.save({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([0.5])}, path)
    edited = with_weights(SOURCE, "net", str(path))
    assert run(edited)["y"].item() == 3.5
    other = tmp_path / "other.pt"
    torch.save({"weight": torch.zeros(1, 2), "bias": torch.tensor([0.25])}, other)
    again = with_weights(edited, "net", str(other))
    assert again.count("load_state_dict") == 1
    assert run(again)["y"].item() == 0.25


def test_a_line_of_another_kind_is_left_alone():
    assert with_weights(SOURCE.replace("y =", "net.load_state_dict(given)\ny ="), "net", "a") == ""
    assert with_weights("a = 1; net = 2", "net", "w.pt") == ""
    assert with_weights(SOURCE, "other", "w.pt") == ""
