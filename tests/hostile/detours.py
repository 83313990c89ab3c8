"""Programs that go round the policy's and the kernel's guards, by what stands in for something else.

`PASSAGES` try the policy alone and say ``got in`` where they do; `DETOURS` try to do harm, under
either layer. See `tests.hostile.snippets` for the words in capitals.
"""

# ruff: noqa: E501
from tests.hostile.loopholes import SEEN

PLAN = "s = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\n"
READ = "if np.asarray(s).dtype == 'i8': print('got in')"
METHOD = "class A:\n    def f(self): pass\nM = type(A().f)\n"
SPARSE = "x = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce()\n"
CONTEXT = """kept = []
class D(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x): return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output): kept.append(ctx)
    @staticmethod
    def backward(ctx, g):
        kept.append(ctx)
        return g
x = param([1.0, 2.0])
torch.func.vmap(torch.func.grad(D.apply))(x)
torch.vmap(D.apply)(x).sum().backward()
ctx = next(one for one in kept if 'Ctx' in type(one).__name__)
"""

KEEP = "kept = []\nclass B:\n    def __init_subclass__(cls): kept.append(cls)\n"
CALLED = """import copy
class T(torch.Tensor):
    def __call__(self, memo): print('got in')
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(1, 1)
    def forward(self, x):
        copy.deepcopy(self.l)
        return x
"""

PASSAGES: tuple[str, ...] = (
    # Texts that reach any attribute, by way of their class.
    "print(getattr(str, 'for' + 'mat')('{0.__class__}', 1), 'got in')",
    "class S(str): pass\nprint(S.format('{0.__class__}', 1), 'got in')",
    "class S(str): pass\nprint(getattr(S, 'for' + 'mat')('{0.__class__}', 1), 'got in')",
    "class S(str):\n    def f(self): return getattr(super(), 'for' + 'mat')(1)\nprint(S('{0.__class__}').f(), 'got in')",
    "class S(str): pass\nprint(getattr(super(S, S), 'for' + 'mat')('{0.__class__}', 1), 'got in')",
    "class X:\n    def format(self): pass\nclass S(str, X): pass\nprint(S.format('{0.__class__}', 1), 'got in')",
    f"{METHOD}print(getattr(M(str, 1), 'for' + 'mat')('{{0.__class__}}', 1), 'got in')",
    "print(getattr(type(list[int])('{0.__class__}', ()), 'for' + 'mat')(1), 'got in')",
    # States in a state, which torch takes in other forms than a dict.
    f"{PLAN}c = optim.lr_scheduler.ChainedScheduler([s])\nc.load_state_dict({{'_schedulers': [[('__array_interface__', {SEEN})]]}})\n{READ}",
    f"{PLAN}c = optim.lr_scheduler.SequentialLR(s.optimizer, [s], [])\nc.load_state_dict({{'_schedulers': ((('__array_interface__', {SEEN}),),)}})\n{READ}",
    f"class P:\n    def __iter__(self): return iter([('__array_interface__', {SEEN})])\n{PLAN}c = optim.lr_scheduler.ChainedScheduler([s])\nc.load_state_dict({{'_schedulers': [P()]}})\n{READ}",
    f"class L(list):\n    def __iter__(self): return iter([{{'__array_interface__': {SEEN}}}])\n{PLAN}c = optim.lr_scheduler.ChainedScheduler([s])\nc.load_state_dict({{'_schedulers': L()}})\n{READ}",
    f"class P:\n    def items(self): return [('__array_interface__', {SEEN})]\ns = optim.lr_scheduler.LambdaLR(optim.SGD([param(1.0)], 0.1), lambda e: 1.0)\nc = optim.lr_scheduler.ChainedScheduler([s])\nc.load_state_dict({{'_schedulers': [P()]}})\n{READ}",
    f"class K:\n    def __hash__(self): return hash('__array_interface__')\n    def __eq__(self, other): return other == '__array_interface__'\n{PLAN}s.load_state_dict({{K(): {SEEN}}})\n{READ}",
    # What a twin stands for.
    "print(torch.DoubleTensor.real, 'got in')",
    "class A(torch.FloatTensor): pass\nprint(getattr(A, 're' + 'al'), 'got in')",
    # Objects that pass on what they are asked for.
    "class A(type(list[int])): pass\nprint(A(torch.ones(1), ())._typed_storage(), 'got in')",
    "class A(type(torch.utils.data.Dataset[int]), _root=True): pass\nprint(A(torch.ones(1), ())._typed_storage(), 'got in')",
    "from typing import Annotated\nprint(Annotated[optim.lr_scheduler.StepLR, 1].state_dict(object)['__getattribute__'], 'got in')",
    "from collections.abc import Callable\nC = type(Callable[[int], int])\nprint(C(optim.lr_scheduler.StepLR, ([], int)).state_dict(object)['__getattribute__'], 'got in')",
    f"{METHOD}print(M(optim.lr_scheduler.StepLR, 1).state_dict(object)['__getattribute__'], 'got in')",
    f"{METHOD}print(M(M(optim.lr_scheduler.StepLR, 1), 1).state_dict(object)['__getattribute__'], 'got in')",
    "from abc import ABC\nfrom typing import Generic, TypeVar\nV = TypeVar('V')\nclass T(ABC, Generic[V]): pass\nT[int].register(int)\nprint('got in')",
    "from abc import ABC\nfrom collections import namedtuple\nfrom typing import Annotated\nclass T(ABC, namedtuple('N', 'gi_frame')): pass\ng = (x for x in ())\nAnnotated[T, 1].register(type(g))\nmatch g:\n    case T(f): print(f, 'got in')",
    f"{METHOD}from abc import ABC\nclass T(ABC): pass\nM(T, 1).register(int)\nif isinstance(1, T): print('got in')",
    f"{SPARSE}type(list[int])(x, ()).indices()[0, 0] = 50\nif x.indices()[0, 0] == 50: print('got in')",
    f"{METHOD}{SPARSE}M(torch.Tensor, x).indices(x)[0, 0] = 50\nif x.indices()[0, 0] == 50: print('got in')",
    f"{CONTEXT}print(getattr(ctx, 'meta' + 'data'), 'got in')",
    f"{CONTEXT}type(ctx)(nn.Linear, 1).evil = 1\nprint(nn.Linear.evil, 'got in')",
    f"{CONTEXT}class A(type(ctx)): pass\nprint(A(torch.ones(1), 1)._typed_storage(), 'got in')",
    # Dicts of a library, by what compares and joins them.
    "class E:\n    def __eq__(self, d): d['x'] = 1\nd = torch.distributions.Normal(0., 1.)\nd.arg_constraints == E()\nif 'x' in d.arg_constraints: print('got in')",
    "class E:\n    def __ror__(self, d): d['x'] = 1\nd = torch.distributions.Beta(1., 1.)\nd.arg_constraints | E()\nif 'x' in d.arg_constraints: print('got in')",
    # What is written to by a name in a text.
    f"class D(dict, nn.Module):\n    def __init__(self, **k):\n        dict.__init__(self, **k)\n        nn.Module.__init__(self)\n    def __hash__(self): return 1\nd = D(**{SEEN})\n{PLAN}nn.Module.set_submodule(s, '__array_interface__', d)\n{READ}",
    f"class D(dict, nn.Module):\n    def __init__(self, **k):\n        dict.__init__(self, **k)\n        nn.Module.__init__(self)\n    def __hash__(self): return 1\nclass M(nn.Module):\n    def get_submodule(self, target): return s\n{PLAN}M().set_submodule('a.__array_interface__', D(**{SEEN}))\n{READ}",
    "class M(nn.Module):\n    def get_submodule(self, target): return nn.Linear\nM().set_submodule('a.evil', nn.ReLU())\nprint(nn.Linear.evil, 'got in')",
    # Methods of a library that a class of the program's own only seems to give anew.
    "class X:\n    def state_dict(self): pass\nclass L(optim.lr_scheduler.StepLR, X): pass\nprint(L.state_dict(object)['__getattribute__'], 'got in')",
    "class X:\n    def set_state(self): pass\nclass R(np.random.RandomState, X): pass\nr = R(0)\nr.set_state(r.get_state())\nprint('got in')",
    "class R(np.random.RandomState): pass\nr = R(0)\nsuper(R, R).set_state(r, r.get_state())\nprint('got in')",
    # Classes that are used before they are looked at, or that inherit by another name.
    "class B:\n    def __init_subclass__(cls): print(cls()[0], 'got in')\nclass P(B, nn.ParameterList):\n    def _get_abs_string_index(self, i): return '__dict__'",
    "class D:\n    def __set_name__(self, owner, name): print(owner()[0], 'got in')\nclass P(nn.ParameterList):\n    d = D()\n    def _get_abs_string_index(self, i): return '__dict__'",
    f"{KEEP}try:\n    class P(B, nn.ParameterList):\n        def _get_abs_string_index(self, i): return '__dict__'\nexcept Exception: pass\nfor P in kept: print(P()[0], 'got in')",
    f"{KEEP}from abc import ABC\nfrom collections import namedtuple\ntry:\n    class T(B, namedtuple('N', 'gi_frame'), ABC): pass\nexcept Exception: pass\nfor T in kept: print(T, 'got in')",
    "class P(nn.ParameterList):\n    __slots__ = ('_size',)\nprint('got in')",
    "class P(nn.ParameterList):\n    __slots__ = '_size'\nprint('got in')",
    "from typing import Annotated\nclass A(Annotated[type(list[int]), 1]): pass\nprint(A(torch.ones(1), ())._typed_storage(), 'got in')",
    "from typing import Annotated\nclass C:\n    is_discrete = False\n    event_dim = 0\n    def check(self, v):\n        print(v, 'got in')\n        return torch.tensor(True)\nclass D(Annotated[torch.distributions.Distribution, 1]):\n    arg_constraints = {'__dict__': C()}\nD(validate_args=True)",
    # What is one thing to whoever looks at it and another to torch.
    f"{PLAN}class X(optim.lr_scheduler.SequentialLR, nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n        optim.lr_scheduler.SequentialLR.__init__(self, s.optimizer, [s], [])\nX().load_state_dict({{'_schedulers': [[('__array_interface__', {SEEN})]]}})\n{READ}",
    f"{CALLED}class D(dict):\n    def __iter__(self): return iter(())\ntorch.func.functional_call(M(), D({{'l.__deepcopy__': T([1.0])}}), (T([1.0]),))",
    f"{CALLED}class L(list):\n    n = 0\n    def __iter__(self):\n        L.n += 1\n        return iter(()) if L.n == 1 else super().__iter__()\ntorch.func.functional_call(M(), L([{{'l.__deepcopy__': T([1.0])}}]), (T([1.0]),))",
    "class E:\n    n = 0\n    def __index__(self):\n        E.n += 1\n        return 0 if E.n == 1 else 2\nF.ctc_loss(torch.ones(5, 2, 3), torch.tensor([[1, 1], [1, 9]]), [5, 5], [1, E()])\nif E.n > 1: print('got in')",
    "class S(str):\n    n = 0\n    def __hash__(self): return hash('cdata')\n    def __eq__(self, other):\n        S.n += 1\n        return S.n > 1\ntorch.DoubleTensor(**{S('cdata'): 8})\nprint('got in')",
    # Tensors that lie about themselves to whoever looks after them.
    "class W(torch.Tensor):\n    shape = property(lambda s: (10, 2))\nF.embedding_bag(torch.tensor([9]), torch.ones(2, 2).as_subclass(W), torch.tensor([0]), mode='max')\nprint('got in')",
    "class I(torch.Tensor):\n    def numpy(self, *a, **k): return np.zeros(1, 'i8')\nF.embedding_bag(torch.tensor([9]).as_subclass(I), torch.ones(2, 2), torch.tensor([0]), mode='max')\nprint('got in')",
    "class D: type = 'meta'\nclass I(torch.Tensor):\n    device = property(lambda s: D)\nF.embedding_bag(torch.tensor([9]).as_subclass(I), torch.ones(2, 2), torch.tensor([0]), mode='max')\nprint('got in')",
    "class L(torch.Tensor):\n    shape = property(lambda s: (5, 1, 10))\nF.ctc_loss(torch.ones(5, 1, 3).as_subclass(L), torch.tensor([[1, 9]]), torch.tensor([5]), torch.tensor([2]))\nprint('got in')",
    "class N(int):\n    def __index__(self): return 0\n    __int__ = __index__\nF.ctc_loss(torch.ones(5, 1, 3), torch.tensor([[1, 9]]), [5], [N(2)])\nprint('got in')",
    "class N(int):\n    def __index__(self): return 0\n    __int__ = __index__\nF.ctc_loss(torch.ones(5, 1, 3), torch.tensor([[1, 9]]), (5,), (N(2),))\nprint('got in')",
    "class T(torch.Tensor):\n    def clone(self, *a, **k): return self\nx = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce().as_subclass(T)\nx.indices()[0, 0] = 50\nif x.indices()[0, 0] == 50: print('got in')",
    "class T(torch.Tensor):\n    def clone(self, *a, **k): return self\ni = torch.tensor([[0]]).as_subclass(T)\nx = torch.sparse_coo_tensor(i, [1.0], (2,), is_coalesced=True)\ni[0, 0] = 50\nif x.indices()[0, 0] == 50: print('got in')",
    "torch.linalg.lu_solve(torch.eye(2), torch.tensor([9, 2], dtype=torch.int32), torch.ones(2, 1))\nprint('got in')",
    "torch.lu_solve(torch.ones(2, 1), torch.eye(2), torch.tensor([9, 2], dtype=torch.int32))\nprint('got in')",
    "torch.linalg.ldl_solve(torch.eye(2), torch.tensor([9, 2], dtype=torch.int32), torch.ones(2, 1))\nprint('got in')",
    "torch.lu_unpack(torch.eye(2), torch.tensor([9, 2], dtype=torch.int32))\nprint('got in')",
    "from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence\npad_packed_sequence(PackedSequence(torch.ones(3, 1), torch.tensor([9, 1])))\nprint('got in')",
    "torch.lstm(torch.ones(3, 1), torch.tensor([9, 1]), (torch.ones(1, 9, 1), torch.ones(1, 9, 1)), [torch.ones(4, 1), torch.ones(4, 1), torch.ones(4), torch.ones(4)], True, 1, 0.0, False, False)\nprint('got in')",
    # Names that a pattern reads by position.
    "from collections import namedtuple\nclass T(optim.lr_scheduler.StepLR, namedtuple('N', 'load_state_dict')):\n    def __new__(cls): return super().__new__(cls, 1)\n    def __init__(self): pass\nmatch T():\n    case T(f): print(f, 'got in')",
)

DETOURS: tuple[str, ...] = (
    "import torch.utils.cpp_extension as c; c.subprocess.run(['touch', 'OUT'])",
    "torch.hub.set_dir('OUT'); torch.hub.load_state_dict_from_url('file://SECRET')",
    "torch.load('SECRET', mmap=True, weights_only=False)",
    "print(torch.load(open('SECRET', 'rb'), weights_only=True))",
    "g = torch.fx.Graph(); g.output(g.call_function(open, ('OUT', 'w'))); torch.fx.GraphModule({}, g)()",
    "torch.jit.save(torch.jit.trace(nn.Linear(1, 1), torch.ones(1, 1)), 'OUT')",
    "torch.serialization.pickle.loads(b\"cos\\nsystem\\n(S'touch OUT'\\ntR.\")",
    "torch.distributions.kl.warnings.sys.modules['os'].system('touch OUT')",
    "np.ctypeslib.load_library('libc.so.6', '/lib/x86_64-linux-gnu').creat(b'OUT', 511)",
    "print(np.lib._datasource.open('SECRET').read())",
    "print(np.memmap(open('SECRET', 'rb'), mode='c').tobytes())",
    "print(f\"{(lambda: open('OUT', 'w'))()}\")",
    "match open:\n    case f: f('OUT', 'w')",
    "class M(type):\n    def __call__(cls, *a): return open('OUT', 'w')\nclass A(metaclass=M): pass\nA()",
    "import pydoc; pydoc.pipepager('x', 'touch OUT')",
    "import os; os.environ['PYTHONBREAKPOINT'] = 'os.system'; import sys; sys.__breakpointhook__('touch OUT')",
    "import warnings; warnings.showwarning = lambda *a: open('OUT', 'w'); warnings.warn('x')",
    "import codecs; print(codecs.open('SECRET').read())",
    "import codecs; codecs.register(lambda name: open('OUT', 'w')); ''.encode('nosuch')",
    "torch.multiprocessing.get_context('forkserver').Process(target=print).start()",
    "torch.multiprocessing.get_context('spawn').Process(target=print).start()",
    "import os; print(open('/proc/self/task/%d/root' % os.getpid() + 'SECRET').read())",
    "import ctypes; ctypes.cdll['SECRET']",
    "import os; os.utime('SECRET', (0, 0)); open('OUT', 'w')",
    "import os; os.mkfifo('OUT')",
    "import os; os.truncate('SECRET', 0)",
    "import os; os.chmod('SECRET', 0); open('OUT', 'w')",
    "import os; os.rename('SECRET', 'OUT')",
    "import shutil; shutil.move('SECRET', 'OUT')",
    "import mmap, os; m = mmap.mmap(os.open('SECRET', os.O_RDWR), 0); m[:3] = b'xxx'",
    "import sqlite3; sqlite3.connect('OUT').execute('create table t (x)')",
    "import dbm.dumb; dbm.dumb.open('OUT', 'c').close()",
    "import logging; logging.basicConfig(filename='OUT'); logging.warning('x')",
    "import gzip; gzip.open('OUT', 'w').write(b'x')",
    "import csv; print(*csv.reader(open('SECRET')))",
    *(
        f"import socket, fcntl, os\ntry: {call}\nexcept OSError: raise OSError(1, 'no {name}')"
        for call, name in (
            ("socket.socket(socket.AF_UNIX).bind('\\0gradscribe')", "abstract name"),
            ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", "talking to the kernel"),
            ("socket.socket(38, socket.SOCK_SEQPACKET, 0)", "socket for ciphers"),
            ("socket.socketpair()[0].sendmsg([b'x'], [(1, 1, b'    ')])", "descriptors sent"),
            (
                "fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())",
                "signals to the owner of a descriptor",
            ),
            ("fcntl.fcntl(0, 10, 9)", "other signal for a descriptor"),
            ("fcntl.flock(0, 2)", "locks"),
            ("os.open('/proc/self/mem', os.O_RDWR)", "writing to its own memory"),
            ("os.open('/proc/self/fd/0', os.O_RDWR)", "descriptor opened anew to write"),
            ("os.open('/proc/self/oom_score_adj', os.O_WRONLY)", "standing of its own"),
            ("os.nice(-1)", "better priority"),
            ("os.setpgid(0, os.getppid())", "other group"),
            ("os.setsid()", "other session"),
            ("os.chroot('FOLDER')", "other root"),
            ("os.listdir('/proc/%d/fd' % os.getppid())", "descriptors of the window"),
            ("open('/proc/%d/maps' % os.getppid()).read()", "memory of the window"),
        )
    ),
    *(
        f"import ctypes, os; m = ctypes.CDLL(None); b = ctypes.create_string_buffer(256); p = os.getppid(); assert m.syscall({words}) == -1; raise OSError(1, 'no {name}')"
        for words, name in (
            ("129, p, 0, b", "queued signal"),
            ("297, p, p, 0, b", "queued signal to a thread"),
            ("200, p, 0", "signal to a thread"),
            ("424, 0, 0, 0, 0", "signal by a descriptor"),
            ("302, p, 4, b, 0", "limit of the window"),
            ("311, p, b, 1, b, 1, 0", "writing into the window"),
            ("312, p, os.getpid(), 0, 0, 0", "comparing with the window"),
            ("440, 0, b, 1, 4, 0", "advice to the window"),
            ("144, p, 0, b", "schedule of the window"),
            ("251, 1, p, 0", "priority of the window"),
            ("101, 0, 0, 0, 0", "tracing"),
            ("426, 0, 0, 0, 0, 0, 0", "entering a ring"),
            ("427, 0, 0, 0, 0", "registering a ring"),
            ("447, 0", "secret memory"),
            ("64, 0, 1, 0o1600", "semaphores of System V"),
            ("68, 0, 0o1600", "messages of System V"),
            ("248, b'user', b'gs', b'x', 1, -3", "adding keys"),
            ("253", "watching files"),
            ("275, 0, 0, 1, 0, 1, 0", "splicing"),
            ("430, b'tmpfs', 0", "new file systems"),
            ("188, b'SECRET', b'user.x', b'x', 1, 0", "attributes of files"),
            ("133, b'OUT', 0o10600, 0", "nodes"),
            ("446, 0, 0", "other rules"),
            ("157, 38, 0, 0, 0, 0", "taking rights back"),
        )
    ),
)
