"""Films as files: animated GIF by Pillow, MP4 by PyAV; all in memory until they are whole."""

import contextlib
import importlib.util
import io
import math
import re
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from app.documents import Refused

if TYPE_CHECKING:
    from PIL import Image

Kind = str
"""``gif`` or ``mp4``."""
FPS = {"gif": 20, "mp4": 30}
LIBRARIES = {"gif": ("PIL.GifImagePlugin", "pillow"), "mp4": ("av", "av")}
"""The module that writes a film of each kind, and the distribution that it comes in."""
COMPILED = re.compile(r"\.(so|dylib|dll|pyd)\b")
_PIECE = 1 << 20
COLORS = 255
"""Colours of a GIF; one more stands for a pixel that stays as it is."""
_SWATCH = 40
"""Side of the square by which a colour is sure of its place in the palette."""
_SAMPLED = 600_000
"""Pixels that are asked for their colours, at most."""
NO_VIDEO = "MP4 needs PyAV, which is not installed: pip install av, or write a GIF"

Pixels = NDArray[np.uint8]


class Writer(Protocol):
    """Takes the frames of a film one by one."""

    def add(self, frame: QImage) -> None:
        """Append a frame; all have one size."""

    def finish(self) -> bytes:
        """Return the whole file."""


def writer(kind: Kind, stills: Sequence[QImage], colors: Sequence[QColor]) -> Writer:
    """Return what writes a film.

    Args:
        kind: ``gif`` or ``mp4``.
        stills: some of its frames, from which a GIF takes its colours.
        colors: what a GIF must be able to show, however small it is drawn.
    """
    if kind == "gif":
        return GifWriter(stills, colors, FPS[kind])
    return Mp4Writer(stills[0].width(), stills[0].height(), FPS[kind])


def require(kind: Kind) -> None:
    """Make sure that films of that kind can be written.

    Raises:
        Refused: there is no such kind, or what writes it is not installed.
    """
    if kind not in FPS:
        raise Refused("A film ends in .gif or .mp4")
    if kind == "mp4" and importlib.util.find_spec("av") is None:
        raise Refused(NO_VIDEO)


def load(kind: Kind) -> None:
    """Import what writes films of that kind, on a thread beside the window.

    An import holds Python's lock while the system reads a library from the disk (113 ms for those
    of PyAV); to read it first, which leaves the lock to others, makes that 9.
    """
    module, distribution = LIBRARIES[kind]
    if module not in sys.modules:
        for path in compiled(distribution):
            with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
                while file.read(_PIECE):
                    pass
    importlib.import_module(module)


def compiled(distribution: str) -> Iterator[Path]:
    """Yield the compiled libraries of an installed distribution, where it tells of its files."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files(distribution) or ():
            if COMPILED.search(file.name):
                yield Path(str(file.locate()))


def pixels(frame: QImage) -> Pixels:
    """Return a frame as rows of red, green, blue."""
    frame = frame.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(frame.constBits(), np.uint8).reshape(frame.height(), -1)
    return rows[:, : frame.width() * 3].reshape(frame.height(), frame.width(), 3).copy()


class GifWriter:
    """Writes what changes from frame to frame, in one palette for all of them."""

    def __init__(self, stills: Sequence[QImage], colors: Sequence[QColor], fps: int) -> None:
        from PIL import GifImagePlugin, Image

        self._pil, self._gif = Image, GifImagePlugin
        self._palette = _palette(stills, colors)
        # A GIF counts in hundredths of a second.
        self._delay = round(100 / fps)
        self._size = (stills[0].width(), stills[0].height())
        self._shown: Pixels | None = None
        self._waiting: tuple[Pixels, tuple[int, int]] | None = None
        self._lasts = 0
        self._file = io.BytesIO()
        self._begin()

    def _begin(self) -> None:
        """Write what stands before the frames: size, colours, and that it plays for ever."""
        width, height = self._size
        colors = bytes(self._palette.getpalette("RGB") or ()).ljust(768, b"\0")
        self._file.write(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little"))
        self._file.write(b"\xf7\0\0" + colors)
        self._file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")

    def add(self, frame: QImage) -> None:
        """Append a frame; one that shows nothing new lets the one before last longer."""
        image = self._pil.fromarray(pixels(frame)).quantize(
            palette=self._palette, dither=self._pil.Dither.NONE
        )
        new: Pixels = np.asarray(image)
        if self._shown is None:
            self._put(new, (0, 0))
        else:
            changed = new != self._shown
            if changed.any():
                rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
                box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
                part = np.where(changed[box], new[box], np.uint8(COLORS))
                self._put(part, (int(columns[0]), int(rows[0])))
        self._shown = new
        self._lasts += self._delay

    def _put(self, part: Pixels, corner: tuple[int, int]) -> None:
        self._flush()
        self._waiting, self._lasts = (part, corner), 0

    def _flush(self) -> None:
        if self._waiting is None:
            return
        part, corner = self._waiting
        image = self._pil.fromarray(part, "L")
        image.encoderinfo = {}
        delay = min(self._lasts, 65_535)
        # Pillow takes milliseconds.
        parts = self._gif.getdata(
            image, corner, duration=delay * 10, transparency=COLORS, disposal=1
        )
        self._file.write(b"".join(parts))

    def finish(self) -> bytes:
        """Return the whole file."""
        self._flush()
        self._waiting = None
        self._file.write(b";")
        return self._file.getvalue()


def _palette(stills: Sequence[QImage], colors: Sequence[QColor]) -> "Image.Image":
    """Return an image whose palette has the colours that the stills need most."""
    from PIL import Image

    # Some of the pixels tell as much as all of them, and take the window a fraction of the time.
    whole_size = sum(still.width() * still.height() for still in stills)
    every = max(2, math.ceil(math.sqrt(whole_size / _SAMPLED)))
    pictures = [pixels(still)[::every, ::every] for still in stills]
    swatches = np.zeros((_SWATCH, pictures[0].shape[1], 3), np.uint8)
    for number, color in enumerate(colors):
        left = number * _SWATCH % max(1, swatches.shape[1] - _SWATCH)
        swatches[:, left : left + _SWATCH] = (color.red(), color.green(), color.blue())
    whole = Image.fromarray(np.concatenate([swatches, *pictures]))
    return whole.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


class Mp4Writer:
    """Writes H.264, which browsers, players and slides all show."""

    def __init__(self, width: int, height: int, fps: int) -> None:
        import av

        self._av = av
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        stream = self._container.add_stream("libx264", rate=Fraction(fps))
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"crf": "18", "preset": "veryfast", "tune": "animation"}
        # Says how colours are coded; without it players guess by the size.
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = 1
        self._stream = stream

    def add(self, frame: QImage) -> None:
        """Append a frame."""
        made = self._av.VideoFrame.from_ndarray(pixels(frame), format="rgb24")
        coded = made.reformat(format="yuv420p", dst_colorspace="ITU709")
        for packet in self._stream.encode(coded):
            self._container.mux(packet)

    def finish(self) -> bytes:
        """Return the whole file."""
        for packet in self._stream.encode(None):
            self._container.mux(packet)
        self._container.close()
        return self._file.getvalue()
