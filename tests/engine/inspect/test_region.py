"""Regions of a recorded tensor: torch's own numbers, or blocks of them."""

import numpy as np
import pytest
import torch

from gradscribe.engine.inspect.region import GONE, PAST, SUMMARY, region
from gradscribe.engine.protocol import frames, messages, regions
from gradscribe.engine.protocol.messages import Run
from gradscribe.engine.protocol.regions import INFINITE, NAN, ReadRegion, Region
from gradscribe.engine.run import run

ALL = (0, 1 << 40, 0, 1 << 40)


def recorded(expression, before="", **options):
    """Record a tensor; return the number of its snapshot, and the tensor in plain torch."""
    source = f"{before}\nt = {expression}\nu = t.clone()"
    tape = run.execute(Run(9, source, **options))
    assert tape.status == "ok", tape.error
    names = {"torch": torch}
    exec(source, names)
    return next(v.snapshot for v in tape.values if v.name == "u"), names["u"]


def test_a_box_has_torchs_numbers():
    number, plain = recorded("torch.arange(1024. * 768).sin().reshape(1024, 768)")
    found = region(ReadRegion(9, number, 5, (100, 140, 700, 768)))
    assert (found.serial, found.box, found.block) == (5, (100, 140, 700, 768), (1, 1))
    assert found.exact.array().tobytes() == plain[100:140, 700:768].numpy().tobytes()


def test_blocks_are_torchs_means_and_extremes():
    number, plain = recorded("torch.arange(1000. * 700).sin().reshape(1000, 700).double()")
    found = region(ReadRegion(9, number, 0, ALL, most=(64, 50)))
    assert found.box == (0, 1000, 0, 700)
    tall, wide = found.block
    assert (tall, wide) == (16, 14)
    for row in range(0, 63, 7):
        for column in range(0, 50, 7):
            block = plain[row * tall : (row + 1) * tall, column * wide : (column + 1) * wide]
            assert found.mean.array()[row, column] == pytest.approx(block.mean().item(), abs=1e-12)
            assert found.low.array()[row, column] == block.min().item()
            assert found.high.array()[row, column] == block.max().item()
    assert not found.marks.array().any()


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("torch.tensor(2.5)", "real"),
        ("torch.arange(40)", "real"),
        ("torch.arange(12) > 5", "real"),
        ("torch.arange(60).reshape(3, 4, 5)[:, :, ::2]", "real"),
        ("torch.arange(24.).half().reshape(6, 4).t()", "real"),
        ("torch.arange(24.).bfloat16().reshape(6, 4) / 3", "real"),
        ("torch.complex(torch.arange(6.), -torch.arange(6.)).reshape(2, 3).conj()", "real"),
        ("torch.complex(torch.arange(6.), -torch.arange(6.)).reshape(2, 3).conj()", "imag"),
        ("torch.complex(torch.arange(6.), -torch.arange(6.)).reshape(2, 3)", "abs"),
        ("torch.zeros(0, 4)", "real"),
        ("torch.zeros(2, 0, 4, 3)", "real"),
        ("torch.tensor([2**63 - 1, -2**63])", "real"),
    ],
)
def test_every_rank_and_dtype(expression, part):
    number, plain = recorded(expression)
    found = region(ReadRegion(9, number, 0, ALL, slices=(1,), part=part, with_summary=True))
    at = plain
    while at.ndim > 2:
        at = at[1] if at.shape[0] else torch.zeros(0, 0)
    at = at.resolve_conj()
    if at.is_complex():
        at = {"real": at.real, "imag": at.imag, "abs": at.abs()}[part]
    wide = at.float() if at.dtype in (torch.half, torch.bfloat16) else at
    want = wide.numpy().reshape((1, -1) if wide.ndim < 2 else wide.shape)
    assert found.exact.array().shape == want.shape
    assert found.exact.array().tolist() == want.tolist()
    finite = want.astype(np.float64)
    assert found.summary.counts.array().sum() == want.size
    if want.size:
        assert (found.summary.low, found.summary.high) == (finite.min(), finite.max())


def test_nan_and_infinities_are_marked_and_counted():
    before = "m = torch.ones(1000, 1000); m[3, 4] = float('nan'); m[999, 999] = float('inf')"
    number, _ = recorded("m", before)
    found = region(ReadRegion(9, number, 0, ALL, most=(100, 100), with_summary=True))
    marks = found.marks.array()
    assert (marks[0, 0], marks[99, 99], marks[5, 5]) == (NAN, INFINITE, 0)
    assert (found.summary.nan, found.summary.inf) == (1, 1)
    assert found.mean.array()[0, 0] == found.low.array()[0, 0] == 1
    assert found.summary.counts.array().sum() == 10**6 - 2


def test_a_block_without_finite_numbers_is_nan():
    number, _ = recorded("torch.full((2000, 2), float('nan'))")
    found = region(ReadRegion(9, number, 0, ALL, most=(10, 2), with_summary=True))
    assert np.isnan(found.mean.array()).all()
    assert found.summary.counts.array().size == 0
    assert found.summary.nan == 4000


def test_the_histogram_counts_as_numpy_does():
    number, plain = recorded("torch.arange(300000).mul(7919).remainder(1000).float()")
    found = region(ReadRegion(9, number, 0, (0, 1, 0, 10), with_summary=True)).summary
    counts, _ = np.histogram(plain.numpy().astype(np.float64), regions.BINS, (0, 999))
    assert found.counts.array().tolist() == counts.tolist()


@pytest.mark.parametrize(
    "expression", ["torch.tensor([-1.7e308, 1.7e308], dtype=torch.float64)", "5e-324"]
)
def test_extreme_numbers(expression):
    as_tensor = f"torch.tensor({expression}, dtype=torch.float64).repeat(2000)"
    number, plain = recorded(as_tensor if expression == "5e-324" else f"({expression}).repeat(999)")
    found = region(ReadRegion(9, number, 0, ALL, most=(10, 10), with_summary=True))
    assert (found.summary.low, found.summary.high) == (plain.min().item(), plain.max().item())
    assert found.summary.counts.array().sum() == plain.numel()
    assert np.isfinite(found.mean.array()).all()


def test_an_expanded_tensor_of_a_trillion_numbers_is_sampled():
    number, _ = recorded("torch.arange(10.).reshape(10, 1)[:, :1].expand(10, 3).clone()")
    stored = run.last_run.recorder.log.snapshots
    stored[number] = torch.ones(1, 1).expand(1 << 20, 1 << 20)
    found = region(ReadRegion(9, number, 0, (0, 1 << 20, 0, 1 << 20), most=(8, 8)))
    assert found.sampled
    assert (found.mean.array() == 1).all()


def test_it_says_why_numbers_are_not_there():
    number, _ = recorded("torch.ones(1000, 1000)", memory=1 << 20)
    assert region(ReadRegion(8, number, 0, ALL)).problem == GONE
    assert region(ReadRegion(9, 10**6, 0, ALL)).problem == PAST
    assert region(ReadRegion(9, number, 0, ALL)).problem == SUMMARY


def test_a_reply_crosses_the_pipe_and_a_wrong_one_is_refused():
    number, _ = recorded("torch.ones(600, 600)")
    found = region(ReadRegion(9, number, 0, ALL, most=(100, 100), with_summary=True))
    data = b"".join(frames.encode_frames(found))
    assert list(frames.MessageReader(messages.Reply).feed(data))[-1] == found
    lying = Region(9, 0, 0, (0, 5, 0, 5), exact=regions.encode(np.zeros((2, 2))))
    with pytest.raises(frames.ProtocolError):
        list(frames.MessageReader(messages.Reply).feed(b"".join(frames.encode_frames(lying))))


def test_a_request_outside_of_the_tensor_is_empty():
    number, _ = recorded("torch.ones(5, 5)")
    found = region(ReadRegion(9, number, 0, (7, 9, -4, 2), slices=(3,)))
    assert found.box == (5, 5, 0, 2)
    assert found.exact.array().shape == (0, 2)


def test_the_window_reduces_as_the_engine_does():
    number, plain = recorded("torch.arange(90000.).cos().reshape(300, 300)")
    request = ReadRegion(9, number, 0, ALL, most=(40, 40), with_summary=True)
    assert regions.local_region(request, plain.numpy()) == region(request)
    assert isinstance(found := region(request), messages.Reply), found
