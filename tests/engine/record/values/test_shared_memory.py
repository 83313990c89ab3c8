"""Memory that others write to: what an op was given is what was in the memory at that moment."""

import pytest

from tests.engine.mirror import mirror, numbers

PROGRAMS = {
    "from_numpy": "a = np.zeros(2, dtype=np.float32)\nt = torch.from_numpy(a)\nu = t + 1\n"
    "a[:] = 5\nv = t + 1\nprint(v)\n",
    "a view": "a = np.zeros(4, dtype=np.float32)\nt = torch.from_numpy(a)[2:]\nu = t + 1\n"
    "a[:] = 5\nv = t + 1\nprint(v)\n",
    "from_dlpack": "a = np.zeros(2, dtype=np.float32)\nt = torch.from_dlpack(a)\nu = t + 1\n"
    "a[:] = 5\nv = t + 1\nprint(v)\n",
    "to_dlpack": "from torch.utils.dlpack import from_dlpack, to_dlpack\nt = torch.zeros(2)\n"
    "s = from_dlpack(to_dlpack(t))\nu = s + 1\nt += 5\nv = s + 1\nprint(v)\n",
    "frombuffer": "memory = bytearray(8)\nt = torch.frombuffer(memory, dtype=torch.float32)\n"
    "u = t + 1\nmemory[:4] = np.float32(5).tobytes()\nv = t + 1\nprint(v)\n",
    "share_memory_": "t = torch.zeros(2).share_memory_()\na = t.numpy()\nu = t + 1\na[0] = 5\n"
    "v = t + 1\nprint(v)\n",
    "untyped_storage": "t = torch.zeros(2)\ns = t.untyped_storage()\nu = t + 1\ns.fill_(64)\n"
    "v = t + 1\nprint(v)\n",
    "data_ptr": "import ctypes\nt = torch.zeros(2)\nu = t + 1\n"
    "ctypes.c_float.from_address(t.data_ptr()).value = 5.0\nv = t + 1\nprint(v)\n",
    "from_file": "import tempfile\nf = tempfile.NamedTemporaryFile()\nf.write(bytes(8))\n"
    "f.flush()\n"
    "t = torch.from_file(f.name, shared=True, size=2)\nu = t + 1\n"
    "a = np.memmap(f.name, dtype=np.float32, mode='r+')\na[0] = 5\na.flush()\n"
    "v = t + 1\nprint(v)\n",
    "set_": "t, s = torch.zeros(2), torch.ones(2)\nu = t + 1\nt.set_(s)\ns += 4\nv = t + 1\n"
    "print(v)\n",
    "data": "t, s = torch.zeros(2), torch.ones(2)\nu = t + 1\nt.data = s\ns += 4\nv = t + 1\n"
    "print(v)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_op_is_shown_with_the_numbers_that_it_was_given(name):
    tape = mirror(PROGRAMS[name])
    values = {v.id: v for v in tape.values}
    sums = [op for op in tape.ops if op.op == "add"]
    assert len(sums) == 2
    for op in sums:
        given, made = (numbers(tape, values[i].snapshot) for i in (op.inputs[0], op.outputs[0]))
        assert (given + 1).tolist() == made.tolist()
    before, after = (numbers(tape, values[op.inputs[0]].snapshot).tolist() for op in sums)
    assert before != after
    assert tape.writes


def test_torchs_own_look_at_an_address_exposes_nothing():
    tape = mirror("import copy\nt = torch.zeros(2)\ncopy.deepcopy(t)\nprint(t)\nu = t + 1\n")
    assert not tape.writes
