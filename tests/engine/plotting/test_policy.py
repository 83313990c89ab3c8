"""Matplotlib's modules under the policy for programs from elsewhere."""

import pytest

from gradscribe.engine.protocol import messages
from gradscribe.engine.run.run import execute
from tests.engine.plotting.programs import HEAD

TUTORIAL = """
import matplotlib
matplotlib.use("TkAgg")
import matplotlib.pyplot as plt
import matplotlib.ticker
from matplotlib.colors import ListedColormap, LogNorm, Normalize, LinearSegmentedColormap
import matplotlib.patches as mpatches
import matplotlib.animation
from matplotlib.animation import FuncAnimation
from matplotlib import cm, animation, gridspec
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits import mplot3d
from mpl_toolkits.axes_grid1 import make_axes_locatable
from matplotlib.ticker import FuncFormatter, MaxNLocator
import pylab
from matplotlib.cm import viridis
from matplotlib.lines import Line2D
from matplotlib.collections import LineCollection
import numpy as np
print(ListedColormap(["red"]).N)
print(cm.viridis(0.5), viridis(0.1), LogNorm(1, 100)(10.0))
fig = plt.figure()
gs = gridspec.GridSpec(2, 2, figure=fig)
ax = fig.add_subplot(gs[0, :])
ax.add_patch(mpatches.Rectangle((0, 0), 1, 1, color="green"))
ax.xaxis.set_major_formatter(FuncFormatter(lambda x, p: f"{x:.1f}!"))
ax.xaxis.set_major_locator(MaxNLocator(3))
red, blue = Line2D([0], [0], color="red", label="a"), mpatches.Patch(color="blue", label="b")
ax.legend(handles=[red, blue])
mixed = LinearSegmentedColormap.from_list("n", ["red", "blue"])
im = fig.add_subplot(gs[1, 0]).imshow(np.ones((3, 3)), cmap=mixed, norm=Normalize(0, 2))
div = make_axes_locatable(im.axes); cax = div.append_axes("right", size="5%", pad=0.05)
fig.colorbar(im, cax=cax)
fig.add_subplot(gs[1, 1]).add_collection(LineCollection([[(0, 0), (1, 1)]]))
plt.show()
fig, ax = plt.subplots()
(line,) = ax.plot([0, 1])
calls = []
def init():
    return line,
def up(i):
    calls.append(i)
    line.set_data([0, 1], [0, i])
    return line,
ani = FuncAnimation(fig, up, frames=np.arange(4), init_func=init, blit=True, interval=50)
ani.save("wave.gif", writer=animation.PillowWriter(fps=10))
print(calls)
fig = plt.figure()
ax = Axes3D(fig)
fig.add_axes(ax)
ax.plot([0, 1], [0, 1], [0, 1])
plt.figure()
ax = plt.axes(projection="3d")
X, Y = np.meshgrid(np.arange(5.0), np.arange(5.0))
ax.plot_surface(X, Y, X * Y, cmap=cm.coolwarm)
for ax in np.atleast_1d(plt.subplots(1, 2)[1]).flat:
    pylab.sca(ax); pylab.plot([1, 2])
"""
PARTS = {
    "colours": "from matplotlib import colors\nprint(colors.to_hex('red'), colors.to_rgb('C1'))\n"
    "print(colors.TABLEAU_COLORS['tab:blue'], colors.BoundaryNorm([0, 1, 2], 2)([0.5, 1.5]))",
    "a colour map": "from matplotlib import colormaps\n"
    "print(colormaps['jet'](3), len(list(colormaps)))",
    "ticks": "from matplotlib import ticker\nax = plt.gca()\nax.plot([1, 2])\n"
    "ax.yaxis.set_major_formatter(ticker.StrMethodFormatter('{x:.1f} s'))\n"
    "ax.xaxis.set_major_locator(ticker.MultipleLocator(0.25))\n"
    "print(ax.xaxis.get_major_locator()())",
    "settings": "import matplotlib\nmatplotlib.rc('lines', linewidth=3)\n"
    "print(plt.rcParams['lines.linewidth'], matplotlib.get_backend())",
    "a path": "from matplotlib.path import Path\nfrom matplotlib.patches import PathPatch\n"
    "plt.gca().add_patch(PathPatch(Path([(0, 0), (1, 1)], [Path.MOVETO, Path.LINETO])))",
    "polygons": "from mpl_toolkits.mplot3d.art3d import Poly3DCollection\n"
    "ax = plt.figure().add_subplot(projection='3d')\n"
    "ax.add_collection3d(Poly3DCollection([[(0, 0, 0), (1, 0, 0), (0, 1, 1)]]))",
    "a figure": "from matplotlib.figure import Figure\n"
    "print(Figure(figsize=(2, 1)).get_size_inches())",
    "frames of a generator": "from matplotlib import animation\nfig, ax = plt.subplots()\n"
    "def numbers():\n    for i in range(3):\n        yield {'i': i}\n"
    "ani = animation.FuncAnimation(fig, lambda d: print(d), numbers, save_count=3)",
    "frames of artists": "from matplotlib.animation import ArtistAnimation\n"
    "fig, ax = plt.subplots()\n"
    "ani = ArtistAnimation(fig, [ax.plot([0, i]) for i in range(3)], blit=True)",
}


def run(source, *, policy):
    tape = execute(messages.Run(0, HEAD + source, policy=policy))
    assert tape.status == "ok", tape.error
    return tape.stdout, tape.stderr, [figure.picture for figure in tape.figures]


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_matplotlib_is_the_same_under_the_policy(name):
    assert run(PARTS[name], policy=True) == run(PARTS[name], policy=False)


def test_the_imports_of_tutorials_work_and_write_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guarded = execute(messages.Run(0, TUTORIAL, policy=True))
    assert list(tmp_path.iterdir()) == []
    plain = execute(messages.Run(0, TUTORIAL))
    assert (guarded.error, guarded.stdout) == (plain.error, plain.stdout) == (None, plain.stdout)
    assert [f.picture for f in guarded.figures] == [f.picture for f in plain.figures]
    assert guarded.figures[1].file == (tmp_path / "wave.gif").read_bytes()


def test_colour_maps_of_a_program_end_with_it():
    first = (
        "from matplotlib.cm import viridis\nviridis.set_bad('red')\nprint(viridis(float('nan')))"
    )
    printed, *_ = run(first, policy=True)
    again, *_ = run(first.replace("viridis.set_bad('red')", "pass"), policy=True)
    assert printed != again


FILM = (
    "from matplotlib.animation import FuncAnimation\nani = FuncAnimation(plt.figure(), print, 2)\n"
)
REFUSED = {
    "LaTeX by setp": "plt.setp(plt.text(0, 0, 'x'), 'usetex', True)",
    "a font's file by getp": "plt.getp(plt.text(0, 0, 'x'), 'fontproperties')",
    "the canvas by getp": "plt.getp(plt.gcf(), 'canvas')",
    "a format's attributes": "plt.gca().xaxis.set_major_formatter('{x.__class__}')",
    "a formatter's attributes": "from matplotlib.ticker import StrMethodFormatter\n"
    "StrMethodFormatter('{x.real}')",
    "a slice of its own": "from matplotlib.gridspec import GridSpec\n"
    "class I:\n    def __index__(self): return 0\nGridSpec(2, 2)[I():, 0]",
    "a film's text": FILM + "ani.to_jshtml()",
    "a film in a file object": FILM + "ani.save(print)",
    "a film's insides": FILM + "ani._Film__save",
    "no function": "from matplotlib.animation import FuncAnimation\nFuncAnimation(plt.figure(), 3)",
    "a label that is no text": "from matplotlib.ticker import FuncFormatter\n"
    "class C: pass\nprint(FuncFormatter(lambda x, p: C())(1))",
    "an image's file": "from matplotlib.image import imread",
    "windows": "from matplotlib.backends.backend_agg import FigureCanvasAgg",
    "torch's files": "torch.save(3, 'a.pt')",
    "numpy's files": "np.save('a.npy', np.ones(3))",
    "an array's saving by name": "getattr(np, 'save')('a.npy', np.ones(3))",
}


@pytest.mark.parametrize("name", REFUSED)
def test_matplotlib_leads_a_program_from_elsewhere_nowhere(name):
    tape = execute(messages.Run(0, HEAD + REFUSED[name], policy=True))
    assert tape.status == "refused", (tape.status, tape.error, tape.stdout)


def test_a_film_tells_nothing_of_folders():
    printed, *_ = run(FILM + "ani.save('/no/such/folder/film.mp4')\nprint('done')", policy=True)
    assert printed.endswith("done\n")


def test_a_method_save_of_the_program_is_its_own():
    printed, *_ = run("class C:\n    def save(self): return 4\nprint(C().save())", policy=True)
    assert printed == "4\n"
