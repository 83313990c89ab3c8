"""Hooks on saved tensors are seen by every release of torch."""

import runpy
import threading

import pytest
import torch

from gradscribe.engine.record.backward import saved_hooks

TOP = "_top_saved_tensors_default_hooks"
CHANGED = ("_push_saved_tensors_default_hooks", "_pop_saved_tensors_default_hooks")


@pytest.fixture(params=["this torch", "torch 2.6"])
def has_saved_hooks(request, monkeypatch):
    if request.param == "this torch":
        return saved_hooks.has_saved_hooks
    owner = torch._C._autograd
    monkeypatch.delattr(owner, TOP, raising=False)
    for name in CHANGED:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return runpy.run_path(saved_hooks.__file__)["has_saved_hooks"]


def test_they_are_seen_in_their_thread_and_no_longer_than_they_are_active(has_saved_hooks):
    seen = []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t)
    assert not has_saved_hooks()
    with hooks:
        assert has_saved_hooks()
        with torch.autograd.graph.save_on_cpu():
            assert has_saved_hooks()
        thread = threading.Thread(target=lambda: seen.append(has_saved_hooks()))
        thread.start()
        thread.join()
        x = torch.ones(1, requires_grad=True)
        (x * x).backward()
    assert not has_saved_hooks()
    assert seen == [False]
    assert x.grad.tolist() == [4.0], "the hooks themselves work"
