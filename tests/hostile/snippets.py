"""Programs that try to do harm, by what they are after.

``OUT`` is a file they try to make, ``SECRET`` one they try to read, ``PORT`` where something listens.
Each is tried with only the policy, and with only the confinement.
"""

# ruff: noqa: E501
from tests.hostile.backdoors import MORE
from tests.hostile.backways import BACKWAYS
from tests.hostile.byways import BYWAYS
from tests.hostile.detours import DETOURS

# Out of the language: from an object that is there to one that is not.
WALKS = """
().__class__.__base__.__subclasses__()
(lambda: 0).__globals__['__builtins__']
__builtins__['open']('OUT', 'w').write('x')
__builtins__.open('OUT', 'w').write('x')
__import__('os').system('touch OUT')
__loader__.load_module('os').system('touch OUT')
__spec__.loader.get_source('os')
torch.__builtins__['open']('OUT', 'w').write('x')
torch.__dict__['os'].system('touch OUT')
nn.Linear.__init__.__globals__['torch'].os.system('touch OUT')
torch.os.system('touch OUT')
torch.sys.modules['os'].system('touch OUT')
torch.builtins.open('OUT', 'w').write('x')
torch.importlib.import_module('os').system('touch OUT')
torch.nn.functional.importlib.import_module('os').system('touch OUT')
torch.nn.functional.warnings.sys.modules['os'].system('touch OUT')
np.core.multiarray.os.system('touch OUT')
np.lib.npyio.os.system('touch OUT')
math.__loader__.load_module('posix').system('touch OUT')
getattr(torch, 'o' + 's').system('touch OUT')
getattr(getattr(torch, '__di' + 'ct__'), 'get')('os').system('touch OUT')
getattr((), '_' * 2 + 'class' + '_' * 2).__base__.__subclasses__()
object.__getattribute__((), '__class__').__base__.__subclasses__()
type(()).__base__.__subclasses__()
type.__subclasses__(object)
type(type(1))('X', (), {})
type('X', (object,), {'__del__': print})
vars(torch)['os'].system('touch OUT')
dir.__self__.open('OUT', 'w').write('x')
print.__self__.open('OUT', 'w').write('x')
len.__self__.eval('1')
[].append.__self__.__class__.__mro__[1].__subclasses__()
'{0.__class__}'.format(1)
'{0.__init__.__globals__}'.format(nn.Linear)
'{x.__class__.__mro__}'.format_map({'x': 1})
str.format('{0.__class__}', 1)
f = 'a {0.__class__}'.format; print(f(1))
print(*map('{0.__class__.__mro__}'.format, [1]))
(x for x in ()).gi_frame.f_builtins['open']('OUT', 'w').write('x')
(x for x in ()).gi_frame.f_back.f_globals
getattr((x for x in ()), 'gi' + '_frame').f_builtins
eval("open('OUT', 'w').write('x')")
exec("open('OUT', 'w').write('x')")
compile("open('OUT', 'w')", 'a', 'exec')
globals()['__builtins__']
locals()['__builtins__']
open('OUT', 'w').write('x')
print(open('SECRET').read())
print(open('/proc/1/environ').read())
input()
breakpoint()
help()
memoryview(bytearray(8)).cast('Q')
""".strip().split("\n")

IMPORTS = """
import os; os.system('touch OUT')
import os; os.mkdir('OUT')
import os; os.symlink('SECRET', 'OUT')
import os; os.close(os.open('OUT', os.O_CREAT | os.O_WRONLY))
import os; os.mkfifo('OUT')
import os; os.link('SECRET', 'OUT')
import os; os.rename('SECRET', 'OUT')
import os; os.unlink('SECRET')
import os; os.chmod('SECRET', 0o777)
import os; os.utime('SECRET', (1, 1))
import os; os.truncate('SECRET', 0)
import os; os.execv('/bin/sh', ['sh', '-c', 'touch OUT'])
import os; os.posix_spawn('/bin/sh', ['sh', '-c', 'touch OUT'], {})
import os; os.fork() or os.abort()
import os; print(os.listdir('/proc/1/fd'))
import os; os.kill(os.getppid(), 9)
import os; os.killpg(os.getpgid(os.getppid()), 9)
import os; print(os.read(os.open('SECRET', os.O_RDONLY), 99))
import os; os.setxattr('SECRET', 'user.x', b'1')
import os; os.memfd_create('x')
import os; os.chroot('/')
import os; os.setuid(12345)
import os; os.nice(-5)
import os as harmless; harmless.system('touch OUT')
from os import system; system('touch OUT')
from os import *; system('touch OUT')
import posix; posix.system('touch OUT')
import subprocess; subprocess.run(['touch', 'OUT'])
import subprocess; print(subprocess.check_output(['cat', 'SECRET']))
import pty; pty.spawn('/bin/sh')
import shutil; shutil.copy('SECRET', 'OUT')
import shutil; shutil.rmtree('OUT')
import pathlib; pathlib.Path('OUT').write_text('x')
import pathlib; print(pathlib.Path('SECRET').read_text())
import io; io.open('OUT', 'w').write('x')
import io; io.FileIO('OUT', 'w').write(b'x')
import _io; _io.open('OUT', 'w').write('x')
import codecs; codecs.open('OUT', 'w').write('x')
import tempfile; tempfile.mkdtemp(dir='FOLDER')
import sqlite3; sqlite3.connect('OUT').execute('create table t (a)')
import dbm.dumb; dbm.dumb.open('OUT', 'c')
import shelve; shelve.open('OUT')
import zipfile; zipfile.ZipFile('OUT', 'w').close()
import tarfile; tarfile.open('OUT', 'w').close()
import logging; logging.FileHandler('OUT').emit(logging.makeLogRecord({}))
import mmap; mmap.mmap(-1, 4096, prot=7)
import socket; socket.create_connection(('127.0.0.1', PORT), 2)
import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))
import socket; socket.socket(socket.AF_UNIX).bind('OUT')
import socket; socket.socket(socket.AF_INET6)
import socket; socket.socketpair()
import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
import socket; socket.getaddrinfo('example.org', 80)
import _socket; _socket.socket().connect(('127.0.0.1', PORT))
import urllib.request; urllib.request.urlopen('http://127.0.0.1:PORT')
import urllib.request; print(urllib.request.urlopen('file://SECRET').read())
import http.client; http.client.HTTPConnection('127.0.0.1', PORT).request('GET', '/')
import asyncio; asyncio.run(asyncio.open_connection('127.0.0.1', PORT))
import ssl; ssl.get_server_certificate(('127.0.0.1', PORT))
import ftplib; ftplib.FTP().connect('127.0.0.1', PORT, timeout=2)
import multiprocessing; p = multiprocessing.Process(target=print); p.start(); p.join()
import multiprocessing as m; m.Pool(1).map(abs, [1])
import multiprocessing.shared_memory as s; s.SharedMemory('gs', True, 64)
import concurrent.futures as c; c.ProcessPoolExecutor(1).submit(abs, 1).result()
import ctypes; ctypes.CDLL(None).system(b'touch OUT')
import ctypes; ctypes.CDLL(None).creat(b'OUT', 511)
import ctypes; ctypes.CDLL(None).fork() or ctypes.CDLL(None)._exit(0)
import ctypes; c = ctypes.CDLL(None); s = c.socket(2, 1, 0); assert s < 0, c.close(s); raise OSError(1, 'no socket')
import ctypes; assert ctypes.CDLL(None).syscall(59, b'/bin/true', 0, 0) == -1; raise OSError(1, 'no exec')
import ctypes; assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == -1; raise OSError(1, 'no ptrace')
import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == -1; raise OSError(1, 'no namespace')
import ctypes; assert ctypes.CDLL(None).mount(b'none', b'FOLDER', b'tmpfs', 0, 0) == -1; raise OSError(1, 'no mount')
import ctypes; assert ctypes.CDLL(None).syscall(425, 8, 0) == -1; raise OSError(1, 'no ring')
import ctypes; ctypes.CDLL('SECRET')
import ctypes; ctypes.string_at(0)
import fcntl, os; fcntl.flock(os.open('OUT', os.O_CREAT | os.O_RDWR), 2)
import importlib; importlib.import_module('os').system('touch OUT')
import importlib.util as u; u.module_from_spec(u.spec_from_file_location('m', 'SECRET')).__spec__.loader.exec_module(0)
import runpy; runpy.run_path('SECRET')
import sys; sys.modules['os'].system('touch OUT')
import sys; sys._getframe().f_builtins['open']('OUT', 'w').write('x')
import sys; sys.meta_path[0].find_spec('os').loader.load_module('os').system('touch OUT')
import gc; [o for o in gc.get_objects() if getattr(o, '__name__', '') == 'os'][0].system('touch OUT')
import inspect; inspect.currentframe().f_builtins['open']('OUT', 'w').write('x')
import builtins; builtins.open('OUT', 'w').write('x')
import pickle; pickle.loads(b"cos\\nsystem\\n(S'touch OUT'\\ntR.")
import marshal; exec(marshal.loads(marshal.dumps(compile("open('OUT', 'w')", 'a', 'exec'))))
import code; code.interact()
import timeit; timeit.timeit("open('OUT', 'w')", number=1)
import webbrowser; webbrowser.get('touch OUT').open('x')
import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**9, 10**9)); open('OUT', 'w').write('x')
import faulthandler; faulthandler.dump_traceback(open('OUT', 'w'))
import trace; trace.Trace(outfile='OUT').runctx('1', {}, {}); open('OUT', 'w')
import linecache; print(linecache.getline('SECRET', 1))
import tokenize; print(tokenize.open('SECRET').read())
import fileinput; print(*fileinput.input('SECRET'))
import glob; assert glob.glob('SECRET'); print(open('SECRET').read())
import configparser as c; p = c.ConfigParser(); p.read('SECRET'); print(open('SECRET').read())
import warnings; warnings.sys.modules['os'].system('touch OUT')
import collections; collections._sys.modules['os'].system('touch OUT')
import random; random._os.system('touch OUT')
import dataclasses; dataclasses.sys.modules['os'].system('touch OUT')
import functools; functools.GenericAlias.__class__
import typing; typing.sys.modules['os'].system('touch OUT')
import typing; typing.get_type_hints(type('A', (), {'__annotations__': {'x': "open('OUT','w')"}}))
import operator; operator.attrgetter('__class__.__base__')(()).__subclasses__()
import operator; operator.methodcaller('__reduce_ex__', 2)(1)
from functools import singledispatch; singledispatch(print).register
import os; print(os.open('secret', os.O_RDONLY, dir_fd=os.open('FOLDER', os.O_PATH)))
import os; os.open('FOLDER', os.O_TMPFILE | os.O_RDWR)
import os; os.environ['LD_PRELOAD'] = 'SECRET'; os.execvp('touch', ['touch', 'OUT'])
import os; os.open('/proc/self/mem', os.O_RDWR)
import os; print(open('/proc/self/root' + 'SECRET').read())
import os; [os.dup2(os.open('/dev/null', 0), n) for n in range(9)]; open('OUT', 'w')
import os; [os.close(n) for n in range(9)]; open('OUT', 'w')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(319, b'x', 0) == -1; raise OSError(1, 'no file in memory')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(323, 0) == -1; raise OSError(1, 'no userfaultfd')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(437, -100, b'SECRET', 0, 24) == -1; raise OSError(1, 'no openat2')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(250, 0, -3, 0, 0, 0) == -1; raise OSError(1, 'no keys')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(29, 1, 4096, 0o1600) == -1; raise OSError(1, 'no shared memory')
import ctypes; c = ctypes.CDLL(None); assert c.syscall(0x40000000 | 520, b'/bin/true', 0, 0) == -1; raise OSError(1, 'no x32')
import _posixsubprocess as p; p.fork_exec([b'touch'], [b'/bin/touch'], 1, (), None, None, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, None, None, None, -1, None, 0)
import sys; sys.path.insert(0, 'FOLDER'); import secret
import linecache as l; print(l.getlines('SECRET'))
import gc; gc.callbacks.append(lambda *_: open('OUT', 'w')); gc.collect()
import sys; sys.settrace(lambda *_: open('OUT', 'w')); (lambda: 0)()
import atexit; atexit.register(open, 'OUT', 'w')
import weakref, gc; f = weakref.finalize(lambda: 0, open, 'OUT', 'w')
from . import beside
from .. import beside
import torch.utils.cpp_extension as c; c.load_inline('m', 'int f() { return 1; }')
import torch.multiprocessing as m; m.spawn(print)
import torch.distributed as d; d.init_process_group('gloo', init_method='tcp://127.0.0.1:PORT', rank=0, world_size=1)
import torch.hub; torch.hub.download_url_to_file('http://127.0.0.1:PORT/x', 'OUT')
import torch.serialization as s; s.save(torch.ones(1), 'OUT')
import torch.package as p; p.PackageExporter('OUT').close()
import torch.profiler as p; q = p.profile(); q.start(); q.stop(); q.export_chrome_trace('OUT')
import torch.onnx; torch.onnx.export(nn.Linear(1, 1), (torch.ones(1),), 'OUT')
import numpy.ctypeslib as c; c.load_library('libc', '/lib')
import numpy.lib.stride_tricks as s; s.as_strided(np.ones(1), (10**9,), (8,))[10**8:]
import numpy.f2py; numpy.f2py.os.system('touch OUT')
""".strip().split("\n")

LIBRARY = """
torch.save(torch.ones(1), 'OUT')
torch.load('SECRET', weights_only=False)
torch.ones(1).numpy().tofile('OUT')
np.save('OUT', np.ones(1))
np.savetxt('OUT', np.ones(1))
np.savez('OUT', np.ones(1))
np.ones(1).dump('OUT')
np.memmap('OUT', mode='w+', shape=(4,))
print(np.fromfile('SECRET', dtype='u1').tobytes())
print(np.genfromtxt('SECRET', dtype=str, delimiter='|'))
print(np.loadtxt('SECRET', dtype=str, delimiter='|'))
print(bytes(torch.from_file('SECRET', size=8, dtype=torch.uint8).tolist()))
print(bytes(torch.UntypedStorage.from_file('SECRET', False, 8).tolist()))
torch.from_file('OUT', shared=True, size=8)
getattr(torch, 'sa' + 've')(torch.ones(1), 'OUT')
getattr(np, 'sa' + 've')('OUT', np.ones(1))
setattr(torch.Tensor, 'add', print)
torch.Tensor.add = print
nn.Module.forward = print
nn.Linear.weight = 1
math.pi = 3
torch.jit.script(nn.Linear(1, 1)).save('OUT')
torch.compile(lambda x: x + 1)(torch.ones(1))
torch.hub.load_state_dict_from_url('http://127.0.0.1:PORT/x')
torch.ops.load_library('SECRET')
torch.classes.load_library('SECRET')
torch.utils.data.get_worker_info.__globals__['os'].system('touch OUT')
torch.export.save(torch.export.export(nn.Linear(1, 1), (torch.ones(1),)), 'OUT')
torch.cuda.memory._dump_snapshot('OUT')
torch.ones(1).untyped_storage().share_memory_()
torch.ones(1).share_memory_()
torch.ones(1).data_ptr()
torch.ones(1).set_(torch.ones(1).untyped_storage(), 0, (10**9,))
np.ones(1).ctypes.data
np.ones(1).__array_interface__
torch.frombuffer(b'1234', dtype=torch.int8)
print(list(torch.utils.data.DataLoader(range(4), num_workers=2, multiprocessing_context='fork')))
nn.ParameterDict({'a': torch.ones(1)})['__class__']
np.DataSource().open('SECRET').read()
np.fromregex('SECRET', '(.)', [('a', 'S1')])
print(np.lib.npyio.DataSource)
x = np.ones(4); t = torch.from_numpy(x); x.resize(0, refcheck=False); t.add_(1)
np.bmat('a,b', globals())
random = torch.random; random.torch.os.system('touch OUT')
torch.sparse_csr_tensor([0, 99], [10**9], [1.0], (1, 2)).to_dense()
torch.utils.data.DataLoader.__init__.__globals__
F.boolean_dispatch.__code__.co_consts
torch.fx.symbolic_trace(nn.Linear(1, 1)).code
torch.library.Library('x', 'DEF')
torch.overrides.get_overridable_functions()
torch.backends.cudnn.m.os
""".strip().split("\n")

BLOCKS = (
    "class A:\n    @property\n    def __class__(self): return type\nA().__class__",
    "class M(type): pass\nclass A(metaclass=M): pass",
    "class A(**{'metaclass': print}): pass",
    "class A:\n    def __reduce__(self): return (print, ('x',))\nimport copy\ncopy.copy(A())",
    (
        "class A:\n    __array_interface__ = {'data': (1, False), 'shape': (9,), 'typestr': '<f8', "
        "'version': 3}\nnp.array(A())"
    ),
    (
        "class A:\n    def __getattr__(self, name):\n        return {'data': (4096, False), 'shape': (9,), "
        "'typestr': '<f8', 'version': 3} if name == '__array_interface__' else None\n"
        "assert np.array(A()).dtype == object\nraise ValueError('hidden')"
    ),
    "class A:\n    def __getattribute__(self, name): return 1",
    "class A:\n    def __torch_function__(self, *a, **k): return 1",
    "class A:\n    def __del__(self): print('x')",
    "class A:\n    __slots__ = ('__class__',)",
    "class A:\n    __slots__ = tuple(['__dict__'])",
    "class A:\n    __getitem__ = eval\nA()[\"open('OUT', 'w')\"]",
    "class A:\n    __add__ = exec\nA() + \"open('OUT', 'w')\"",
    "@eval\n@str\ndef f(): pass",
    "@exec\n@lambda f: \"open('OUT', 'w')\"\nclass A: pass",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_builtins['open']('OUT', 'w')",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.with_traceback(None)",
    (
        "class C:\n    def __enter__(self): return self\n    def __exit__(self, a, b, tb):\n"
        "        tb.tb_frame.f_builtins['open']('OUT', 'w').write('x')\nwith C():\n    1 / 0"
    ),
    (
        "class C:\n    def __enter__(self): return self\n    def __exit__(self, a, b, tb):\n"
        "        getattr(tb, 'tb_' + 'frame').f_builtins['open']('OUT', 'w').write('x')\nwith C():\n    1 / 0"
    ),
    "match (x for x in ()):\n    case object(gi_frame=f):\n        f.f_builtins['open']('OUT', 'w')",
    "match torch:\n    case object(__dict__=d):\n        d['os'].system('touch OUT')",
    "match 'a':\n    case str(format=f):\n        print(f)",
    "def f(): yield\ng = f()\ng.gi_code",
    "async def f(): pass\nf().cr_frame.f_builtins",
    "async def f(): pass\nf().send(None)",
    "def f(__x): return __x",
    "__name__ = 'torch'",
    "import math as __builtins__",
    "for __builtins__ in [{}]: pass",
    "global __builtins__\n__builtins__ = {}",
    "def __getattr__(name): return 1",
    (
        "class S(str):\n    def startswith(self, *a): return False\n"
        "print(getattr((), S('__class__')).__base__.__subclasses__())"
    ),
    "class S(str): pass\nprint(S('{0.__class__.__mro__}').format(1))",
    "class S(str):\n    def f(self): return super().format(1)\nprint(S('{0.__class__}').f())",
    "class T(torch.Tensor):\n    def f(self): return self._typed_storage()\nT([1.0]).f()",
    "class T(torch.Tensor): pass\nT._make_subclass(T, torch.ones(1))",
    "self = torch.ones(1)\nself._typed_storage()",
    "x = torch.ones(1)\nprint(x._make_wrapper_subclass)",
    "setattr(nn.Linear, 'forward', lambda *a: 1)",
    "delattr(torch.Tensor, 'add')",
    "del torch.Tensor.add",
    "for torch.Tensor.add in [1]: pass",
    "with open('OUT', 'w') as torch.x: pass",
    "[0 for torch.Tensor.sub in [1]]",
    "torch.nn.functional.relu = print",
    "setattr(torch, 'ones', print)",
    (
        "from dataclasses import dataclass, field\nf = field(default=1)\n@dataclass\nclass A:\n    x: int = f\n"
        "f.name = \"x}{open('OUT','w')\"\n@dataclass\nclass B(A): pass\nprint(B())"
    ),
    "from dataclasses import make_dataclass\nmake_dataclass('A', ['x'])",
    "from dataclasses import dataclass\ndataclass(nn.Linear)",
    (
        "from dataclasses import dataclass, fields\n@dataclass\nclass A:\n    x: int = 1\n"
        "fields(A)[0].name = '__class__'\n"
    ),
    "from typing import TypedDict",
    "from enum import Enum\nEnum('E', {'__array_interface__': 1})",
    (
        "from functools import update_wrapper\nclass A: pass\n"
        "update_wrapper(A(), torch.add, assigned=['__self__'])"
    ),
    "from functools import wraps\nwraps(lambda: 0)(nn.Linear)",
    "from collections import namedtuple\nnamedtuple('A', '__class__ b')",
    "from collections import namedtuple\nnamedtuple('A', [\"x=open('OUT','w')\"])",
    (
        "sched = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\n"
        "sched.load_state_dict({'__array_interface__': {}})"
    ),
    (
        "sched = optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1)\n"
        "getattr(sched, 'load_' + 'state_dict')({'__class__': 1})"
    ),
    (
        "class D(dict):\n    def __iter__(self): return iter(())\n"
        "optim.lr_scheduler.StepLR(optim.SGD([param(1.0)], 0.1), 1).load_state_dict(D(__class__=1))"
    ),
    "def g(x: \"open('OUT','w')\"): pass\nimport typing\ntyping.get_type_hints(g)",
    (
        "from functools import singledispatch\n@singledispatch\ndef f(x): pass\n@f.register\n"
        "def g(x: \"open('OUT','w')\"): pass"
    ),
    "import copy\nm = copy.copy(torch)\nm.os.system('touch OUT')",
    "try:\n    math.nope\nexcept AttributeError as e:\n    e.obj.__loader__",
    "try:\n    torch.os\nexcept Exception as e:\n    e.__context__.__traceback__",
    "import contextlib\ncontextlib.redirect_stdout",
    "x = 1\nx.__class__ = int",
    "def f(): pass\nf.__code__ = (lambda: 1).__code__",
    "def f(): pass\nf.__globals__['x'] = 1",
    "print(nn.Linear(1, 1)._parameters.__class__.__init__.__globals__)",
    "lambda: (yield)\n(lambda: (yield))().gi_frame",
    "eval = 1\ndel eval\neval('1')",
    "x = [open]\nx[0]('OUT', 'w').write('x')",
    "def f(a=open): a('OUT', 'w').write('x')\nf()",
    "ｏｐｅｎ('OUT', 'w').write('x')",
    "().__ｃｌａｓｓ__",
    "print((1).__class__)",
    "(" * 3000 + ")" * 3000,
    "x = " + "-" * 5000 + "1",
    "x = " + "not " * 5000 + "1",
    "f'" + "{" * 400 + "1" + "}" * 400 + "'",
    "x = " + "lambda: " * 3000 + "1",
    "x" + ".a" * 5000,
    "x = " + "+".join("1" * 20_000),
    "x = 1\n" * 300_000,
    "#" * 3_000_000,
    "if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 99)) + " " * 99 + "x = 1",
)

ALL: tuple[str, ...] = (*WALKS, *IMPORTS, *LIBRARY, *BLOCKS, *MORE, *BYWAYS, *DETOURS, *BACKWAYS)
