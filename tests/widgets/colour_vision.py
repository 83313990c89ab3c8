"""Distance of two colours, to usual and to colour-blind eyes."""

import math

import numpy as np
from PySide6.QtGui import QColor

# Machado, Oliveira, Fernandes 2009, severity 1, for linear RGB.
EYES = {
    "usual": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def lab(color: QColor, eye: str = "usual"):
    """Return CIE L*a*b* (D65) of a colour as an eye sees it."""
    rgb = np.array([color.redF(), color.greenF(), color.blueF()])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(EYES[eye] @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ linear / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(a: QColor, b: QColor, eye: str = "usual") -> float:
    """Return CIEDE2000 (Sharma, Wu, Dalal 2005) between two colours."""
    l1, a1, b1 = lab(a, eye)
    l2, a2, b2 = lab(b, eye)
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(y, x)) % 360 for x, y in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = 1 - 0.17 * _cos(h - 30) + 0.24 * _cos(2 * h) + 0.32 * _cos(3 * h + 6)
    t -= 0.20 * _cos(4 * h - 63)
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    bend = 30 * math.exp(-(((h - 275) / 25) ** 2))
    rt = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(math.radians(2 * bend))
    x, y, z = (l2 - l1) / sl, (c2 - c1) / sc, dh / sh
    return math.sqrt(x * x + y * y + z * z + rt * y * z)


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))
