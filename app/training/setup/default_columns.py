"""Inputs and target of a table until the user chooses some."""

from gradscribe.engine.protocol.training import FileSummary

MOST_CLASSES = 20
"""A column of text with more distinct values is hardly the target."""


def default_columns(looked: FileSummary) -> tuple[list[str], str]:
    """Return default inputs and target: the last column is learned from the numeric ones.

    A last column of text is taken for classes if it has few values. Categories and dates are inputs
    too. Without an input besides the target there is no default.
    """
    pairs = zip(looked.columns, looked.numeric, strict=False)
    numbers = [name for name, numeric in pairs if numeric]
    kinds = {detail.name: detail.kind for detail in looked.details}
    usable = [
        name
        for name, count in zip(looked.columns, looked.kinds, strict=False)
        if kinds.get(name) in ("days", "date parts")
        or (kinds.get(name) == "category" and count <= MOST_CLASSES)
    ]
    inputs = [name for name in looked.columns if name in numbers or name in usable]
    few = min(MOST_CLASSES, len(looked.rows) - 1)
    last = looked.columns[-1]
    is_class = not looked.numeric[-1] and kinds.get(last, "category") == "category"
    if is_class and 2 <= max(looked.kinds[-1:], default=0) <= few:
        inputs = [name for name in inputs if name != last]
        return (inputs, last) if inputs else ([], "")
    others = [name for name in inputs if name != numbers[-1]] if numbers else []
    return (others, numbers[-1]) if others else ([], "")
