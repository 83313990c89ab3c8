"""With a device the confinement holds as well: no file, no network, no other program."""

import pytest

HARM = {
    "write": "open({folder!r} + '/harm', 'w').write('x')",
    "read": "print(open({folder!r} + '/secret').read())",
    "network": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)",
    "program": "import subprocess\nsubprocess.run(['true'], check=True)",
    "signal": "import os\nos.kill(os.getppid(), 0)",
    "cache": "import torch.utils.cpp_extension as c\nc.load_inline('harm', 'int f(){{return 1;}}')",
}


@pytest.mark.parametrize("name", HARM)
def test_a_program_that_uses_the_device_is_kept_from_harm(engine, name, tmp_path):
    import socket

    (tmp_path / "secret").write_text("planted")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        harm = HARM[name].format(folder=str(tmp_path), port=port)
        tape = engine.record(f"print(torch.ones(2, device=device).sum().item())\n{harm}").tape
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
    assert tape.status == "error", tape.stdout
    assert tape.stdout == "2.0\n"
    assert not (tmp_path / "harm").exists()


def test_what_is_kept_is_said(engine):
    assert set(engine.ready().ready.kept) == {"files", "network", "processes", "memory"}
