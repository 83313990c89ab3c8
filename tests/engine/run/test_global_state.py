"""A library's settings are restored before the next program runs.

Each pair is a program that leaves something set, and one that prints what a fresh process prints.
"""

# ruff: noqa: E501
import logging

import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.run.global_state import GlobalState
from tests.engine.driver import Engine

STEP = "p = param(1.0)\no = optim.SGD([p], 0.1)\np.sum().backward()\no.step()\nprint('made')"
LEFT = {
    "NumPy's printing": (
        "np.set_printoptions(precision=2, formatter={'all': lambda x: 'Q'})",
        "print(np.array([1.23456]))",
        "[1.23456]",
    ),
    "NumPy's errors": (
        "np.seterr(all='raise')\nnp.seterrcall(print)\nnp.setbufsize(4096)",
        "print(np.geterrcall(), np.geterr()['divide'], np.getbufsize())",
        "None warn 8192",
    ),
    "decimal's precision": (
        "import decimal\ndecimal.getcontext().prec = 3",
        "import decimal\nprint(decimal.getcontext().prec)",
        "28",
    ),
    "denormal numbers": (
        "torch.set_flush_denormal(True)",
        "print(bool((torch.tensor(1e-40) * 0.5) > 0))",
        "True",
    ),
    "automatic precision": (
        "torch.autocast('cpu', dtype=torch.float16).__enter__()",
        "print(torch.is_autocast_enabled('cpu'), torch.get_autocast_dtype('cpu'))",
        "False torch.bfloat16",
    ),
    "warnings each time": (
        "torch.set_warn_always(True)",
        "print(torch.is_warn_always_enabled())",
        "False",
    ),
    "hooks on all modules": (
        "from torch.nn.modules import module\nmodule.register_module_forward_hook(lambda *_: print('hook'))\nmodule.register_module_full_backward_hook(lambda *_: print('hook'))\nmodule.register_module_parameter_registration_hook(lambda *_: print('hook'))",
        "nn.Linear(1, 1)(torch.ones(1)).sum().backward()\nprint('made')",
        "made",
    ),
    "hooks on all optimizers": (
        "from torch.optim.optimizer import register_optimizer_step_post_hook as r\nr(lambda *_: print('hook'))",
        STEP,
        "made",
    ),
    "hooks on what is saved": (
        "torch.autograd.graph.saved_tensors_hooks(lambda t: print('packed'), lambda t: t).__enter__()",
        "x = param(2.0)\n(x * x).backward()\nprint(x.grad)",
        "tensor(4.)",
    ),
    "forward mode": (
        "torch.autograd.forward_ad.enter_dual_level()",
        "import torch.autograd.forward_ad as f\nwith f.dual_level(): print(f.unpack_dual(f.make_dual(torch.ones(1), torch.ones(1))).tangent)",
        "tensor([1.])",
    ),
    "kernels": (
        "torch.backends.cudnn.deterministic = True\ntorch.backends.mkldnn.flags(enabled=False).__enter__()",
        "print(torch.backends.cudnn.deterministic, torch.backends.mkldnn.enabled)",
        "False True",
    ),
    "checks of distributions": (
        "torch.distributions.Distribution.set_default_validate_args(False)",
        "try: torch.distributions.Normal(0.0, -1.0)\nexcept ValueError: print('refused')",
        "refused",
    ),
    "constants": (
        "import math\nmath.pi = 3\ntorch.pi = 3\ntorch.float32 = torch.float64",
        "import math\nprint(math.pi == torch.pi == np.pi, torch.float32)",
        "True torch.float32",
    ),
    "names in classes": (
        "torch.Tensor.twice = lambda t: 2 * t\nnn.Module.extra = 5",
        "print(hasattr(torch.ones(1), 'twice'), hasattr(nn.Linear(1, 1), 'extra'), nn.Module.dump_patches)",
        "False False False",
    ),
    "threads' traces": (
        "import threading\nthreading.settrace(lambda *_: print('traced'))",
        "import threading\nt = threading.Thread(target=print, args=('made',))\nt.start()\nt.join()",
        "made",
    ),
    "the interpreter": (
        "import sys, tracemalloc\nsys.setswitchinterval(5)\nsys.set_int_max_str_digits(0)\ntracemalloc.start()",
        "import sys, tracemalloc\nprint(sys.getswitchinterval() < 1, sys.get_int_max_str_digits(), tracemalloc.is_tracing())",
        "True 4300 False",
    ),
    "decimal's own contexts": (
        "import decimal\ndecimal.DefaultContext.prec = 3\ndecimal.DefaultContext.traps[decimal.Inexact] = True",
        "import decimal\nprint(decimal.DefaultContext.prec, decimal.Context().prec, decimal.DefaultContext.traps[decimal.Inexact])",
        "28 28 False",
    ),
    "json's encoder": (
        "import json\njson.JSONEncoder.default = lambda s, o: 'Q'\njson._default_encoder.indent = 4",
        "import json\nprint(json.dumps([1]))\ntry: json.dumps(object())\nexcept TypeError: print('refused')",
        "[1]\nrefused",
    ),
    "what copying asks": (
        "import copyreg\ncopyreg.pickle(complex, lambda c: (str, ('Q',)))",
        "import copyreg\nprint(copyreg.dispatch_table[complex].__name__)",
        "pickle_complex",
    ),
    "divergences": (
        "from torch.distributions import kl, Normal\n@kl.register_kl(Normal, Normal)\ndef f(p, q): return 7",
        "from torch.distributions import kl_divergence as k, Normal\nprint(k(Normal(0.0, 1.0), Normal(0.0, 1.0)))",
        "tensor(0.)",
    ),
    "how batches are put together": (
        "from torch.utils.data._utils.collate import default_collate_fn_map as m\nm[int] = lambda *a, **k: 'Q'",
        "from torch.utils.data import default_collate\nprint(default_collate([1, 2]))",
        "tensor([1, 2])",
    ),
    "functions and classes of more modules": (
        "import heapq, operator\nheapq.heappush = print\noperator.add = print\nnp.linalg.norm = lambda x: 5\ntorch.special.expit = lambda x: 5\ntorch.distributions.Normal.sample = lambda *a: 5\ntorch.utils.data.DataLoader.__iter__ = lambda s: iter([5])\noptim.lr_scheduler.StepLR.get_lr = lambda s: [9.0]",
        "import heapq, operator\nfrom torch.utils.data import DataLoader\nh = []\nheapq.heappush(h, 1)\no = optim.SGD([param(1.0)], 1.0)\ns = optim.lr_scheduler.StepLR(o, 1)\no.step()\ns.step()\nprint(h, operator.add(1, 2), np.linalg.norm([3.0, 4.0]), float(torch.special.expit(torch.zeros(1))), isinstance(torch.distributions.Normal(0.0, 1.0).sample(), int), len(list(DataLoader([1, 2]))), s.get_last_lr())",
        "[1] 3 5.0 0.5 False 2 [0.1]",
    ),
    "loggers": (
        "import logging, sys\nlogging.basicConfig(level=10)\nlogging.disable(50)\nl = logging.getLogger('train')\nl.setLevel(10)\nl.addHandler(logging.StreamHandler(sys.stdout))",
        "import logging, sys\nl = logging.getLogger('train')\nl.addHandler(logging.StreamHandler(sys.stdout))\nl.warning('once')\nl.info('unheard')\nprint(logging.root.handlers)",
        "once\n[]",
    ),
}


@pytest.mark.parametrize("what", LEFT)
def test_the_next_program_finds_libraries_as_a_fresh_process_has_them(shared, what):
    leaves, asks, fresh = LEFT[what]
    left = shared.until(messages.Recorded, shared.start(leaves))[-1]
    assert (left.tape.error, left.spent) == (None, False)
    tape = shared.run(asks)
    assert tape.error is None
    assert tape.stdout.strip() == fresh


def test_a_mode_that_nobody_can_take_back_spends_the_engine():
    engine = Engine()
    try:
        engine.next()
        mode = "torch.overrides.TorchFunctionMode().__enter__()"
        assert engine.until(messages.Recorded, engine.start(mode))[-1].spent
    finally:
        engine.close()


def test_what_nobody_changed_stays_as_it_is():
    state, handler = GlobalState(), logging.NullHandler()
    logging.getLogger("kept").addHandler(handler)
    try:
        later = GlobalState()
        later.restore()
        assert logging.getLogger("kept").handlers == [handler]
        assert not later.is_contaminated()
        state.restore()
        assert logging.getLogger("kept").handlers == []
    finally:
        logging.getLogger("kept").handlers.clear()
