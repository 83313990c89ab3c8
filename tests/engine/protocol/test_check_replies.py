"""Answers about the lab and about checks: what an engine gives passes, what none can is refused."""

import math

import pytest
import torch
from msgspec.structs import replace

from gradscribe.engine.inspect import gradcheck, lab
from gradscribe.engine.protocol import check_replies, check_tape, frames, messages
from gradscribe.engine.protocol.position import CurrentLine
from gradscribe.engine.protocol.setup import Part, Setup, parse
from gradscribe.engine.protocol.tape import Place, Problem, Snapshot
from gradscribe.engine.protocol.training import requests
from gradscribe.engine.protocol.training.catalogue import CatalogueEntry, Option
from gradscribe.engine.protocol.training.replies import (
    Catalogue,
    EventDone,
    Exported,
    FileSummary,
    Parameter,
    RunSaved,
    RunStarted,
    SetupChanged,
    SetupRestored,
    TrainProblem,
    TrainState,
    UnitLayer,
    ViewReply,
)
from gradscribe.engine.run import run
from gradscribe.engine.train.runs import events
from gradscribe.engine.train.serve.host import TrainingHost

CELLS = messages.Cells(
    "x", "tensor", Snapshot((2,), "float32", "<f4", bytes(8)), "cpu", (1,), 0, True, False, 1, 2
)
ONE, NEXT = bytes(4), b"\1\0\0\0"
LINKS, MATRIX = messages.Links(0, 0, ONE, NEXT), messages.Jacobian(0, 0, (2, 2), bytes(32))
WIDE = replace(CELLS, snapshot=Snapshot((65,), "float32", "<f4", bytes(4 * 65)))
PAIR = messages.JacobianPair(0, 0, (1,), (), 2.0, 3.0, 4, 1, ((2.0,),), ((3.0,),))
ENDLESS, NO_NAME = "x" * (check_tape.MAX_TEXT_CHARS + 1), "x" * (check_tape.MAX_NAME_CHARS + 1)


def probed(**told):
    return replace(messages.Probed(1, (CELLS,), (CELLS,), (LINKS,), (MATRIX,)), **told)


def gradchecked(*pairs, **told):
    return replace(messages.Gradchecked(1, 0, "Cube", "float64", 1e-6, False, pairs), **told)


def checked(**told):
    return replace(messages.Checked(1, 2, 0, 1.0, 1.0, 1e-4, True), **told)


def arrived(message):
    """Return what comes of a message, or raises `frames.Garbage`."""
    return list(frames.MessageReader(messages.Reply).feed(b"".join(frames.encode_frames(message))))


@pytest.mark.parametrize(
    "message",
    [
        messages.Probed(1, links=(messages.Links(0, 0, ONE, ONE),)),
        probed(links=(messages.Links(0, 0, ONE, b"\5\0\0\0"),)),
        probed(links=(messages.Links(0, 0, ONE, b"\xff\xff\xff\xff"),)),
        probed(links=(messages.Links(0, 0, ONE, ONE * 2),)),
        probed(links=(messages.Links(0, 0, b"x", b"y"),)),
        probed(links=(messages.Links(0, 0, ONE * 5, ONE * 5),)),
        probed(links=(LINKS, LINKS)),
        probed(jacobians=(MATRIX, MATRIX)),
        probed(jacobians=(messages.Jacobian(0, 0, (2, 2), bytes(8)),)),
        probed(jacobians=(messages.Jacobian(0, 0, (-1, -1), bytes(8)),)),
        probed(jacobians=(messages.Jacobian(0, 0, (1, 1), bytes(8)),)),
        messages.Probed(
            1, (WIDE,), (CELLS,), (), (messages.Jacobian(0, 0, (2, 65), bytes(16 * 65)),)
        ),
        probed(inputs=(replace(CELLS, snapshot=Snapshot((3,), "x", "<f4", b"")),)),
        probed(inputs=(replace(CELLS, stride=()),)),
        probed(inputs=(replace(CELLS, stride=(1 << 63,)),)),
        probed(inputs=(replace(CELLS, storage_size=-(1 << 63)),)),
        probed(inputs=(replace(CELLS, name=NO_NAME),)),
        probed(inputs=(replace(CELLS, device=NO_NAME),)),
        probed(sharing=(replace(CELLS, kind=NO_NAME),)),
        probed(inputs=(CELLS,) * (check_replies.MAX_TENSORS + 1)),
        probed(results=(CELLS,) * (check_replies.MAX_TENSORS + 1)),
        probed(sharing=(CELLS,) * (check_replies.MAX_TENSORS + 1)),
        probed(
            sharing=(replace(CELLS, snapshot=Snapshot((1 << 15,), "x", "|u1", bytes(1 << 15))),)
        ),
        probed(note=ENDLESS),
        probed(text=ENDLESS),
        probed(problem=Problem("E", ENDLESS)),
        probed(problem=Problem(NO_NAME, "")),
        probed(problem=Problem("E", "m", "", Place(3, 0, 2, 0))),
        gradchecked(*[PAIR] * (check_replies.MAX_PAIRS + 1)),
        gradchecked(replace(PAIR, input=-1)),
        gradchecked(replace(PAIR, output=-1)),
        gradchecked(replace(PAIR, of_input=(-1,))),
        gradchecked(replace(PAIR, of_output=(0,) * 65)),
        gradchecked(replace(PAIR, differ=5)),
        gradchecked(replace(PAIR, entries=1 << 40)),
        gradchecked(replace(PAIR, backward_rows=())),
        gradchecked(replace(PAIR, backward_rows=((),), difference_rows=((),))),
        gradchecked(replace(PAIR, backward_rows=((1.0, 2.0),))),
        gradchecked(replace(PAIR, backward_rows=((1.0,) * 7,), difference_rows=((1.0,) * 7,))),
        gradchecked(PAIR, function=NO_NAME),
        gradchecked(problem=ENDLESS),
        checked(index=-1),
        checked(problem=ENDLESS),
        messages.Peeked(1, 0, Snapshot((10**9,), "float32", "<f4", bytes(8))),
        messages.Peeked(1, 0, Snapshot((3, 4), "float32", thumb=bytes(196), thumb_shape=(49, 1))),
        messages.Peeked(1, 0, Snapshot((3, 4), "float32", thumb=bytes(196), thumb_shape=(1, 49))),
        messages.Peeked(1, 0, Snapshot((3,), "float32", thumb=b"", thumb_shape=(0, 1 << 40))),
        messages.Peeked(1, 0, Snapshot((1 << 25,), "bool", "|b1", bytes(1 << 25))),
        CurrentLine(1, -1),
        CurrentLine(1, check_tape.MAX_LINES + 1),
    ],
)
def test_what_no_engine_gives_is_garbage(message):
    with pytest.raises(frames.ProtocolError):
        arrived(message)


@pytest.mark.parametrize(
    "message",
    [
        probed(links=(LINKS,)),
        probed(links=(messages.Links(0, 0, b"", b""),), jacobians=()),
        probed(note="x" * check_tape.MAX_TEXT_CHARS),
        gradchecked(),
        gradchecked(*[PAIR] * check_replies.MAX_PAIRS),
        gradchecked(replace(PAIR, by_backward=math.inf, by_differences=-math.inf)),
        gradchecked(replace(PAIR, backward_rows=(), difference_rows=())),
        messages.Peeked(1, 0, Snapshot((1 << 20,), "bool", "|b1", bytes(1 << 20))),
        CurrentLine(1, check_tape.MAX_LINES),
        checked(autograd=math.inf, numeric=-1e300, imaginary=(0.0, math.inf)),
    ],
)
def test_what_an_engine_may_give_arrives(message):
    assert arrived(message) == [message]


LISTED = "\n".join(f"a{i} = torch.randn(SIZE)" for i in range(13))
NAMES = ", ".join(f"a{i}" for i in range(13))


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.randn(256)\nx.sum() + torch.zeros(4096)",
        f"{LISTED.replace('SIZE', '5')}\ntotal = sum([{NAMES}])\n[total * i for i in range(13)]",
        f"{LISTED.replace('SIZE', '128, 128')}\n[{NAMES}]",
        "a = torch.randn(64)\nb = torch.randn(64)\n(a + b).relu()",
        "x = torch.randn(100)\n" + "\n".join(f"y{i} = x[{i}:]" for i in range(40)) + "\nx.flip(0)",
        "x = torch.randn(300, 300)\nx.T",
        "x = torch.randn(3, 0)\nx.T",
        "x = torch.tensor([math.nan, math.inf])\nx / 0",
        "x = torch.randn(3).expand(5, 3)\nx.sum()",
        "x = torch.randn(2, dtype=torch.complex64)\nx.conj()",
        "x = np.arange(6)[::-1]\nx * 2",
        f"{'x' * 2000} = torch.randn(2)\n{'x' * 2000}.max(dim=0)",
        f"raise ValueError('y' * 200_000)\n{'x' * 2000}",
        f"x = torch.ones(2)\nx.{'y' * 200_000}",
        f"{'x' * 200_000}",
        "'x' * 200_000",
        "x = torch.ones(2)\n{'x' * 3_000_000: x}",
        "x = torch.ones(2)\nx @ torch.ones(3)",
    ],
)
@pytest.mark.parametrize("policy", [False, True])
def test_whatever_lines_make_arrives(source, policy):
    told = lab.probe(messages.Probe(1, source, policy))
    assert len(arrived(told)) == 1


def test_a_million_links_arrive():
    told = lab.probe(messages.Probe(1, "x = torch.randn(256)\nx.sum() + torch.zeros(4096)"))
    assert [len(one.to) // 4 for one in told.links] == [256 * 4096]
    assert arrived(told) == [told]


MANY = """
class Many(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *xs):
        return tuple(x * 2 for x in xs)
    @staticmethod
    def backward(ctx, *gs):
        return tuple({factor} * g for g in gs)
xs = [param(1.0) for _ in range({count})]
sum(Many.apply(*xs)).backward()
"""


@pytest.mark.parametrize(("factor", "agrees"), [(2, True), (3, False)])
def test_of_many_jacobians_some_are_told_and_all_are_judged(factor, agrees):
    tape = run.record(MANY.format(factor=factor, count=20))
    op = next(i for i, op in enumerate(tape.ops) if op.op == "Many")
    told = gradcheck.gradcheck(messages.Gradcheck(0, op))
    assert len(told.pairs) == check_replies.MAX_PAIRS < 20 * 20
    assert told.agrees is agrees
    assert {pair.by_differences for pair in told.pairs if pair.input != pair.output} == {0.0}
    slopes = [pair.by_differences for pair in told.pairs if pair.input == pair.output]
    assert torch.tensor(slopes).allclose(torch.tensor(2.0))
    # NaN equals nothing, so the message is compared by what is told of it.
    assert str(arrived(told)) == str([told])


@pytest.mark.parametrize(
    "raised", ["raise ValueError('y' * 200_000)", "return gs[0].new_full((2,), 1.0)"]
)
def test_a_backward_that_raises_words_without_end_arrives(raised):
    source = MANY.format(factor=2, count=1).replace("return tuple(2 * g for g in gs)", raised)
    tape = run.record(source.replace("sum(Many.apply(*xs)).backward()", "y = Many.apply(*xs)"))
    op = next(i for i, op in enumerate(tape.ops) if op.op == "Many")
    told = gradcheck.gradcheck(messages.Gradcheck(0, op))
    assert told.problem
    assert arrived(told) == [told]


BEGUN = RunStarted(1, Setup(), "classes", (), (), ("loss",), (("forward", "y = model(x)"),))
OPTION = Option("n", "int", 3)


@pytest.mark.parametrize(
    "message",
    [
        messages.Ready("2.9", "3.13", ("cpu",) * (check_replies.MAX_DEVICES + 1), 1),
        messages.Ready("2.9", "3.13", ("cpu", NO_NAME), 1),
        messages.Ready("2.9", "3.13", ("cpu",), 1, (NO_NAME,)),
        replace(BEGUN, lines=BEGUN.lines * (check_replies.MAX_STEP_LINES + 1)),
        replace(BEGUN, classes=("a",) * (check_replies.MAX_LISTED + 1)),
        EventDone(1, 2, 0, "step", ("w",) * (check_replies.MAX_CHANGED + 1)),
        SetupChanged(1, 2, lines=BEGUN.lines * (check_replies.MAX_STEP_LINES + 1)),
        Catalogue(1, (CatalogueEntry("data", "a", "A"),) * (check_replies.MAX_ENTRIES + 1)),
        Catalogue(
            1, (CatalogueEntry("data", "a", "A", "", (OPTION,) * (check_replies.MAX_OPTIONS + 1)),)
        ),
        Catalogue(1, (), {str(i): "" for i in range(check_replies.MAX_LISTED + 1)}),
    ],
)
def test_what_is_told_of_training_has_an_end(message):
    with pytest.raises(frames.ProtocolError):
        arrived(message)


FAR = Problem("E", "m", "", Place(1 << 25, 0, 1 << 25, 1))
LONG = [
    replace(BEGUN, note=ENDLESS),
    replace(BEGUN, lines=(("forward", ENDLESS),)),
    replace(BEGUN, series=("loss", NO_NAME)),
    replace(BEGUN, inputs=(NO_NAME,)),
    replace(BEGUN, classes=(NO_NAME,)),
    replace(BEGUN, left=(NO_NAME,)),
    replace(BEGUN, parameters=(Parameter("w", (1,), 0), Parameter(NO_NAME, (1,), 1))),
    replace(BEGUN, parameters=(Parameter("w", (1,), 0, NO_NAME),)),
    replace(BEGUN, units=(UnitLayer("u", NO_NAME, 3),)),
    SetupChanged(1, 2, (NO_NAME,)),
    SetupChanged(1, 2, classes=("a", NO_NAME)),
    SetupRestored(1, 2, Setup(), Setup(), (), (NO_NAME,)),
    EventDone(1, 2, 0, "step", (NO_NAME,)),
    TrainState(1, "running", 2, why=ENDLESS),
    TrainState(1, "running", 2, reached=ENDLESS),
    TrainState(1, "failed", 2, problem=Problem(NO_NAME, "")),
    TrainState(1, "failed", 2, problem=Problem("E", ENDLESS)),
    TrainProblem(1, Problem("E", "", ENDLESS), "data"),
    TrainProblem(1, Problem("E", "", trace=(ENDLESS,))),
    TrainProblem(1, Problem("E", ""), ENDLESS),
    Exported(1, ENDLESS),
    Exported(1, "csv", problem=Problem("E", ENDLESS)),
    RunSaved(1, 2, problem=Problem("E", ENDLESS)),
    ViewReply(1, ENDLESS, 2, {}),
    ViewReply(1, "scores", 2, {}, {NO_NAME: 1.0}),
    FileSummary(1, ENDLESS),
    FileSummary(1, "f", (NO_NAME,)),
    FileSummary(1, "f", ("a",), rows=(("1",), (NO_NAME,))),
    FileSummary(1, "f", problem=Problem("CSV", ENDLESS)),
    Catalogue(1, (CatalogueEntry("data", NO_NAME, "A"),)),
    Catalogue(
        1, (CatalogueEntry("data", "a", "A", "", (replace(OPTION, choices=("a", NO_NAME)),)),)
    ),
    Catalogue(1, (), {NO_NAME: ""}),
    Catalogue(1, (), {"a": NO_NAME}),
]


@pytest.mark.parametrize("message", LONG)
def test_texts_in_what_is_told_of_training_have_an_end_and_are_cut_to_it(message):
    with pytest.raises(frames.ProtocolError):
        arrived(message)
    cut = check_replies.shorten(message)
    assert arrived(cut) == [cut]
    assert type(cut) is type(message)
    assert check_replies.shorten(cut) is cut


@pytest.mark.parametrize(
    "message",
    [
        TrainProblem(1, FAR),
        FileSummary(1, "f", rows=(("1",) * (check_replies.MAX_LISTED + 1),)),
        replace(BEGUN, setup=Setup(data=Part("points", {"names": "x" * ((1 << 20) + 1)}))),
        replace(BEGUN, setup=Setup(data=Part("points", {"points": [[1]] * (1 << 20)}))),
        SetupRestored(1, 2, Setup(), Setup(frozen=("a",) * (1 << 20)), ()),
        SetupRestored(1, 2, Setup(features=("x" * ((1 << 20) + 1),)), Setup(), ()),
    ],
)
def test_what_no_run_tells_of_itself_is_garbage(message):
    with pytest.raises(frames.ProtocolError):
        arrived(message)


def own(name, raised):
    return f"""class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.{name} = nn.Linear(2, 1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 3:
            raise ValueError({raised})
        return self.{name}(x)
"""


@pytest.mark.parametrize("name", ["Net", "N" * 3_000])
@pytest.mark.parametrize("raised", ["'y'", "'y' * 300_000"])
def test_whatever_a_module_is_called_and_raises_is_told(name, raised):
    told = []
    host = TrainingHost(told.append)
    setup = {"data": "moons", "model": {"name": "own", "source": own(name, raised)}, "batch": 3}
    host.take(requests.Train(1, parse(setup)))
    for _ in range(5):
        host.take(requests.StepEvent(1))
    host.take(requests.Advance(1, 20))
    while host.work() is not None:
        pass
    kinds = [type(one) for message in told for one in arrived(message)]
    assert kinds == [type(message) for message in told]
    assert RunStarted in kinds
    assert any(isinstance(one, TrainState) and one.problem for one in told)


def test_a_file_of_endless_cells_is_told(tmp_path):
    told = []
    file = tmp_path / "long.csv"
    file.write_text(f"a,{NO_NAME}\n1,{'x' * 100_000}\n2,b\n")
    TrainingHost(told.append).take(requests.InspectFile(1, str(file), None))
    assert [one.count for message in told for one in arrived(message)] == [2]


def test_the_engine_tells_of_fewer_changes_than_are_taken():
    assert events.MOST_WORDS <= check_replies.MAX_CHANGED


@pytest.mark.parametrize(
    "setup",
    [
        {"data": "circle", "accumulate": 50, "batch": 2},
        {"data": "digits", "mistakes": ["no_zero_grad", "validate_with_grad"], "clip_norm": 1.0},
        {"data": "copy_tokens", "model": "transformer"},
    ],
)
def test_what_a_run_tells_of_itself_arrives(setup):
    told = []
    host = TrainingHost(told.append)
    host.take(requests.ListCatalogue(1))
    host.take(requests.Train(2, parse(setup)))
    kinds = {type(one) for message in told for one in arrived(message)}
    assert {Catalogue, RunStarted} <= kinds


COMPUTED = messages.ComputedScalar(0, 3, 0, "float32", (0.5, 0.25), (4, 9))


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": (0.5,)},
        {"numbers": (), "positions": ()},
        {"positions": (9, 4)},
        {"positions": (0, 4)},
        {"line": 0},
        {"called": -1},
    ],
)
def test_scalars_of_a_running_program_are_refused_where_they_cannot_be(changes):
    assert not list(check_replies.check_computed(messages.Computed(1, (COMPUTED,))))
    bad = replace(COMPUTED, **changes)
    assert list(check_replies.check_computed(messages.Computed(1, (COMPUTED, bad))))
