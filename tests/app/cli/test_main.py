"""The command line as a shell sees it: exit codes, files, one-line refusals."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradscribe.app.cli import main as cli
from gradscribe.app.cli import window_args

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[3]
AUTOGRAD = """import torch

x = torch.ones(5)
y = torch.zeros(3)
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(f"Gradient function for z = {z.grad_fn.name()}")
loss.backward()
print(w.grad)
print(b.grad)
"""
POLYNOMIAL = """import torch
import math

x = torch.linspace(-math.pi, math.pi, 2000)
y = torch.sin(x)
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction='sum')
learning_rate = 1e-6
for t in range(20):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    if t % 10 == 9:
        print(t, loss.item())
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= learning_rate * param.grad
linear_layer = model[0]
print(f'Result: y = {linear_layer.bias.item()} + {linear_layer.weight[:, 0].item()} x')
"""
CLASSIFIER = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.stack = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x):
        return self.stack(self.flatten(x))

data = TensorDataset(torch.rand(32, 4, 4), torch.randint(0, 4, (32,)))
model = NeuralNetwork()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for X, y in DataLoader(data, batch_size=8, shuffle=True):
        loss = nn.CrossEntropyLoss()(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"epoch {epoch}: {loss.item():>7f}")
"""


def gradscribe(*words, cwd, **environment):
    """Run the command line in a folder and return how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "gradscribe", *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    """A user's folder with a few scripts."""
    (tmp_path / "good.py").write_text(AUTOGRAD)
    (tmp_path / "bad.py").write_text(
        "x = param([1.0, 2.0])\ny = x * 2\nprint('hi')\ny.backward()\n"
    )
    (tmp_path / "binary.py").write_bytes(b"\x00\x01\x02")
    (tmp_path / "latin.py").write_bytes("é = 1".encode("latin-1"))
    return tmp_path


@pytest.mark.parametrize(
    "source", [AUTOGRAD, POLYNOMIAL, CLASSIFIER], ids=["autograd", "polynomial", "classifier"]
)
@pytest.mark.checklist(30)
def test_a_tutorial_prints_and_learns_what_it_does_in_plain_torch(folder, source):
    script = folder / "tutorial.py"
    script.write_text(source)
    done = gradscribe("record", script, "--json", "out.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads((folder / "out.json").read_text())
    told = {
        row["name"]: (
            next(v["data"] for v in document["values"] if v["id"] == row["value"]),
            row["grad"],
        )
        for row in document["leaves"]
    }
    plain = subprocess.run(
        [sys.executable, "-c", PLAIN, str(script)], capture_output=True, text=True, check=True
    )
    stdout, leaves = plain.stdout.split("\0")
    assert document["stdout"] == stdout
    assert done.stdout.startswith(stdout)
    expected = json.loads(leaves)
    assert expected
    for name, (data, grad) in expected.items():
        assert told[name] == (data, grad), name


PLAIN = """
import json, random, sys
import numpy, torch
torch.manual_seed(0); random.seed(0); numpy.random.seed(0); torch.set_num_threads(1)
names = {"__name__": "__main__"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), names)
leaves = {}
def keep(name, t):
    if t.is_leaf and t.numel() <= 1000:
        leaves[name] = t.detach().tolist(), None if t.grad is None else t.grad.tolist()
for name, thing in list(names.items()):
    if isinstance(thing, torch.Tensor):
        keep(name, thing)
    elif isinstance(thing, torch.nn.Module):
        for path, p in thing.named_parameters():
            keep(f"{name}.{path}", p)
print(end="\\0" + json.dumps(leaves))
"""


def test_without_json_people_get_output_and_a_table(folder):
    done = gradscribe("record", "good.py", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("Gradient function for z = AddBackward0")
    table = done.stdout.splitlines()
    assert any(line.split()[:1] == ["w"] and "5 × 3" in line for line in table)
    assert "3 ops" in table[-1]


def test_json_on_standard_output_is_nothing_but_json(folder):
    done = gradscribe("record", "good.py", "--json", "-", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["status"], document["stdout"][:8]) == ("ok", "Gradient")


def test_a_script_that_raises_is_written_all_the_same(folder):
    done = gradscribe("record", "bad.py", "--json", "out.json", "--svg", "out.svg", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("bad.py:4:1: RuntimeError: grad can be implicitly created")
    document = json.loads((folder / "out.json").read_text())
    assert (document["status"], document["error"]["line"], len(document["ops"])) == ("error", 4, 1)
    assert (folder / "out.svg").read_text().startswith("<?xml")


def test_pictures_of_the_graph_are_written(folder):
    films = ("--gif", "film.gif", "--mp4", "film.mp4", "--theme", "dark")
    drawn = ("--png", "graph.png", "--dot", "graph.dot", "--direction", "right", *films)
    done = gradscribe("record", "good.py", "--json", "-", *drawn, cwd=folder)
    assert done.returncode == 0
    assert "frame" not in done.stderr  # progress is for terminals
    assert (folder / "graph.dot").read_text().startswith("digraph")
    assert (folder / "film.gif").read_bytes().startswith(b"GIF89a")
    assert (folder / "film.mp4").read_bytes()[4:8] == b"ftyp"
    drawn_to_the_right = (folder / "graph.png").read_bytes()
    assert drawn_to_the_right.startswith(b"\x89PNG")
    wide, high = (int.from_bytes(drawn_to_the_right[at : at + 4]) for at in (16, 20))
    assert wide > high


def test_the_graph_is_written_for_other_programs(folder):
    asked = ("--graphml", "g.graphml", "--gexf", "g.gexf", "--graph-json", "g.json")
    done = gradscribe("record", "good.py", *asked, cwd=folder)
    assert done.returncode == 0
    assert "<graphml" in (folder / "g.graphml").read_text()
    assert "<gexf" in (folder / "g.gexf").read_text()
    assert json.loads((folder / "g.json").read_text())["multigraph"] is True


@pytest.mark.parametrize("timeout", ["0.4", "1"])
def test_a_loop_without_end_is_exit_three(folder, timeout):
    (folder / "loop.py").write_text("x = param(1.0)\nwhile True:\n    y = x * 2\n")
    done = gradscribe("record", "loop.py", "--timeout", timeout, "--json", "-", cwd=folder)
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "timeout"
    assert f"Still running after {timeout} s" in done.stderr


def test_a_script_that_kills_the_engine_is_exit_three(folder):
    (folder / "crash.py").write_text("import os\nos._exit(0)\n")
    done = gradscribe("record", "crash.py", "--trust", "--json", "-", cwd=folder)
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "died"


@pytest.mark.parametrize(
    "words",
    [
        ["record", "missing.py"],
        ["record", "binary.py"],
        ["record", "latin.py"],
        ["record", "."],
        ["record", "good.py", "--json", "no/such/folder.json"],
        ["record", "good.py", "--svg", "graph.jpg"],
        ["record", "good.py", "--mp4", "film.gif"],
        ["record", "good.py", "--dot", "graph.gv"],
        ["record", "good.py", "--graphml", "graph.xml"],
        ["record", "good.py", "--graph-json", "no/such/graph.json"],
        ["record", "good.py", "--gif", "no/such/folder.gif"],
        ["record", "good.py", "--device", "cuda:77"],
        ["missing.py"],
        ["binary.py"],
        ["--headless", "missing.py"],
        ["--screenshot", "out.png", "missing.py"],
        ["--screenshot", "out.png", "binary.py"],
        ["--screenshot", "no/such/folder.png"],
        ["--at", "3"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_refused_in_one_line(folder, words, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    assert cli.main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("gradscribe: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [["record"], ["--no-such-option"], ["record", "a.py", "--timeout", "-1"], ["a.py", "b.py"]],
    ids=" ".join,
)
def test_bad_usage_is_exit_two(words, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2
    assert "usage: gradscribe" in capsys.readouterr().err


def test_without_a_display_the_window_is_refused_with_a_way_out(folder):
    none = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = gradscribe("good.py", cwd=folder, **none)
    assert done.returncode == 2
    assert "--headless" in done.stderr


def test_recording_needs_no_qt(folder):
    (folder / "PySide6.py").write_text("raise SystemExit('Qt was imported')")
    (folder / "torch_free.py").write_text("print(1)")
    path = os.pathsep.join([str(folder), str(ROOT)])
    words = [sys.executable, "-m", "gradscribe", "record", "torch_free.py", "--json", "-"]
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_script_imports_the_modules_beside_it(folder):
    (folder / "beside.py").write_text("number = 7")
    (folder / "main.py").write_text("import beside\nprint(beside.number)")
    done = gradscribe("record", folder / "main.py", "--trust", "--json", "-", cwd=ROOT)
    assert json.loads(done.stdout)["stdout"] == "7\n"


def test_what_the_policy_forbids_is_exit_two_with_the_place_and_the_way_out(folder):
    (folder / "outside.py").write_text("import math\nimport os\nprint(os.getcwd())\n")
    done = gradscribe("record", "outside.py", "--json", "-", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("outside.py:2:8: Refused: ")
    assert "os" in done.stderr.splitlines()[0]
    assert "--trust" in done.stderr.splitlines()[-1]
    assert json.loads(done.stdout)["status"] == "refused"
    assert gradscribe("record", "outside.py", cwd=folder).stdout == ""
    done = gradscribe("record", "outside.py", "--trust", "--json", "-", cwd=folder)
    assert (done.returncode, json.loads(done.stdout)["stdout"]) == (0, f"{folder}\n")


@pytest.mark.parametrize(
    "words",
    [
        "record good.py --json {}/o.json",
        "record good.py --png {}/o.png",
        "record {}.py",
        "doctor good.py --json {}/o.json",
        "good.py --screenshot {}/o.png",
        "{}.py",
        "lesson {}.md",
        "lesson a/{}.md",
        "train --csv {}/o.csv setup.json",
        "train csv.json",
    ],
)
def test_a_path_of_which_nothing_can_be_told_gets_one_line(folder, words, capsys, monkeypatch):
    """Asked whether it is there, the system fails: as in a folder that is not for this user."""
    name = "n" * 300
    monkeypatch.chdir(folder)
    Path("setup.json").write_text('{"data": "sine", "steps": 2}')
    table = {"name": "csv", "path": f"{name}/t.csv", "target": "y"}
    Path("csv.json").write_text(json.dumps({"data": table, "steps": 2}))
    assert cli.main(words.format(name).split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("gradscribe: ")
    assert said.err.count("\n") == 1


def test_the_help_lists_every_command_and_option_of_the_window(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    for word in (*cli.COMMANDS, "FILE", "--screenshot", "--at", "--theme", "--headless", "--trust"):
        assert re.search(rf"^ +{word}\b", said, re.MULTILINE), word


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_has_its_own_help(name, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([name, "--help"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: gradscribe {name} ")


@pytest.mark.parametrize("name", ["record.py", "./record", "lessons.py", "recor"])
def test_a_file_is_no_command_although_its_name_begins_like_one(name):
    options = cli.parse([name, "--trust"])
    assert (options.file, options.trust) == (name, True)
    assert options.run is window_args.run


@pytest.mark.parametrize(
    "words",
    [["--help"], ["record", "a.py"], ["doctor", "a.py"], ["train", "--list"], ["lessons"]],
    ids=" ".join,
)
def test_a_command_line_is_parsed_without_qt_torch_and_other_commands(words, tmp_path):
    code = (
        "import contextlib, io, sys\n"
        "from gradscribe.app.cli.main import COMMANDS, parse\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    parse({words!r})\n"
        "mine = COMMANDS.get(sys.argv[1], ('window_args',))[0]\n"
        "others = {f'gradscribe.app.cli.{name}' for name, _ in COMMANDS.values() if name != mine}\n"
        "print(*sorted(({'torch', 'PySide6.QtWidgets'} | others) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("gradscribe ")


def test_without_a_screen_the_first_example_is_told_and_the_window_drawn(folder):
    done = gradscribe("--headless", cwd=folder, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["L", "−12.0000", "1.0000"] in rows
    assert (folder / window_args.PICTURE).read_bytes().startswith(b"\x89PNG")
    assert window_args.PICTURE in done.stdout
    assert "display" in done.stdout


def test_a_screenshot_is_drawn_at_an_event(folder):
    words = ["--screenshot", "shot.png", "good.py", "--at", "3"]
    done = gradscribe(*words, cwd=folder, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 0, done.stderr
    assert (folder / "shot.png").read_bytes().startswith(b"\x89PNG")


def test_a_screenshot_holds_a_script_to_the_policy_unless_it_is_trusted(folder):
    (folder / "strange.py").write_text("import os\nx = param(2.0)\n(x * x).backward()\n")
    words = ["--screenshot", "shot.png", "strange.py"]
    for more, code in ([], 2), (["--trust"], 0):
        done = gradscribe(*words, *more, cwd=folder, QT_QPA_PLATFORM="offscreen")
        assert done.returncode == code, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize(
    "words", ["record {}", "record --json - {}", "doctor {}", "doctor --json - {}", "lessons"]
)
def test_where_nothing_can_be_printed_one_line_says_so_or_nothing_does(words, tmp_path):
    """Standard output closed, and on a full disk."""
    script = tmp_path / "a.py"
    script.write_text("print(1)\n")
    command = f"{sys.executable} -m gradscribe {words.format(script)}"
    for out, code in ((">&-", 0), ("> /dev/full", 2)):
        done = subprocess.run(
            ["sh", "-c", f"{command} {out}"], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert done.stderr == "gradscribe: standard output cannot be written: the disk is full\n"
