"""`replace` for frozen structs: mypy checks the names and types of the fields."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # msgspec types its own as `**changes: Any`; of this one mypy knows the fields of every struct.
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["replace"]
