"""The module in the program is what `own` trains."""

import ast

import pytest

from gradscribe.app.document.state import Doc
from gradscribe.app.training.session.state import DEFAULT_SETUP
from gradscribe.app.training.setup import user_module
from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.playback.text import parse

NET = "import torch\n\nclass Net(torch.nn.Module):\n    pass\n"


def test_a_program_with_a_module_is_told_from_one_without():
    assert user_module.has_module(NET)
    assert user_module.has_module("class A(Module): ...")
    for other in ("x = 1", "class A: ...", "class A(", "class A(dict): ...", "\0"):
        assert not user_module.has_module(other)


def test_a_module_is_one_wherever_in_the_program_it_stands():
    for there in (
        "class A: ...\nclass B(A, nn.Module):\n    x = 1",
        "class A(\n    torch.nn.Module,\n): ...",
        "@final\nclass  A(Module): ...",
        "class A \\\n (Module): ...",
        "x = 1\r\nclass A(Module): ...",
        "\x0cclass A(Module): ...",
        "cl\uff41ss_ = 1\nclass A(\uff2dodule): ...",
    ):
        ast.parse(there)
        assert user_module.has_module(there), there
    for none in (
        "# class A(Module)",
        "x = '''\nclass A(Module): ...\n'''",
        "if True:\n    class A(Module): ...",
        "class A(Modules): ...",
        "class A: ...\nb = Module()",
        "from torch.nn import Module\nclass A(dict): ...",
    ):
        ast.parse(none)
        assert not user_module.has_module(none), none


@pytest.mark.parametrize("deep", ["-" * 200_000 + "1", "not " * 200_000 + "1", "(" * 3000])
def test_a_program_too_deep_for_python_to_read_has_no_module(deep):
    assert not user_module.has_module(f"class A(Module): ...\nx = {deep}")
    assert user_module.syntax_error_line(deep) in (None, 1)


def test_no_tree_is_made_of_a_program_that_can_have_no_module(monkeypatch):
    made = []
    tree = parse.parse_program
    monkeypatch.setattr(parse, "parse_program", lambda text: (made.append(text), tree(text))[1])
    long = "".join(f"a{i} = {i}\n" for i in range(100))
    assert user_module.syntax_error_line(long) is None
    assert not user_module.has_module(long)
    assert not made
    for _ in range(3):
        assert user_module.has_module(long + NET)
    assert made == [long + NET], "and of one that has, one for its text"


@pytest.mark.parametrize(
    "broken", ["a = 1\nb = = 2", "a = 1\ndef f(", "a\n  b", "a = 1\nreturn a", "x = 1\nbreak"]
)
def test_the_line_that_is_no_python_is_told(broken):
    with pytest.raises(SyntaxError) as refused:
        compile(broken, "", "exec")
    assert user_module.syntax_error_line(broken) == refused.value.lineno
    assert user_module.syntax_error_line(broken.splitlines()[0]) is None


def test_choosing_ones_own_model_takes_the_program_along():
    own = Setup(model=Part("own"))
    assert user_module.fill_in_program_module(DEFAULT_SETUP, own, NET).model.options == {
        "source": NET
    }
    assert user_module.fill_in_program_module(DEFAULT_SETUP, own, "x = 1") == own
    given = Setup(model=Part("own", {"source": "class A(nn.Module): ..."}))
    assert user_module.fill_in_program_module(DEFAULT_SETUP, given, NET) == given
    assert user_module.fill_in_program_module(given, own, NET) == own
    assert user_module.fill_in_program_module(own, DEFAULT_SETUP, NET) == DEFAULT_SETUP


def test_taking_it_again_keeps_the_other_options():
    before = Setup(model=Part("own", {"source": "old", "arguments": "2"}))
    assert user_module.with_program_module(before, NET).model.options == {
        "source": NET,
        "arguments": "2",
    }
    assert user_module.with_program_module(DEFAULT_SETUP, NET).model == Part("own", {"source": NET})


def test_a_module_from_elsewhere_is_held_to_what_such_programs_may_do():
    held = user_module.with_program_module(DEFAULT_SETUP, NET, foreign=True)
    assert held.model.options == {"source": NET, "guarded": True}
    assert user_module.with_program_module(held, NET).model.options == {"source": NET}
    assert user_module.with_policy(user_module.with_program_module(DEFAULT_SETUP, NET)) == held
    assert user_module.with_policy(DEFAULT_SETUP) == DEFAULT_SETUP


def test_a_program_that_waits_to_be_run_gives_no_module(begun):
    begun.set_program(Doc(source=NET, foreign=True))
    assert not begun.source
    begun.set_program(Doc(source=NET, foreign=True, seen=True))
    assert (begun.source, begun.foreign) == (NET, True)


def test_the_form_takes_it_too(room, begun):
    begun.source = NET
    room.form.edited.emit(Setup(data=begun.setup.data, model=Part("own")))
    assert begun.setup.model.options["source"] == NET


def test_a_program_that_became_one_s_own_in_the_room_gives_its_module(window):
    window.session.load(Doc(source=NET, foreign=True))
    window.rooms.show_workspace("training")
    assert not window.rooms.session.source
    window.session.trust()
    assert window.rooms.session.source == NET


def test_who_comes_back_with_another_module_is_told(window):
    said = []
    window.rooms.said.connect(said.append)
    window.session.edit(NET)
    window.rooms.session.setup = user_module.with_program_module(DEFAULT_SETUP, NET)
    window.rooms.show_workspace("training")
    assert not any("module" in one for one in said)
    window.rooms.show_workspace("program")
    window.session.edit(NET + "    x = 1\n")
    window.rooms.show_workspace("training")
    assert "Ctrl+Alt+M" in said[-1]
