"""Set-ups in files: opened in the training room, and written for the headless trainer."""

import json

import pytest
from msgspec.structs import replace

from gradscribe.app.cli.train import read_setup
from gradscribe.app.commands import file, setup
from gradscribe.app.files.documents import Refused
from gradscribe.engine.protocol import training as messages
from gradscribe.engine.protocol.setup import Part, Setup, to_dict

SOURCE = "class A(nn.Module): ..."


def written(path, **keys):
    path.write_text(json.dumps(keys), "utf-8")
    return path


def test_a_setup_is_trained_with_in_the_room(desk, train_link, tmp_path):
    path = written(tmp_path / "a.json", data="houses", model="linear", standardize=True)
    desk.current = "program"
    file.open_path(desk, str(path))
    assert desk.current == "training"
    begun = [one for one in train_link.sent if isinstance(one, messages.Train)]
    expected = Setup(data=Part("houses"), model=Part("linear"), standardize=True)
    assert begun[-1].setup == desk.training.setup == expected
    assert desk.settings.recent == [str(path)]


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ('{"data": "sine", "steps": 500}', (messages.StopCondition("step", 500),)),
        ('{"data": "sine", "steps": 1000}', (messages.StopCondition("step", 1000),)),
        (
            '{"setup": {"data": "sine", "steps": 1e3}, "title": "a"}',
            (messages.StopCondition("step", 1000),),
        ),
        ('{"data": "sine"}', ()),
    ],
)
def test_a_run_pauses_at_the_steps_that_its_file_gives(desk, train_link, tmp_path, text, until):
    (tmp_path / "a.json").write_text(text)
    desk.training.controller.until = (messages.StopCondition("step", 7),)
    file.open_path(desk, str(tmp_path / "a.json"))
    assert desk.training.controller.until == until
    end = f"; it pauses at step {until[0].value:,}" if until else ""
    assert desk.said[-1] == f"Opened a.json{end}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "this is not JSON"),
        ("[1]", "a setup is an object"),
        ('{"dta": "sine"}', "unknown key 'dta'; did you mean 'data'"),
        ('{"lr": 0.1}', "unknown key 'lr': it belongs to the optimizer, as in"),
        ('{"steps": -1}', "steps is -1"),
    ],
)
def test_what_is_no_setup_is_refused_and_nothing_changes(desk, train_link, tmp_path, text, why):
    (tmp_path / "a.json").write_text(text)
    before = desk.training.setup
    with pytest.raises(Refused, match=f"a.json is no set-up for training: {why}"):
        file.open_path(desk, str(tmp_path / "a.json"))
    assert desk.training.setup == before
    assert not train_link.sent


def test_before_there_is_a_catalogue_an_option_outside_its_part_is_shown_an_example(desk, tmp_path):
    (tmp_path / "a.json").write_text('{"lr": 0.1}')
    desk.training.store.catalogue = None
    with pytest.raises(Refused, match="unknown key 'lr': an option belongs to its part, as in"):
        file.open_path(desk, str(tmp_path / "a.json"))


def test_a_table_beside_its_setup_is_found_from_anywhere(desk, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for name, found in (("t.csv", str(tmp_path / "t.csv")), ("none.csv", "none.csv")):
        data = {"name": "csv", "path": name, "inputs": ["a"], "target": "b"}
        setup.open_setup(desk, written(tmp_path / "a.json", data=data, model="mlp"))
        assert desk.training.setup.data.options == {"path": found, "inputs": ["a"], "target": "b"}


def test_a_setup_with_a_module_from_outside_waits_to_be_read(desk, train_link, tmp_path):
    own = {"name": "own", "source": SOURCE, "guarded": False}
    path, before = written(tmp_path / "a.json", data="sine", model=own), desk.training.setup
    setup.open_setup(desk, path)
    assert desk.training.setup == before
    assert not train_link.sent
    (_, read_it), (_, run), (_, trust) = desk.notices.notice.choices
    read_it()
    assert desk.session.doc.foreign
    assert desk.session.doc.source == SOURCE
    run()
    assert desk.training.setup.model.options["guarded"] is True
    assert desk.notices.notice is None
    trust()
    assert not desk.training.setup.model.options["guarded"]
    desk.training.controller.change(before)
    setup.open_setup(desk, path)
    assert desk.training.setup.model.options["source"] == SOURCE


def test_what_is_written_makes_the_same_run_without_a_window(desk, tmp_path):
    desk.save = tmp_path / "mine"
    chosen = replace(desk.training.setup, features=("x1", "x2^2"), batch=7, seed=5)
    desk.training.controller.change(chosen)
    steps = desk.training.run.step
    setup.export_setup(desk)
    desk.file_writer.finish()
    assert desk.said == ["Wrote mine.json"]
    expected = replace(chosen, steps=steps or chosen.steps)
    assert to_dict(read_setup(str(tmp_path / "mine.json"))) == to_dict(expected)
    desk.save = None
    setup.export_setup(desk)
    assert len(desk.said) == 1
