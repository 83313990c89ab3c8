"""A library's registries are restored before the next program runs, or the engine is replaced.

Each pair is a program that registers something, and one that prints what a fresh process prints.
"""

# ruff: noqa: E501
import pytest

from gradscribe.engine.protocol import messages
from tests.engine.driver import Engine

LEFT = {
    "types of files": (
        "import mimetypes\nmimetypes.add_type('own/kind', '.csv')\nmimetypes.types_map['.qq'] = 'a/b'\nmimetypes.encodings_map['.qq'] = 'q'",
        "import mimetypes\nprint(mimetypes.guess_type('a.csv'), mimetypes.guess_type('a.qq'))",
        "('text/csv', None) (None, None)",
    ),
    "archives": (
        "import shutil, copyreg\nshutil.register_archive_format('own', zip)\nshutil.register_unpack_format('own', ['.own'], zip)\ncopyreg.add_extension('builtins', 'int', 9)",
        "import shutil, copyreg\nprint('own' in dict(shutil.get_archive_formats()), 'own' in [f[0] for f in shutil.get_unpack_formats()])\ncopyreg.add_extension('builtins', 'str', 9)",
        "False False",
    ),
    "how long sockets wait": (
        "import socket\nsocket.setdefaulttimeout(3)",
        "import socket\nprint(socket.getdefaulttimeout())",
        "None",
    ),
    "the locale": (
        "import locale\nlocale.setlocale(locale.LC_ALL, 'C.UTF-8')\nlocale.setlocale(locale.LC_NUMERIC, 'C')\nlocale.setlocale(locale.LC_CTYPE, 'C')",
        "import locale\nprint(locale.setlocale(locale.LC_CTYPE) == START)",
        "True",
    ),
    "the time zone": (
        "import os, time\nos.environ['TZ'] = 'Asia/Kathmandu'\ntime.tzset()",
        "import time\nprint(time.timezone == 0 or time.tzname[0] != '+0545')",
        "True",
    ),
    "the first day of the week": (
        "import calendar\ncalendar.setfirstweekday(6)",
        "import calendar\nprint(calendar.firstweekday())",
        "0",
    ),
    "dialects": (
        "import csv\ncsv.register_dialect('pipes', delimiter='|')\ncsv.field_size_limit(3)",
        "import csv\nprint(sorted(csv.list_dialects()), csv.field_size_limit())",
        "['excel', 'excel-tab', 'unix'] 131072",
    ),
    "how things are shortened": (
        "import reprlib\nreprlib.aRepr.maxlist = 1",
        "import reprlib\nprint(reprlib.repr([1, 2, 3]))",
        "[1, 2, 3]",
    ),
    "classes of loggers": (
        "import logging\nclass Own(logging.Logger): pass\nlogging.setLoggerClass(Own)\nlogging.getLogger('own')\nlogging.setLogRecordFactory(print)\nlogging.addLevelName(20, 'Q')",
        "import logging\nprint(type(logging.getLogger('own')).__name__, logging.getLogRecordFactory() is logging.LogRecord, logging.getLevelName(20))",
        "Logger True INFO",
    ),
    "what imports": (
        "import sys\nclass Finder:\n    def find_spec(self, *_): raise ImportError('mine')\nsys.meta_path.insert(0, Finder())\nsys.path_hooks.insert(0, lambda path: print('asked'))",
        "import sys, this_is_nowhere",
        "",
    ),
    "kinds of classes": (
        "import collections.abc\ncollections.abc.Sequence.register(torch.Tensor)\nisinstance(torch.ones(1), collections.abc.Collection)\nisinstance(torch.ones(1), collections.abc.Reversible)",
        "import collections.abc\nprint(isinstance(torch.ones(1), collections.abc.Sequence), isinstance([], collections.abc.Sequence), issubclass(dict, collections.abc.MutableMapping), isinstance(range(2), collections.abc.Sequence))",
        "False True True True",
    ),
    "trees": (
        "from torch.utils import _pytree\n_pytree.register_pytree_node(slice if slice not in _pytree.SUPPORTED_NODES else range, lambda r: ([r.start], None), lambda c, _: range(*c))",
        "from torch.utils import _pytree\nprint(_pytree.tree_leaves([range(3)]))",
        "[range(0, 3)]",
    ),
    "bijections": (
        "from torch.distributions import biject_to, constraints\n@biject_to.register(constraints.positive)\ndef f(c): return 'Q'",
        "from torch.distributions import biject_to, constraints\nprint(biject_to(constraints.positive) == 'Q')",
        "False",
    ),
    "what may be loaded": (
        "import fractions\ntorch.serialization.add_safe_globals([fractions.Fraction])",
        "import fractions\nprint(fractions.Fraction in torch.serialization.get_safe_globals())",
        "False",
    ),
    "how processes start": (
        "import multiprocessing\nmultiprocessing.set_start_method('spawn')",
        "import multiprocessing\nmultiprocessing.set_start_method('spawn')\nprint('once more')",
        "once more",
    ),
    "loops": (
        "import asyncio\nclass Own(asyncio.DefaultEventLoopPolicy): pass\nasyncio.set_event_loop_policy(Own())",
        "import asyncio\nprint(type(asyncio.get_event_loop_policy()).__name__ == 'Own')",
        "False",
    ),
    "attention": (
        "torch.backends.mha.set_fastpath_enabled(False)\ntorch.backends.cuda.enable_flash_sdp(False)\ntorch.__future__.set_swap_module_params_on_conversion(True)",
        "print(torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled(), torch.__future__.get_swap_module_params_on_conversion())",
        "True True False",
    ),
}
FOR_GOOD = {
    "what a copy of the process does": "import os\nos.register_at_fork(before=print)",
    "an audit hook": "import sys\nsys.addaudithook(lambda *_: None)",
    "a codec": "import codecs\ncodecs.register(lambda name: None)",
    "a way with mistakes": "import codecs\ncodecs.register_error('strict', codecs.ignore_errors)",
    "a lower priority": "import os\nos.nice(1)",
}


@pytest.mark.parametrize("what", LEFT)
def test_the_next_program_finds_nothing_of_it(shared, what):
    leaves, asks, fresh = LEFT[what]
    start = shared.run("import locale\nprint(repr(locale.setlocale(locale.LC_CTYPE)))").stdout
    left = shared.until(messages.Recorded, shared.start(leaves))[-1]
    assert (left.tape.error, left.spent) == (None, False)
    tape = shared.run(asks.replace("START", start.strip()))
    assert tape.stdout.strip() == fresh
    if what == "what imports":
        assert tape.error.message.startswith("No module named")
    else:
        assert tape.error is None


@pytest.mark.parametrize("what", FOR_GOOD)
def test_what_nobody_can_take_back_spends_the_engine(what):
    # Let use files: who is kept from them cannot change a priority either.
    engine = Engine("--open")
    try:
        engine.next()
        left = engine.until(messages.Recorded, engine.start(FOR_GOOD[what]))[-1]
        assert (left.tape.error, left.spent) == (None, True)
    finally:
        engine.close()


def test_a_program_of_its_own_classes_alone_spends_nothing(shared):
    source = "import numbers\nclass N: pass\nnumbers.Number.register(N)\nprint(isinstance(N(), numbers.Number))"
    for _ in range(2):
        found = shared.until(messages.Recorded, shared.start(source))[-1]
        assert (found.tape.stdout, found.spent) == ("True\n", False)
