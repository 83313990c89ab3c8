"""Yet more programs that try to get out: parts of libraries not asked before, and calls of the kernel.

See `tests.hostile.snippets` for the words in capitals; each says ``got in`` where it gets past the
policy. What a program asks of the kernel it says itself, as in `tests.hostile.detours`.
"""

# ruff: noqa: E501
SEEN = "{'data': (id(1), False), 'shape': (4,), 'typestr': '<i8', 'version': 3}"
"""Buffer that NumPy takes for the address of an array."""
RECORD = "x = np.empty(1, np.dtype((np.record, [('__array_interface__', 'O'), ('__deepcopy__', 'O')])))\n"

OF_LIBRARIES: tuple[str, ...] = (
    "from torch.nn.utils import parametrizations\nprint(parametrizations.torch.load, 'got in')",
    "from torch.utils import benchmark\nprint(benchmark.Timer(\"open('OUT', 'w')\").timeit(1), 'got in')",
    "from torch.utils.tensorboard import SummaryWriter\nSummaryWriter('OUT')\nprint('got in')",
    "from torch.utils.checkpoint import checkpoint\nprint(checkpoint(eval, \"open('OUT','w')\", use_reentrant=True), 'got in')",
    "class T(torch.Tensor):\n    __torch_function__ = classmethod(lambda c, f, t, a=(), k=None: print(f, 'got in'))\nT([1.]) + 1",
    "h = torch.autograd.graph.register_multi_grad_hook([param(1.0)], print)\nprint(h.handles[0].hooks_dict_ref(), 'got in')",
    "e = torch.autograd.graph.get_gradient_edge(param(1.0) * 2)\nfor one in getattr(e.node, 'meta' + 'data').values(): print(one, 'got in')",
    "s = torch.autograd.graph.save_on_cpu()\nprint(s.pack_hook.__globals__, 'got in')",
    "x = param(torch.zeros(1, 1, 4, 4))\ny = F.max_pool2d(x, 2)\ny.grad_fn._raw_saved_result1.register_hooks(lambda t: t, lambda t: t + 9)\nprint('got in')",
    "from torch.utils.data import DataLoader\ni = iter(DataLoader([1, 2]))\nprint(i._dataset_fetcher, 'got in')",
    "nn.Module().__setattr__('__array_interface__', 1)\nprint('got in')",
    "class M(nn.Module):\n    def go(self): super().__setattr__('__array_interface__', 1)\nM().go()\nprint('got in')",
    "class M(nn.Module):\n    def go(self): return super().__getattr__('__dict__')\nprint(M().go(), 'got in')",
    "m = nn.Linear(1, 1)\nm.register_state_dict_post_hook(lambda m, s, p, l: s.update({'__array_interface__': 1}))\nm.load_state_dict(m.state_dict())\nprint('got in')",
    "print(nn.Sequential(nn.ReLU()).get_submodule('0._parameters'), 'got in')",
    "print(nn.Linear(1, 1).get_parameter('__class__'), 'got in')",
    "nn.ModuleDict({'__class__': nn.ReLU()})\nprint('got in')",
    "class U(nn.UninitializedParameter):\n    cls_to_become = nn.Linear\nU().materialize((1,))\nprint('got in')",
    # Arrays, their dtypes and what goes through them.
    f"{RECORD}x['__array_interface__'][0] = {SEEN}\nprint(np.asarray(x[0]), 'got in')",
    f"{RECORD}import copy\nx['__deepcopy__'][0] = lambda m: print(m, 'got in')\ncopy.deepcopy(x[0])",
    "d = np.dtype(('i8', [('a', 'O')]))\nx = np.zeros(1, 'i8')\nx[0] = id((1, 2))\nprint(x.view(d)['a'], 'got in')",
    "d = np.dtype({'names': ['a', 'b'], 'formats': ['O', 'i8'], 'offsets': [0, 0]})\nx = np.zeros(1, d)\nx['b'] = 4096\nprint(x['a'], 'got in')",
    "x = np.ones(4, 'i8')\nx.dtype = [('a', 'O')]\nprint(x, 'got in')",
    "x = np.zeros(2, [('a', 'O'), ('b', 'i8')])\ny = x[['b']]\ny.dtype = 'V16'\nprint(y.view('i8'), 'got in')",
    "x = np.array(['abc' * 20, 'x'], dtype='T')\nx.dtype = 'i8'\nprint(x, 'got in')",
    "print(np.void(b'12345678').view('O'), 'got in')",
    "print(np.ndarray.data.__get__(np.ones(1)), 'got in')",
    "print(np.lib.array_utils.byte_bounds(np.ones(1)), 'got in')",
    "print(np.add._get_strided_loop, 'got in')",
    "np.add.reduceat(np.ones(2), [10**9])\nprint('got in')",
    "it = np.nditer(np.arange(4), flags=['ranged'])\nit.iterrange = (0, 10**9)\nprint(it[0], 'got in')",
    "it = np.nditer(np.arange(4), op_axes=[[10**9]])\nprint(it[0], 'got in')",
    "b = np.broadcast(np.ones(1), np.ones(4))\nb.iters[0][10**6]\nprint('got in')",
    "x = np.ndenumerate(np.ones(2))\nprint(x.iter.base.ctypes, 'got in')",
    "v = np.vectorize(lambda x: x)\nv.__init__(print)\nprint('got in')",
    "class S:\n    capsule = 2\n    lock = 1\nnp.random.RandomState(S())\nprint('got in')",
    "print(np.random.default_rng(0).spawn(1)[0].bit_generator, 'got in')",
    "with np.errstate(divide='call', call=torch.os): np.ones(1) / 0\nprint('got in')",
    "x = torch.ones(4)\na = x.numpy()\nx.resize_(10**6)\nprint('got in')",
    "x = torch.ones(3)\nx.as_strided_((3,), (1,), 10**6)\nprint('got in')",
    "torch.as_strided_scatter(torch.ones(3), torch.ones(2), (2,), (10**6,), 0)\nprint('got in')",
    "s = torch.Generator().get_state()\ns[0:24] = 255\ntorch.Generator().set_state(s)\nprint('got in')",
    # Of Python itself.
    "from typing import List, get_args\nk = type(get_args(List['x'])[0])\nclass R(k):\n    def go(self): return self._evaluate({}, {}, frozenset())\nprint(R(\"open('OUT', 'w')\").go(), 'got in')",
    "from typing import List, get_args\nr = get_args(List[\"open('OUT', 'w')\"])[0]\nprint(r._evaluate({}, {}, frozenset()), 'got in')",
    "from typing import ParamSpec\nprint(ParamSpec('P').args.__origin__, 'got in')",
    "def f(x: (lambda: torch.os)()): pass\nprint(f.__annotations__, 'got in')",
    "print('{0:{1.__class__}}'.format(1, 2), 'got in')",
    "class A: x = 1\nprint('{0.x.__class__}'.format(A()), 'got in')",
    "from collections import OrderedDict\nclass O(OrderedDict):\n    def go(self): return self._OrderedDict__map\nprint(O().go(), 'got in')",
    "class _OrderedDict:\n    def f(self, o): return o.__root\nprint(_OrderedDict().f(1), 'got in')",
    "from fractions import Fraction\nclass Q(Fraction):\n    def go(self): self._numerator = torch\nQ(1, 2).go()\nprint('got in')",
    "import random\nrandom.Random().setstate((3, tuple([1] * 624 + [625]), None))\nprint('got in')",
    "import itertools\nprint(itertools.islice([1], 2).__setstate__, 'got in')",
    "import json\nprint(json.loads('1', cls=json.JSONDecoder), 'got in')",
    "from collections.abc import Sequence\nSequence.register(int)\nprint('got in')",
)

KERNEL: tuple[str, ...] = tuple(
    "import ctypes, os; m = ctypes.CDLL(None, use_errno=True); b = ctypes.create_string_buffer(4096); "
    f"assert m.syscall({words}) == -1 and ctypes.get_errno() == 1, ctypes.get_errno(); raise OSError(1, 'no {name}')"
    for words, name in (
        ("28, 0, 0, 100", "poisoning of pages"),
        ("28, 0, 0, 101", "taking pages out of use"),
        ("300, 0, 0", "watching all files"),
        ("304, -100, b, 0", "opening by a handle"),
        ("316, -100, b'SECRET', -100, b'OUT', 0", "renaming"),
        ("266, b'/etc', -100, b'OUT'", "links by name"),
        ("258, -100, b'OUT', 0o700", "folders"),
        ("452, -100, b'SECRET', 0, 0", "newer modes"),
        ("260, -100, b'SECRET', 1, 1, 0", "owners"),
        ("280, -100, b'SECRET', 0, 0", "times of files"),
        ("285, 1, 0, 0, 99", "room for files"),
        ("162", "flushing of disks"),
        ("227, 0, b", "clock"),
        ("429, 0, 0, 0, 0, 0", "moving of mounts"),
        ("249, b'user', b'x', b'', 0", "asking for keys"),
        ("278, 1, b, 1, 0", "splicing of memory"),
        ("46, 0, b, 0", "messages on sockets"),
        ("307, 0, b, 1, 0", "many messages"),
        ("47, 0, b, 0", "descriptors received"),
        ("54, 0, 1, 2, b, 4", "options of sockets"),
        ("154, 1, b, 16", "tables of segments"),
        ("317, 1, 0, 0", "other filter"),
        ("256, os.getppid(), 0, 0, 0", "pages of the window moved"),
        ("203, os.getppid(), 8, b", "processors of the window"),
        ("103, 3, b, 4095", "words of the kernel"),
        ("448, 0, 0", "memory set free"),
        ("157, 36, 1, 0, 0, 0", "children of others"),
        ("157, 59, 1, 0, 0, 0", "answers to system calls"),
    )
)

BACKWAYS: tuple[str, ...] = (
    *OF_LIBRARIES,
    *KERNEL,
    "import os\nfor n in os.listdir('/proc/self/fd'):\n    try: os.open('/proc/self/fd/' + n, os.O_WRONLY)\n    except OSError: pass\n    else: open('OUT', 'w')",
    "import os\nd = os.open('/usr/lib', os.O_RDONLY)\nprint(os.read(os.open('../..SECRET', os.O_RDONLY, dir_fd=d), 99))",
    "import os\nprint(open('/proc/thread-self/root' + 'SECRET').read())",
    "import os\nos.kill(-1, 0)",
)
