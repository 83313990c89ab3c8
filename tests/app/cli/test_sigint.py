"""Ctrl-C in the first second of the command line."""

import os
import signal
import subprocess
import sys

import pytest

from gradscribe.app.cli import sigint


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize(
    "module",
    [
        "numpy",
        "gradscribe.app.cli.train",
        "gradscribe.app.cli.training.train_args",
        "gradscribe.engine.protocol.training",
    ],
)
def test_an_interrupt_while_all_is_imported_ends_it_without_a_word(tmp_path, module):
    setup = tmp_path / "setup.json"
    setup.write_text('{"data": "sine", "model": "linear", "steps": 1000000000}', encoding="utf-8")
    code = (
        "import os, runpy, signal, sys\n"
        # A shell that starts the tests with & has it ignored, here as well.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        f"sys.argv = ['app', 'train', {str(setup)!r}]\n"
        "runpy.run_module('gradscribe', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (sigint.INTERRUPTED, b"", b"")


def test_ctrl_c_is_pythons_again_at_the_end():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sigint.install()
        assert signal.getsignal(signal.SIGINT) is sigint._leave
        sigint.restore()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sigint.install()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "nohup and a shell's & want that"
    finally:
        signal.signal(signal.SIGINT, before)
