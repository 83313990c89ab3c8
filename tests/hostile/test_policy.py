"""The policy alone: what it lets run does no harm, with nothing else to stop it."""

import socket
import threading
import types

import pytest
import torch
from torch import nn

from gradscribe.engine.protocol import messages
from gradscribe.engine.run import run
from gradscribe.engine.sandbox.policy import allowlist, modules, modules_allowed
from gradscribe.engine.sandbox.policy.safe_variants import FixedNameField
from tests.conftest import child_processes
from tests.hostile.detours import PASSAGES
from tests.hostile.loopholes import LOOPHOLES
from tests.hostile.reach import MAY_BE_MET, REACH
from tests.hostile.snippets import ALL

pytestmark = pytest.mark.e2e

WORDS = "the words nobody else may read"
HARMLESS = 12
"""At most so many of the programs run to their end, because what they reach for is not there."""


TWINS = """
import copy
from dataclasses import dataclass
from functools import cached_property, wraps
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
class A:
    made = 0
    @cached_property
    def x(self):
        self.made += 1
        return 4
a = A()
print(a.x + a.x - 4, a.made)
class N(nn.Module):
    def __init__(self):
        super(N, self).__init__()
        self.a, self._own = nn.Linear(1, 1), 2
n = N()
other = copy.deepcopy(n)
n.load_state_dict(other.state_dict())
print(torch.equal(n.a.weight, other.a.weight), n._own)
rates = []
for _ in range(2):
    opt = optim.SGD(n.parameters() if hasattr(n, "zero_grad") else [], 0.5)
    plan = LambdaLR(opt, lambda e: 0.5 ** e)
    if rates:
        plan.load_state_dict(kept)
    else:
        plan.step()
    kept = plan.state_dict()
    rates += plan.get_last_lr()
print(*rates, end=" ")
x = np.broadcast_to(np.ones(3, "f4"), (2, 3))
t = torch.from_numpy(x)
t[0, 0] = 2
print(bool((x == 2).any()), float(torch.as_tensor(x[0]).sum()))
@dataclass
class P:
    x: int
    indices: list
    load_it: bool = False
match P(9, []):
    case P(first): print(first, end=" ")
from typing import Protocol, runtime_checkable
@runtime_checkable
class Sized(Protocol):
    def size(self): ...
print(isinstance(torch.ones(1), Sized), isinstance(1, Sized), np.asarray(a).dtype, end=" ")
print("ok")
"""
"""Uses of what the policy narrows, and what plain Python prints at them."""


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """Have imported what a time limit could interrupt half way: it would be broken from then on."""
    torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1).step()


@pytest.fixture(scope="module")
def trap(tmp_path_factory):
    """A folder with a secret, and a port on which nobody may call."""
    folder = tmp_path_factory.mktemp("trap")
    (folder / "secret").write_text(WORDS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield types.SimpleNamespace(folder=folder, server=server)


def aimed(snippet, trap):
    """Return a snippet with the names of what it may not reach."""
    for name, value in {
        "OUT": str(trap.folder / "out"),
        "SECRET": str(trap.folder / "secret"),
        "PORT": str(trap.server.getsockname()[1]),
        "FOLDER": str(trap.folder),
    }.items():
        snippet = snippet.replace(name, value)
    return snippet


def harm(trap, told):
    """Return what a program has done that it may not do."""
    done = [path.name for path in trap.folder.iterdir() if path.name != "secret"]
    for path in trap.folder.glob("out*"):
        path.unlink()
    secret = trap.folder / "secret"
    if not secret.exists() or secret.read_text() != WORDS:
        done.append("the secret was changed")
        secret.write_text(WORDS)
    if WORDS in told:
        done.append("the secret was read")
    try:
        trap.server.accept()[0].close()
        done.append("a call came")
    except BlockingIOError:
        pass
    return done


def state():
    """Return what of this process a program could change for the next one."""
    threads = [one for one in threading.enumerate() if one.name != "watchdog"]
    return child_processes(), threads, dict(vars(nn.Module)), torch.Tensor.add


def test_none_of_the_hostile_programs_does_harm_under_the_policy(trap):
    before = state()
    finished, found = [], {}
    for snippet in ALL:
        tape = run.execute(messages.Run(0, aimed(snippet, trap), policy=True, timeout=20.0))
        assert "got in" not in tape.stdout, snippet
        if done := harm(trap, f"{tape.stdout}{tape.stderr}{tape.error}"):
            found[snippet] = done
        if tape.status == "ok":
            finished.append(snippet)
        elif tape.status == "refused":
            assert tape.error.type == "Refused"
            assert tape.error.message, snippet
            assert tape.error.hint, snippet
    assert not found
    assert len(finished) <= HARMLESS, finished
    assert state() == before


def test_no_loophole_leads_out_of_the_policy(trap):
    before = state()
    for program in (*LOOPHOLES, *PASSAGES):
        tape = run.execute(messages.Run(0, aimed(program, trap), policy=True, timeout=20.0))
        told = f"{tape.stdout}{tape.stderr}{tape.error}"
        assert "got in" not in tape.stdout, program
        assert "'got in'" not in str(tape.error), program
        assert not harm(trap, told), program
        assert tape.status in ("refused", "error", "ok"), program
    assert state() == before


def test_what_the_twins_stand_for_still_works():
    tape = run.execute(messages.Run(0, TWINS, policy=True, timeout=20.0))
    assert tape.error is None, tape.error
    assert tape.stdout.split() == "4 1 True 2 0.25 0.25 False 3.0 9 True False object ok".split()


def test_without_the_policy_such_programs_do_harm(trap):
    for snippet in ("open('OUT', 'w').write('x')", "torch.save(torch.ones(1), 'OUT')"):
        run.execute(messages.Run(0, aimed(snippet, trap)))
        assert harm(trap, "") == ["out"]
    tape = run.execute(messages.Run(0, aimed("print(open('SECRET').read())", trap)))
    assert harm(trap, tape.stdout) == ["the secret was read"]


def public(thing):
    """Return what a program could reach from ``thing`` by a name that the policy lets pass."""
    for name in dir(thing):
        if name.startswith("_") or name in allowlist.ATTRIBUTES or name in allowlist.GUARDED:
            continue
        try:
            yield name, getattr(thing, name)
        except Exception:  # noqa: BLE001 - a descriptor may raise anything
            continue


@pytest.mark.filterwarnings("ignore")
def test_nothing_public_leads_from_a_stand_in_to_a_real_module():
    waiting = [(name, modules.get_stand_in(name), 0) for name in modules_allowed.MODULES]
    samples = {
        "tensor": torch.ones(2, requires_grad=True) * 2,
        "array": torch.ones(2).numpy(),
        "layer": nn.Linear(1, 1),
        "optimizer": torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1),
        "node": (torch.ones(1, requires_grad=True) * 2).grad_fn,
        "hook": nn.Linear(1, 1).register_forward_hook(print),
        "generator": torch.Generator(),
        "error": ValueError("x"),
        "random": __import__("numpy").random.default_rng(0),
    }
    waiting += [(name, thing, 0) for name, thing in samples.items()]
    seen, leaks = set(), []
    while waiting:
        path, thing, depth = waiting.pop()
        for name, inner in public(thing):
            if id(inner) in seen:
                continue
            seen.add(id(inner))
            where = f"{path}.{name}"
            if isinstance(inner, types.ModuleType) and not isinstance(inner, modules.StandIn):
                leaks.append(where)
            elif depth < 3 and not isinstance(inner, int | str | float | bytes):
                waiting.append((where, inner, depth + 1))
    assert not leaks
    assert len(seen) > 3000


def test_a_field_of_a_data_class_keeps_a_plain_name():
    from gradscribe.engine.sandbox.policy.refusal import Refusal
    from gradscribe.engine.sandbox.policy.safe_variants import field

    made = field(default=1)
    assert isinstance(made, FixedNameField)
    made.name = "x"
    for name in ("__class__", "x}{1}", 3, type("S", (str,), {})("x")):
        with pytest.raises(Refusal):
            made.name = name


def test_no_public_name_leads_to_the_recorder():
    tape = run.execute(messages.Run(0, REACH, policy=True, timeout=60.0))
    assert tape.error is None
    *met, is_wide = tape.stdout.splitlines()
    assert is_wide == "True"
    assert met
    assert [one for one in met if not any(name in one for name in MAY_BE_MET)] == []
