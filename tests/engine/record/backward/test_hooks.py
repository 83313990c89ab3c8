"""The hooks neither keep anything alive nor change what torch does with gradients."""

import gc
import weakref

import torch

from gradscribe.engine.record.backward.hooks import NodeHooks
from gradscribe.engine.record.recorder import Recorder


def watched(program):
    with Recorder("", __file__) as recorder:
        program()
    recorder.passes.process_notes()
    return recorder


def test_hooks_do_not_keep_a_graph_alive():
    dead = []

    def program():
        x = torch.ones(3, requires_grad=True)
        kept = torch.ones(3)
        y = (x * kept).sum()
        dead.append(weakref.ref(kept))
        y.backward(retain_graph=True)

    recorder = watched(program)
    gc.collect()
    assert dead[0]() is None
    assert recorder.log.executions


def test_a_gradient_is_still_stolen_and_not_copied():
    pointers = []

    def program():
        x = torch.ones(1000, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: pointers.append(g.data_ptr()))
        g = torch.ones(1000)
        x2 = x.view_as(x)
        x2.register_hook(lambda g: pointers.append(g.data_ptr()))
        (x2 * 3).backward(g)
        pointers.append(x.grad.data_ptr())

    watched(program)
    assert pointers[-1] == pointers[-2]


def test_what_happens_after_the_run_is_not_written_down():
    made = []

    def program():
        x = torch.ones(1, requires_grad=True)
        made.append((x * 2).sum())
        made[0].backward(retain_graph=True)

    recorder = watched(program)
    before = len(recorder.log.executions)
    made[0].backward()
    recorder.passes.process_notes()
    assert len(recorder.log.executions) == before


def test_two_recorders_one_after_the_other_do_not_mix():
    made = []

    def first():
        x = torch.ones(1, requires_grad=True)
        made.append((x * 2).sum())
        made[0].backward(retain_graph=True)

    one = watched(first)
    two = watched(lambda: made[0].backward())
    assert len(one.log.executions) == len(two.log.executions) == 2
    assert isinstance(two.backward.hooks, NodeHooks)


def test_a_node_that_starts_a_pass_of_its_own():
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                (inner * 2).backward(g)
            return inner.grad

    result = []

    def program():
        x = torch.ones(1, requires_grad=True)
        (Outer.apply(x) * 3).backward()
        result.append(x.grad.item())

    recorder = watched(program)
    assert result == [6]
    assert [p.kind for p in recorder.log.passes] == ["backward", "backward"]
    assert {e.run for e in recorder.log.executions} == {0, 1}
    assert not any(e.hooked for e in recorder.log.executions)
