"""A headless browser for tests of pages, spoken to through its DevTools protocol over a pipe."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "no Chromium or Chrome is installed: apt-get install chromium"


def executable():
    """Return the path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _pipe():
    """Return a pipe whose ends have numbers above those that the browser gives them."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high


class Browser:
    """One tab of a headless browser; leaving the context ends it.

    ``requests`` are the addresses that pages asked for, ``problems`` their errors and warnings.
    """

    def __init__(self, folder: Path, size=(1440, 900)):
        self._folder, self._size = folder, size
        self._number, self._events = 0, []
        self.requests, self.problems = [], []

    def __enter__(self):
        there, self._out = _pipe()
        self._in, back = _pipe()
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            f"--user-data-dir={self._folder / 'profile'}",
            f"--window-size={self._size[0]},{self._size[1]}",
        ]  # fmt: skip
        shell = f'exec "$0" "$@" 3<&{there} 4>&{back} '
        self._process = subprocess.Popen(
            ["bash", "-c", shell, executable(), *options],
            pass_fds=(there, back),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        )
        os.close(there)
        os.close(back)
        self._reader = os.fdopen(self._in, "rb")
        self._buffer = b""
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        width, height = self._size
        self.resize(width, height)
        return self

    def __exit__(self, *exc):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.close()
        os.close(self._out)

    def call(self, method, **params):
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._next()
            if reply.get("id") == self._number:
                assert "error" not in reply, reply["error"]
                return reply["result"]

    def _next(self):
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        reply = json.loads(message)
        self._note(reply.get("method", ""), reply.get("params", {}))
        return reply

    def _note(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        self._events.append(method)

    def open(self, path: Path):
        """Open a file and wait until it is loaded."""
        self._events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            self._next()

    def evaluate(self, expression):
        """Return the value of a JavaScript expression, as plain data; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def text(self, selector):
        """Return the text of an element."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def wait_for(self, condition, seconds=20):
        """Wait until a JavaScript expression is true."""
        self.evaluate(
            f"new Promise((done, late) => {{ const end = performance.now() + {seconds * 1000};"
            f"const look = () => ({condition}) ? done(true) : performance.now() > end "
            "? late('waited for: ' + "
            + json.dumps(condition)
            + ") : setTimeout(look, 20); look(); })"
        )

    def key(self, key, text=""):
        """Press and release a key."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}
        how = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        text = text or (key if len(key) == 1 else "\r" if key == "Enter" else "")
        down = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **how, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **how)

    def click(self, selector):
        """Click the middle of an element with the mouse."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView?.()")
        x, y = self.evaluate(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width, height):
        """Give the page a size in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def prefer(self, **features):
        """Emulate media features, such as ``prefers_color_scheme="dark"``."""
        media = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.call("Emulation.setEmulatedMedia", features=media)

    def screenshot(self, path: Path):
        """Write what is seen to a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def accessible(self):
        """Return (role, name) of all nodes of the accessibility tree that are not ignored."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            (node.get("role", {}).get("value", ""), node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]
