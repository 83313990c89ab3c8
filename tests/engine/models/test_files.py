"""Modules as files, read back by plain PyTorch; and files that are not what they seem."""

import io
import pickle
import zipfile

import pytest
import torch
from torch import nn

from gradscribe.engine.models import files
from gradscribe.engine.models.files import Inputs, ModelFileError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.norm = nn.BatchNorm1d(3)
        self.table = nn.Embedding(5, 3)

    def forward(self, x, ids=None):
        y = self.norm(self.fc(x))
        return y if ids is None else y + self.table(ids).sum(0)


@pytest.fixture
def net():
    return Net()


def test_68_weights_come_back_in_both_formats(net):
    state = files.state_of(net)
    for kind, data in (
        ("pt", files.state_dict(state)),
        ("safetensors", files.weights_as_safetensors(state)),
    ):
        back = files.read_state(data, kind)
        files.check_fit(back, net)
        assert back.keys() == state.keys()
        assert all(torch.equal(back[name], state[name]) for name in state)
    torch.load(io.BytesIO(files.state_dict(state)), weights_only=True)


@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model"])
def test_the_weights_of_a_checkpoint_are_found(net, key):
    file = io.BytesIO()
    torch.save({key: net.state_dict(), "epoch": 3}, file)
    files.check_fit(files.read_state(file.getvalue(), "pt"), net)


def test_68_an_exported_program_computes_the_same(net):
    ids = torch.tensor([1, 2])
    was = net.training
    data = files.exported_program(net, Inputs((torch.ones(4, 2),), {"ids": ids}))
    assert net.training == was
    loaded = torch.export.load(io.BytesIO(data)).module()
    net.eval()
    x = torch.randn(4, 2)
    torch.testing.assert_close(loaded(x, ids=ids), net(x, ids=ids))


def test_68_an_exported_program_takes_any_number_of_rows(net):
    data = files.exported_program(net, Inputs((torch.ones(4, 2, requires_grad=True) * 1,)))
    loaded = torch.export.load(io.BytesIO(data)).module()
    net.eval()
    x = torch.randn(9, 2)
    torch.testing.assert_close(loaded(x), net(x))


def test_a_module_that_cannot_be_followed_says_why():
    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum().item() > 0 else -x

    with pytest.raises(ModelFileError, match="cannot follow"):
        files.exported_program(Branch(), Inputs((torch.ones(2),)))


class Evil:
    def __reduce__(self):
        return (print, ("it ran",))


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def archive(compressed):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", compressed)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (saved({"w": Evil()}), "could run code"),
        (pickle.dumps(Evil(), 4), "could run code"),
        (saved(nn.Linear(1, 1)), "could run code"),
        (b"", "cannot read it"),
        (b"not a file", "it"),
        (archive(b"\x80\x02."), "it"),
        (saved(torch.ones(2)), "no state_dict"),
        (saved({"w": torch.ones(2), "n": 3}), "no state_dict"),
        (saved({1: torch.ones(2)}), "no state_dict"),
        (saved({"model": {"model": 3}}), "no state_dict"),
    ],
)
def test_what_is_no_file_of_weights_is_refused_in_a_line(data, reason, capsys):
    with pytest.raises(ModelFileError, match=reason) as refused:
        files.read_state(data, "pt")
    assert "\n" not in str(refused.value)
    assert capsys.readouterr().out == "", "nothing of it ran"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda s: s.pop("fc.bias"), "lacks fc.bias"),
        (lambda s: s.update(other=torch.ones(1)), "the module has no other"),
        (
            lambda s: s.update({"fc.weight": torch.ones(3, 4)}),
            "fc.weight is 3 × 4 in the file and 3 × 2 in the module",
        ),
        (lambda s: s.clear(), r"lacks fc.weight, fc.bias and 6 more"),
    ],
)
def test_weights_that_do_not_fit_say_so(net, change, reason):
    state = dict(files.state_of(net))
    change(state)
    with pytest.raises(ModelFileError, match=reason):
        files.check_fit(state, net)


def test_a_state_dict_of_more_than_tensors_is_refused():
    class Odd(nn.Module):
        def get_extra_state(self):
            return {"a": 1}

    with pytest.raises(ModelFileError, match="no tensor"):
        files.state_of(Odd())


def test_onnx_says_which_package_is_missing(net, monkeypatch):
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelFileError, match="onnx and onnxscript"):
        files.onnx(net, Inputs((torch.ones(4, 2),)))
