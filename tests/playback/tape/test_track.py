import random
import time
from itertools import pairwise

from gradscribe.engine.protocol.setup import Part, Setup
from gradscribe.engine.train.runs import record_step as recording
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.playback.tape import track
from gradscribe.playback.tape.index import Index
from gradscribe.playback.tape.track import Segment, ledger, segments, value_rows


def end(tape):
    return len(tape.events)


def phases(tape):
    return [segment.phase for segment in segments(tape)]


def test_a_program_goes_forward_to_its_loss_and_back(fan):
    assert segments(fan) == (
        Segment("Forward", 0, 4), Segment("Loss", 4, 5), Segment("Backward", 5, 12),
    )  # fmt: skip


def test_every_step_of_a_loop_ends_with_an_update(by_hand):
    assert phases(by_hand) == ["Forward", "Loss", "Backward", "Update"] * 3


def test_a_reset_at_the_top_of_a_loop_opens_the_step(optimizer):
    step = ["Forward", "Loss", "Backward", "Update"]
    assert phases(optimizer) == step + ["zero_grad", *step] * 2


def test_a_reset_between_loss_and_backward_has_its_own_name(recorded):
    tape = recorded(
        "net = nn.Linear(2, 1)\nopt = optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(2):\n    loss = net(torch.ones(1, 2)).sum()\n    opt.zero_grad()\n"
        "    loss.backward()\n    opt.step()"
    )
    assert phases(tape)[-5:] == ["Forward", "Loss", "zero_grad", "Backward", "Update"]


def test_segments_cover_every_event_in_order(neuron, mlp, by_hand, optimizer, blocks):
    for tape in (neuron, mlp, by_hand, optimizer, blocks):
        found = segments(tape)
        assert found[0].start == 0
        assert found[-1].stop == end(tape)
        assert all(a.stop == b.start for a, b in pairwise(found))
        assert all(a.phase != b.phase for a, b in pairwise(found))


def test_an_empty_tape_has_no_segments(recorded):
    assert segments(recorded("")) == ()


def test_without_backward_all_is_forward(recorded):
    assert phases(recorded("x = torch.ones(3)\ny = x * 2\nprint(y.sum())")) == ["Forward"]


def test_the_ledger_has_a_sentence_per_event_worth_telling(fan):
    found = ledger(fan)
    assert [entry.position for entry in found] == [*range(1, 12)]
    assert found[2].text == "mul made z = 6.0000"
    assert (found[2].kind, found[2].line) == ("op", 3)
    assert all(entry.text for entry in found)


def test_the_table_lists_the_latest_result_first(neuron):
    rows = value_rows(neuron, end(neuron))
    assert [row.name for row in rows] == ["L", "d", "o", "n", "b", "w2", "w1"]
    assert [row.value for row in rows][:4] == ["0.0429", "0.2071", "0.7071", "0.8814"]
    assert [row.gradient for row in rows][:4] == ["1.0000", "0.4142", "0.4142", "0.2071"]


def test_rows_grow_as_values_are_made(fan):
    assert [len(value_rows(fan, p)) for p in range(6)] == [0, 1, 2, 3, 4, 5]


def test_rows_made_ready_are_not_made_again_until_one_looks_elsewhere(fan):
    last = value_rows(fan, end(fan))
    assert value_rows(fan, end(fan)) is last
    assert value_rows(fan, 2) != last
    assert value_rows(fan, end(fan)) == last


def test_a_gradient_on_its_way_is_pending_and_one_not_begun_is_a_dash(fan):
    rows = {row.name: row for row in value_rows(fan, 8)}
    assert (rows["x"].gradient, rows["x"].pending) == ("…", True)
    assert (rows["y"].gradient, rows["y"].pending) == ("—", False)
    assert rows["w"].gradient == "16.0000"


def test_a_name_stands_for_its_latest_value(by_hand):
    rows = {row.name: row for row in value_rows(by_hand, end(by_hand))}
    last = [v for v in by_hand.values if v.name == "loss"][-1]
    assert rows["loss"].value_id == last.id
    assert rows["w"].gradient == "0.0000"
    assert [row.name for row in value_rows(by_hand, end(by_hand))].count("w") == 1


def test_data_has_no_gradient(mlp):
    rows = {row.name: row for row in value_rows(mlp, end(mlp))}
    assert rows["x"].gradient == "—"
    assert rows["net.0.weight"].gradient.startswith("∇ ")


def test_the_ledger_makes_a_row_when_it_is_read(recorded):
    tape = recorded("x = param(0.5)\nfor i in range(1500):\n    x = torch.sin(x)\nx.backward()")
    started = time.process_time()
    found = ledger(tape)
    assert found[-1].position == len(tape.events) - 1
    assert len(found) == len(tape.events) - 1
    assert time.process_time() - started < 0.5
    assert [entry.text for entry in found[:2]] == [found[0].text, found[1].text]
    assert found[5] is found[5]


def test_parameters_that_a_reset_is_the_first_to_meet_do_not_come_before_it():
    run = TrainingRun(Setup(data=Part("moons"), batch=16))
    run.advance(3)
    tape, _, _ = recording.record_step(run)
    assert phases(tape) == ["zero_grad", "Forward", "Loss", "Backward", "Update"]
    again, _, _ = recording.record_step(run, 0)
    assert phases(again) == ["zero_grad", "Forward", "Loss", "Backward", "Update"]


def test_rows_say_the_same_whichever_way_one_came_to_a_position(
    neuron, mlp, by_hand, optimizer, blocks, fan, recorded
):
    twice = recorded(
        "w = param(2.0)\nx = w * 3\ny = x * x\ny.backward(retain_graph=True)\ny.backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\nw.grad = None\nz = w * 5\nz.backward()\n"
    )
    dice = random.Random(0)
    for tape in (neuron, mlp, by_hand, optimizer, blocks, fan, twice):
        walked = Index(tape)
        there = list(range(end(tape) + 1))
        for position in [*there, *reversed(there), *dice.sample(there, len(there))]:
            assert value_rows(walked, position) == value_rows(Index(tape), position)


def test_a_step_writes_only_the_rows_that_change(recorded, monkeypatch):
    leaves = "".join(f"w{n} = param({n}.0)\n" for n in range(40))
    total = " + ".join(f"w{n}" for n in range(40))
    tape = recorded(f"{leaves}y = {total}\ny.backward()")
    index, written = Index(tape), []
    write = track._row
    monkeypatch.setattr(track, "_row", lambda *given: written.append(given[1]) or write(*given))
    for position in range(end(tape) + 1):
        value_rows(index, position)
    # When the leaf appears, while its gradient is on its way, and once it is there.
    assert {f"w{n}" for n in range(40)} <= set(written)
    assert max(written.count(f"w{n}") for n in range(40)) <= 4
