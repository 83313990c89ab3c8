"""Standard output and standard error of a user program."""

import codecs
import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradscribe.engine.protocol.safe_text import line_count
from gradscribe.engine.record.source import Source
from gradscribe.engine.sandbox.builtins import use_original_builtins

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

use_original_builtins(globals())

OUTPUT_LIMIT = 8_000_000
"""Characters of output that are recorded per run; the program runs on, but the rest is lost."""


class _Text(io.TextIOBase):
    """A text stream that also accepts bytes through ``buffer``."""

    def __init__(self) -> None:
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """Return True: a program may write."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of the stream, for programs that ask."""
        return "utf-8"


class _Bytes(io.BufferedIOBase):
    """The byte stream below a text stream."""

    def __init__(self, text: io.TextIOBase) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: "ReadableBuffer") -> int:
        """Write bytes, which need not end with a whole character; return their number."""
        data = bytes(data)
        self._text.write(self._decoder.decode(data))
        return len(data)

    def writable(self) -> bool:
        """Return True: a program may write."""
        return True


class StdoutCapture(_Text):
    """Standard output of a program: stored whole, and passed to the recorder line by line."""

    def __init__(
        self, record_line: Callable[[str], None], printed: Callable[[str], None] | None
    ) -> None:
        super().__init__()
        self._record_line = record_line
        self._printed = printed
        self._parts: list[str] = []
        self._line: list[str] = []
        self._length = 0
        self.cut = False
        """True once output was lost because of `OUTPUT_LIMIT`."""
        self.is_open = True
        """False once the program has ended; output of threads that go on is ignored."""

    def write(self, text: str) -> int:
        """Add a piece of output; return its length, as Python's streams do."""
        if self._length < OUTPUT_LIMIT and self.is_open:
            part = text[: OUTPUT_LIMIT - self._length]
            self.cut = len(part) < len(text)
            self._length += len(part)
            self._parts.append(part)
            if self._printed is not None:
                self._printed(part)
            self._split(part)
        else:
            self.cut = self.cut or self.is_open
        return len(text)

    def _split(self, text: str) -> None:
        *whole, rest = text.split("\n")
        for line in whole:
            self._record_line("".join([*self._line, line]))
            self._line.clear()
        if rest:
            self._line.append(rest)

    def text(self) -> str:
        """Return all output, cut at `OUTPUT_LIMIT`."""
        return "".join(self._parts)

    def line_count(self) -> int:
        """Return the number of lines begun so far, as `safe_text.line_count` counts."""
        return line_count(self.text())


class StderrCapture(_Text):
    """Standard error of a program: its warnings, each with the line that caused it."""

    def __init__(self, program: Source) -> None:
        super().__init__()
        self._program = program
        self._through = sys.stderr
        self._parts: list[str] = []
        self._length = 0

    def write(self, text: str) -> int:
        """Add a piece of text and pass it on to the engine's standard error."""
        if self._length < OUTPUT_LIMIT:
            self._length += len(text)
            self._parts.append(text)
            self._through.write(text)
        return len(text)

    def show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: object = None,  # noqa: ARG002 - the signature is Python's
        line: str | None = None,  # noqa: ARG002
    ) -> None:
        """Write a warning; if torch issued it below the recorder, name the user's line."""
        source = self._program
        span = source.span(source.locate(source.user_frame())[0])
        place = f"line {span[0]}" if span is not None else f"{filename}:{lineno}"
        self.write(f"{place}: {category.__name__}: {message}\n")

    def text(self) -> str:
        """Return all that was written, cut at `OUTPUT_LIMIT`."""
        return "".join(self._parts)
