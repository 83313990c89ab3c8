from gradscribe.playback.graph import marks
from gradscribe.playback.tape.index import Index


def test_base_and_views_have_the_same_mark(recorded):
    tape = recorded("b = param([1., 2.]) * 2\nrow = b[0]\nflat = b.view(-1)")
    index = Index(tape)
    tags = marks.shared_memory_marks(index, [0, 1, 2])
    told = {
        v.name: marks.card_mark(v, False, tags)
        for v in tape.values
        if v.name in "b row flat".split()
    }
    assert set(told.values()) == {"⧉ b"}


def test_bases_without_a_name_have_numbers(recorded):
    tape = recorded("x = param([1., 2.])\nu = (x * 2).view(2)\nv = (x * 3).view(2)")
    assert sorted(marks.shared_memory_marks(Index(tape), list(range(4))).values()) == ["⧉ 1", "⧉ 2"]


def test_no_two_storages_have_the_same_mark(recorded):
    """A variable ``A`` and the first base without a name both had the mark ``A``."""
    tape = recorded(
        "A = param([[1., 2.], [3., 4.]])\nv = A.t()\nu = (A * 2).view(4)\n"
        "w = u.clone()\nx = w.view(2, 2)\nw = u.clone()\ny = w.view(2, 2)\n"
    )
    index = Index(tape)
    by_storage = marks.shared_memory_marks(index, list(range(len(tape.ops))))
    assert sorted(by_storage.values()) == ["⧉ 1", "⧉ A", "⧉ w", "⧉ w 2"]


def test_detach_shares_memory_but_says_so_itself(recorded):
    tape = recorded("x = param(2.0) * 1\ny = x.detach()")
    assert marks.shared_memory_marks(Index(tape), [0, 1]) == {}


def test_an_in_place_result_tells_its_version(recorded):
    tape = recorded("x = param(2.0) * 1\nx += 1")
    made = next(v for v in tape.values if v.version == 1)
    assert marks.card_mark(made, True, {}) == "v1"


def test_where_a_gradient_could_come_back_nothing_is_cut(recorded):
    tape = recorded("x = param(2.0)\ny = x * 3\nz = tensor(1.0) + 1\nd = y.detach()")
    index = Index(tape)
    reasons = [[marks.cut_reason(op, index.values[v]) for v in op.inputs] for op in tape.ops]
    assert reasons == [[""], [""], ["detach"]]
    assert marks.cut_reason(tape.ops[0], None) == ""


def test_of_several_outputs_each_has_its_name_or_number(recorded):
    tape = recorded(
        "x = param([1., 2.])\na, b = x.split(1)\nc = x * 2\nd = torch.stack(x.unbind())"
    )
    index = Index(tape)
    parts = [[marks.output_label(op, index.values[v]) for v in op.outputs] for op in tape.ops]
    assert parts[:3] == [["a", "b"], [""], ["[0]", "[1]"]]
