"""The names of torch, compared with torch itself."""

import inspect
import subprocess
import sys

import msgspec
import pytest
import torch

from gradscribe.engine.language import catalogue
from gradscribe.engine.protocol import language
from gradscribe.engine.protocol.language import TorchNames


@pytest.fixture(scope="module")
def owners():
    return catalogue.read_torch().owners


def object_at(path):
    found = torch
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", catalogue.OWNERS)
def test_every_public_name_is_there_and_every_name_is_torchs(path, owners):
    owner, names = object_at(path), {one.name for one in owners[path]}
    assert set(getattr(owner, "__all__", ())) <= names
    if isinstance(owner, type):
        assert {name for name in dir(owner) if not name.startswith("_")} <= names
    annotated = set(getattr(owner, "__annotations__", ()))
    assert all(hasattr(owner, name) or name in annotated for name in names)


@pytest.mark.parametrize(
    "path", ["torch.nn", "torch.optim", "torch.nn.functional", "torch.nn.init"]
)
def test_signatures_have_the_parameters_that_python_sees(path, owners):
    checked = 0
    for known in owners[path]:
        member = getattr(object_at(path), known.name)
        if known.kind not in ("function", "class", "module") or known.name.startswith("_"):
            continue
        try:
            found = inspect.signature(member)
        except (ValueError, TypeError):
            continue
        names = [name for name in found.parameters if not name.startswith("_")]
        if {p.kind for p in found.parameters.values()} <= {
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        }:
            continue
        assert all(name in known.signatures[0] for name in names), known
        checked += 1
    assert checked > 10


def test_builtin_functions_have_the_signatures_of_their_docstrings(owners):
    names = {one.name: one for one in owners["torch"]}
    assert names["matmul"].signatures == ("(input, other, *, out=None) -> Tensor",)
    assert len(names["max"].signatures) == 3
    assert names["where"].signatures[0].startswith("(condition, input, other")
    methods = {one.name: one for one in owners["torch.Tensor"]}
    assert methods["view"].signatures[0] == "(*shape) -> Tensor"
    # A method has no self in its call.
    assert methods["backward"].signatures[0].startswith("(gradient=None")


def test_summaries_are_sentences_without_markup(owners):
    names = {one.name: one for one in owners["torch"]}
    assert names["matmul"].summary == "Matrix product of two tensors."
    # "See torch.sum" is no help.
    methods = {one.name: one for one in owners["torch.Tensor"]}
    assert methods["sum"].summary == names["sum"].summary
    for members in owners.values():
        for one in members:
            assert not any(mark in one.summary for mark in ("``", ":class:", ":func:", ":attr:"))


def test_no_text_shows_an_address_in_memory(owners):
    for members in owners.values():
        for one in members:
            assert not any(" at 0x" in text for text in one.signatures)


def test_packages_of_python_are_none_of_torch(owners):
    names = {one.name for one in owners["torch"]}
    assert not names & {"os", "sys", "math", "ctypes", "inspect"}


def test_kinds(owners):
    kinds = {one.name: one.kind for one in owners["torch.nn"]}
    assert kinds["Linear"] == "module"
    assert kinds["functional"] == "package"
    assert kinds["Parameter"] == "class"
    assert {one.name: one.kind for one in owners["torch.Tensor"]}["shape"] == "attribute"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("f(x) -> y\n\nDoes it. And more.", "Does it."),
        (".. note:: no\n\nUse :func:`torch.sum`.", "Use torch.sum."),
        ("Applies ``relu`` to\nall elements", "Applies relu to all elements"),
    ],
)
def test_the_first_sentence(text, expected):
    assert catalogue.summary(text, "f") == expected


@pytest.mark.e2e
def test_the_process_writes_what_the_pipe_takes():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gradscribe.engine.language.catalogue"],
        capture_output=True,
        check=True,
        timeout=100,
    )
    found = msgspec.msgpack.decode(done.stdout, type=TorchNames)
    assert language.find_flaw(found) == ""
    assert "torch.nn" in found.owners
