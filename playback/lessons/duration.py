"""Estimate of the time a lesson takes, from its text, its code and its questions."""

import math
import re
from collections.abc import Sequence

from gradscribe.playback.translation import tr

WORDS_A_MINUTE = 150
"""Words of explanation read in a minute: slower than a story, which one reads at 240."""
LINE_S = 4
"""Seconds to read a line of code that an earlier step did not have."""
QUESTION_S = 30
"""Seconds to think about a question and to type the answer."""
TASK_S = 90
"""Seconds to change a program until the goal is reached."""
_WORD = re.compile(r"\w+")
_CODE = ("python", "python add", "diff")
_SHOWN = ("question", "do", "why")
"""Keys whose texts every learner reads; hints and replies only some do."""


def estimate_minutes(lines: Sequence[str]) -> int:
    """Return the whole minutes for the steps in a lesson's lines, at least 1."""
    words, seconds, block = 0, 0.0, ""
    seen: set[str] = set()
    for line in lines:
        if line.startswith("```"):
            block = "" if block else " ".join(line[3:].split())
            seconds += {"ask": QUESTION_S, "task": TASK_S}.get(block, 0)
        elif not block:
            words += len(_WORD.findall(line))
        elif block in _CODE:
            code = line.strip().removeprefix("+").strip()
            if code and not line.startswith("-") and code not in seen:
                seconds += LINE_S
                seen.add(code)
        elif block in ("ask", "task") and line.partition("=")[0].strip() in _SHOWN:
            words += len(_WORD.findall(line)) - 1
    return max(1, math.ceil((words * 60 / WORDS_A_MINUTE + seconds) / 60))


def minutes_text(minutes: int) -> str:
    """Return a time as text: ``about 4 min``, ``about 2 h 10 min``, above an hour in tens."""
    if minutes < 60:
        return tr("about {minutes} min", minutes=minutes)
    hours, rest = divmod(round(minutes, -1), 60)
    if rest:
        return tr("about {hours} h {rest} min", hours=hours, rest=rest)
    return tr("about {hours} h", hours=hours)
