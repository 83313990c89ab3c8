"""A module's API as it stands at a call: parameters(), state_dict(), to(), hooks (row 106)."""

import torch
from torch import nn

from gradscribe.playback.explain import module_api

PROGRAM = """from torch import nn

def log_shape(module, given, output):
    pass

net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
net[0].register_forward_hook(log_shape)
net[0].register_forward_pre_hook(lambda module, given: None)
y = net(torch.ones(4, 2))
net[0].requires_grad_(False)
net.eval()
z = net(torch.ones(4, 2))
net(torch.ones(4, 2))
"""


def call(tape, name, number=0):
    return [at for at, one in enumerate(tape.calls) if one.name == name][number]


def plain():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))


def test_parameters_and_state_dict_are_those_of_torch(recorded):
    tape = recorded(PROGRAM)
    entries = module_api.entries_at(tape, call(tape, "net"))
    model = plain()
    state = model.state_dict()
    assert {one.name: one.shape for one in entries} == {n: tuple(t.shape) for n, t in state.items()}
    parameters = dict(model.named_parameters())
    assert {one.name for one in entries if one.kind == "parameter"} == set(parameters)
    assert all(one.requires_grad == (one.name in parameters) for one in entries)
    rows = dict(module_api.rows(entries))
    size = sum(t.numel() * t.element_size() for t in state.values())
    assert rows["parameters()"] == f"{len(parameters)} tensors, {len(parameters)} learn"
    assert rows["state_dict()"] == f"{len(state)} tensors, {size} B"
    assert rows["to()"] == "cpu float32, cpu int64"
    assert rows["1.running_mean"] == "3, buffer"


def test_a_layer_inside_has_its_own_part_with_its_own_names(recorded):
    tape = recorded(PROGRAM)
    inside = module_api.entries_at(tape, call(tape, "net.1"))
    assert [one.name for one in inside] == list(nn.BatchNorm1d(3).state_dict())


def test_it_is_as_it_stands_at_each_call_and_not_sent_again_unchanged(recorded):
    tape = recorded(PROGRAM)
    calls = [call(tape, "net", number) for number in range(3)]
    frozen = [
        [
            one.name
            for one in module_api.entries_at(tape, at)
            if one.kind == "parameter" and not one.requires_grad
        ]
        for at in calls
    ]
    assert frozen == [[], ["0.weight", "0.bias"], ["0.weight", "0.bias"]]
    assert [bool(tape.calls[at].state) for at in calls] == [True, True, False]
    assert [tape.calls[at].training for at in calls] == [True, False, False]


def test_hooks_are_named_by_what_they_follow(recorded):
    tape = recorded(PROGRAM)
    assert tape.calls[call(tape, "net.0")].hooks == ("forward_pre: <lambda>", "forward: log_shape")
    assert tape.calls[call(tape, "net.1")].hooks == ()


def test_a_buffer_that_is_not_saved_is_not_in_the_state_dict(recorded):
    tape = recorded(
        """from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(3), persistent=False)
        self.register_buffer("none", None)

    def forward(self, x):
        return x * self.mask

net = Net()
y = net(torch.ones(3))
"""
    )
    entries = module_api.entries_at(tape, call(tape, "net"))
    assert [(one.name, one.kind) for one in entries] == [("mask", "unsaved buffer")]
    assert dict(module_api.rows(entries))["state_dict()"] == "0 tensors, 0 B"


def test_a_module_whose_attributes_raise_runs_all_the_same(recorded):
    tape = recorded(
        """from torch import nn

class Odd(nn.Linear):
    def named_modules(self, *args, **more):
        raise RuntimeError("not now")

net = Odd(2, 1)
y = net(torch.ones(1, 2))
"""
    )
    assert tape.error is None
    assert tape.calls[0].state == ()


def test_many_tensors_are_counted_after_the_first():
    from gradscribe.engine.protocol.tape import StateEntry

    entries = tuple(
        StateEntry(f"{n}.w", "parameter", (2,), "float32", "cpu", True) for n in range(100)
    )
    rows = module_api.rows(entries)
    assert len(rows) == 3 + module_api.MOST_LISTED + 1
    assert rows[-1] == ("", f"and {100 - module_api.MOST_LISTED} more")
    assert torch.tensor(0.0).element_size() * 200 == 800
    assert dict(rows)["state_dict()"] == "100 tensors, 800 B"
