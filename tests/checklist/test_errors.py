"""Errors of torch in the window: its own words, the line, and a hint in plain words."""

import pytest

pytestmark = pytest.mark.e2e

ERRORS = [
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\ny = x**2\ny.backward()\ny.backward()\n",
        4,
        "retain_graph",
        id="a second backward",
        marks=pytest.mark.checklist(101, 218),
    ),
    pytest.param(
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.backward()\n",
        3,
        "sum()",
        id="backward of a vector",
    ),
    pytest.param(
        "a = torch.ones(2, 3)\nb = torch.ones(4)\nc = a + b\n",
        3,
        "",
        id="shapes that do not fit",
        marks=pytest.mark.checklist(183, 185),
    ),
    pytest.param(
        "x = torch.arange(6).reshape(2, 3)\ny = x.T.view(6)\n",
        2,
        "reshape",
        id="view of a transposed tensor",
        marks=pytest.mark.checklist(190),
    ),
    pytest.param(
        "x = torch.arange(6)\ny = x.view(4, 2)\n",
        2,
        "",
        id="view of another size",
        marks=pytest.mark.checklist(152),
    ),
    pytest.param(
        "x = torch.ones(2, requires_grad=True)\nx.numpy()\n",
        2,
        "detach",
        id="numpy of a leaf",
        marks=pytest.mark.checklist(200),
    ),
    pytest.param(
        "x = torch.ones(2, requires_grad=True)\ny = x.detach() * 2\nz = y.sum()\nz.backward()\n",
        4,
        "detach",
        id="backward through detach",
        marks=pytest.mark.checklist(173, 223),
    ),
    pytest.param(
        "x = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    x -= 0.1 * x.grad\n",
        3,
        "backward",
        id="a gradient that is None",
        marks=pytest.mark.checklist(175),
    ),
    pytest.param(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "y = x.exp()\n"
        "y += 1\n"
        "y.sum().backward()\n",
        4,
        "",
        id="exp changed in place",
        marks=pytest.mark.checklist(102, 237),
    ),
    pytest.param(
        "x = torch.ones(2, requires_grad=True)\nx.mul_(2)\n",
        2,
        "no_grad",
        id="mul_ on a leaf",
        marks=pytest.mark.checklist(237, 239),
    ),
    pytest.param(
        "x = torch.tensor([0.1, 0.9], requires_grad=True)\nx.argmax().backward()\n",
        2,
        "",
        id="argmax",
        marks=pytest.mark.checklist(240),
    ),
    pytest.param(
        "loss = torch.nn.functional.cross_entropy(torch.randn(2, 3), torch.tensor([0.0, 1.0]))\n",
        1,
        "long",
        id="labels as floats",
        marks=pytest.mark.checklist(7),
    ),
    pytest.param(
        "a = torch.ones(2, device='meta')\nc = torch.nn.Linear(2, 2)(a)\n",
        2,
        "",
        id="devices",
        marks=pytest.mark.checklist(85, 119, 162),
    ),
]


def torchs_own(source):
    """Type, message and line of the exception in plain Python."""
    try:
        exec(compile(source, "<plain>", "exec"), {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001 - any error is compared
        trace = error.__traceback__
        lines = []
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<plain>":
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return type(error).__name__, str(error), lines[-1]
    raise AssertionError("plain Python raised nothing")


@pytest.mark.parametrize(("source", "line", "hint"), ERRORS)
def test_the_error_is_torchs_own_at_its_line_with_a_hint(desk, source, line, hint):
    source = f"import torch\n{source}"
    kind, message, at = torchs_own(source)
    desk.run(source)
    assert desk.problem == f"{kind}: {message}"
    problem = desk.session.result.problem
    assert (problem.place.line, at) == (line + 1, line + 1)
    assert problem.hint
    assert hint in problem.hint


@pytest.mark.checklist(130)
def test_an_error_in_a_function_is_placed_at_the_programs_line(desk):
    desk.run("def f(a):\n    return a['b']\n\nx = f({})\n")
    assert desk.problem.startswith("KeyError")
    assert desk.session.result.problem.place.line == 2
    desk.window.console.line_requested.emit(2)
    assert desk.window.editor.textCursor().blockNumber() == 1


@pytest.mark.checklist(237)
def test_an_in_place_change_after_a_square_is_no_error(desk):
    desk.run(
        "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x**2\ny += 1\ny.backward()\n"
    )
    assert desk.problem == ""
    assert desk.gradient("x") == 4
