from msgspec.structs import replace

from gradscribe.playback import precompute
from gradscribe.playback.code import lines
from gradscribe.playback.tape import saved_memory, scenes, track

LOOP = """
w = param(1.0)
b = param(0.5)
for i in range(60):
    loss = (w * 2.0 + b - 3) ** 2
    loss.backward()
    w.data -= 0.01 * w.grad
"""


def test_a_tape_made_ready_says_the_same_at_every_position(recorded):
    fresh = recorded(LOOP)
    ready = replace(fresh)
    assert ready is not fresh
    precompute.precompute(ready, len(ready.events))
    assert scenes.scenes(ready) == scenes.scenes(fresh)
    assert track.segments(ready) == track.segments(fresh)
    assert list(track.ledger(ready)) == list(track.ledger(fresh))
    assert saved_memory.peak_saved_bytes(ready) == saved_memory.peak_saved_bytes(fresh)
    for position in (len(ready.events), 0, 1, 100, 99, len(ready.events) // 2):
        assert lines.line_marks(ready, position) == lines.line_marks(fresh, position)
        assert track.value_rows(ready, position) == track.value_rows(fresh, position)
