"""Candidates at a caret, checked against torch itself."""

import pytest
import torch

from gradscribe.engine.language.catalogue import read_torch
from gradscribe.engine.protocol.language import KnownName
from gradscribe.playback.completion import candidates
from gradscribe.playback.completion.candidates import (
    Known,
    called,
    matching,
    merged,
    offer,
    resolved,
)
from gradscribe.playback.completion.caret import call_around, caret_in
from gradscribe.playback.completion.live_names import LiveName
from gradscribe.playback.completion.source_names import names_in

LIVE = {
    "x": LiveName("tensor", "16 × 8"),
    "net": LiveName("module", "Net"),
    "net.fc1": LiveName("module", "Linear 8 → 3"),
    "net.fc1.weight": LiveName("tensor", "3 × 8"),
    "net.blocks": LiveName("part"),
}
SOURCE = ["import torch.nn as layers", "x = 3", "net = Net()", "loss = 1", "other = loss"]


@pytest.fixture(scope="module")
def known():
    return Known(names_in(SOURCE), LIVE, read_torch().owners)


def offered(text, known):
    caret = caret_in(text)
    assert caret is not None
    found = offer(caret, known, call_around(text))
    return [one.name for one in matching(found.candidates, caret.prefix)], found


def public(owner):
    return {name for name in dir(owner) if not name.startswith("_")}


def test_a_tensor_of_the_last_run_has_the_members_of_a_tensor(known):
    names, found = offered("x.", known)
    assert set(names) == public(torch.Tensor)
    assert found.is_whole


@pytest.mark.parametrize(
    "path", ["x.T", "x.grad", "x[0]", "x[0].T", "net.fc1.weight", "net.fc1.weight.grad"]
)
def test_tensors_in_tensors_and_modules_are_tensors(path, known):
    assert set(offered(f"{path}.", known)[0]) == public(torch.Tensor)


def test_a_module_has_its_parts_first_and_then_the_members_of_a_module(known):
    names, found = offered("net.", known)
    assert names[:2] == ["blocks", "fc1"]
    assert public(torch.nn.Module) <= set(names)
    assert not found.is_whole
    detail = {one.name: one.detail for one in found.candidates}
    assert detail["fc1"] == "Linear 8 → 3"


def test_a_package_has_all_its_names(known):
    for text, package in (
        ("torch.nn.functional.", torch.nn.functional),
        ("F.", torch.nn.functional),
        ("layers.", torch.nn),
        ("optim.", torch.optim),
        ("torch.linalg.", torch.linalg),
    ):
        names = set(offered(text, known)[0])
        assert set(getattr(package, "__all__", ())) - names == set()
        assert all(hasattr(package, name) for name in names)


def test_names_of_the_text_come_with_the_shapes_of_the_last_run(known):
    names, found = offered("lo", known)
    assert names[0] == "loss"
    details = {one.name: one.detail for one in found.candidates}
    assert details["x"] == "16 × 8"
    assert {"print", "for", "torch", "param", "tensor"} <= set(details)


def test_a_name_that_is_being_defined_gets_no_offer(known):
    assert offered("def lo", known)[0] == []


def test_imports_offer_members_and_packages(known):
    assert "Linear" in offered("from torch.nn import Li", known)[0]
    assert "functional" in offered("import torch.nn.fun", known)[0]
    assert offered("import tor", known)[0] == ["torch"]


def test_a_call_offers_its_keywords(known):
    names = offered("F.cross_entropy(x, y, lab", known)[0]
    assert names[0] == "label_smoothing="
    assert "label_smoothing=" not in offered("F.cross_entropy(x, label_smoothing=lab", known)[0]
    assert "lr=" in offered("optim.SGD(p, l", known)[0]


def test_what_is_called(known):
    assert called(call_around("torch.relu("), known).name == "relu"
    assert called(call_around("x.sum("), known).signatures
    assert called(call_around("layers.Linear("), known).kind == "module"
    assert called(call_around("tensor("), known).name == "tensor"
    assert called(call_around("loss("), known) is None
    assert called(call_around("nothing.here("), known) is None


def test_a_name_of_the_program_hides_the_package(known):
    mine = Known(names_in(["nn = 3"]), {}, known.owners)
    assert resolved("nn", mine) == ""
    assert resolved("torch.nn", mine) == "torch.nn"


def test_the_best_match_comes_first(known):
    found = offer(caret_in("s"), known).candidates
    assert matching(found, "sum")[0].name == "sum"
    names = [one.name for one in matching(offer(caret_in("x."), known).candidates, "sum")]
    assert names.index("sum_to_size") < names.index("cumsum")
    used = frozenset({"softmax"})
    assert matching(offer(caret_in("torch."), known).candidates, "so", used)[0].name == "softmax"


def test_hidden_names_wait_for_an_underscore(known):
    found = offer(caret_in("x."), known).candidates
    assert not [one for one in matching(found, "") if one.name.startswith("_")]
    assert "__add__" in [one.name for one in matching(found, "__a")]


def test_what_the_language_process_knows_is_added_and_what_is_out_of_scope_goes(known):
    caret = caret_in("lo")
    mine = offer(caret, known)
    both = merged(caret, mine, [KnownName("local", "parameter"), KnownName("locals", "function")])
    names = [one.name for one in matching(both, "lo")]
    assert names[0] == "local"
    assert "loss" not in names
    assert merged(caret, mine, []) == mine.candidates
    stays = merged(caret, mine, [KnownName("loss", "variable")])
    assert "loss" in [one.name for one in matching(stays, "lo")]


def test_members_that_only_the_language_process_knows_are_added(known):
    caret = caret_in("net.")
    both = merged(caret, offer(caret, known), [KnownName("helper", "function")])
    assert {"helper", "fc1", "parameters"} <= {one.name for one in both}


def test_a_list_is_bounded(known):
    many = [candidates.Candidate(f"a{i}", "variable") for i in range(3_000)]
    assert len(matching(many, "a")) == candidates.MAX_SHOWN
