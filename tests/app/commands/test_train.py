"""Train: what each command asks of the session."""

import msgspec
import pytest
from msgspec.structs import replace

from gradscribe.app.commands import edit, file, play, train
from gradscribe.app.document.state import Doc
from gradscribe.app.files.documents import Refused
from gradscribe.app.training.saving import session_file
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part
from tests.app.training.fakes import SGD


def test_the_rooms_are_entered(bench):
    train.program(bench)
    assert bench.current == "program"
    train.training(bench)
    assert bench.current == "training"


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (train.line, messages.StepEvent(1)),
        (train.leap, messages.Advance(1, 100)),
        (train.leap_back, messages.Rewind(1, 150)),
        (train.new_weights, messages.ResetRun(1, True, False)),
        (train.new_data, messages.ResetRun(1, False, True)),
        (train.tape, messages.RecordStep(1)),
        (train.export_script, messages.Export(1, "script")),
        (train.export_ddp, messages.Export(1, "ddp")),
        (train.export_csv, messages.Export(1, "csv")),
        (train.export_weights, messages.Export(1, "safetensors")),
        (train.export_state, messages.Export(1, "pt")),
        (train.export_program, messages.Export(1, "pt2")),
        (train.export_onnx, messages.Export(1, "onnx")),
        (play.step, messages.Advance(1, 1)),
        (play.back, messages.Rewind(1, 249)),
        (play.reset, messages.ResetRun(1)),
    ],
)
def test_a_command_asks_one_thing_of_the_engine(bench, train_link, command, asked):
    command(bench)
    assert train_link.sent[-1] == asked


def test_no_command_reaches_back_beyond_the_first_step(bench, train_link):
    train_link.state(1, 30)
    train.leap_back(bench)
    assert train_link.sent[-1] == messages.Rewind(1, 0)


def test_the_end_is_the_furthest_step(bench, train_link):
    train_link.state(1, 100)
    play.to_end(bench)
    assert train_link.sent[-1] == messages.Advance(1, 150)


def test_playing_and_speed(bench, train_link):
    play.toggle(bench)
    assert train_link.sent[-1] == messages.Pause(1)
    bench.training.controller.set_rate(0.0)
    play.slower(bench)
    play.toggle(bench)
    assert train_link.sent[-1].rate == 2000
    play.faster(bench)
    assert train_link.sent[-1].rate == 0


def test_a_fork_is_driven_and_the_runs_can_be_chosen(bench, train_link):
    train.fork(bench)
    assert isinstance(train_link.sent[-1], messages.Fork)
    choices = train.runs(bench)
    assert [choice.checked for choice in choices] == [False, True]
    choices[0].run(bench)
    assert bench.training.store.look.run_id == 1


def test_in_the_program_s_room_there_are_no_runs_to_choose(bench):
    bench.current = "program"
    assert train.runs(bench) == []


def test_undo_and_redo_are_the_setup_s(bench):
    before = bench.training.setup
    bench.training.controller.change(SGD)
    edit.undo(bench)
    assert bench.training.setup == before
    edit.redo(bench)
    assert bench.training.setup == SGD


@pytest.mark.parametrize("kind", sorted(train.FILES))
def test_an_export_gets_the_ending_of_its_kind(bench, tmp_path, kind):
    bench.save = tmp_path / "taken"
    train.write_export(bench, kind, b"1")
    bench.file_writer.finish()
    (written,) = tmp_path.iterdir()
    assert written.suffix == "." + train.FILES[kind][0].rpartition(".")[2]
    assert bench.said == [f"Wrote {written.name}"]


def test_nothing_is_written_where_nobody_says_where(bench, tmp_path):
    train.write_export(bench, "csv", b"1")
    train.export_picture(bench)
    assert not bench.drawn
    assert not bench.said


@pytest.mark.parametrize("name", ["y", "y.png"])
def test_a_picture_gets_its_ending(bench, tmp_path, name):
    bench.save = tmp_path / name
    train.export_picture(bench)
    assert bench.drawn == [tmp_path / "y.png"]


def room_of(model):
    setup = replace(SGD, model=model)
    return session_file.TrainingSessionData(
        setup, (session_file.SessionRun("a", 0, setup, 0, 0, {}),), 0
    )


def test_a_session_is_saved_under_its_ending_and_is_the_users_own(desk, tmp_path):
    desk.save = tmp_path / "mine"
    train.save_session(desk)
    path = tmp_path / "mine.gradscribe"
    assert desk.session_store.saved == [path]
    assert desk.settings.is_trusted(str(path), "class Net: ...")
    assert desk.settings.recent == [str(path)]


def test_another_ending_is_no_way_round_it_and_replaces_nothing_unasked(desk, tmp_path):
    desk.save = tmp_path / "one.v2"
    train.save_session(desk)
    path = tmp_path / "one.v2.gradscribe"
    assert desk.session_store.saved == [path]
    path.write_text("there")
    with pytest.raises(Refused, match="there already"):
        train.save_session(desk)
    assert desk.session_store.saved == [path]
    desk.save = path
    train.save_session(desk)
    assert desk.session_store.saved == [path, path]


def test_a_session_opens_in_the_room(desk, tmp_path):
    path = tmp_path / "a.gradscribe"
    path.write_bytes(session_file.encode(room_of(Part("mlp"))))
    desk.current = "program"
    file.open_path(desk, str(path))
    assert desk.current == "training"
    assert len(desk.session_store.opened) == 1
    path.write_bytes(b"")
    with pytest.raises(Refused, match="not a complete session"):
        file.open_path(desk, str(path))


def test_a_session_with_a_program_from_outside_waits_to_be_read(desk, tmp_path):
    path = tmp_path / "a.gradscribe"
    path.write_bytes(
        session_file.encode(room_of(Part("own", {"source": "class A(nn.Module): ..."})))
    )
    train.open_session(desk, path)
    assert not desk.session_store.opened
    (_, read), (_, run), (_, trust) = desk.notices.notice.choices
    read()
    assert desk.session.doc.foreign
    assert "class A" in desk.session.doc.source
    run()
    assert len(desk.session_store.opened) == 1
    assert desk.session_store.foreign
    assert desk.notices.notice is None
    train.open_session(desk, path)
    assert len(desk.session_store.opened) == 1
    trust()
    assert not desk.session_store.foreign
    train.open_session(desk, path)
    assert len(desk.session_store.opened) == 3


def test_a_program_that_hides_in_what_the_engine_goes_on_with_waits_too(desk, tmp_path):
    own = Part("own", {"source": "class A(nn.Module): ..."})
    data = msgspec.msgpack.encode({"torch": "2", "setups": [replace(SGD, model=own)]})
    row = session_file.SessionRun("a", 0, SGD, 0, 0, {}, data)
    path = tmp_path / "a.gradscribe"
    path.write_bytes(session_file.encode(session_file.TrainingSessionData(SGD, (row,), 0)))
    train.open_session(desk, path)
    assert not desk.session_store.opened
    assert desk.notices.notice is not None


def test_the_program_s_module_is_trained(desk):
    desk.session.doc = Doc(source="class Net(nn.Module):\n    pass\n", seen=True)
    desk.current = "program"
    train.train_own(desk)
    assert desk.current == "training"
    assert desk.training.setup.model.name == "own"
    assert "Net" in desk.training.setup.model.options["source"]
    assert "guarded" not in desk.training.setup.model.options
    desk.session.doc = Doc(source="class Net(nn.Module): ...", foreign=True, seen=True)
    train.train_own(desk)
    assert desk.training.setup.model.options["guarded"] is True
    desk.session.doc = Doc(source="x = 1", seen=True)
    with pytest.raises(Refused, match="no class"):
        train.train_own(desk)
    desk.session.doc = Doc(source="class Net(nn.Module): ...", foreign=True)
    with pytest.raises(Refused, match="outside"):
        train.train_own(desk)


def test_a_program_that_is_not_python_yet_is_told_by_its_line(desk):
    before = desk.training.setup
    desk.session.load(Doc("import torch\n\nclass A(torch.nn.Module):\n    x = (\n"))
    with pytest.raises(Refused, match="Line 4 "):
        train.train_own(desk)
    assert desk.training.setup == before


def test_only_what_the_model_says_is_shown_until_one_asks_for_the_rest(bench):
    told = []
    bench.training.store.alone_changed.connect(told.append)
    train.alone(bench)
    assert bench.training.store.look.alone
    train.alone(bench)
    assert not bench.training.store.look.alone
    assert told == [True, False]


def test_the_graph_has_a_column_until_it_is_declined(bench):
    heard = []
    bench.training.store.graph_column_changed.connect(heard.append)
    train.graph_column(bench)
    train.graph_column(bench)
    assert heard == [False, True]
