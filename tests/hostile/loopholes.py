"""Programs that once got through the policy, or nearly; each says ``got in`` where it does.

Most look for the one thing from which all else follows: an object that tells NumPy of an address
of its choice, or a frame of the interpreter.
"""

# ruff: noqa: E501
SEEN = "{'data': (id(1), False), 'shape': (4,), 'typestr': '<i8', 'version': 3}"
"""Buffer that NumPy takes for the address of an array."""

LOOPHOLES: tuple[str, ...] = (
    # Classes by way of their objects.
    f"D = type(torch)\nnp.array(D('x', {{'__array_interface__': {SEEN}}}, ()))\nprint('got in')",
    f"torch.__init__('torch', {{'__array_interface__': {SEEN}}}, ())\nprint('got in')",
    "M = type(np.ones(1).data)\nb = b'hello'\ntorch.from_numpy(np.asarray(M(b)))[0] = 65\nif b != bytes([104, 101, 108, 108, 111]): print('got in')",
    "b = np.float64(1.0)\ntorch.from_numpy(np.asarray(b.data)).fill_(2.0)\nif b != 1.0: print('got in')",
    "torch.distributions.Normal.mean.__init__(lambda s: 77)\nprint(torch.distributions.Normal(0., 1.).mean, 'got in')",
    "property.__init__(torch.distributions.Normal.stddev, lambda s: 77)\nprint('got in')",
    "from torch.utils.data import Dataset\nDataset[int].evil = 5\nprint(Dataset.evil, 'got in')",
    "s = torch.ones(1).storage_type()(10)\nt = torch.FloatTensor(s)\ns.resize_(0)\nprint('got in')",
    # Attributes by names that nobody looked at.
    f"from functools import cached_property\nc = cached_property(lambda self: {SEEN})\nclass A:\n    x = c\nc.attrname = '__array_interface__'\na = A()\na.x\nnp.asarray(a)\nprint('got in')",
    f"from functools import cached_property\nclass C(cached_property):\n    def go(self, owner): super().__set_name__(owner, '__array_interface__')\nc = C(lambda self: {SEEN})\nclass A: pass\nc.go(A)\nc.__get__(A(), A)\nprint('got in')",
    f"class M(nn.Module): pass\nm = M()\nm._modules['__array_interface__'] = {SEEN}\nnp.asarray(m)\nprint('got in')",
    f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._buffers = {{'__array_interface__': {SEEN}}}\nnp.asarray(M())\nprint('got in')",
    "class D(dict, nn.Module):\n    def __init__(self, **k):\n        dict.__init__(self, **k)\n        nn.Module.__init__(self)\n    def __hash__(self): return 1\nd = D(data=(id(1), False), shape=(4,), typestr='<i8', version=3)\nm = nn.Linear(1, 1)\nm.add_module('__array_interface__', d)\nif np.asarray(m).shape == (4,): print('got in')",
    "class C(nn.Module):\n    def forward(self, memo):\n        print(memo, 'got in')\nm = nn.Sequential()\nm.add_module('__deepcopy__', C())\nimport copy\ncopy.deepcopy(m)",
    f"class L(nn.LSTM): pass\nm = L(1, 1)\nm._all_weights = [['__dict__']]\nm.all_weights[0][0]['__array_interface__'] = {SEEN}\nnp.asarray(m)\nprint('got in')",
    "class C:\n    is_discrete = False\n    event_dim = 0\n    def check(self, v):\n        print(v, 'got in')\n        return torch.tensor(True)\nclass D(torch.distributions.Distribution):\n    arg_constraints = {'__dict__': C()}\nD(validate_args=True)",
    # States that torch writes into objects.
    f"class S(str): pass\ns = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\ns.load_state_dict({{S('__array_interface__'): {SEEN}}})\nnp.asarray(s)\nprint('got in')",
    f"class S:\n    def keys(self): return ['__array_interface__']\n    def __getitem__(self, k): return {SEEN}\ns = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\ns.load_state_dict(S())\nnp.asarray(s)\nprint('got in')",
    f"class L:\n    def __call__(self, e): return 1.0\nl = L()\ns = optim.lr_scheduler.LambdaLR(optim.SGD([param(1.0)], 0.1), l)\nst = s.state_dict()\nst['lr_lambdas'] = [{{'__array_interface__': {SEEN}}}]\ns.load_state_dict(st)\nnp.asarray(l)\nprint('got in')",
    f"o = optim.SGD([param(1.0)], 0.1)\na = optim.lr_scheduler.StepLR(o, 1)\ns = optim.lr_scheduler.ChainedScheduler([a])\ns.load_state_dict({{'_schedulers': [{{'__array_interface__': {SEEN}}}]}})\nnp.asarray(a)\nprint('got in')",
    f"o = optim.SGD([param(1.0)], 0.1)\na = optim.lr_scheduler.StepLR(o, 1)\noptim.lr_scheduler.LRScheduler.load_state_dict(a, {{'__array_interface__': {SEEN}}})\nnp.asarray(a)\nprint('got in')",
    "s = optim.lr_scheduler.LambdaLR(optim.SGD([param(1.0)], 0.1), lambda e: 1.0)\ns.lr_lambdas[0] = object\ng = s.state_dict()['lr_lambdas'][0]['__getattribute__']\ng(param, '__globals__')['__builtins__']['__import__']('os').system('touch OUT')\nprint('got in')",
    "s = optim.lr_scheduler.MultiplicativeLR(optim.SGD([param(1.0)], 0.1), lambda e: 1.0)\ns.lr_lambdas[0] = object\nprint(s.state_dict()['lr_lambdas'][0]['__getattribute__'], 'got in')",
    "s = optim.lr_scheduler.CyclicLR(optim.SGD([param(1.0)], 0.1), 0.1, 1.0, scale_fn=object, cycle_momentum=False)\nprint(s.state_dict()['_scale_fn_custom']['__getattribute__'], 'got in')",
    "from torch.optim.lr_scheduler import LambdaLR\nclass L(LambdaLR):\n    def f(self): return super(LambdaLR, self).state_dict()\ns = L(optim.SGD([param(1.0)], 0.1), lambda e: 1.0)\ns.lr_lambdas[0] = object\nprint(s.f()['lr_lambdas'][0]['__getattribute__'], 'got in')",
    # What copying asks.
    f"import copy\nclass A: pass\na = A()\na.x = 1\nclass M(dict):\n    n = 0\n    def get(self, k, d=None):\n        self.n += 1\n        return {{'__array_interface__': {SEEN}}} if self.n == 3 else d\nnp.asarray(copy.deepcopy(a, M()))\nprint('got in')",
    "import copy\nclass A:\n    def __deepcopy__(self, memo):\n        print(memo, 'got in')\ncopy.deepcopy([A()])",
    # Frames, by patterns.
    "from dataclasses import dataclass\nfrom typing import Protocol, runtime_checkable\n@runtime_checkable\n@dataclass\nclass T(Protocol):\n    gi_frame: object\nmatch (x for x in ()):\n    case T(f): print(f, 'got in')",
    "from dataclasses import dataclass\nfrom abc import ABC\n@dataclass\nclass T(ABC):\n    gi_frame: object\ng = (x for x in ())\nT.register(type(g))\nmatch g:\n    case T(f): print(f, 'got in')",
    "from collections import namedtuple\nfrom abc import ABC\nclass T(ABC, namedtuple('N', 'gi_frame')): pass\ng = (x for x in ())\nT.register(type(g))\nmatch g:\n    case T(f): print(f, 'got in')",
    "from abc import ABC\nclass T(ABC): pass\ngetattr(T, 'reg' + 'ister')(int)\nprint('got in')",
    # What the recorder notes in torch's own objects.
    "y = param(1.0) * 2\nn = y.grad_fn\nprint(*n.metadata.values())\nif n.metadata: print('got in')",
    "y = param(1.0) * 2\nfor one in getattr(y.grad_fn, 'meta' + 'data').values(): print(one.hooks.log.events, 'got in')",
    "y = param(1.0) * 2\nmatch y.grad_fn:\n    case torch.autograd.graph.Node(metadata=m) if m: print(m, 'got in')",
    "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        if ctx.metadata: print(ctx.metadata, 'got in')\n        return g\nF.apply(param(1.0)).backward()",
    "from dataclasses import dataclass\n@dataclass\nclass T:\n    metadata: object\nfor n in (param(1.0) * 2).grad_fn.next_functions: print(n[0].metadata or '', 'got in' if n[0].metadata else '')",
    "y = param(1.0) * 2\nh = y.grad_fn.register_hook(lambda *a: None)\nfor one in h.hooks_dict_ref(): print(one.hooks.recorder, 'got in')",
    "x = param(1.0)\nx.sum().backward()\nh = x.register_hook(lambda g: g)\nh.hooks_dict_ref = lambda: {h.id: 1}\nh.remove()\nprint('got in')",
    "m = nn.Linear(1, 1)\nh = m.register_forward_hook(lambda *a: None, always_call=True)\nfor ref in getattr(h, 'extra_dict' + '_ref'): print(ref(), 'got in')",
    # Names that Python looks up elsewhere.
    "def super(): return np.ndarray.strides\nx = np.ones(4)\nsuper().__set__(x, (1,))\nprint('got in')",
    "def f(super): return super().__set__\nprint(f(lambda: np.ndarray.strides), 'got in')",
    "import math as super\nprint('got in')",
    "s = super\nprint(s(bool, True), 'got in')",
    "print(super(bool, True).real, 'got in')",
    # Numbers that libraries believe.
    "dt = np.dtype([('a', 'i8')])\nclass E:\n    def __eq__(self, other):\n        other['a'] = (np.dtype('O'), 0)\n        return True\ndt.fields == E()\ny = (1, 2)\nx = np.zeros(1, 'i8')\nx[0] = id(y)\nprint(x.view(dt)['a'][0], 'got in')",
    "class R(np.random.RandomState):\n    def go(self, s): return super().set_state(s)\nR(0).go(('MT19937', [1] * 624, 10**5))\nprint('got in')",
    "r = np.random.RandomState(0)\nnp.random.RandomState.set_state(r, ('MT19937', [1] * 624, 10**5))\nprint('got in')",
    "class T(torch.Tensor): pass\nx = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce()\nT.indices(x)[0, 0] = 50\nif x.indices()[0, 0] == 50: print('got in')",
    # Methods of a library on objects that are not its own.
    "print(optim.lr_scheduler.LRScheduler.state_dict(object)['__getattribute__'], 'got in')",
    "print(optim.lr_scheduler.LambdaLR.state_dict(object)['__getattribute__'], 'got in')",
    "class L(optim.lr_scheduler.StepLR):\n    def f(self): return super(L, L).state_dict\ns = L(optim.SGD([param(1.0)], 0.1), 1)\nprint(s.f()(object)['__getattribute__'], 'got in')",
    "class A: w = nn.LSTM.all_weights\na = A()\na._all_weights = [['__dict__']]\nprint(a.w[0][0], 'got in')",
    "class A: pass\na = A()\na._all_weights = [['__dict__']]\nprint(nn.LSTM.all_weights.fget(a), 'got in')",
    "class K:\n    _buffers = ['__getattribute__']\nclass M(nn.Module):\n    def get_submodule(self, target): return K\nprint(M().get_buffer('x.__getattribute__'), 'got in')",
    # Processes.
    "from torch.utils.data import DataLoader\nl = DataLoader([1, 2])\nl.num_workers = 1\nl.multiprocessing_context = 'fork'\nl.multiprocessing_context.reducer.os.system('touch OUT')\nprint('got in')",
    "from torch.utils.data import DataLoader\nclass L(DataLoader):\n    def f(self): return super(DataLoader, self).__iter__()\nl = L([1, 2])\nl.num_workers = 1\nprint(l.f(), 'got in')",
    "from functools import wraps\n@wraps(torch.Tensor)\ndef f(): pass\nprint(f._typed_storage, 'got in')",
    # An address by name: torch's old constructors take one.
    "torch.Tensor(cdata=8)\nprint('got in')",
    "torch.DoubleTensor(cdata=8)\nprint('got in')",
    "torch.ones(1).new(cdata=8)\nprint('got in')",
    "getattr(torch.ones(1), 'ne' + 'w')(**{'cda' + 'ta': 8})\nprint('got in')",
    "class T(torch.Tensor):\n    def __new__(cls, *a, **k): return super().__new__(cls, *a, **k)\nT(cdata=8)\nprint('got in')",
    "from functools import partial\np = partial(torch.Tensor)\np.keywords['cdata'] = 8\nprint(p(), 'got in')",
    "class M(nn.Module):\n    forward = torch.LongTensor\ntorch.func.functional_call(M(), {}, (), {'cdata': 8})\nprint('got in')",
    "class M(nn.Module):\n    forward = torch.Tensor\nm = M()\nm.register_forward_pre_hook(lambda m, a, k: (a, {'cdata': 8}), with_kwargs=True)\nprint(m(), 'got in')",
    "b = np.float64(1.0)\nfrom torch.utils.data import default_convert\ndefault_convert(np.asarray(b.data)).fill_(2.0)\nif b != 1.0: print('got in')",
    "b = np.float64(1.0)\nfor t in torch.utils.data.DataLoader([np.asarray(getattr(b, 'da' + 'ta'))], batch_size=None): t.fill_(2.0)\nif b != 1.0: print('got in')",
    "print(np.float64.data, 'got in')",
    "match np.float64(1.0):\n    case object(data=d): print(d, 'got in')",
    # Private names that a library's methods rely on, given anew in a class.
    "class P(nn.ParameterList):\n    def _get_abs_string_index(self, i): return '__dict__'\nprint(P()[0], 'got in')",
    f"class P(nn.ParameterList):\n    at = '__dict__'\n    def _get_abs_string_index(self, i): return self.at\np = P()\np[0] = {{'at': '__class__', '__array_interface__': {SEEN}}}\np[0] = nn.ParameterList\nprint(np.asarray(p), 'got in')",
    "class P(nn.ModuleList):\n    def _get_abs_string_index(self, i): return '__class__'\np = P()\np[0] = nn.Linear\nif type(p) is nn.Linear: print('got in')",
    "class P(nn.Sequential):\n    def _get_item_by_idx(self, it, i): return '__class__'\np = P()\np[0] = nn.Linear\nif type(p) is nn.Linear: print('got in')",
    "class X: pass\nclass P(X, nn.ParameterList): pass\nX._get_abs_string_index = lambda s, i: '__dict__'\nprint(P()[0], 'got in')",
    "class X: pass\nclass P(X, nn.ParameterList): pass\nsetattr(X, '_get_abs_' + 'string_index', lambda s, i: '__dict__')\nprint(P()[0], 'got in')",
    "class X:\n    def _get_abs_string_index(self, i): return '__dict__'\nclass P(X, nn.ParameterList): pass\nprint(P()[0], 'got in')",
    "class D:\n    def __set_name__(self, owner, name): owner._get_abs_string_index = lambda s, i: '__dict__'\nclass P(nn.ParameterList):\n    d = D()\nprint(P()[0], 'got in')",
    "class B:\n    def __init_subclass__(cls): cls._get_abs_string_index = lambda s, i: '__dict__'\nclass P(B, nn.ParameterList): pass\nprint(P()[0], 'got in')",
    "class B:\n    __slots__ = ('_size',)\nclass P(B, nn.ParameterList): pass\nprint('got in')",
    "from dataclasses import dataclass\n@dataclass\nclass X:\n    _size: int\nclass P(X, nn.ParameterList): pass\nprint(P(3), 'got in')",
    "class L(nn.LSTM):\n    _flat_weights_names = property(lambda s: ['__dict__'], lambda s, v: None)\n    _flat_weights = property(lambda s: [], lambda s, v: print(v, 'got in'))\nL(1, 1)",
    "class I(int):\n    def __str__(self): return '__dict__'\n    def __format__(self, spec): return '__dict__'\np = nn.ParameterList([torch.ones(1)])\nif isinstance(p[I(0)], dict): print('got in')",
    f"class I(int):\n    def __str__(self): return '__dict__'\np = nn.ParameterList([torch.ones(1)])\np[I(0)] = {SEEN}\nnp.asarray(p)\nif isinstance(np.asarray(p).tolist(), list) and np.asarray(p).dtype == 'i8': print('got in')",
    f"from functools import cached_property\nclass C(cached_property):\n    _name = property(lambda s: '__array_interface__', lambda s, v: None)\nclass A:\n    _is_protocol = True\n    x = C(lambda s: {SEEN})\na = A()\na.x\nprint(np.asarray(a), 'got in')",
    "class L(nn.LazyLinear):\n    cls_to_become = optim.lr_scheduler.StepLR\nl = L(3)\nl(torch.ones(1, 2))\nprint(type(l), 'got in')",
    "class L(nn.LazyLinear): pass\nl = L(3)\nl.cls_to_become = optim.lr_scheduler.StepLR\nl(torch.ones(1, 2))\nprint(type(l), 'got in')",
    # What is read where it is written.
    "class X:\n    def __radd__(self, f): print(f(object), 'got in')\n'{0.__subclasses__}'.format += X()",
    f"class X:\n    def __radd__(self, f):\n        f({SEEN})\n        print(np.asarray(s), 'got in')\ns = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\ns.load_state_dict += X()",
    "class X:\n    def __radd__(self, f):\n        f()[0, 0] = 50\n        if x.indices()[0, 0] == 50: print('got in')\nx = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce()\nx.indices += X()",
    "class X:\n    def __radd__(self, f): print(f(cdata=8), 'got in')\nx = torch.ones(1)\nx.new += X()",
    "class X:\n    def __radd__(self, d):\n        d['x'] = 1\n        print('got in')\nd = torch.distributions.Normal(0., 1.)\nd.arg_constraints += X()",
    "class A: pass\nclass X:\n    def __radd__(self, m): print(m, 'got in')\nfrom abc import ABC\nclass T(ABC): pass\nT.register += X()",
    # What stands in a class of a library, or for it.
    "class C:\n    is_discrete = False\n    event_dim = 0\n    def check(self, v):\n        print(v, 'got in')\n        return torch.tensor(True)\ntorch.distributions.Normal.arg_constraints['__dict__'] = C()\ntorch.distributions.Normal(0., 1., validate_args=True)",
    "d = getattr(torch.distributions.Normal(0., 1.), 'arg_' + 'constraints')\nd['x'] = 1\nprint('got in')",
    "torch.distributions.Normal.support.check = lambda v: torch.tensor(True)\nprint('got in')",
    "class A:\n    def f(self): return super()\nS = type(A().f())\nprint(S(bool, True).real, 'got in')",
    "class T(torch.Tensor):\n    def __call__(self, memo): print(memo, 'got in')\nimport copy\nclass M(nn.Module):\n    def forward(self, x):\n        copy.deepcopy(self)\n        return x\ntorch.func.functional_call(M(), {'__deepcopy__': torch.ones(1).as_subclass(T)}, (torch.ones(1),))",
    "class S(str): pass\nclass M(nn.Module):\n    def forward(self, x): return x\ntorch.func.functional_call(M(), ({S('a.__b'): torch.ones(1)},), (torch.ones(1),))\nprint('got in')",
    # Dicts of objects, by what wraps them.
    "from functools import wraps\nclass M(nn.Module): pass\n@wraps(M())\ndef f(): pass\nprint(f._parameters, 'got in')",
    "class M(nn.Module): pass\nprint(torch.no_grad()(M())._parameters, 'got in')",
    "from contextlib import contextmanager\nclass M(nn.Module): pass\nprint(contextmanager(M())._modules, 'got in')",
    "from torch.autograd.function import once_differentiable\nclass M(nn.Module): pass\nprint(once_differentiable(M())._buffers, 'got in')",
    "from dataclasses import dataclass, field, replace\nf = field(default=0)\n@dataclass(init=False)\nclass S(optim.lr_scheduler.ChainedScheduler):\n    x: int = f\n    def __init__(self, *a, **k):\n        for n in k: print(n, 'got in')\ns = S()\nf.name = 'load_state_dict'\nreplace(s)",
    "from dataclasses import dataclass, field, replace\nf = field(default=0)\n@dataclass(init=False)\nclass S(nn.Linear):\n    x: int = f\n    def __init__(self, *a, **k):\n        for n in k: print(n, 'got in')\n        super().__init__(1, 1)\ns = S()\nf.name = '_parameters'\nreplace(s)",
    # Frames once more.
    "class C:\n    def __enter__(self): return self\n    def __exit__(self, k, e, tb): print(getattr(tb, 'tb_' + 'frame'), 'got in')\nwith C(): 1 / 0",
    "class C:\n    def __enter__(self): return self\n    def __exit__(self, k, e, tb): tb.tb_next += 1\nwith C(): 1 / 0\nprint('got in')",
    # Numbers that torch takes for places in memory.
    "F.embedding_bag(torch.tensor([0, 9]), torch.ones(2, 2), torch.tensor([0]))\nprint('got in')",
    "nn.EmbeddingBag(2, 2)(torch.tensor([-1]), torch.tensor([0]))\nprint('got in')",
    "F.embedding_bag(torch.tensor([0, 1, 1]), torch.ones(2, 2), torch.tensor([0, 3, 1]))\nprint('got in')",
    "torch.embedding_bag(torch.ones(2, 2), torch.tensor([0, 9]).as_subclass(nn.Parameter), torch.tensor([0]))\nprint('got in')",
    "class T(torch.Tensor): pass\nF.embedding_bag(torch.tensor([9]).as_subclass(T), torch.ones(2, 2), torch.tensor([0]))\nprint('got in')",
    "torch.vmap(lambda i: F.embedding_bag(i, torch.ones(2, 2), torch.tensor([0])))(torch.tensor([[0], [9]]))\nprint('got in')",
    "F.ctc_loss(torch.ones(5, 1, 3), torch.tensor([[1, 9]]), torch.tensor([5]), torch.tensor([2]))\nprint('got in')",
    "nn.CTCLoss()(torch.ones(5, 2, 3), torch.tensor([1, -2, 1]), (5, 5), (2, 1))\nprint('got in')",
    "torch.native_batch_norm(torch.ones(2, 3), torch.ones(1), None, torch.ones(1), torch.ones(1), False, 0.1, 1e-5)\nprint('got in')",
    "torch.batch_norm_update_stats(torch.ones(2, 3), torch.ones(1), torch.ones(1), 0.1)\nprint('got in')",
    "torch.grid_sampler_2d(torch.ones(1, 1, 4, 4), torch.full((1, 2, 2, 2), 9.0), 77, 77, False)\nprint('got in')",
)
