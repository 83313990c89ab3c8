"""A hundred million numbers: the engine reduces them, the window never waits."""

import time

import numpy as np

from gradscribe.engine.protocol.regions import MAX_SIDE, ReadRegion, local_region

MOST_S = 0.05


def test_a_reply_of_a_hundred_million_numbers_is_small_and_quickly_shown(qtbot):
    from gradscribe.widgets.charts.tensor import TensorSubject
    from gradscribe.widgets.charts.tensor_window import TensorWindow

    window, asked = TensorWindow(), []
    qtbot.addWidget(window)
    window.wanted.connect(asked.append)
    window.show()
    # Expanded: the window must not touch the numbers themselves.
    window.show_tensor(TensorSubject(0, (10_000, 10_000), "float32", "w", ""))
    qtbot.waitUntil(lambda: bool(asked))
    row = np.arange(10_000, dtype=np.float32)
    request: ReadRegion = asked[-1]
    reply = local_region(request, np.broadcast_to(row, (10_000, 10_000)))
    assert max(reply.mean.shape) <= MAX_SIDE
    begun = time.process_time()
    window.show_region(reply)
    window.grab()
    took = time.process_time() - begun
    assert took < 10 * MOST_S, took
    tall, wide = reply.block
    assert window.chart.numbers()[0, 0] == row[:wide].mean()
    assert tall > 1
