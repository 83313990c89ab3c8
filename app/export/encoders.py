"""Film encoders: animated GIF by Pillow, MP4 by PyAV, in memory until complete."""

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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from gradscribe.app.files.documents import Refused
from gradscribe.playback.translation import tr

if TYPE_CHECKING:
    from PIL import Image

Kind = str
"""``gif`` or ``mp4``."""
FPS = {"gif": 20, "mp4": 30}
LIBRARIES = {"gif": ("PIL.GifImagePlugin", "pillow"), "mp4": ("av", "av")}
"""The module that encodes each kind, and the distribution that it comes in."""
COMPILED = re.compile(r"\.(so|dylib|dll|pyd)\b")
_PIECE = 1 << 20
COLORS = 255
"""Colours of a GIF; one more palette entry means an unchanged pixel."""
_SWATCH = 40
"""Side in pixels of the square that secures a required colour its palette entry."""
_SAMPLED = 600_000
"""Most pixels that are sampled for the palette."""
H264 = "libx264"
"""FFmpeg's name of the encoder; wheels of PyAV have it."""
NO_CODEC = tr("PyAV has no H.264 encoder here, so no MP4 can be written: write a GIF")
NO_VIDEO = tr("MP4 needs PyAV, which is not installed: pip install av, or write a GIF")

Pixels = NDArray[np.uint8]


def make_encoder(
    kind: Kind, stills: Sequence[QImage], colors: Sequence[QColor]
) -> "GifEncoder | Mp4Encoder":
    """Return an encoder, which takes the frames in order; all have one size.

    Args:
        kind: ``gif`` or ``mp4``.
        stills: sample frames, from which a GIF takes its palette.
        colors: colours that the palette of a GIF must contain.
    """
    if kind == "gif":
        return GifEncoder(stills, colors, FPS[kind])
    return Mp4Encoder(stills[0].width(), stills[0].height(), FPS[kind])


def check_available(kind: Kind) -> None:
    """Check that films of that kind can be written.

    Raises:
        Refused: the kind is unknown, or its library is not installed.
    """
    if kind not in FPS:
        raise Refused(tr("A film ends in .gif or .mp4"))
    if kind == "mp4" and importlib.util.find_spec("av") is None:
        raise Refused(NO_VIDEO)


def import_library(kind: Kind) -> None:
    """Import the library for films of that kind; called in a worker thread.

    An import holds the GIL while the system loads a shared library from the disk (113 ms for those
    of PyAV). Reading the files first, which releases the GIL, reduces that to 9 ms.

    Raises:
        Refused: it is damaged, or lacks a library of the system.
    """
    module, distribution = LIBRARIES[kind]
    if module not in sys.modules:
        for path in shared_libraries(distribution):
            with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
                while file.read(_PIECE):
                    pass
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise Refused(
            tr("{distribution} cannot be imported: {error}", distribution=distribution, error=error)
        ) from error


def shared_libraries(distribution: str) -> Iterator[Path]:
    """Yield the shared libraries of an installed distribution, if it lists its files."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files(distribution) or ():
            if COMPILED.search(file.name):
                yield Path(str(file.locate()))


def pixels(frame: QImage) -> Pixels:
    """Return a frame as an RGB array (height, width, 3)."""
    frame = frame.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(frame.constBits(), np.uint8).reshape(frame.height(), -1)
    return rows[:, : frame.width() * 3].reshape(frame.height(), frame.width(), 3).copy()


class GifEncoder:
    """GIF encoder that stores the changed rectangle of each frame, with one global palette."""

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
        """Write the header: size, global palette, and endless looping."""
        width, height = self._size
        colors = bytes(self._palette.getpalette("RGB") or ()).ljust(768, b"\0")
        self._file.write(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little"))
        self._file.write(b"\xf7\0\0" + colors)
        self._file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")

    def add(self, frame: QImage) -> None:
        """Append a frame; an unchanged one prolongs the previous frame."""
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
    """Return an image whose palette fits the stills and contains ``colors``."""
    from PIL import Image

    # A sample of the pixels is representative, and takes a fraction of the time.
    whole_size = sum(still.width() * still.height() for still in stills)
    every = max(2, math.ceil(math.sqrt(whole_size / _SAMPLED)))
    pictures = [pixels(still)[::every, ::every] for still in stills]
    swatches = np.zeros((_SWATCH, pictures[0].shape[1], 3), np.uint8)
    for number, color in enumerate(colors):
        left = number * _SWATCH % max(1, swatches.shape[1] - _SWATCH)
        swatches[:, left : left + _SWATCH] = (color.red(), color.green(), color.blue())
    whole = Image.fromarray(np.concatenate([swatches, *pictures]))
    return whole.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


class Mp4Encoder:
    """H.264 encoder; browsers, players and slides all show its files.

    Raises:
        Refused: PyAV was built without it.
    """

    def __init__(self, width: int, height: int, fps: int) -> None:
        import av

        self._av = av
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        try:
            stream = self._container.add_stream(H264, rate=Fraction(fps))
        except (ValueError, av.FFmpegError) as error:
            # A build of the system may lack x264, which is GPL.
            raise Refused(NO_CODEC) from error
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"crf": "18", "preset": "veryfast", "tune": "animation"}
        # 1 is BT.709; without the tags players guess the colour space by the size.
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
