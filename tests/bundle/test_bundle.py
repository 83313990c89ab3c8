"""The bundle in a bare system: installed, started under a virtual screen, without and with PyTorch.

`make bundle-test` makes the bundle and runs this. It needs root, Debian's mmdebstrap and
bubblewrap, a mirror of Debian's packages, and for PyTorch a folder of wheels (``WHEELS=``) or a
package index to fill one from.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "bundle" / "pictures"
PROGRAM = (
    "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\nprint(x.grad)\n"
)
WANTED = ("torch", "numpy", "msgspec", "pandas", "matplotlib")
SCREEN = ("xvfb", "xdotool", "x11-apps", "openbox")
"""Packages of the bare system: a virtual screen, a window manager, keys and pictures."""
SESSION = """
Xvfb :9 -screen 0 1440x900x24 -nolisten tcp -noreset 2>/dev/null &
export DISPLAY=:9
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.1; done
openbox 2>/dev/null &
gradscribe {words} &
window=$!
xdotool search --sync --onlyvisible --name Gradscribe >/dev/null
until xwd -root -silent | LC_ALL=C grep -q -a -P '{color}'; do
    kill -0 $window || exit 90
    sleep 0.5
done
xwd -root -silent > /shared/{picture}.xwd
xdotool key ctrl+q
wait $window
"""
"""Shell program: start the window, wait for a colour on the screen, take a picture, quit."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif("GRADSCRIBE_BUNDLE" not in os.environ, reason="run by make bundle-test"),
]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Install the bundle in a system that has nothing else, and return its root."""
    package = Path(os.environ["GRADSCRIBE_BUNDLE"])
    root = tmp_path_factory.mktemp("bare") / "root"
    release = dict(
        line.rstrip().split("=", 1) for line in Path("/etc/os-release").read_text().splitlines()
    )
    install = "apt-get install -y --no-install-recommends /gradscribe.deb"
    done = run(
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(SCREEN)}"),
        f"--customize-hook=upload {package} /gradscribe.deb",
        f'--customize-hook=chroot "$1" {install}',
        *(release["VERSION_CODENAME"], root),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in ("user", "shared", "wheels"):
        (root / name).mkdir()
    (root / "user" / "own.py").write_text(PROGRAM)
    yield root
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Return a folder with the wheels of PyTorch for the bundle's Python."""
    if given := os.environ.get("WHEELS"):
        return Path(given).absolute()
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "download", "-q", "-c", ROOT / "constraints.txt"]
    done = run(*pip, "--dest", folder, *WANTED)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture
def inside(bare):
    """Run a command in the bare system: without a network, and without this machine's files."""

    def execute(*words, wheels=None):
        shared = ["--ro-bind", wheels, "/wheels"] if wheels else []
        return run(
            *("bwrap", "--bind", bare, "/", *shared, "--proc", "/proc", "--dev", "/dev"),
            *("--tmpfs", "/tmp", "--tmpfs", "/run", "--unshare-all", "--die-with-parent"),
            *("--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/user"),
            *("--setenv", "LANG", "C.UTF-8", "--chdir", "/user", *words),
            timeout=300,
        )

    return execute


def color(token):
    """Return a colour of the light theme as bytes on the screen, in a pattern."""
    section, _, name = token.partition(".")
    theme = tomllib.loads((ROOT / "assets" / "themes" / "light.toml").read_text())
    red, green, blue = bytes.fromhex(theme[section][name][1:])
    return f"\\x{blue:02x}\\x{green:02x}\\x{red:02x}"


def show_window(inside, bare, words, awaited, picture):
    """Start the window, wait until a colour is on the screen, and return how it ended."""
    script = SESSION.format(words=words, color=color(awaited), picture=picture)
    done = inside("sh", "-c", script)
    if (taken := bare / "shared" / f"{picture}.xwd").exists() and shutil.which("convert"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        run("convert", f"xwd:{taken}", PICTURES / f"{picture}.png")
    return done


def test_the_system_is_bare(inside):
    for line in ("python3 -c 'import PySide6'", "python3 -c 'import torch'", f"ls {ROOT}"):
        assert inside("sh", "-c", line).returncode != 0


def test_it_starts_without_pytorch_and_offers_it(inside, bare):
    done = inside("gradscribe", "record", "own.py")
    assert done.returncode == 2
    assert "PyTorch is not installed" in done.stderr
    done = show_window(inside, bare, "own.py", "text.error", "without-pytorch")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_display_it_says_so(inside):
    done = inside("gradscribe")
    assert done.returncode == 2
    assert "no display here" in done.stderr


def test_it_installs_pytorch_and_records_an_example(inside, bare, wheels):
    done = inside("gradscribe", "install-torch", "--yes", "--wheels", "/wheels", wheels=wheels)
    assert (done.returncode, done.stderr) == (0, "")
    done = inside("gradscribe", "record", "own.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "tensor(6.)" in done.stdout
    done = inside("gradscribe", "--headless")
    assert done.returncode == 0, done.stderr
    assert "forward and backward" in done.stdout
    done = show_window(inside, bare, "", "graph.backward", "with-pytorch")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_files_of_the_desktop_are_where_it_looks_for_them(bare):
    share = bare / "usr" / "share"
    globs = (share / "mime" / "globs2").read_text().splitlines()
    assert "50:application/vnd.gradscribe.tape:*.tape" in globs
    assert (share / "applications" / "gradscribe.desktop").exists()
    assert (share / "icons" / "hicolor" / "64x64" / "apps" / "gradscribe.png").exists()
    done = run("appstreamcli", "validate", "--no-net", *(share / "metainfo").iterdir())
    assert done.returncode == 0, done.stdout


def test_it_contains_no_torch(bare):
    names = {path.name for path in bare.joinpath("usr", "lib", "gradscribe").rglob("*")}
    assert {"PySide6", "gradscribe", "numpy"} <= names
    assert not {"torch", "pandas", "matplotlib"} & names


def test_the_archive_starts_wherever_it_is_unpacked(bare, inside):
    (archive,) = Path(os.environ["GRADSCRIBE_BUNDLE"]).parent.glob("gradscribe-*-linux-*.tar.gz")
    with tarfile.open(archive) as content:
        content.extractall(bare / "user" / "my programs", filter="tar")
    (bare / "usr" / "lib" / "gradscribe").rename(bare / "hidden")
    done = inside("sh", "-c", '"/user/my programs"/gradscribe-*/gradscribe --version')
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gradscribe ")
