from itertools import pairwise

from gradscribe.playback.tape.scenes import scene_index_at, scenes


def kinds(tape, scene):
    return [e.kind for e in tape.events[scene.start : scene.stop]]


def test_straight_code_is_one_scene(neuron, mlp):
    assert len(scenes(neuron)) == 1
    assert len(scenes(mlp)) == 1


def test_a_training_loop_is_one_scene_per_step(by_hand, optimizer):
    for tape in (by_hand, optimizer):
        found = scenes(tape)
        assert [scene.title for scene in found] == [f"Step {n} of 3" for n in (1, 2, 3)]
        assert all(kinds(tape, scene).count("backward") == 1 for scene in found)


def test_scenes_follow_each_other_without_gaps(by_hand, optimizer, mlp):
    for tape in (by_hand, optimizer, mlp):
        found = scenes(tape)
        assert found[0].start == 0
        assert found[-1].stop == len(tape.events)
        assert all(a.stop == b.start for a, b in pairwise(found))


def test_resetting_at_the_top_of_a_loop_begins_the_step(optimizer):
    assert all(kinds(optimizer, scene)[0] == "zero_grad" for scene in scenes(optimizer)[1:])


def test_resetting_at_the_bottom_ends_it(by_hand):
    assert all(kinds(by_hand, scene)[-1] == "zero_grad" for scene in scenes(by_hand))


def test_entering_its_module_belongs_to_the_op(recorded):
    tape = recorded(
        "net = nn.Linear(1, 1)\nfor i in range(2):\n    net(torch.ones(1, 1)).sum().backward()"
    )
    found = scenes(tape)
    assert len(found) == 2
    assert kinds(tape, found[1])[:2] in (["enter", "op"], ["leaf", "enter"])


def test_a_loop_before_any_backward_stays_one_picture(recorded):
    tape = recorded("x = param(1.0)\ny = x\nfor i in range(5):\n    y = y * 2\ny.backward()")
    assert len(scenes(tape)) == 1


def test_two_ops_on_a_line_after_a_pass_do_not_part(recorded):
    tape = recorded("x = param(3.0)\ny = x*x\ny.backward()\nz = x*x*2 + x\nz.backward()")
    assert len(scenes(tape)) == 1


def test_an_empty_tape_has_one_empty_scene(recorded):
    (scene,) = scenes(recorded(""))
    assert (scene.start, scene.stop) == (0, 0)


def test_a_position_lies_in_the_scene_of_the_event_before_it(by_hand):
    found = scenes(by_hand)
    for number, scene in enumerate(found):
        assert scene_index_at(found, scene.start + 1) == number
        assert scene_index_at(found, scene.stop) == number
    assert scene_index_at(found, 0) == 0


def test_an_unrolled_inner_loop_is_one_scene(recorded):
    tape = recorded(
        "w = param(1.0)\nfast = w\nfor i in range(3):\n"
        "    (g,) = torch.autograd.grad((fast**2), fast, create_graph=True)\n"
        "    fast = fast - 0.1 * g\nfast.backward()"
    )
    assert len(scenes(tape)) == 1


def test_a_loop_whose_steps_are_detached_stays_one_scene_per_step(recorded):
    tape = recorded(
        "w = param(1.0)\nh = torch.ones(())\nfor i in range(3):\n"
        "    h = (h * w).detach() * w\n    h.backward()\n    h = h.detach()"
    )
    assert len(scenes(tape)) == 3


def test_a_model_called_on_two_lines_does_not_repeat(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(2))\n    def forward(self, x):\n"
        "        return (x * self.w).sum()\n"
        "net = Net()\nnet(torch.ones(2)).backward()\nnet(torch.ones(2)).backward()"
    )
    assert len(scenes(tape)) == 1


def test_a_step_that_fails_inside_its_module_is_a_scene(recorded):
    tape = recorded(
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(2))\n    def forward(self, x):\n"
        "        return (x @ self.w).sum()\nnet = Net()\nfor n in (2, 3):\n"
        "    net(torch.ones(n)).backward()"
    )
    assert tape.status == "error"
    assert len(scenes(tape)) == 2


def test_derivatives_within_a_statement_do_not_part_it(recorded):
    tape = recorded(
        "w = torch.ones(3, requires_grad=True)\n"
        "h = torch.func.hessian(lambda p: (p.sin() ** 2).sum())(w)\nh.sum().backward()"
    )
    assert tape.status == "ok"
    assert len(scenes(tape)) == 1
