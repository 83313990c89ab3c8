"""Capture of the figures that a program shows and saves with Matplotlib.

Nothing is imported here before the program imports Matplotlib: a finder waits for that, and adds
to each of its modules, once it is executed, what leads to the window. Figures are drawn by the
backend Agg; those that ask for a window of their own are shown in this program's.
"""

import contextlib
import functools
import io
import logging
import os
import sys
import weakref
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from gradscribe.engine.plotting import fonts
from gradscribe.engine.plotting.render import render
from gradscribe.engine.protocol.figures import MAX_FILE_BYTES, Figure, clip_label

MplObject = Any
"""A module or an object of Matplotlib, which is not imported here."""
WITHOUT_WINDOW = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
"""Backends that programs may choose; others would open a window."""


class FigureCapture:
    """The figures of one program at a time, from Matplotlib's calls to the recorder."""

    def __init__(self) -> None:
        self._take: list[Callable[[Figure], bool]] = []
        self._seen: weakref.WeakSet[MplObject] = weakref.WeakSet()
        self._settings: dict[str, object] = {}
        self._emitted = 0
        self._is_full = False
        self.may_write = True
        self.save: Callable[..., object] = lambda *_args, **_words: None
        """Matplotlib's own ``Figure.savefig``."""

    def begin(self, take: Callable[[Figure], bool], *, may_write: bool = True) -> None:
        """Start with Matplotlib's defaults and without figures.

        ``take`` is called with each figure that the program shows and returns whether there is
        space for it; ``may_write``: whether
        ``savefig`` writes its file.
        """
        self._reset()
        self._take, self.may_write = [take], may_write
        self._emitted, self._is_full = 0, False

    @property
    def is_active(self) -> bool:
        """True while a program runs."""
        return bool(self._take)

    def end(self) -> None:
        """Emit the figures that are still open, and close them."""
        try:
            self.show()
        finally:
            self._take = []
            self._reset()

    def remember_defaults(self, settings: dict[str, object]) -> None:
        """Store the settings that every program starts with."""
        self._settings = settings

    def _reset(self) -> None:
        self._seen.clear()
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            pyplot.close("all")
            pyplot.ioff()
        package = sys.modules.get("matplotlib")
        if package is not None and self._settings:
            dict.update(package.rcParams, self._settings)

    def show(self) -> None:
        """Emit every open figure of pyplot that has changed since it was emitted."""
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        for manager in helpers.Gcf.get_all_fig_managers() if helpers else ():
            self.show_figure(manager.canvas.figure)

    def show_figure(self, figure: MplObject) -> None:
        """Emit a figure, unless it is empty or has not changed since."""
        if not self._take or self._is_full or len(figure.get_children()) < 2:
            return
        if figure not in self._seen and figure.canvas.callbacks.callbacks.get("draw_event"):
            # An animation draws its first frame then. What cannot be drawn is reported below.
            with contextlib.suppress(Exception):
                figure.canvas.draw()
        if figure in self._seen and not figure.stale:
            return
        self._emit(figure, {}, "", b"", "")

    def _emit(
        self, figure: MplObject, options: dict[str, object], name: str, file: bytes, kind: str
    ) -> None:
        if not self._take or self._is_full:
            return
        try:
            made = render(figure, self.save, options, name)
        except Exception as error:  # noqa: BLE001 - raised by the program's own artists, too
            sys.stderr.write(f"A figure cannot be drawn: {type(error).__name__}: {error}\n")
            return
        finally:
            figure.stale = False
            self._seen.add(figure)
        if len(file) > MAX_FILE_BYTES:
            about = f"{name} would have {len(file) / 1e6:.0f} MB: it is saved as a smaller picture"
            made, file, kind = replace(made, note=clip_label(about)), b"", ""
        is_written = bool(name) and self.may_write
        whole = replace(made, file=file, file_type=clip_label(kind), is_written=is_written)
        if not self._take[0](whole):
            self._is_full = True
            sys.stderr.write(f"Only the first {self._emitted} figures of the program are shown\n")
        self._emitted += 1

    def savefig(self, figure: MplObject, target: MplObject, options: dict[str, object]) -> None:
        """Do what ``Figure.savefig`` does, and emit the figure.

        A file is written only where `may_write`; else the window offers it.
        """
        if not isinstance(target, str | os.PathLike) or not self._take:
            self.save(figure, target, **options)
            return
        path, kind = self._file_of(os.fspath(target), options)
        buffer = io.BytesIO()
        self.save(figure, buffer, **{**options, "format": kind})
        self.write(path, buffer.getvalue())
        self._emit(figure, options, os.path.basename(path), buffer.getvalue(), kind)

    def _file_of(self, path: str, options: dict[str, object]) -> tuple[str, str]:
        """Return path and format of a file, as Matplotlib determines them."""
        from matplotlib import rcParams

        given = options.get("format")
        suffix = os.path.splitext(path)[1][1:]
        kind = str(given or suffix or rcParams["savefig.format"])
        if not given and not suffix:
            path = f"{path.rstrip('.')}.{kind}"
        return path, kind.lower()

    def write(self, path: str, data: bytes) -> None:
        """Write a file where the program may."""
        if self.may_write:
            with open(path, "wb") as file:
                file.write(data)

    def finish_movie(self, writer: MplObject) -> None:
        """Write the frames of an animation, and emit its figure with the file."""
        buffer, path = io.BytesIO(), os.fspath(writer.outfile)
        kind = os.path.splitext(path)[1][1:].lower() or "gif"
        frames = writer._frames
        frames[0].save(
            buffer,
            format="png" if kind == "apng" else kind,
            save_all=True,
            append_images=frames[1:],
            duration=int(1000 / writer.fps),
            loop=0,
        )
        self.write(path, buffer.getvalue())
        self._emit(writer.fig, {}, os.path.basename(path), buffer.getvalue(), kind)


capture = FigureCapture()


def _prepare_package(module: MplObject) -> None:
    """Draw without a window, whatever backend a program or a setting asks for."""
    plain = module.use

    @functools.wraps(plain)
    def use(backend: str, **words: MplObject) -> None:
        if str(backend).lower() in WITHOUT_WINDOW:
            plain(backend, **words)

    module.use = use
    module.rcParams["backend"] = "agg"
    capture.remember_defaults(dict(dict.items(module.rcParams)))


def _prepare_figure(module: MplObject) -> None:
    kind = module.Figure
    capture.save = kind.savefig

    @functools.wraps(kind.savefig)
    def savefig(self: MplObject, fname: MplObject, **kwargs: MplObject) -> None:
        capture.savefig(self, fname, kwargs)

    @functools.wraps(kind.show)
    def show(self: MplObject, warn: bool = True) -> None:  # noqa: ARG001
        capture.show_figure(self)

    kind.savefig, kind.show = savefig, show


def _prepare_pyplot(module: MplObject) -> None:
    """Let ``show`` emit the figures and close them, as windows are by their user."""
    plain = module.switch_backend

    @functools.wraps(module.show)
    def show(*args: MplObject, **kwargs: MplObject) -> None:
        block = args[0] if args else kwargs.get("block")
        if block or (block is None and not module.isinteractive()):
            capture.show()
            module.close("all")

    @functools.wraps(plain)
    def switch_backend(newbackend: str) -> None:
        is_silent = not isinstance(newbackend, str) or newbackend.lower() in WITHOUT_WINDOW
        plain(newbackend if is_silent else "agg")

    module.show, module.switch_backend = show, switch_backend


def _prepare_animation(module: MplObject) -> None:
    """Take films, and be silent about those that a program leaves behind when it has ended."""
    module.PillowWriter.finish = lambda self: capture.finish_movie(self)
    plain = module.Animation.__del__

    def __del__(self: MplObject) -> None:
        if capture.is_active:
            plain(self)

    module.Animation.__del__ = __del__


_AFTER: dict[str, Callable[[MplObject], None]] = {
    "matplotlib": _prepare_package,
    "matplotlib.figure": _prepare_figure,
    "matplotlib.pyplot": _prepare_pyplot,
    "matplotlib.animation": _prepare_animation,
    "matplotlib.font_manager": lambda _module: None,
}


class _Loader(SourceFileLoader):
    """The loader of a module to which something is added."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, without words about a list of fonts that cannot be written."""
        log = logging.getLogger("matplotlib.font_manager")
        level = log.level
        if module.__name__ == "matplotlib.font_manager":
            fonts.wait()
            log.setLevel(logging.ERROR)
        try:
            super().exec_module(module)
        finally:
            log.setLevel(level)
        _AFTER[module.__name__](module)


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module to which something is added; None for all others."""
        if name not in _AFTER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path)
        return spec


def watch_imports() -> None:
    """Prepare Matplotlib's modules as soon as a program imports them, or now."""
    sys.meta_path.insert(0, _Finder())
    for name, prepare in _AFTER.items():
        if (module := sys.modules.get(name)) is not None:
            prepare(module)
