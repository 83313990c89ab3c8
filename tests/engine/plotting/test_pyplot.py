"""Programs that plot with Matplotlib's names run, and the tape has what they plotted."""

import numpy as np
import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.run.run import execute, record

HEAD = "import matplotlib.pyplot as plt\n"


def plotted(source: str):
    tape = record(HEAD + source)
    assert tape.status == "ok", tape.error
    return tape.figures


def only(source: str):
    (figure,) = plotted(source)
    (axes,) = figure.axes
    return axes


def test_a_loss_curve_and_a_fit_beside_it():
    (figure,) = plotted(
        "x = torch.linspace(0, 1, 5)\nw = param(2.0)\n"
        "plt.figure(figsize=(12, 4))\nplt.subplot(1, 2, 1)\nplt.plot([3.0, 2.0, 1.0])\n"
        "plt.xlabel('Epoch')\nplt.ylabel('Loss')\nplt.title('Training')\n"
        "plt.subplot(122)\nplt.scatter(x, x**2, label='Data')\n"
        "plt.plot(x, (w * x).detach(), 'r--', label='Fit')\nplt.legend()\nplt.savefig('fit.png')\n"
        "plt.show()"
    )
    assert (figure.columns, figure.name, figure.line) == (2, "fit.png", 14)
    left, right = figure.axes
    assert (left.title, left.x_label, left.y_label) == ("Training", "Epoch", "Loss")
    assert (left.traces[0].x, left.traces[0].y) == ((0.0, 1.0, 2.0), (3.0, 2.0, 1.0))
    data, fit = right.traces
    assert (data.kind, data.label, data.y) == ("points", "Data", (0, 0.0625, 0.25, 0.5625, 1))
    assert (fit.kind, fit.color, fit.style, right.legend) == ("line", "red", "dashed", True)


def test_what_is_not_shown_is_shown_at_the_end_and_each_figure_once():
    assert len(plotted("plt.plot([1])")) == 1
    assert len(plotted("plt.plot([1])\nplt.savefig('a.png')\nplt.show()")) == 1
    assert len(plotted("plt.plot([1])\nplt.show()\nplt.plot([2])\nplt.show()")) == 2
    assert plotted("plt.figure()\nplt.show()") == ()
    assert plotted("plt.plot([1])\nplt.close()") == ()


def test_one_run_sees_nothing_of_another():
    record(HEAD + "plt.plot([1, 2])\n1 / 0")
    assert plotted("pass") == ()


def test_a_program_that_fails_keeps_what_it_plotted():
    tape = record(HEAD + "plt.plot([1, 2])\n1 / 0")
    assert tape.status == "error"
    assert len(tape.figures) == 1


def test_a_tensor_that_requires_a_gradient_is_refused_with_torch_s_own_words():
    tape = record(HEAD + "plt.plot(param([1.0, 2.0]))")
    assert tape.error is not None
    assert "detach().numpy()" in tape.error.message


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("plt.plot([1, 2], [3, 4])", "line"),
        ("plt.plot([1, 2], [3, 4], 'o')", "points"),
        ("plt.plot([1, 2], 'go', linestyle='None')", "points"),
        ("plt.bar(['a', 'b'], [1, 2])", "bars"),
        ("plt.fill_between([1, 2], [0, 1], [2, 3])", "area"),
        ("plt.axhline(2)", "level"),
        ("plt.axvline(2)", "upright"),
        ("fig, ax = plt.subplots()\nax.plot([1, 2])", "line"),
        ("plt.gca().scatter([1, 2], [3, 4])", "points"),
    ],
)
def test_kinds_of_traces(call, kind):
    assert only(call).traces[0].kind == kind


def test_a_histogram_counts_as_numpy_does():
    bars = only("plt.hist([1.0, 1.5, 2.0, 5.0], bins=4)").traces[0]
    counts, edges = np.histogram([1.0, 1.5, 2.0, 5.0], bins=4)
    assert bars.y == tuple(counts.astype(float))
    assert bars.x == tuple((edges[1:] + edges[:-1]) / 2)


def test_scales_limits_images_and_names_given_late():
    axes = only(
        "fig, ax = plt.subplots()\nax.semilogy([1, 10]); ax.plot([2, 3])\n"
        "ax.set(xlabel='step', ylim=(1, 20))\nax.legend(['a', 'b'])"
    )
    assert (axes.y_log, axes.x_label, axes.y_range) == (True, "step", (1.0, 20.0))
    assert [trace.label for trace in axes.traces] == ["a", "b"]
    assert only("plt.imshow(torch.arange(4.0).view(2, 2))").image == ((0, 1), (2, 3))


def test_a_matrix_is_a_curve_for_each_column():
    assert len(only("plt.plot(torch.zeros(5, 3))").traces) == 3


def test_what_is_not_drawn_is_told_and_does_no_harm():
    (figure,) = plotted(
        "plt.style.use('ggplot')\nplt.rcParams['figure.figsize'] = (3, 4)\nplt.grid(True)\n"
        "c = plt.contourf([[1, 2]])\nplt.colorbar(c)\nplt.plot([1])\nplt.text(0, 0, 'here')"
    )
    assert figure.left_out == ("contourf", "text")


def test_long_curves_and_many_figures_are_bounded():
    assert len(only("plt.plot(range(100_000))").traces[0].x) <= 2000
    assert len(plotted("for _ in range(50):\n    plt.figure(); plt.plot([1])")) <= 12
    assert len(only("for _ in range(99): plt.plot([1])").traces) == 40
    assert plotted("plt.subplot(1, 50, 1); plt.plot([1])")[0].columns <= 12
    assert np.shape(only("plt.imshow(np.ones((1000, 97)))").image) <= (96, 96)


def test_words_are_not_without_end():
    (figure,) = plotted(
        "long = 'W' * 100_000\nplt.plot([1, 2], label=long)\nplt.title(long)\nplt.xlabel(long)\n"
        "plt.ylabel(long)\nplt.suptitle(long)\nplt.savefig(long)"
    )
    (axes,) = figure.axes
    texts = (figure.title, figure.name, axes.title, axes.x_label, axes.y_label)
    assert {*texts, axes.traces[0].label} == {"W" * 400}


def test_a_grid_of_axes_has_matplotlib_s_shape():
    tape = record(
        HEAD + "print(plt.subplots(2, 3)[1].shape, plt.subplots(1, 3)[1].shape)\n"
        "from matplotlib import pyplot\nimport importlib.util\n"
        "print(importlib.util.find_spec('matplotlib') is not None)"
    )
    assert tape.stdout == "(2, 3) (3,)\nTrue\n"


def test_a_program_from_elsewhere_may_plot():
    source = HEAD + "plt.style.use('x')\nplt.plot([1, 2])\nplt.title('t')\nplt.show()"
    tape = execute(messages.Run(0, source, policy=True))
    assert tape.status == "ok", tape.error
    assert tape.figures[0].axes[0].title == "t"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("plot([1, 2], [1])", "x and y must have same first dimension"),
        ("plot(torch.ones(3), torch.ones(4, 2))", "but have shapes (3,) and (4, 2)"),
        ("scatter([1, 2], torch.ones(3))", "x and y must be the same size"),
    ],
)
def test_data_that_do_not_belong_together_are_refused_in_matplotlibs_words(call, said):
    tape = record(HEAD + f"plt.{call}\n")
    assert tape.error.type == "ValueError"
    assert said in tape.error.message
    assert tape.error.place.line == 2


def test_columns_over_one_axis_and_tensors_of_a_cloud_belong_together():
    assert len(only("plt.plot(torch.arange(3.0), torch.ones(3, 2))").traces) == 2
    assert len(only("plt.scatter(torch.ones(2, 2), torch.ones(4))").traces[0].x) == 4
