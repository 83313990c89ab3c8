"""The program's modules as files: the commands, with an engine that runs in this process."""

import io

import pytest
import torch

from gradscribe.app.commands import load
from gradscribe.app.files.documents import Refused
from gradscribe.engine.inspect import model_file
from gradscribe.engine.protocol import messages
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.run import run as engine

SOURCE = "net = nn.Linear(2, 1)\ny = net(torch.ones(1, 2)).sum()\ny.backward()\n"


@pytest.fixture
def shown(settled, link, record):
    settled.session.apply_fix(SOURCE)
    link.answer(record(SOURCE))
    return settled


def choices(window, name):
    (made,) = [one for one in load() if one.id == name]
    return made.choices(window.context)


def choose(window, name, word):
    (made,) = [one for one in choices(window, name) if word in one.title]
    made.run(window.context)


def serve(companion):
    """Answer the run, and the request about its module, as the engine does."""
    source, seed, device = companion.runs[-1]
    request = messages.Run(1, source, seed=seed, device=device, watched_module="net")
    companion.received.emit(messages.Recorded(1, engine.execute(request), 0.0))
    asked = companion.asked[-1]
    companion.received.emit(model_file.model_file(replace(asked, run_id=1)))


def done(window, link, qtbot):
    with qtbot.waitSignal(window.export_queue.ended, timeout=20_000) as ended:
        qtbot.waitUntil(lambda: bool(link.companions and link.companions[-1].runs))
        serve(link.companions[-1])
    return ended.args[0]


@pytest.mark.checklist(68)
def test_68_modules_are_offered_in_each_format(shown):
    titles = [one.title for one in choices(shown, "file.export_model")]
    assert [title.partition(":")[0] for title in titles] == ["net"] * 4
    for word in ("safetensors", ".pt)", "torch.export", "ONNX"):
        assert any(word in title for title in titles)
    assert [one.title for one in choices(shown, "file.read_weights")] == ["net (Linear)…"]


@pytest.mark.checklist(68)
def test_68_the_weights_are_written(shown, link, qtbot, tmp_path):
    shown.answers["save"] = tmp_path / "w"
    choose(shown, "file.export_model", ".pt)")
    assert done(shown, link, qtbot) == "Wrote w.pt"
    torch.manual_seed(0)
    plain = torch.nn.Linear(2, 1)
    state = torch.load(tmp_path / "w.pt", weights_only=True)
    assert torch.equal(state["weight"], plain.weight)
    assert len(link.runs) == 2, "the engine of the window ran nothing"


def test_a_cancelled_export_leaves_no_file_and_no_engine(shown, link, qtbot, tmp_path):
    shown.answers["save"] = tmp_path / "m.pt2"
    choose(shown, "file.export_model", "torch.export")
    qtbot.waitUntil(lambda: bool(link.companions and link.companions[-1].runs))
    with qtbot.waitSignal(shown.export_queue.ended) as ended:
        shown.menus.perform_by("file.cancel_film")
    assert ended.args[0] == "Cancelled; m.pt2 was not written"
    assert link.companions[-1].closed
    assert list(tmp_path.glob("m*")) == []


def test_what_cannot_be_exported_says_why(shown, link, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(model_file.files.importlib.util, "find_spec", lambda name: None)
    shown.answers["save"] = tmp_path / "m.onnx"
    choose(shown, "file.export_model", "ONNX")
    words = done(shown, link, qtbot)
    assert words.startswith("m.onnx was not written: ONNX needs a package")
    assert not (tmp_path / "m.onnx").exists()


def saved_program(window, tmp_path):
    path = tmp_path / "p.py"
    path.write_text(SOURCE)
    window.session.mark_saved(str(path), "p", SOURCE)


def weights_at(path, **state):
    torch.save(state or {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, path)
    return path


def test_weights_next_to_the_program_are_loaded_by_a_line(shown, link, record, qtbot, tmp_path):
    saved_program(shown, tmp_path)
    path = shown.answers["open"] = weights_at(tmp_path / "w.pt")
    choose(shown, "file.read_weights", "net")
    assert done(shown, link, qtbot) == "w.pt fits"
    line = f'net.load_state_dict(torch.load("{path.as_posix()}", weights_only=True))'
    qtbot.waitUntil(lambda: shown.editor.source().split("\n")[1] == line)
    link.answer(record(shown.editor.source()))
    (y,) = [v for v in shown.session.result.tape.values if v.name == "y"]
    # 1 * 1 + 1 * 1 + 0
    assert shown.session.result.tape.snapshots[y.snapshot].item() == 2.0
    shown.editor.undo()
    assert shown.editor.source() == SOURCE


def test_weights_from_elsewhere_are_copied_to_the_program(shown, link, qtbot, tmp_path):
    from gradscribe.engine.models import safetensors

    home = tmp_path / "home"
    home.mkdir()
    saved_program(shown, home)
    state = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    (tmp_path / "w.safetensors").write_bytes(safetensors.write(state, {}))
    shown.answers |= {"open": tmp_path / "w.safetensors", "save": home / "copy.pt"}
    choose(shown, "file.read_weights", "net")
    done(shown, link, qtbot)
    qtbot.waitUntil(lambda: "copy.pt" in shown.editor.source())
    read = torch.load(home / "copy.pt", weights_only=True)
    assert torch.equal(read["weight"], state["weight"])


def test_a_copy_where_the_program_may_not_read_is_refused(shown, link, qtbot, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    saved_program(shown, home)
    shown.answers |= {"open": weights_at(tmp_path / "w.pt"), "save": tmp_path / "copy.pt"}
    choose(shown, "file.read_weights", "net")
    done(shown, link, qtbot)
    qtbot.waitUntil(lambda: "may read files" in shown.status.message.text())
    assert not (tmp_path / "copy.pt").exists()
    assert shown.editor.source() == SOURCE


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"weight": torch.ones(1, 2)}, "it lacks bias"),
        ({"weight": torch.ones(3, 2), "bias": torch.zeros(1)}, "weight is 3 × 2 in the file"),
        ({"weight": io.StringIO}, "could run code"),
    ],
)
def test_weights_that_do_not_fit_are_refused_in_a_line(shown, link, qtbot, tmp_path, state, reason):
    saved_program(shown, tmp_path)
    shown.answers["open"] = weights_at(tmp_path / "w.pt", **state)
    choose(shown, "file.read_weights", "net")
    words = done(shown, link, qtbot)
    assert words.startswith("w.pt was not read: ")
    assert reason in words
    assert "\n" not in words
    assert shown.editor.source() == SOURCE


def test_a_file_that_is_gone_is_said(shown, qtbot, tmp_path):
    saved_program(shown, tmp_path)
    shown.answers["open"] = tmp_path / "gone.pt"
    with qtbot.waitSignal(shown.export_queue.ended, timeout=20_000) as ended:
        choose(shown, "file.read_weights", "net")
    assert ended.args[0].startswith("gone.pt cannot be read")


def test_a_program_without_a_folder_has_to_be_saved_first(shown):
    with pytest.raises(Refused, match="Save the program first"):
        choose(shown, "file.read_weights", "net")


def test_nothing_is_offered_for_a_text_that_has_changed(shown):
    shown.session.edit(SOURCE + "#")
    assert choices(shown, "file.export_model") == []
