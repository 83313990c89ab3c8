"""A system call filter that allows only the calls needed for computing and reading.

Calls that are not listed fail with "operation not permitted": no sockets, no programs, no
processes, no file opened for writing, no signals to others. Source: Linux, seccomp_filter.rst in
Documentation/userspace-api, and the call numbers of x86-64; other machines have no filter.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

_ARCH = 0xC000003E
"""AUDIT_ARCH_X86_64."""
_X32 = 0x40000000
_SECCOMP, _SET_FILTER, _TSYNC, _KNOWN_ACTION = 317, 1, 1, 2
_NO_NEW_PRIVS = 38
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AND = 0x54
_NR, _MACHINE = 0, 4

ALWAYS_ALLOWED: dict[str, int] = dict(  # noqa: C408
    read=0, write=1, close=3, stat=4, fstat=5, lstat=6, poll=7, lseek=8, mprotect=10, munmap=11,
    brk=12, rt_sigaction=13, rt_sigprocmask=14, rt_sigreturn=15, pread64=17, pwrite64=18, readv=19,
    writev=20, access=21, pipe=22, select=23, sched_yield=24, mremap=25, msync=26, mincore=27,
    dup=32, dup2=33, pause=34, nanosleep=35, getitimer=36, alarm=37, setitimer=38,
    getpid=39, recvfrom=45, shutdown=48, getsockname=51, exit=60, wait4=61, uname=63, getdents=78,
    getcwd=79, chdir=80, fchdir=81, readlink=89, umask=95, gettimeofday=96, getrlimit=97,
    getrusage=98, sysinfo=99, times=100, getuid=102, getgid=104, geteuid=107, getegid=108,
    getppid=110, getpgrp=111, getgroups=115, getresuid=118, getresgid=120, getpgid=121, getsid=124,
    capget=125, rt_sigpending=127, rt_sigtimedwait=128, rt_sigsuspend=130, sigaltstack=131,
    statfs=137, fstatfs=138, getpriority=140, sched_getparam=143, sched_getscheduler=145,
    sched_get_priority_max=146, sched_get_priority_min=147, arch_prctl=158, gettid=186, time=201,
    futex=202, sched_getaffinity=204, epoll_create=213, getdents64=217, set_tid_address=218,
    restart_syscall=219, fadvise64=221, timer_create=222, timer_settime=223, timer_gettime=224,
    timer_getoverrun=225, timer_delete=226, clock_gettime=228, clock_getres=229,
    clock_nanosleep=230, exit_group=231, epoll_wait=232, epoll_ctl=233, get_mempolicy=239,
    waitid=247, newfstatat=262, readlinkat=267, faccessat=269, pselect6=270, ppoll=271,
    set_robust_list=273, get_robust_list=274, epoll_pwait=281, timerfd_create=283, eventfd=284,
    timerfd_settime=286, timerfd_gettime=287, signalfd4=289, eventfd2=290, epoll_create1=291,
    dup3=292, pipe2=293, preadv=295, getcpu=309, sched_getattr=315, getrandom=318, membarrier=324,
    preadv2=327, statx=332, rseq=334, close_range=436, faccessat2=439, futex_waitv=449,
)  # fmt: skip
"""Calls that are allowed whatever their arguments."""

_CLONE3 = 435
_WRITES = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0) & ~0o200000
)
_THREAD, _NAMESPACES = 0x00010000, 0x7E020080
_WRITE_AND_RUN = 6
_SHARED, _OF_NO_FILE, _GROWS_DOWN = 1, 0x20, 0x100
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX."""
_FCNTLS = (0, 1, 2, 3, 4, 5, 1030, 1031, 1032)
_PRCTLS = (3, 15, 16, 0x53564D41)
"""PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA."""
_MADVISE, _POISON = 28, 100
"""Advice from 100 on is for kernel tests: as root it takes the machine's pages out of use."""
_SOCKETPAIR, _SENDTO = 53, 44
_UNIX, _STREAM, _KINDS = 1, 1, 0xF

_Code = list[tuple[int, int, int, int]]


def available() -> bool:
    """Return whether this machine and its kernel support the filter."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 2**32:
        return False
    action = ctypes.c_uint32(_ERROR)
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.syscall(_SECCOMP, _KNOWN_ACTION, 0, ctypes.byref(action)) == 0)


def restrict() -> None:
    """Limit every thread of this process permanently to the listed calls.

    Raises:
        OSError: the kernel refuses.
    """
    code = build_filter(os.getpid())
    packed = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    filter_ = _Program(len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
    if libc.syscall(_SECCOMP, _SET_FILTER, _TSYNC, ctypes.byref(filter_)) != 0:
        code_ = ctypes.get_errno()
        raise OSError(code_, os.strerror(code_))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def build_filter(pid: int) -> _Code:
    """Return the filter as instructions ``(code, if true, if false, value)``."""
    code: _Code = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, _ARCH),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NR),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        # The C library falls back to clone, whose flags the filter can check.
        (_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]
    for number in ALWAYS_ALLOWED.values():
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    code += _for_call(2, [*_argument_without_bits(1, _WRITES)])
    code += _for_call(257, [*_argument_without_bits(2, _WRITES)])
    code += _for_call(9, [*_counted_memory(3), *_not_both(2, _WRITE_AND_RUN)])
    code += _for_call(
        56,
        [(_LOAD, 0, 0, _low(0)), (_ANY_BIT, 1, 0, _THREAD), _refuse(), *_without_bits(_NAMESPACES)],
    )
    code += _for_call(
        _MADVISE,
        [(_LOAD, 0, 0, _low(2)), (_AT_LEAST, 0, 1, _POISON), _refuse(), (_RETURN, 0, 0, _ALLOW)],
    )
    code += _for_call(62, _one_of(0, (pid,)))
    code += _for_call(234, _one_of(0, (pid,)))
    code += _for_call(16, _one_of(1, _IOCTLS))
    code += _for_call(72, _one_of(1, _FCNTLS))
    code += _for_call(157, _one_of(0, _PRCTLS))
    code += _for_call(302, [*_zero(_low(2)), *_zero(_low(2) + 4), (_RETURN, 0, 0, _ALLOW)])
    code += _for_call(_SOCKETPAIR, _connected())
    # Only to the connected peer: no address may be given.
    code += _for_call(_SENDTO, [*_zero(_low(4)), *_zero(_low(4) + 4), (_RETURN, 0, 0, _ALLOW)])
    return [*code, _refuse()]


def _connected() -> _Code:
    """Allow a pair of connected stream sockets in this process, which asyncio needs.

    A stream pair cannot be reconnected; a datagram could be sent to any address.
    """
    return [
        (_LOAD, 0, 0, _low(0)),
        (_EQUAL, 1, 0, _UNIX),
        _refuse(),
        (_LOAD, 0, 0, _low(1)),
        (_AND, 0, 0, _KINDS),
        (_EQUAL, 1, 0, _STREAM),
        _refuse(),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _low(argument: int) -> int:
    """Return the offset of the lower half of an argument."""
    return 16 + 8 * argument


def _refuse() -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERROR | errno.EPERM)


def _for_call(number: int, body: _Code) -> _Code:
    """Return ``body`` guarded by a test for one call; every path through it must return."""
    return [(_LOAD, 0, 0, _NR), (_EQUAL, 0, len(body), number), *body]


def _without_bits(mask: int) -> _Code:
    return [(_ANY_BIT, 0, 1, mask), _refuse(), (_RETURN, 0, 0, _ALLOW)]


def _argument_without_bits(argument: int, mask: int) -> _Code:
    return [(_LOAD, 0, 0, _low(argument)), *_without_bits(mask)]


def _counted_memory(argument: int) -> _Code:
    """Refuse memory that no limit counts: shared anonymous mappings, or those that grow."""
    return [
        (_LOAD, 0, 0, _low(argument)),
        (_ANY_BIT, 0, 1, _GROWS_DOWN),
        _refuse(),
        (_ANY_BIT, 0, 2, _SHARED),
        (_ANY_BIT, 0, 1, _OF_NO_FILE),
        _refuse(),
    ]


def _not_both(argument: int, mask: int) -> _Code:
    """Allow unless all bits of ``mask`` (of two bits) are set."""
    high, low = mask & (mask - 1), mask & -mask
    return [
        (_LOAD, 0, 0, _low(argument)),
        (_ANY_BIT, 0, 2, high),
        (_ANY_BIT, 0, 1, low),
        _refuse(),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _one_of(argument: int, values: tuple[int, ...]) -> _Code:
    code: _Code = [(_LOAD, 0, 0, _low(argument))]
    for value in values:
        code += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*code, _refuse()]


def _zero(where: int) -> _Code:
    return [(_LOAD, 0, 0, where), (_EQUAL, 1, 0, 0), _refuse()]
