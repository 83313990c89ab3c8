"""Programs as people copy them out of tutorials: each must run under the policy as it stands."""

import re
from pathlib import Path

_PARTS = re.split(
    r"^#{8} (.+)\n", Path(__file__).with_suffix(".txt").read_text(), flags=re.MULTILINE
)
PROGRAMS = dict(zip(_PARTS[1::2], _PARTS[2::2], strict=True))
