"""The confinement alone: full Python inside it writes, calls and starts nothing.

Each program runs in a real engine without the policy; a fresh one follows where a program ends it.
A quarter of the programs runs always, all of them in `make torture`.
"""

import re
import socket
import subprocess
import sys

import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.sandbox.confine import box, landlock, seccomp
from tests.conftest import child_processes
from tests.engine.driver import Engine
from tests.hostile.snippets import ALL
from tests.hostile.test_policy import WORDS, aimed, harm, trap  # noqa: F401 - a fixture

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not {"files", "network", "processes"} <= set(box.available_protections()),
        reason="this kernel has neither Landlock nor a filter of system calls",
    ),
]
SOCKETS = """
import socket
a, b = socket.socketpair()
where = 'WHERE'
tried = (
    lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', where),
    lambda: socket.socketpair(type=socket.SOCK_SEQPACKET),
    lambda: socket.socketpair(socket.AF_INET),
    lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(where),
    lambda: a.connect(where),
    lambda: a.bind(where + '2'),
    lambda: a.sendto(b'x', where),
    lambda: a.sendmsg([b'x'], [], 0, where),
    lambda: (a.listen(), a.accept()),
)
led = 0
for one in tried:
    try:
        one()
        led += 1
    except OSError:
        pass
print(led, 'led out of', len(tried))
"""
UNCOUNTED = """
import ctypes, mmap
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
def mapped(size, flags, read_only=False):
    return c.mmap(None, size, 1 if read_only else 3, flags, -1, 0) != 2**64 - 1
try:
    mmap.mmap(-1, 1 << 20)
    print('shared')
except PermissionError:
    pass
print(mapped(1 << 20, 0x21), mapped(1 << 20, 0x23), mapped(1 << 20, 0x122), end=' ')
print(mapped(1 << 41, 0x22, True))
open('/dev/zero')
"""
"""Memory that no limit counts: shared, a stack, read only, or of a device without an end."""
COUNTED = """
import mmap, numpy
own = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE)
own[5] = 7
print(own[5], numpy.memmap(FILE, 'u1', 'r').sum())
"""
SLOW = ("cpp_extension", "torch.compile", "torch.export", "torch.onnx", "torch.fx", "np.testing")
DEADLY = ("'O'", "torch.sparse", "'pos'", "set_state", "fatal_error", "as_strided")
"""Programs that import half of torch, or end their engine: `make torture` alone tries them."""
CLAIM = re.compile(r"raise OSError\(1, '(no .+)'\)")
"""Output of a program whose system call the kernel refused."""


class Prisoners:
    """Engines one after the other: a program may end the one it runs in."""

    def __init__(self):
        self.engine = None

    def run(self, source):
        """Return what a program said, however it ended."""
        if self.engine is None:
            self.engine = Engine()
            self.engine.next()
        try:
            run_id = self.engine.start(source, timeout=10.0)
            tape = self.engine.until(messages.Recorded, run_id)[-1].tape
        except (AssertionError, BrokenPipeError):
            self.close()
            return "it died"
        return f"{tape.stdout}{tape.stderr}{tape.error}"

    def close(self):
        if self.engine is not None:
            self.engine.close()
            self.engine = None


@pytest.fixture(scope="module")
def prisoners():
    made = Prisoners()
    yield made
    made.close()


def try_all(snippets, prisoners, trap):  # noqa: F811
    found = {}
    before = child_processes()
    for snippet in snippets:
        told = prisoners.run(aimed(snippet, trap))
        if done := harm(trap, told):
            found[snippet] = done
        claim = CLAIM.search(snippet)
        if claim and claim[1] not in told:
            found.setdefault(snippet, []).append(f"not told: {claim[1]}")
        if prisoners.engine is not None:
            left = children(prisoners.engine.process.pid)
            if left:
                found.setdefault(snippet, []).append(f"processes {left}")
    prisoners.close()
    assert not found
    assert child_processes() == before


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


def test_hostile_programs_do_no_harm_in_the_confinement(prisoners, trap):  # noqa: F811
    quick = [one for one in ALL if not any(word in one for word in SLOW + DEADLY)]
    try_all(quick[::4], prisoners, trap)


@pytest.mark.slow
def test_none_of_the_hostile_programs_does_harm_in_the_confinement(prisoners, trap):  # noqa: F811
    try_all(ALL, prisoners, trap)


def test_memory_that_no_limit_counts_is_not_to_be_had(prisoners):
    said = prisoners.run(UNCOUNTED)
    assert said.startswith("False False False False\n"), said
    assert "Permission denied: '/dev/zero'" in said
    # What is one's own is counted, and files are read as ever.
    said = prisoners.run(COUNTED.replace("FILE", repr(socket.__file__)))
    with open(socket.__file__, "rb") as file:
        assert said.startswith(f"7 {sum(file.read())}"), said
    prisoners.close()


def test_every_program_that_says_what_was_refused_can_say_it():
    claims = [one for one in ALL if CLAIM.search(one)]
    assert len(claims) > 50
    for one in claims:
        compile(one, "claim", "exec")


def test_the_same_programs_do_harm_without_it(trap):  # noqa: F811
    engine = Engine("--open")
    try:
        assert engine.next().kept == ()
        for snippet in (
            "open('OUT', 'w').write('x')",
            "import os; os.system('touch OUT')",
            "import ctypes; ctypes.CDLL(None).creat(b'OUT', 511)",
        ):
            engine.run(aimed(snippet, trap))
            assert harm(trap, "") == ["out"], snippet
        calls = "import socket; socket.create_connection(('127.0.0.1', PORT), 2)"
        engine.run(aimed(calls, trap))
        assert harm(trap, "") == ["a call came"]
        assert WORDS in engine.run(aimed("print(open('SECRET').read())", trap)).stdout
    finally:
        engine.close()


def test_what_an_engine_does_goes_on_in_it(tmp_path):
    (tmp_path / "beside.py").write_text("number = 7")
    (tmp_path / "data.csv").write_text("1,2\n")
    script = tmp_path / "script.py"
    script.write_text("")
    engine = Engine()
    try:
        assert set(engine.next().kept) == {"files", "network", "processes", "memory"}
        told = engine.run(
            "import io, beside, threading\nprint(beside.number, open('data.csv').read())\n"
            "buffer = io.BytesIO()\ntorch.save(torch.ones(2), buffer)\nbuffer.seek(0)\n"
            "print(torch.load(buffer))\n"
            "model = nn.Linear(2, 1)\nopt = optim.Adam(model.parameters())\n"
            "for batch in torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2):\n"
            "    model(batch).sum().backward()\n    opt.step()\n"
            "work = lambda: print(torch.ones(300, 300).mm(torch.ones(300, 300)).sum())\n"
            "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n"
            "print(torch.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3)).sum())\n".replace(
                "data.csv", str(tmp_path / "data.csv")
            ),
            filename=str(script),
            threads=2,
            timeout=60.0,
        )
        assert (told.status, told.error) == ("ok", None)
        assert told.stdout.startswith("7 1,2")
        refused = engine.run("open('out.txt', 'w')", filename=str(script))
        assert refused.error.type == "PermissionError"
        assert "Run > Let my programs use files" in refused.error.hint
    finally:
        engine.close()


def test_a_command_that_does_not_start_is_told_at_its_line(prisoners):
    said = prisoners.run("import os\nos.system('ls')\n")
    assert "PermissionError" in said
    assert "No other program or process starts from here" in said
    assert "line=2" in said
    prisoners.close()


def test_asyncio_works_and_its_sockets_lead_to_nobody(prisoners, tmp_path):
    said = prisoners.run("import asyncio\nprint(asyncio.run(asyncio.sleep(0.01, 'slept')))")
    assert said.startswith("slept")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "listens"))
        listening.setblocking(False)
        said = prisoners.run(SOCKETS.replace("WHERE", str(tmp_path / "listens")))
        assert said.startswith("0 led out of 9\n"), said
        with pytest.raises(BlockingIOError):
            listening.recv(9)
    prisoners.close()


def test_a_kernel_without_any_of_it_keeps_nothing_and_says_so(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(seccomp, "available", lambda: False)
    assert box.available_protections() == ("memory",)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert box.available_protections() == ()


def test_every_way_through_the_filter_ends_in_an_answer():
    code = seccomp.build_filter(1234)
    for index, (kind, yes, no, _) in enumerate(code):
        assert index + max(yes, no) + 1 <= len(code) or kind == 0x06
        assert yes < 256
        assert no < 256
    assert code[-1][0] == 0x06
    assert len(code) < 4096


LIMITS = """
import os, resource as r, ctypes
for name in ("CORE", "FSIZE", "MEMLOCK"):
    print(r.getrlimit(getattr(r, "RLIMIT_" + name)))
for name in ("CORE", "FSIZE", "MEMLOCK", "DATA", "NOFILE"):
    kind = getattr(r, "RLIMIT_" + name)
    try:
        r.setrlimit(kind, (r.RLIM_INFINITY, r.RLIM_INFINITY))
        print(name, "was lifted")
    except (ValueError, OSError):
        pass
machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
print(0 < r.getrlimit(r.RLIMIT_DATA)[1] <= 3 * machine // 4, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_the_limits_are_what_they_are_said_to_be_and_stay(prisoners):
    """No dump, no file, no locked memory, three quarters of the machine's; nobody looks into it."""
    said = prisoners.run(LIMITS)
    assert said.startswith("(0, 0)\n" * 3 + "True 0\n"), said
    prisoners.close()


CROWD = """
import os, pathlib, resource, threading
from gradscribe.engine.sandbox.confine import limits
limits.EXTRA_THREADS = 40
threading.stack_size(1 << 16)
if os.getuid() == 0:
    os.setuid(65534)
limits.restrict(threads=limits.threads_in_use())
go, begun = threading.Event(), 0
try:
    while begun < 400:
        threading.Thread(target=go.wait, daemon=True).start()
        begun += 1
except RuntimeError:
    pass
print(begun, flush=True)
os._exit(0)
"""


def test_a_program_leaves_its_user_threads_for_other_programs():
    done = subprocess.run(
        [sys.executable, "-c", CROWD], capture_output=True, text=True, check=True, timeout=60
    )
    assert 20 <= int(done.stdout) <= 60, done.stderr


def test_an_engine_has_a_limit_of_threads(prisoners):
    said = prisoners.run("import resource\nprint(resource.getrlimit(resource.RLIMIT_NPROC))")
    prisoners.close()
    soft, hard = map(int, re.findall(r"\d+", said)[:2])
    assert 0 < soft == hard < 1 << 20
