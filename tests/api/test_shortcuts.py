"""The doctor on scripts, from Python."""

import pytest

import gradscribe as gs

SICK = """\
import torch
w = torch.ones(3, requires_grad=True)
for _ in range(4):
    loss = (w * 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""


@pytest.mark.e2e
def test_a_script_is_examined_in_a_process_of_its_own(tmp_path, capfd):
    script = tmp_path / "my script.py"
    script.write_text(SICK + "print('said')\nraise ValueError('at its end')\n")
    for path in (script, str(script)):
        (finding,) = [f for f in gs.doctor(path) if f.id == "missing-zero-grad"]
        assert finding.place.line == 5
    assert "said" not in capfd.readouterr().out


def test_a_script_that_is_not_there_is_said(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.py"):
        gs.doctor(tmp_path / "nothing.py")


def test_neither_a_number_nor_arguments_for_a_script(tmp_path):
    with pytest.raises(TypeError, match="a function or a path, not int"):
        gs.doctor(3)
    with pytest.raises(TypeError, match="without arguments"):
        gs.doctor(tmp_path / "a.py", 1)
