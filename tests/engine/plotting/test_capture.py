"""Figures that programs show and save travel on the tape, and nothing else changes."""

import subprocess
import sys
import warnings

import pytest

from gradscribe.engine.protocol import check_tape, figures, messages
from gradscribe.engine.run.run import execute, record
from tests.engine.plotting.programs import HEAD, PROGRAMS

PLAIN = "import matplotlib\nmatplotlib.use('agg')\n"


def plotted(source: str, **options):
    tape = execute(messages.Run(0, HEAD + source, **options))
    assert tape.status == "ok", tape.error
    assert not any(check_tape.find_flaws(tape))
    return tape.figures


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_a_tutorial_shows_what_plain_matplotlib_writes(name, tmp_path):
    (figure,) = plotted(PROGRAMS[name])
    kind = figure.picture_type
    options = "dpi=200" if kind == "png" else "metadata={'Date': None}"
    target = tmp_path / f"plain.{kind}"
    settings = "matplotlib.rcParams['svg.hashsalt'] = 'gradscribe'\n"
    end = f"plt.savefig({str(target)!r}, {options})\n"
    source = PLAIN + HEAD + PROGRAMS[name] + settings + end
    subprocess.run([sys.executable, "-c", source], check=True)
    assert figure.picture == target.read_bytes()


def test_a_policy_for_programs_from_elsewhere_changes_no_picture():
    for name, source in PROGRAMS.items():
        assert plotted(source, policy=True)[0].picture == plotted(source)[0].picture, name


def test_what_is_not_shown_is_shown_at_the_end_and_each_figure_once():
    assert len(plotted("plt.plot([1])")) == 1
    assert len(plotted("plt.plot([1])\nplt.show()\nplt.plot([2])\nplt.show()")) == 2
    assert plotted("plt.figure()\nplt.show()") == ()
    assert plotted("plt.plot([1])\nplt.close()") == ()
    assert [f.line for f in plotted("plt.plot([1])\nplt.show()\n")] == [4]


def test_a_saved_figure_has_its_file_and_comes_once(tmp_path):
    target = tmp_path / "loss.pdf"
    (figure,) = plotted(f"plt.plot([1, 2])\nplt.savefig({str(target)!r})\nplt.show()")
    assert (figure.name, figure.file_type, figure.line) == ("loss.pdf", "pdf", 4)
    assert figure.file == target.read_bytes()
    assert figure.file.startswith(b"%PDF")
    changed = "plt.plot([1, 2])\nplt.savefig('a.png')\nplt.title('more')\nplt.show()"
    first, second = plotted(changed, policy=True)
    assert (first.title, second.title) == ("", "more")


def test_a_name_without_a_suffix_gets_matplotlibs(tmp_path):
    (figure,) = plotted(f"plt.plot([1])\nplt.savefig({str(tmp_path / 'loss')!r})")
    assert figure.name == "loss.png"
    assert figure.file == (tmp_path / "loss.png").read_bytes()


def test_what_cannot_be_written_is_an_error_as_in_plain_python(tmp_path):
    tape = record(HEAD + f"plt.plot([1])\nplt.savefig({str(tmp_path / 'no' / 'a.png')!r})")
    assert tape.error.type == "FileNotFoundError"


def test_a_buffer_gets_the_file_and_nothing_is_shown_of_it():
    (figure,) = plotted("import io\nb = io.BytesIO()\nplt.plot([1])\nplt.savefig(b)")
    assert (figure.name, figure.file) == ("", b"")


def test_settings_and_figures_of_a_run_end_with_it():
    first = plotted("plt.plot([1, 2])")
    plotted(
        "plt.style.use('ggplot')\nplt.rcParams['lines.linewidth'] = 9\nplt.ion()\nplt.plot([1])"
    )
    record(HEAD + "plt.plot([1, 2])\n1 / 0")
    assert plotted("pass") == ()
    assert plotted("plt.plot([1, 2])")[0].picture == first[0].picture


def test_a_program_that_fails_keeps_what_it_plotted():
    tape = record(HEAD + "plt.plot([1, 2])\n1 / 0")
    assert tape.status == "error"
    assert len(tape.figures) == 1


def test_a_tensor_that_requires_a_gradient_is_refused_with_torch_s_own_words():
    tape = record(HEAD + "plt.plot(param([1.0, 2.0]))")
    assert "detach().numpy()" in tape.error.message


@pytest.mark.parametrize("backend", ["TkAgg", "QtAgg", "Agg"])
def test_a_backend_with_windows_of_its_own_is_not_needed(backend):
    source = f"import matplotlib\nmatplotlib.use('{backend}')\n{HEAD}plt.plot([1])\nplt.show()"
    tape = record(source + f"\nplt.switch_backend('{backend}')\nprint(plt.get_backend())")
    assert (tape.error, tape.stdout.lower(), len(tape.figures)) == (None, "agg\n", 1)


def test_a_program_prints_and_computes_what_plain_python_does():
    source = (
        HEAD + "rng = np.random.default_rng(0)\n"
        "n, edges, parts = plt.hist(rng.normal(size=100))\nprint(n, edges, len(parts))\n"
        "fig, axs = plt.subplots(2, 3)\nprint(axs.shape, fig, axs[0, 0].get_xlim())\n"
        "(line,) = axs[0, 0].plot([1, 2])\nprint(line, line.get_color(), plt.get_fignums())\n"
        "print(np.random.random(), plt.rcParams['figure.dpi'])\n"
    )
    plain = subprocess.run(
        [sys.executable, "-c", f"{PLAIN}import numpy\nnumpy.random.seed(0)\n{source}"],
        check=True,
        capture_output=True,
        text=True,
    )
    tape = record(source)
    assert (tape.stdout, tape.stderr) == (plain.stdout, plain.stderr)


def test_an_animation_is_saved_and_shown(tmp_path):
    target = tmp_path / "wave.gif"
    source = (
        "from matplotlib.animation import FuncAnimation\nfig, ax = plt.subplots()\n"
        "(line,) = ax.plot([0, 1])\n"
        "ani = FuncAnimation(fig, lambda i: line.set_data([0, 1], [0, i]), frames=4)\n"
        f"ani.save({str(target)!r}, writer='pillow')\n"
    )
    (figure,) = plotted(source)
    assert (figure.name, figure.file_type) == ("wave.gif", "gif")
    assert figure.file == target.read_bytes()
    from PIL import Image

    with Image.open(target) as film:
        assert film.n_frames == 4


def test_a_large_figure_comes_as_png_with_words():
    (figure,) = plotted("x = np.random.default_rng(0).random((2, 200_000))\nplt.scatter(*x)")
    assert figure.picture_type == "png"
    assert "its SVG would exceed 300 kB" in figure.note
    assert len(figure.picture) <= figures.MAX_PNG_BYTES


@pytest.mark.slow
def test_a_file_of_fifty_megabytes_is_told_and_kept_as_png(tmp_path):
    noise = "plt.figimage(np.random.default_rng(0).random((4000, 4000, 3)), resize=True)\n"
    (figure,) = plotted(noise + f"plt.savefig({str(tmp_path / 'big.png')!r})", timeout=60)
    assert figure.file == b""
    assert "big.png would have" in figure.note
    assert figure.picture_type == "png"


@pytest.mark.parametrize("first", ["", "import matplotlib.animation\n"])
def test_a_figure_that_cannot_be_drawn_is_told(first):
    tape = record(HEAD + first + "plt.title('$\\\\fraq{1}$')\nplt.plot([1])")
    assert tape.error is None
    assert "A figure cannot be drawn: ValueError" in tape.stderr


@pytest.mark.slow
def test_many_figures_and_long_words_are_bounded():
    for count, end in ((200, "plt.show()"), (30, ""), (26, "plt.savefig('a.svg'); plt.close()")):
        source = f"{HEAD}for i in range({count}):\n    plt.figure(); plt.plot([i])\n    {end}"
        tape = execute(messages.Run(0, source, policy=True))
        assert len(tape.figures) == figures.MAX_FIGURES
        told = "Only the first 24 figures of the program are shown\n"
        assert tape.stderr.count(told) == 1
    (figure,) = plotted("plt.plot([1])\nplt.title('W' * 3000)")
    assert figure.title == "W" * 400


REFUSED = {
    "a file": "plt.imread('/etc/passwd')",
    "a file's writing": "plt.imsave('a.png', np.ones((2, 2)))",
    "the canvas": "plt.gcf().canvas",
    "the class": "plt.gcf().__class__",
    "LaTeX": "plt.text(0, 0, 'x', usetex=True)",
    "LaTeX in a dict": "plt.text(0, 0, 'x', fontdict={'usetex': True})",
    "LaTeX by a setting": "plt.rcParams['text.usetex'] = True",
    "a setting that is evaluated": "plt.rcParams['axes.prop_cycle'] = 'cycler(c=[1])'",
    "a font's file": "plt.title('x', fontproperties='/etc/passwd')",
    "a style's file": "plt.style.use('own.mplstyle')",
    "an object of its own": "class C: pass\nplt.plot(C())",
    "a function of its own": "plt.gca().xaxis.set_major_formatter(lambda x, p: '')",
    "a text of its own": "class S(str): pass\nplt.title(S('x'))",
    "a private name": "plt.gca()._axes",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_program_from_elsewhere_gets_no_further_than_drawing(name):
    tape = execute(messages.Run(0, HEAD + REFUSED[name], policy=True))
    assert tape.status == "refused", tape.error


def test_a_program_from_elsewhere_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "plt.plot([1, 2])\nplt.savefig('loss.png')\nplt.gcf().savefig('two.svg')"
    first = plotted(source, policy=True)[0]
    assert first.file.startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == []


def test_the_start_of_the_engine_imports_no_matplotlib():
    code = "import gradscribe.engine.run.run, sys; print('matplotlib' in sys.modules)"
    asked = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert asked.stdout == "False\n"


def test_tensors_are_drawn_as_numpy_draws_them():
    first = plotted("plt.plot(torch.arange(5.0) ** 2)")[0]
    assert first.picture == plotted("plt.plot(np.arange(5.0) ** 2)")[0].picture


@pytest.mark.parametrize("policy", [False, True])
def test_what_matplotlib_does_with_tensors_is_not_recorded(policy):
    source = (
        "import torch\nx, y = torch.meshgrid(torch.arange(4.), torch.arange(4.), indexing='ij')\n"
        "plt.scatter(x, y, c=x)\nplt.contourf(x, y, x)\nplt.plot(x)\nplt.hist(x.flatten())\n"
    )
    tape = execute(messages.Run(0, HEAD + source, policy=policy))
    assert tape.status == "ok", tape.error
    assert {op.op for op in tape.ops} == {"meshgrid", "flatten"}


def test_what_a_program_does_in_an_animation_is_recorded():
    source = (
        "import torch\nfrom matplotlib.animation import FuncAnimation\n"
        "w = torch.tensor(1.0, requires_grad=True)\nfig, ax = plt.subplots()\n"
        "(line,) = ax.plot([0, 1], [0, 1])\n"
        "def update(i):\n    (w ** 2).backward()\n    line.set_ydata([0, w.grad.item()])\n"
        "    return (line,)\nani = FuncAnimation(fig, update, frames=2)\nplt.show()\n"
    )
    tape = execute(messages.Run(0, HEAD + source))
    assert tape.status == "ok", tape.error
    assert any(op.op == "pow" for op in tape.ops)
    assert tape.passes


@pytest.mark.parametrize("policy", [False, True])
def test_a_tensor_that_requires_a_gradient_is_refused_as_in_plain_python(policy):
    source = "import torch\nx = torch.ones(3, requires_grad=True)\nplt.plot(x)"
    tape = execute(messages.Run(0, HEAD + source, policy=policy))
    assert tape.error is not None
    assert tape.error.type == "RuntimeError"
    assert "Can't call numpy() on Tensor that requires grad" in tape.error.message
    assert tape.error.place.line == 5


def test_matplotlib_s_own_work_is_not_recorded_and_changes_no_number():
    plain = record("x = param([1.0, 2.0])\nloss = (x * x).sum()\nloss.backward()\nprint(x.grad)")
    drawn = record(
        HEAD + "x = param([1.0, 2.0])\nloss = (x * x).sum()\nplt.plot([3], [4])\n"
        "plt.scatter([1, 2], [3, 4])\nplt.show()\nloss.backward()\nprint(x.grad)"
    )
    assert drawn.error is None
    assert [op.op for op in drawn.ops] == [op.op for op in plain.ops]
    assert drawn.stdout == plain.stdout


def test_an_animation_is_missed_by_its_program_and_not_after_it():
    lost = "from matplotlib.animation import FuncAnimation\n" + HEAD
    lost += "fig, ax = plt.subplots()\nFuncAnimation(fig, lambda i: [], frames=2)\n"
    tape = record(lost + "import gc\ngc.collect()")
    assert "Animation was deleted without rendering" in tape.stderr
    animation = sys.modules["matplotlib.animation"]
    left = object.__new__(animation.FuncAnimation)
    left._draw_was_started = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        left.__del__()
    left._draw_was_started = True


def test_a_figure_knows_how_many_lines_were_printed_before_it():
    tape = record(
        "import matplotlib.pyplot as plt\n"
        "print('a')\nprint('b', end='')\n"
        "plt.plot([1, 2])\nplt.show()\n"
        "print('c')\nplt.plot([2, 1])\nplt.show()\nprint('d')\n"
        "plt.plot([1, 1])\n"
    )
    assert [figure.after for figure in tape.figures] == [2, 2, 3]
