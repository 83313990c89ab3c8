"""More programs that try to do harm: back doors of torch and NumPy, of the interpreter, of the kernel.

See `tests.hostile.snippets` for the words in capitals. What a program reaches by a raw system call
it says itself, by an assertion that fails where the call was let through.
"""

# ruff: noqa: E501
LIBRARIES = """
np.testing.os.system('touch OUT')
np.distutils.os.system('touch OUT')
np.ctypeslib.ctypes.CDLL(None).system(b'touch OUT')
torch.utils._sys.modules['os'].system('touch OUT')
torch._C._jit_get_operation('aten::from_file')
torch.ops.aten.from_file('SECRET', False, 8, dtype=torch.uint8)
print(bytes(torch.ops.aten.from_file('SECRET', False, 8, dtype=torch.uint8, layout=torch.strided, device='cpu', pin_memory=False).tolist()))
torch.jit.load('SECRET')
torch.jit.CompilationUnit('def f(x): return x').f(1)
torch.jit.script(nn.Linear(1, 1)).save_to_buffer()
torch.package.PackageImporter('SECRET')
torch.hub.list('FOLDER', source='local')
torch.hub.load('FOLDER', 'secret', source='local')
torch.utils.model_zoo.load_url('http://127.0.0.1:PORT/x')
torch.utils.dlpack.from_dlpack(torch.ones(1).__dlpack__())
torch.utils.cpp_extension.load('m', ['SECRET'])
torch.utils.collect_env.run('touch OUT')
torch.utils.collect_env.get_pretty_env_info()
torch.utils.data.DataLoader([1, 2], num_workers=1, worker_init_fn=lambda i: open('OUT', 'w'))._get_iterator()
torch.utils.bottleneck.__main__.os.system('touch OUT')
torch.storage.os.system('touch OUT')
torch.random.fork_rng.__wrapped__.__globals__['__builtins__']['open']('OUT', 'w')
torch.autograd.profiler.profile(use_kineto=True).export_chrome_trace('OUT')
torch.autograd.profiler.emit_itt
torch.monitor.TensorboardEventHandler(print)
torch.multiprocessing.get_context('fork').Process(target=print).start()
torch.futures.Future().add_done_callback(lambda f: open('OUT', 'w'))
torch.Tensor.__reduce_ex__(torch.ones(1), 2)[0].__globals__['os']
torch.ones(1).__class__.__torch_function__.__func__.__globals__
torch.ones(1).storage().__class__.__init__.__globals__
torch.ones(1).register_hook(eval); torch.serialization.add_safe_globals([eval])
torch.tensor(1.0, requires_grad=True).register_hook(lambda g: open('OUT', 'w').write('x'))
torch.manual_seed.__globals__['torch'].hub.os.system('touch OUT')
torch.set_default_device.__code__.co_names
torch.fft.fft.__self__
np.load('SECRET', mmap_mode='r')
np.load('SECRET', allow_pickle=True)
np.lib.format.open_memmap('OUT', mode='w+', shape=(4,))
np.lib.format.write_array(open('OUT', 'wb'), np.ones(1))
np.memmap('SECRET', dtype='u1', mode='r').tobytes()
np.frompyfunc(eval, 1, 1)(np.array(["open('OUT', 'w')"], dtype=object))
np.vectorize(exec)(["open('OUT', 'w')"])
np.apply_along_axis(print.__self__.exec, 0, np.array(["open('OUT', 'w')"]))
np.array([1], dtype=object).__reduce__()[0].__globals__
np.show_config.__globals__['os'].system('touch OUT')
np.seterrcall(print.__self__.open)
np.set_string_function(eval)
np.core._multiarray_umath.__loader__
np.nditer(np.ones(1)).__class__.__mro__[-1].__subclasses__()
np.ones(4).view('O')[0]
np.ones(4).setflags(write=True); np.lib.stride_tricks.as_strided(np.ones(1), (10**6,), (8,))[10**5:] = 0
np.frombuffer(b'12345678', dtype='O')[0]
np.ndarray((4,), dtype='O', buffer=b'1' * 32)[0]
type(np.ones(1))((4,), 'O', b'1' * 32)[0]
np.array([1, 2], dtype='O').data.cast('B')[0] = 7
x = np.array([torch, nn, 5, 6], dtype='O'); x.strides = (3,); print(x)
x = np.array([None], dtype='O'); x.data = np.array([7]); print(x)
x = np.array([None], dtype='O'); setattr(x, 'strides', (1,))
np.random.set_state(('MT19937', [1] * 624, 10**9)); np.random.random()
r = np.random.RandomState(0); s = r.get_state(legacy=False); s['state']['pos'] = 10**8; r.set_state(s); r.random()
g = np.random.MT19937(0); s = g.state; s['state']['pos'] = 10**9; g.state = s; g.random_raw()
g = np.random.default_rng(0).bit_generator; g.state = {}
x = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce(); x.indices()[0, 0] = 10**9; assert x.to_dense()[0] != 1
i = torch.tensor([[0]]); x = torch.sparse_coo_tensor(i, [1.0], (2,)); i[0, 0] = 10**9; assert x.to_dense()[0] != 1
x = torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1., 2.], (2, 2)); x.col_indices()[0] = 10**9; assert x.to_dense()[0, 0] != 1
""".strip().split("\n")

INTERPRETER = """
import types; types.CodeType(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'', (), ())
import types; types.FunctionType((lambda: open).__code__, {'open': 1})()
import types; (lambda: 0).__code__.replace(co_names=('open',))
import dis; dis.Bytecode(lambda: 0).codeobj.co_consts
import inspect; print(inspect.getsource(inspect.getmodule(inspect.stack()[1].frame)) if 0 else inspect.stack()[0].frame.f_builtins['open']('OUT', 'w'))
import inspect; inspect.getattr_static(torch, 'os').system('touch OUT')
import gc; [d for d in gc.get_referrers(torch) if isinstance(d, dict) and '__builtins__' in d][0]['__builtins__']
import gc; [f for f in gc.get_objects() if callable(f) and getattr(f, '__name__', '') == 'system'][0]('touch OUT')
import sys; [m for m in sys.modules.values() if hasattr(m, 'popen')][0].popen('touch OUT').read()
import sys; sys.modules['posix'].system('touch OUT')
import sys; sys.addaudithook(lambda *a: None); open('OUT', 'w')
import sys; sys.unraisablehook = lambda *a: open('OUT', 'w'); del sys
import sys; sys.excepthook = lambda *a: open('OUT', 'w'); 1 / 0
import sys; sys.stdout.buffer.raw.name
import sys; sys.stdin = open('SECRET'); print(sys.stdin.read())
import sys; sys.path_hooks[0]('FOLDER').find_spec('secret')
import zipimport; zipimport.zipimporter('SECRET')
import _ctypes; _ctypes.dlopen('SECRET', 2)
import _testcapi; _testcapi.fatal_error(b'x')
import _xxsubinterpreters as s; s.run_string(s.create(), "open('OUT', 'w').write('x')")
import concurrent.futures as c; c.ThreadPoolExecutor(1).submit(open, 'OUT', 'w').result()
import threading; t = threading.Thread(target=open, args=('OUT', 'w')); t.start(); t.join()
import threading; threading.Timer(0.05, open, ('OUT', 'w')).start()
import _thread; _thread.start_new_thread(open, ('OUT', 'w')); import time; time.sleep(0.1)
import signal; signal.signal(signal.SIGALRM, lambda *a: open('OUT', 'w')); signal.setitimer(signal.ITIMER_REAL, 0.01); import time; time.sleep(0.1)
import signal; signal.set_wakeup_fd(1)
import signal, os; os.kill(1, 0)
import signal, os; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)
import os; os.sched_setaffinity(os.getppid(), {0})
import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
import os; os.getxattr('SECRET', 'user.x'); print(open('SECRET').read())
import os; os.sendfile(1, os.open('SECRET', 0), 0, 99)
import os; os.copy_file_range(os.open('SECRET', 0), os.open('OUT', os.O_CREAT | os.O_RDWR), 99)
import os; os.symlink('/etc', 'OUT'); print(os.listdir('OUT'))
import os; os.mknod('OUT')
import os; os.chdir('FOLDER'); print(open('secret').read())
import os; print(open('/proc/%d/environ' % os.getppid()).read())
import os; print(open('/proc/self/cwd/SECRET').read())
import os; print(os.readlink('/proc/%d/exe' % os.getppid())); open('/proc/%d/mem' % os.getppid(), 'rb')
import os; open('/dev/shm/OUT'[:9] + 'gs_hostile', 'w')
import os; open('/dev/tty', 'w').write('x')
import os; os.pidfd_open(os.getppid()); os.waitid(os.P_PID, os.getppid(), os.WEXITED)
import os; [os.fork() for _ in range(12)]
import os; os.forkpty()
import os; os.spawnv(os.P_WAIT, '/bin/touch', ['touch', 'OUT'])
import os; os.popen('touch OUT').read()
import os; os.startfile('OUT')
import ctypes; m = ctypes.pythonapi; m.PyRun_SimpleString(b"open('OUT', 'w').write('x')")
import ctypes; m = ctypes.CDLL(None); assert m.shm_open(b'/gs', 66, 0o600) == -1; raise OSError(1, 'no shared memory')
import ctypes; m = ctypes.CDLL(None); assert m.mq_open(b'/gs', 66, 0o600, 0) == -1; raise OSError(1, 'no queue')
import ctypes; m = ctypes.CDLL(None); assert m.sem_open(b'/gs', 64, 0o600, 1) in (0, None); raise OSError(1, 'no semaphore')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(435, 0, 0) == -1; raise OSError(1, 'no clone3')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(310, 1, 0, 0, 0, 0, 0) == -1; raise OSError(1, 'no process_vm_readv')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(321, 0, 0, 0) == -1; raise OSError(1, 'no bpf')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(298, 0, 0, -1, -1, 0) == -1; raise OSError(1, 'no perf')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(303, -100, b'SECRET', 0, 0, 0) == -1; raise OSError(1, 'no handle')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(308, 3, 0) == -1; raise OSError(1, 'no setns')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(428, -100, b'FOLDER', 1) == -1; raise OSError(1, 'no open_tree')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(85, b'OUT', 0o600) == -1; raise OSError(1, 'no creat')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(438, m.syscall(434, 1, 0), 0, 0) == -1; raise OSError(1, 'no pidfd_getfd')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(322, -100, b'/bin/true', 0, 0, 0) == -1; raise OSError(1, 'no execveat')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(56, 17, 0, 0, 0, 0) == -1; raise OSError(1, 'no clone')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(41, 40, 1, 0) == -1; raise OSError(1, 'no vsock')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(16, 0, 0x5412, b'x') == -1; raise OSError(1, 'no pushing of keys')
import ctypes; m = ctypes.CDLL(None); assert m.prctl(4, 1, 0, 0, 0) == -1; raise OSError(1, 'dumpable')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(135, 0x40000) == -1; raise OSError(1, 'no personality')
import ctypes; m = ctypes.CDLL(None); assert m.syscall(265, -100, b'SECRET', -100, b'OUT', 0) == -1; raise OSError(1, 'no link')
import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
import resource; resource.prlimit(0, resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
import syslog; syslog.syslog('x'); open('OUT', 'w')
import readline; readline.write_history_file('OUT')
import xml.etree.ElementTree as e; print(e.parse('SECRET'))
import xmlrpc.client as x; x.ServerProxy('http://127.0.0.1:PORT').f()
import smtplib; smtplib.SMTP('127.0.0.1', PORT, timeout=1)
import logging.handlers as h; h.SocketHandler('127.0.0.1', PORT).emit(__import__('logging').makeLogRecord({})); open('OUT', 'w')
import asyncio; asyncio.run(asyncio.create_subprocess_exec('touch', 'OUT'))
import venv; venv.create('OUT')
import ensurepip; ensurepip.bootstrap(root='OUT')
import cProfile; cProfile.run('1', 'OUT')
import tracemalloc; tracemalloc.start(); tracemalloc.take_snapshot().dump('OUT')
import pdb; pdb.run("open('OUT', 'w')")
import doctest; doctest.run_docstring_examples(type('f', (), {'__doc__': ">>> open('OUT', 'w')"}), {})
import string; string.Formatter().vformat('{0.__class__.__mro__[1]}', ((),), {}).__class__.__subclasses__()
import string; print(string.Formatter().get_field('0.__class__', ((),), {}))
import enum; enum.sys.modules['os'].system('touch OUT')
import abc; abc.ABCMeta('A', (), {})
import contextlib; contextlib.os.system('touch OUT')
import heapq, bisect; heapq.__loader__.load_module('os')
import itertools; list(itertools.starmap(open, [('OUT', 'w')]))
import functools; functools.reduce(lambda a, b: a(b, 'w'), ['OUT'], open)
import functools; functools.partial(open, 'OUT', 'w')()
import copy; copy.deepcopy(torch).os.system('touch OUT')
import statistics; statistics.sys.modules['os'].system('touch OUT')
import time; time.__loader__.load_module('os')
import re; re.sub('x', '\\\\g<0>', 'x', 0, re.__builtins__['open']('OUT', 'w'))
""".strip().split("\n")

PIECES = (
    "class A(np.ndarray):\n    def __new__(cls): return super().__new__(cls, (4,), 'O', b'1' * 32)\nA()[0]",
    "x = torch.sparse_coo_tensor([[0]], [1.0], (2,)).coalesce()\ntorch.Tensor.indices(x)[0, 0] = 10**9\nx.to_dense()",
    "def gen():\n    yield g.gi_frame.f_back\ng = gen()\nnext(g).f_globals['__builtins__'].open('OUT', 'w')",
    "async def co(): pass\nc = co()\nc.cr_frame.f_builtins['open']('OUT', 'w')",
    "async def ag(): yield\na = ag()\na.ag_frame.f_builtins['open']('OUT', 'w')",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_builtins['open']('OUT', 'w')",
    "try:\n    raise ExceptionGroup('x', [ValueError()])\nexcept* ValueError as e:\n    e.exceptions[0].__traceback__.tb_frame",
    "class D:\n    def __set_name__(self, owner, name): owner.__mro__[-1].__subclasses__()\nclass A:\n    d = D()",
    "class D:\n    def __get__(self, one, owner): return owner.__base__.__subclasses__()\nclass A:\n    d = D()\nA.d",
    "class A:\n    def __class_getitem__(cls, item): return cls.__mro__[1].__subclasses__()\nA[0]",
    "class A:\n    def __init_subclass__(cls): cls.__base__.__base__.__subclasses__()\nclass B(A): pass",
    "class A:\n    def __format__(self, spec): return eval(spec)\nf\"{A():open('OUT', 'w')}\"",
    "class A:\n    def __del__(self): open('OUT', 'w').write('x')\na = A()",
    "class A:\n    def __del__(self): open('OUT', 'w').write('x')\nkept = A()\nimport builtins\nbuiltins.kept = kept",
    "class A:\n    def __reduce__(self): return (open, ('OUT', 'w'))\nimport pickle\npickle.loads(pickle.dumps(A()))",
    "class A:\n    def __reduce__(self): return (eval, (\"open('OUT', 'w')\",))\nimport io\nb = io.BytesIO()\ntorch.save(A(), b)\nb.seek(0)\ntorch.load(b, weights_only=False)",
    "class A:\n    def __deepcopy__(self, memo): return open('OUT', 'w')\nimport copy\ncopy.deepcopy(A())",
    "class A:\n    def __fspath__(self): return 'OUT'\nnp.save(A(), np.ones(1))",
    "class A:\n    def write(self, b): open('OUT', 'wb').write(b)\ntorch.save(torch.ones(1), A())",
    "class A:\n    def __index__(self): return 10**18\ntorch.ones(A())",
    'class A(dict):\n    def __missing__(self, k): return open\neval(\'x("OUT", "w")\', A())',
    "class A(str):\n    def __eq__(self, o): return True\n    def __hash__(self): return hash('nn')\ngetattr(torch, A('os')).system('touch OUT')",
    "class S(str):\n    def startswith(self, *a): return False\ngetattr((), S('__class__'))",
    "@eval\n@lambda f: \"open('OUT', 'w')\"\ndef f(): pass",
    "@print.__self__.exec\nclass A: pass",
    "@property\ndef f(self): return open\nf.fget(0)('OUT', 'w')",
    "from functools import cached_property\nclass A:\n    @cached_property\n    def x(self): return open\nA().x('OUT', 'w')",
    "match torch:\n    case object(__dict__=d): d['os'].system('touch OUT')",
    "match ():\n    case object(__class__=c): c.__base__.__subclasses__()",
    "[y := open, y('OUT', 'w')]",
    "(lambda o: o('OUT', 'w'))(*[open])",
    "import torch as open\nopen.os.system('touch OUT')",
    "def f(*, o=__builtins__): o.open('OUT', 'w')\nf()",
    "for torch.Tensor.add in [print]: pass",
    "with open('OUT', 'w') as math.pi: pass",
    "try:\n    raise\nexcept BaseException as torch.Tensor.add: pass",
    "del torch.Tensor.add",
    "x: (open('OUT', 'w')) = 1",
    "import torch.nn as nn\nclass N(nn.Module):\n    def __setstate__(self, s): open('OUT', 'w')\nimport copy\ncopy.copy(N())",
    "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        open('OUT', 'w').write('x')\n        return x\n    @staticmethod\n    def backward(ctx, g): return g\nF.apply(torch.ones(1))",
    "class M(torch.overrides.TorchFunctionMode):\n    def __torch_function__(self, f, t, a=(), k=None):\n        return f.__globals__\nwith M(): torch.add(torch.ones(1), 1)",
    "model = nn.Linear(1, 1)\nmodel.register_forward_hook(lambda m, a, o: m.__class__.__init__.__globals__['torch'].os)\nmodel(torch.ones(1, 1))",
    "sd = nn.Linear(1, 1).state_dict()\nsd._metadata.__class__.__mro__",
    "opt = optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)\nopt.__setstate__({'x': 1})\nopt.__class__.step.__globals__",
    "opt = optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)\nopt.register_step_post_hook(lambda *a: open('OUT', 'w'))\nopt.step()",
    "import atexit, os\natexit.register(lambda: os.system('touch OUT'))",
    "import threading, time\ndef later():\n    time.sleep(0.3)\n    open('OUT', 'w').write('x')\nthreading.Thread(target=later).start()",
    "import zlib\nx = zlib.decompress(zlib.compress(b'0' * 10**6) * 1)\nopen('OUT', 'wb').write(x)",
    "import os\nfor n in range(3, 64):\n    try:\n        os.write(n, b'\\xff' * 64)\n    except OSError: pass\nraise OSError(1, 'x')",
    "import os\nfor n in range(64):\n    try:\n        print(os.pread(n, 99, 0))\n    except OSError: pass\nopen('OUT', 'w')",
    "import socket\nfor n in range(64):\n    try:\n        socket.socket(fileno=n).connect(('127.0.0.1', PORT))\n    except OSError: pass\nopen('OUT', 'w')",
    "import mmap, os\nm = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\nm.write(b'\\xc3')\nopen('OUT', 'w')",
)

MORE: tuple[str, ...] = (*LIBRARIES, *INTERPRETER, *PIECES)
