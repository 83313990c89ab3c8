"""`gradscribe train`: a setup in, curves, weights, a picture and a plain script out."""

import csv
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gradscribe.app.cli import main as command_line
from gradscribe.app.cli import record, train
from gradscribe.app.cli.training import train_args, train_plot
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol.training import replies, requests
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Option
from tests.app.training_fakes import outcome

pytestmark = pytest.mark.e2e

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


def called(*words):
    return command_line.main(["train", *map(str, words)])


def written(folder, setup):
    file = folder / "setup.json"
    file.write_text(setup if isinstance(setup, str) else json.dumps(setup), encoding="utf-8")
    return file


def test_a_small_setup_leaves_everything_that_was_asked_for(tmp_path, capsys, qapp):
    setup = written(tmp_path, {"data": "sine", "model": "mlp", "steps": 500})
    out = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "png", "json", "safetensors")}
    out["script"] = tmp_path / "out.py"
    options = [word for kind, path in out.items() for word in (f"--{kind}", path)]
    assert called(setup, "--steps", 60, *options) == 0
    said = capsys.readouterr().out
    assert "321 parameters" in said
    rows = list(csv.DictReader(io.StringIO(out["csv"].read_text(encoding="utf-8"))))
    losses = [row["loss"] for row in rows if row["loss"]]
    assert [int(row["step"]) for row in rows] == list(range(61))
    plain = subprocess.run(
        [sys.executable, str(out["script"])], capture_output=True, text=True, check=True
    )
    assert plain.stdout.split()[1::2] == losses
    found = json.loads(out["json"].read_text(encoding="utf-8"))
    assert (found["status"], found["steps"], found["format"]) == ("ok", 60, 1)
    assert [repr(x) for x in found["series"]["loss"][1:]] == losses
    data = out["safetensors"].read_bytes()
    length = int.from_bytes(data[:8], "little")
    start, end = json.loads(data[8 : 8 + length])["0.weight"]["data_offsets"]
    first = np.frombuffer(data[8 + length + start : 8 + length + end], "<f4")
    assert first.tolist() == np.ravel(found["weights"]["0.weight"]).astype("<f4").tolist()
    assert out["png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_list_names_models_data_losses_and_optimizers(capsys):
    assert called("--list") == 0
    said = capsys.readouterr().out
    for word in ("sine", "mlp", "cross_entropy", "adamw", "betas=[0.9,0.999]", "no_zero_grad"):
        assert word in said


@pytest.mark.parametrize(
    ("word", "count"), [("1000", 1000), ("1e3", 1000), ("2.5E2", 250), ("0", 0), ("1_000", 1000)]
)
def test_a_number_of_steps_may_be_written_with_an_exponent(word, count):
    options = command_line.parse(["train", "s.json", "--steps", word])
    assert options.steps == count
    assert isinstance(options.steps, int)


@pytest.mark.parametrize("word", ["1.5", "1e-3", "1e400", "-1", "-1e3", "nan", "e", "1e20", ""])
def test_what_is_no_number_of_steps_is_refused(word, capsys):
    with pytest.raises(SystemExit):
        command_line.parse(["train", "s.json", f"--steps={word}"])
    assert "is not a number of steps" in capsys.readouterr().err


BAD = [
    ("{", "not JSON"),
    ("[]", "object"),
    ('{"data": "sin", "model": "mlp"}', "did you mean 'sine'"),
    ('{"dat": "sine"}', "did you mean 'data'"),
    ('{"data": "sine", "device": "cuda:9"}', "no device cuda:9"),
    ('{"data": "sine", "model": {"name": "cnn"}}', "pictures"),
    ('{"data": {"name": "csv", "path": "gone.csv"}}', "no file gone.csv"),
]


@pytest.mark.parametrize(("setup", "words"), BAD[:2] + BAD[3:4])
def test_a_setup_that_says_nothing_is_refused_at_once(setup, words, tmp_path, capsys):
    assert called(written(tmp_path, setup)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_the_engine_refuses_in_one_line(tmp_path, capsys):
    for setup, words in [BAD[2], BAD[4]]:
        assert called(written(tmp_path, setup)) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1


def test_a_module_in_a_setup_is_held_to_the_policy_unless_it_is_trusted(tmp_path, capsys):
    source = "import os\nclass Net(nn.Module):\n    def __init__(self):\n"
    source += "        super().__init__()\n        self.a = nn.Linear(2, os.getpid() * 0 + 1)\n"
    source += "    def forward(self, x):\n        return self.a(x)\n"
    setup = written(tmp_path, {"data": "moons", "model": {"name": "own", "source": source}})
    assert called(setup, "--steps", 1) == 2
    said = capsys.readouterr().err
    assert "os" in said
    assert "--trust" in said
    assert called(setup, "--steps", 1, "--trust") == 0


@pytest.mark.parametrize(
    "words",
    [[], ["gone.json"], ["s.json", "--png", "out.jpg"], ["s.json", "--csv", "no/where.csv"]],
)
def test_bad_usage_is_refused(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert called(*words) == 2
    assert capsys.readouterr().err.startswith("gradscribe: ")


def test_a_loss_that_blows_up_ends_in_one(tmp_path, capsys):
    setup = {"data": "line", "model": "linear", "batch": 0, "optimizer": {"name": "sgd", "lr": 10}}
    assert called(written(tmp_path, setup), "--json", tmp_path / "o.json") == 1
    assert "lower the learning rate" in capsys.readouterr().err
    found = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert found["status"] == "nan"
    assert 0 < found["steps"] < 200


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")


@FULL
def test_what_can_be_written_is_where_something_else_cannot(tmp_path, capsys, qapp):
    setup = written(tmp_path, {"data": "line", "model": "linear", "steps": 3})
    json_file, picture = tmp_path / "o.json", tmp_path / "o.png"
    options = ("--csv", "/dev/full", "--json", json_file, "--png", picture)
    assert called(setup, *options) == 2
    said = capsys.readouterr()
    assert said.err.startswith("gradscribe: /dev/full cannot be written")
    assert "linear, 2 parameters" in said.out
    assert json.loads(json_file.read_text(encoding="utf-8"))["steps"] == 3
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@FULL
@pytest.mark.parametrize("words", [(), ("--json", "-"), ("--list",)])
def test_an_output_that_is_full_is_told_and_the_files_are_written(words, tmp_path):
    setup = written(tmp_path, {"data": "line", "model": "linear", "steps": 3})
    out = tmp_path / "o.csv"
    command = [sys.executable, "-m", "gradscribe", "train", str(setup), "--csv", str(out), *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("gradscribe: standard output cannot be written")
    assert done.stderr.count("\n") == 1
    assert out.exists() is ("--list" not in words)


@posix
def test_whoever_has_read_enough_leaves_the_files(tmp_path):
    setup = written(tmp_path, {"data": "line", "model": "linear", "steps": 3})
    out, (read, write) = tmp_path / "o.csv", os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "gradscribe", "train", str(setup), "--csv", str(out)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")
    assert out.read_text(encoding="utf-8").count("\n") == 5


def test_a_folder_in_place_of_a_file_is_refused_before_the_training(tmp_path, capsys):
    setup = written(tmp_path, {"data": "line", "model": "linear", "steps": 10**12})
    assert called(setup, "--csv", tmp_path) == 2
    assert "is a directory" in capsys.readouterr().err


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_leaves_what_was_reached(tmp_path, name):
    setup = written(tmp_path, {"data": "sine", "model": "linear", "steps": 10**9})
    out = tmp_path / "o.json"
    code = (
        "import os, signal, sys\n"
        "from gradscribe.app.cli import train\n"
        "from gradscribe.app.cli.main import main\n"
        "extend, sent = train._extend, []\n"
        "def spy(curves, series):\n"
        "    extend(curves, series)\n"
        "    if len(curves['step']) > 50 and not sent:\n"
        f"        sent.append(os.kill(os.getpid(), signal.{name}))\n"
        "train._extend = spy\n"
        f"sys.exit(main(['train', {str(setup)!r}, '--json', {str(out)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=100, check=False)
    assert done.returncode == 130
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["status"] == "interrupted"
    assert len(found["series"]["loss"]) == found["steps"] + 1 > 50


def interrupted(name, at, *words, count=1):
    """Return a finished ``train`` that got a signal where `app.cli.train` would call ``at``."""
    code = (
        "import os, signal, sys\n"
        "from gradscribe.app.cli import train\n"
        "from gradscribe.app.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"whole = train.{at}\n"
        "def spy(*given):\n"
        f"    for _ in range({count}):\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "    return whole(*given)\n"
        f"train.{at} = spy\n"
        f"sys.exit(main(['train', *{list(map(str, words))!r}]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], timeout=100, check=False, capture_output=True, text=True
    )


@posix
@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
@pytest.mark.parametrize("at", ["read_setup", "wait_ready", "_begin"])
def test_an_interrupt_before_there_is_a_run_ends_with_a_word(tmp_path, name, at):
    setup, out = written(tmp_path, {"data": "sine", "model": "linear"}), tmp_path / "o.json"
    done = interrupted(name, at, setup, "--json", out)
    assert done.returncode == 130
    assert done.stderr == "gradscribe: interrupted before the first step: nothing was trained\n"
    assert not out.exists()


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_of_a_run_that_has_just_begun_leaves_it_at_its_beginning(tmp_path, name):
    setup = written(tmp_path, {"data": "sine", "model": "linear", "steps": 10**9})
    out = tmp_path / "o.json"
    done = interrupted(name, "_follow", setup, "--json", out)
    assert (done.returncode, done.stderr) == (130, "")
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["status"] == "interrupted"
    assert found["steps"] < 10**9
    assert len(found["weights"]["weight"]) == 1


@posix
def test_an_interrupt_of_the_terminal_is_not_the_engines():
    with record.BlockingEngine() as engine:
        assert os.getsid(engine._process.pid) != os.getsid(0)


@pytest.mark.skipif(not os.path.exists("/proc/self/autogroup"), reason="Linux shares by session")
def test_without_a_window_the_engine_has_its_full_share_of_a_busy_machine():
    with record.BlockingEngine() as engine:
        ready = engine.wait_ready()
        engine.send(requests.ListCatalogue())
        assert isinstance(engine.next(time.monotonic() + 60), replies.Catalogue)
        words = Path(f"/proc/{ready.pid}/autogroup").read_text()
    assert words.split()[-1] == "0"


KINDS = [({"data": "line"}, "FitPlot"), ({"data": "moons"}, "BoundaryPlot"),
         ({"data": "plane"}, "BoundaryPlot"), ({"data": "spirals"}, "BoundaryPlot"),
         ({"data": {"name": "digits", "n": 50}}, "ConfusionMatrix"),
         ({"data": "copy_tokens", "model": "recurrent"}, "ConfusionMatrix")]  # fmt: skip


def test_each_kind_of_data_has_its_picture(qtbot, tmp_path):
    for setup, kind in KINDS:
        found = outcome(setup)
        plot = train_plot.prediction_plot(found)
        qtbot.addWidget(plot)
        assert type(plot).__name__ == kind
        file = tmp_path / "picture.png"
        train_plot.draw(found, str(file))
        assert file.stat().st_size > 5000


def test_progress_is_kept_off_what_is_no_terminal(capsys):
    progress = train_args.ProgressLine(10)
    progress(None, 0.0)
    progress.clear()
    assert capsys.readouterr().err == ""


def test_a_setup_is_read_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"data": "sine", "steps": 3}'))
    assert train.read_setup("-").steps == 3
    monkeypatch.setattr(sys, "stdin", io.StringIO("{"))
    with pytest.raises(Refused):
        train.read_setup("-")


LENGTH = Option("length", "int", 3)


def dying():
    raise train.EngineDied("the engine ended")


def test_an_option_outside_its_part_is_shown_its_place_if_an_engine_runs(monkeypatch):
    known = replies.Catalogue(0, (CatalogueEntry("data", "a", "A", options=(LENGTH,)),))
    for found, words in (
        (lambda: known, "'length': it belongs to the data"),
        (dying, "'length'; the keys are"),
    ):
        monkeypatch.setattr(train, "catalogue", found)
        monkeypatch.setattr(sys, "stdin", io.StringIO('{"length": 3}'))
        with pytest.raises(Refused, match=words):
            train.read_setup("-")


XOR = "a,b,out\n0,0,no\n0,1,yes\n1,0,Yes\n1,1,no\n"


def test_a_teachers_words_are_in_the_terminal_and_in_the_json(tmp_path, capsys):
    table = tmp_path / "xor.csv"
    table.write_text(XOR, encoding="utf-8")
    data = {"name": "csv", "path": str(table), "inputs": ["a", "b"], "target": "out"}
    file = written(tmp_path, {"data": {**data, "classes": True}, "model": "mlp", "steps": 3})
    assert called(file, "--json", tmp_path / "out.json") == 0
    said = capsys.readouterr().out
    assert "3 to train on, 1 to validate on" in said
    assert "Yes 1, no 2, yes 1" in said
    assert "train: 1 of 4 rows validates" in said
    assert 'write "train": 1.0' in said
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["rows"] == {"train": 3, "validation": 1}
    assert found["classes"] == {"Yes": 1, "no": 2, "yes": 1}
    places = {note["place"]: note.get("change") for note in found["notes"]}
    assert places == {"data.target": None, "train": {"train": 1.0}}


def test_what_to_write_is_a_part_of_a_setup_file(tmp_path, capsys):
    slow = {"data": "sine", "optimizer": {"name": "sgd", "lr": 1e-7, "momentum": 0.5}, "steps": 120}
    assert called(written(tmp_path, slow), "--json", "-") == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    change = note["change"]["optimizer"]
    assert (change["name"], change["momentum"]) == ("sgd", 0.5)
    assert change["lr"] > 1e-5
    assert called(written(tmp_path, {**slow, **note["change"]}), "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_an_ordinary_run_has_no_notes(tmp_path, capsys):
    assert called(written(tmp_path, {"data": "moons", "steps": 120})) == 0
    assert "note" not in capsys.readouterr().out
