"""SVG to PNG in a process of its own: Qt would take over a script's process."""

import importlib.util
import os
import subprocess
import sys

LONGEST_SIDE = 16_000
"""Pixels of the longest side of a picture."""
TIMEOUT_S = 120.0
_PROGRAM = """
import sys
from PySide6.QtCore import QBuffer, QByteArray, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
scale, longest = float(sys.argv[1]), float(sys.argv[2])
application = QGuiApplication(["gradscribe"])
drawing = QSvgRenderer(QByteArray(sys.stdin.buffer.read()))
size = drawing.defaultSize()
scale = min(scale, longest / max(size.width(), size.height(), 1))
image = QImage(size * scale, QImage.Format.Format_ARGB32)
image.fill(Qt.GlobalColor.white)
painter = QPainter(image)
drawing.render(painter)
painter.end()
buffer = QBuffer()
buffer.open(QBuffer.OpenModeFlag.WriteOnly)
if not image.save(buffer, "PNG"):
    sys.exit("the picture is too big")
sys.stdout.buffer.write(buffer.data().data())
"""


def draw_png(svg: str, scale: float) -> bytes:
    """Return SVG text as a PNG file, in ``scale`` pixels per unit.

    Raises:
        RuntimeError: PySide6 is missing, or could not draw it; the message says why.
        ValueError: ``scale`` is not a positive number.
    """
    if not 0 < scale < float("inf"):
        raise ValueError(f"scale has to be a positive number, not {scale}")
    if importlib.util.find_spec("PySide6") is None:
        raise RuntimeError("to_png needs PySide6-Essentials, which is missing; to_svg does not")
    command = [sys.executable, "-c", _PROGRAM, str(scale), str(LONGEST_SIDE)]
    try:
        done = subprocess.run(
            command,
            input=svg.encode(),
            capture_output=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"to_png took longer than {TIMEOUT_S:g} s; to_svg has it all") from None
    if done.returncode or not done.stdout.startswith(b"\x89PNG"):
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"to_png failed: {lines[-1] if lines else f'code {done.returncode}'}")
    return done.stdout
