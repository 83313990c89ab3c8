"""GIF and MP4: what is written is read back by the libraries that show such files."""

import io
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage

from gradscribe.app.export import encoders
from gradscribe.app.export.encoders import FPS, check_available, make_encoder, pixels
from gradscribe.app.files.documents import Refused

GROUND, INK = QColor("#F4F6F9"), QColor("#C2185B")


def frames(count=5, size=(64, 48)):
    """Return frames in which a small square wanders, and of which the last two are the same."""
    made = []
    for number in range(count):
        image = QImage(*size, QImage.Format.Format_RGB32)
        image.fill(GROUND)
        at = 6 * max(0, min(number, count - 2))
        for x in range(at, at + 4):
            for y in range(10, 14):
                image.setPixelColor(x, y, INK)
        made.append(image)
    return made


def written(kind, given):
    made = make_encoder(kind, given[:1], [INK])
    for frame in given:
        made.add(frame)
    return made.finish()


def test_pixels_are_rows_of_red_green_blue():
    image = QImage(3, 2, QImage.Format.Format_RGB32)
    image.fill(QColor(1, 2, 3))
    image.setPixelColor(2, 1, QColor(9, 8, 7))
    found = pixels(image)
    assert found.shape == (2, 3, 3)
    assert found[1, 2].tolist() == [9, 8, 7]
    assert found[0, 0].tolist() == [1, 2, 3]


def test_a_gif_read_back_shows_each_frame():
    given = frames()
    with Image.open(io.BytesIO(written("gif", given))) as film:
        assert film.size == (64, 48)
        assert film.n_frames == len(given) - 1  # two are the same: one of them lasts longer
        assert film.info["loop"] == 0
        for number in range(film.n_frames):
            film.seek(number)
            shown = np.asarray(film.convert("RGB"), dtype=int)
            assert np.abs(shown - pixels(given[number])).max() <= 2


def test_a_gif_lasts_as_long_as_its_frames():
    given = frames(9)
    with Image.open(io.BytesIO(written("gif", given))) as film:
        lasted = 0
        for number in range(film.n_frames):
            film.seek(number)
            lasted += film.info["duration"]
    assert lasted == len(given) * 1000 / FPS["gif"]


def test_a_gif_keeps_a_colour_that_is_only_a_spot():
    plain = QImage(640, 480, QImage.Format.Format_RGB32)
    for y in range(480):
        for x in range(0, 640, 2):
            plain.setPixelColor(x, y, QColor(x % 256, y % 256, 128))
    spot = plain.copy()
    spot.setPixelColor(300, 200, INK)
    made = make_encoder("gif", [plain], [INK])
    made.add(spot)
    with Image.open(io.BytesIO(made.finish())) as film:
        assert film.convert("RGB").getpixel((300, 200)) == (0xC2, 0x18, 0x5B)


def test_a_gif_that_stands_still_is_one_frame():
    given = frames(1) * 4
    with Image.open(io.BytesIO(written("gif", given))) as film:
        assert film.n_frames == 1


def test_an_mp4_read_back_shows_each_frame():
    given = frames(size=(160, 128))
    with av.open(io.BytesIO(written("mp4", given))) as film:
        (stream,) = film.streams.video
        assert stream.codec_context.name == "h264"
        assert (stream.width, stream.height) == (160, 128)
        assert stream.average_rate == FPS["mp4"]
        shown = [frame.to_ndarray(format="rgb24").astype(int) for frame in film.decode(stream)]
    assert len(shown) == len(given)
    for one, other in zip(shown, given, strict=True):
        assert np.abs(one - pixels(other)).mean() < 3
    assert np.abs(shown[0][40:, 40:] - pixels(given[0])[40:, 40:]).max() <= 4


def test_an_ending_that_is_no_film_is_refused():
    with pytest.raises(Refused, match=r"\.gif or \.mp4"):
        check_available("avi")


def test_without_what_writes_video_one_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(encoders.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Refused, match="pip install av"):
        check_available("mp4")
    check_available("gif")


def test_the_libraries_of_what_writes_video_are_known():
    paths = list(encoders.shared_libraries("av"))
    assert all(path.is_file() for path in paths)
    loaded = Path(av.logging.__file__)
    assert any(path.samefile(loaded) for path in paths)
    assert list(encoders.shared_libraries("no-such-distribution")) == []


@pytest.mark.parametrize(("kind", "module"), [("gif", "PIL.GifImagePlugin"), ("mp4", "av")])
def test_what_writes_a_film_is_loaded_in_a_new_process(kind, module):
    lines = (
        "import sys; from gradscribe.app.export import encoders as film_files",
        f"assert {module!r} not in sys.modules",
        f"film_files.import_library({kind!r}); assert {module!r} in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
