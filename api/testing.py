"""Assertions about recorded runs, for tests of any framework; pytest has the fixture ``tape``, too.

A test file says ``from gradscribe.testing import assert_gradients``. Nothing heavy is imported
before the first call.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gradscribe.run_tape import RunTape

if TYPE_CHECKING:
    import numpy as np

    from gradscribe.playback.compare.structure import Divergence
    from gradscribe.tape_views import TensorView

__all__ = [
    "assert_gradients",
    "assert_no_findings",
    "assert_same_graph",
    "assert_tensor",
    "run_program",
]

TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype, those of ``torch.testing.assert_close``."""


class GoldenFiles:
    """Files that hold the wanted graphs, and the tapes that the running test has compared.

    The pytest plugin sets ``folder``, that of the test's file, and ``update``, to write them anew.
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.update = False
        self.written: list[Path] = []
        self.asked: list[RunTape] = []

    def begin(self, folder: Path) -> None:
        """Begin a test whose golden files are in ``folder``."""
        self.folder, self.written, self.asked = folder, [], []

    def note(self, tape: RunTape) -> RunTape:
        """Note that a test has compared ``tape``, and return it."""
        if not isinstance(tape, RunTape):
            raise TypeError(f"A tape is needed, not {type(tape).__name__}: gs.record() makes it")
        if not any(tape is other for other in self.asked):
            self.asked.append(tape)
        return tape


golden_files = GoldenFiles()
"""Those of the test that is running in this process."""


def assert_gradients(
    tape: RunTape,
    expected: Mapping[str, object],
    *,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Assert that the tensors of these names have these gradients at the end of the run.

    Args:
        tape: the run.
        expected: name -> gradient: a number, nested lists, a NumPy array or a tensor of the same
            shape; None for no gradient. NaN equals NaN.
        rtol: relative tolerance; by the recorded dtype as in ``torch.testing.assert_close`` if
            both are left out.
        atol: absolute tolerance; 0 if only ``rtol`` is given, and the other way round.

    Raises:
        AssertionError: a gradient differs, or a name is missing; all of them are listed.
        ValueError: the tape has only statistics of a gradient.
    """
    __tracebackhide__ = True
    golden_files.note(tape)
    troubles = []
    for name, wanted in expected.items():
        if name not in tape:
            troubles.append(_missing(tape, name))
            continue
        tensor = tape[name]
        where = f"gradient of {name}" + (f" (line {tensor.line})" if tensor.line else "")
        troubles += [f"{where}: {why}" for why in _gradient_trouble(tensor, wanted, rtol, atol)]
    if troubles:
        raise AssertionError("\n".join(troubles))


def assert_no_findings(tape: RunTape, *, allow: Iterable[str] = ()) -> None:
    """Assert that the doctor finds no mistake in the run, except those with the ids in ``allow``.

    Raises:
        AssertionError: there are findings; each is listed with its line, id and measurements.
        ValueError: ``allow`` has an id that no finding has; the message proposes the nearest.
    """
    __tracebackhide__ = True
    from gradscribe.engine.doctor.examine import finding_kinds
    from gradscribe.engine.protocol.slips.near_words import nearest

    golden_files.note(tape)
    allowed = {allow} if isinstance(allow, str) else set(allow)
    known = {kind.id for kind in finding_kinds()}
    for unknown in sorted(allowed - known):
        near = nearest(unknown, known)
        raise ValueError(f"No finding is called {unknown!r}" + (f": {near!r}?" if near else ""))
    found = [one for one in tape.findings if one.id not in allowed]
    if found:
        lines = [f"{len(found)} finding{'' if len(found) == 1 else 's'} in {tape.filename}"]
        for one in found:
            lines += [f"line {one.place.line}: {one.title} [{one.id}]", f"  {one.message}"]
        raise AssertionError("\n".join(lines))


def assert_same_graph(tape: RunTape, golden: "str | os.PathLike[str]") -> None:
    """Assert that the run has the graph of a golden file: the same ops, nodes and edges in order.

    Numbers, names of variables and lines may differ. ``pytest --update-tapes`` writes the file
    anew; a relative path is that of the test file's folder.

    Raises:
        AssertionError: the graphs differ; the message has the first difference in order of
            execution, with its lines.
        ValueError: the file cannot be read; the message says why.
    """
    __tracebackhide__ = True
    from gradscribe.playback.compare.structure import first_difference, rows
    from gradscribe.tape_store import load

    golden_files.note(tape)
    path = golden_files.folder / golden
    now = rows(tape.index)
    if golden_files.update:
        if not path.exists() or first_difference(rows(load(path).index), now):
            path.parent.mkdir(parents=True, exist_ok=True)
            tape.save(path)
            golden_files.written.append(path)
        return
    if not path.exists():
        raise AssertionError(f"{path} is not there: pytest --update-tapes writes it")
    kept = load(path)
    before = rows(kept.index)
    found = first_difference(before, now)
    if found is not None:
        raise AssertionError(_explained(found, path, kept, tape, (len(before), len(now))))


def assert_tensor(
    tensor: "TensorView", *, value: object = None, grad: object = None, **statistics: object
) -> None:
    """Assert the numbers of a tensor to the bit, also the sign of zeros; NaN equals NaN.

    Args:
        tensor: ``tape["h"]``, or a result of an op.
        value: its numbers as a number, nested lists, array or tensor; None asks for nothing.
        grad: its gradient, likewise.
        statistics: of tensors of which the tape has no more: ``mean``, ``std``, ``min``, ``max``,
            ``norm``, ``nan``, ``inf``, and with ``grad_`` in front those of the gradient.

    Raises:
        AssertionError: a number differs.
        ValueError: the tape has only statistics of the tensor.
    """
    __tracebackhide__ = True
    name, troubles = tensor.name or "tensor", []
    for side, wanted, found in (("value", value, tensor.value), ("grad", grad, tensor.grad)):
        if wanted is None:
            continue
        summary = tensor.summary if side == "value" else tensor.grad_summary
        if found is None:
            _refuse_statistics(name, summary)
            troubles.append(f"{side} of {name}: there is none")
            continue
        troubles += [f"{side} of {name}: {why}" for why in _bits_trouble(found, wanted)]
    for word, wanted in statistics.items():
        is_grad = word.startswith("grad_")
        summary = tensor.grad_summary if is_grad else tensor.summary
        got = getattr(summary, word.removeprefix("grad_"))
        if not (got == wanted or (got != got and wanted != wanted)):
            troubles.append(f"{word} of {name}: {got!r}, expected {wanted!r}")
    if troubles:
        raise AssertionError("\n".join(troubles))


def run_program(
    source: str,
    *,
    seed: int = 0,
    device: str = "cpu",
    filename: str = "<gradscribe>",
    timeout: float = 60.0,
) -> RunTape:
    """Run a program as the window does, in a process of its own, and return its tape.

    It starts from ``seed``, has the window's names (``torch``, ``nn``, ``param``), one thread, and
    your permissions. Modules of its own are looked for next to ``filename``. An error that ends it
    is on the tape.

    Raises:
        ValueError: there is no such device, or no process could be started.
    """
    from gradscribe.app.cli.record import BlockingEngine, full_device_name
    from gradscribe.engine.protocol.messages import Run
    from gradscribe.engine.protocol.tape import Tape
    from gradscribe.engine.protocol.tape_file import NUMBERS_BUDGET

    place = full_device_name(device)
    run = Run(1, source, filename, seed, place, timeout, examine=False)
    with BlockingEngine(is_open=True) as engine:
        ready = engine.wait_ready()
        if isinstance(ready, Tape):
            raise ValueError(ready.error.message if ready.error else "No engine could be started")
        if place not in ready.devices:
            raise ValueError(f"No device {device} here; there is: {', '.join(ready.devices)}")
        data = engine.record(run, None)
        big = engine.numbers(run.run_id, data, NUMBERS_BUDGET)
    tape = RunTape()
    tape.begin(source, filename)
    tape.fill(data, big=big)
    return golden_files.note(tape)


def _missing(tape: RunTape, name: str) -> str:
    try:
        tape.all(name)
    except KeyError as error:
        return str(error.args[0])
    return ""


def _gradient_trouble(
    tensor: "TensorView", wanted: object, rtol: float | None, atol: float | None
) -> list[str]:
    found = tensor.grad
    if found is None:
        _refuse_statistics(tensor.name, tensor.grad_summary)
        return [] if wanted is None else ["there is none"]
    if wanted is None:
        return [f"expected none, but it is {_short(found)}"]
    relative, absolute = rtol, atol
    if rtol is None and atol is None:
        relative, absolute = TOLERANCES.get(tensor.dtype, (0.0, 0.0))
    return _closeness_trouble(found, _array(wanted), relative or 0.0, absolute or 0.0)


def _refuse_statistics(name: str, summary: object) -> None:
    if summary is not None:
        raise ValueError(
            f"The tape has only statistics of {name or 'this tensor'}, which is too big:"
            " compare the tensor itself with torch.testing.assert_close"
        )


def _closeness_trouble(
    found: "np.ndarray", wanted: "np.ndarray", rtol: float, atol: float
) -> list[str]:
    import numpy as np

    if found.shape != wanted.shape:
        return [f"its shape is {found.shape}, expected {wanted.shape}"]
    close = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    return _listed(found, wanted, ~close, f" (rtol {rtol:g}, atol {atol:g})")


def _bits_trouble(found: "np.ndarray", wanted: object) -> list[str]:
    import numpy as np

    with np.errstate(all="ignore"):
        other = _array(wanted).astype(found.dtype)
    if found.shape != other.shape:
        return [f"its shape is {found.shape}, expected {other.shape}"]
    return _listed(found, other, ~_same_bits(found, other), "")


def _same_bits(one: "np.ndarray", other: "np.ndarray") -> "np.ndarray":
    """Return the places with the same bits; any NaN is the same as any other."""
    import numpy as np

    same: np.ndarray
    if one.dtype.kind == "c":
        same = _same_bits(one.real, other.real) & _same_bits(one.imag, other.imag)
        return same
    same = np.asarray(one == other)
    if one.dtype.kind == "f":
        is_signed = np.signbit(one) == np.signbit(other)
        same = np.asarray((same & is_signed) | (np.isnan(one) & np.isnan(other)))
    return same


def _listed(
    found: "np.ndarray", wanted: "np.ndarray", differs: "np.ndarray", within: str
) -> list[str]:
    import numpy as np

    count = int(differs.sum())
    if not count:
        return []
    if not found.shape:
        return [f"it is {found.item()!r}, expected {wanted.item()!r}{within}"]
    first = tuple(int(axis) for axis in np.argwhere(differs)[0])
    verb = "differs" if count == 1 else "differ"
    at = f"the first at [{', '.join(map(str, first))}]"
    numbers = f"it is {found[first].item()!r}, expected {wanted[first].item()!r}"
    return [f"{count:,} of {found.size:,} elements {verb}{within}, {at}: {numbers}"]


def _array(wanted: object) -> "np.ndarray":
    """Return numbers as an array; dtypes that NumPy lacks are widened, which is exact."""
    import numpy as np

    if hasattr(wanted, "detach"):
        plain = wanted.detach().cpu().resolve_conj().resolve_neg()
        if str(plain.dtype) == "torch.bfloat16" or "float8" in str(plain.dtype):
            plain = plain.float()
        return np.asarray(plain.numpy())
    return np.asarray(wanted)


def _short(array: "np.ndarray") -> str:
    text = str(array.tolist())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _explained(
    found: "Divergence", path: Path, golden: RunTape, tape: RunTape, counts: tuple[int, int]
) -> str:
    """Return the first difference of two graphs as some lines of text."""
    from gradscribe.playback.compare.alignment import actions

    both = list(zip(("golden", "now"), (found.left, found.right), (golden, tape), strict=True))
    lines = [
        f"The graph is not that of {path.name}. The first difference is action {found.at + 1}:"
    ]
    for side, row, run in both:
        if row is None:
            lines.append(f"  {side:<7}the program has ended")
            continue
        text = run.source.splitlines()[row.line - 1 : row.line] if row.line else []
        lines.append(f"  {side:<7}line {row.line}: {row.words}")
        lines += [f"         {line.strip()}" for line in text]
    if found.reasons:
        lines.append(f"  different: {', '.join(found.reasons)}")
    before = actions(tape.index)[found.at - 1 : found.at] if found.at else []
    lines += [f"  after    line {one.line}: {one.name}" for one in before]
    lines.append(f"  in all   {counts[0]:,} actions in the golden file, {counts[1]:,} now")
    if golden.data.torch != tape.data.torch:
        lines.append(f"  torch    {golden.data.torch} then, {tape.data.torch} now")
    lines.append("If this is wanted, pytest --update-tapes writes the file anew")
    return "\n".join(lines)
