"""Names of ops and modules on cards: plain name, symbol of the chip, and the small third line."""

import re
from collections.abc import Sequence

from gradscribe.engine.protocol.tape import Arg, Call, Op
from gradscribe.playback.text import formatting
from gradscribe.playback.translation import ngettext, tr

_ALIASES = {
    "iadd": "add", "radd": "add", "isub": "sub", "subtract": "sub", "imul": "mul", "rmul": "mul",
    "multiply": "mul", "truediv": "div", "true_divide": "div", "divide": "div", "idiv": "div",
    "itruediv": "div", "rtruediv": "rdiv", "ipow": "pow", "power": "pow", "negative": "neg",
    "imatmul": "matmul", "absolute": "abs", "clip": "clamp", "floordiv": "floor_divide",
    "mod": "remainder", "getitem": "index", "setitem": "index_put", "concat": "cat",
    "concatenate": "cat", "swapaxes": "transpose", "swapdims": "transpose", "special_expit":
    "sigmoid", "expit": "sigmoid", "greater": "gt", "less": "lt", "arctan": "atan",
    "logsigmoid": "log_sigmoid", "moveaxis": "movedim", "linalg_norm": "norm",
    "linalg_vector_norm": "norm", "vector_norm": "norm", "special_softmax": "softmax",
    "special_log_softmax": "log_softmax",
}  # fmt: skip

_SYMBOLS = {
    "add": "+", "sub": "−", "rsub": "−", "mul": "×", "div": "÷", "rdiv": "÷", "neg": "−x",
    "matmul": "@", "mm": "@", "bmm": "@", "mv": "@", "dot": "·", "inner": "·", "sum": "Σ",
    "mean": "x̄", "prod": "Π", "sqrt": "√", "rsqrt": "1/√", "reciprocal": "1/x", "square": "x²",
    "exp": "eˣ", "abs": "|x|", "norm": "‖x‖", "std": "σ", "var": "σ²", "sigmoid": "σ",
    "softmax": "soft", "log_softmax": "lsm", "leaky_relu": "lrelu", "maximum": "max",
    "minimum": "min", "linear": "Wx", "conv1d": "∗", "conv2d": "∗", "conv3d": "∗",
    "transpose": "ᵀ", "t": "ᵀ", "T": "ᵀ", "mT": "ᵀ", "permute": "⇄", "view": "▭", "reshape": "▭",
    "flatten": "▭", "unflatten": "▭", "squeeze": "▭", "unsqueeze": "▭", "expand": "⤢",
    "index": "[ ]", "select": "[ ]", "index_put": "[ ]", "cat": "⧺", "stack": "⧺",
    "where": "?:", "detach": "✂", "clone": "⧉", "gt": ">", "lt": "<", "ge": "≥", "le": "≤",
    "eq": "=", "ne": "≠", "floor_divide": "//", "remainder": "%", "layer_norm": "LN",
    "batch_norm": "BN", "dropout": "drop", "embedding": "emb", "cumsum": "Σ", "to": "→",
    "float": "→", "double": "→", "outer": "⊗", "einsum": "Σ", "clamp": "clip",
    "all_reduce": "Σ", "reduce": "Σ", "reduce_scatter": "Σ", "broadcast": "→", "scatter": "→",
    "send": "→", "recv": "→", "all_gather": "⧺", "gather": "⧺", "all_to_all": "⇄",
}  # fmt: skip

ELEMENTWISE = frozenset(
    ("add", "sub", "rsub", "mul", "div", "rdiv", "maximum", "minimum", "fmod", "remainder", "rpow",
     "floor_divide", "atan2", "where", "gt", "lt", "ge", "le", "eq", "ne")
)  # fmt: skip
"""Ops whose literal operands are drawn as separate constants."""

_DEFAULTS = ("", "None", "False", "'mean'", "0.0", "-100")
"""Keyword values that torch's own functions pass on by default and that are not shown."""

_QUIET = frozenset(
    ("norm_type", "ignore_index", "eps", "momentum", "cudnn_enabled", "training", "_stacklevel")
)

_SUPERSCRIPTS = str.maketrans("0123456789-−.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻·")


def canonical_name(op: str) -> str:
    """Return the op's canonical name: ``__rsub__`` is rsub, ``add_`` and ``__iadd__`` are add."""
    name = op.rsplit(".", 1)[-1].strip("_")
    return _ALIASES.get(name, name)


def is_loss(op: str) -> bool:
    """Return whether an op is one of torch's loss functions."""
    name = canonical_name(op)
    return name.endswith("_loss") or name.startswith(("cross_entropy", "binary_cross_entropy"))


def superscript(exponent: float | None) -> str:
    """Return an integer exponent in superscript digits, ``ⁿ`` for any other."""
    if exponent is None or not float(exponent).is_integer():
        return "ⁿ"
    return str(int(exponent)).translate(_SUPERSCRIPTS)


def symbol(op: Op) -> str:
    """Return the symbol of an op's chip; a name of more than six letters is cut."""
    name = canonical_name(op.op)
    if name in ("pow", "float_power"):
        literal = next((a for a in op.args[1:] if a.value is None and a.text), None)
        if literal is not None:
            return "x" + superscript(literal.number)
        return "xʸ"
    if name == "rpow":
        base = next((a for a in op.args if a.value is None), None)
        return (
            f"{formatting.trim_zeros(base.number)}ˣ" if base and base.number is not None else "aˣ"
        )
    if is_loss(op.op):
        return "ℒ"
    return symbol_of(name)


def symbol_of(name: str) -> str:
    """Return the symbol of a canonical name without its arguments."""
    if name == "pow":
        return "xʸ"
    return _SYMBOLS.get(name, name if len(name) <= 6 else name[:5] + "…")


_ALONG = frozenset(
    "all amax amin any argmax argmin argsort cat concat cumprod cumsum flip log_softmax logsumexp "
    "max mean median min prod softmax sort squeeze stack std sum unbind unsqueeze var".split()
)
"""Ops whose only positional number is the dimension."""
_SLICE = re.compile(r"slice\(([^,()]+), ([^,()]+), ([^,()]+)\)")


def note(op: Op) -> str:
    """Return the small third line of an op's card: its arguments other than tensors."""
    name = canonical_name(op.op)
    if name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return ""
    if name == "linear":
        return "x Wᵀ + b" if len(op.inputs) > 2 else "x Wᵀ"
    if name in ELEMENTWISE or name in ("pow", "float_power"):
        positional: list[str] = []
    else:
        positional = [_literal(a) for a in op.args if a.value is None and not a.keyword and a.text]
    named = [
        f"{a.keyword} = {_literal(a)}"
        for a in op.args
        if a.keyword and a.value is None and a.text not in _DEFAULTS and a.keyword not in _QUIET
    ]
    if name in ("index", "index_put"):
        where, *what = positional or [""]
        written = f"[{_subscript(where)}]" if where else ""
        return f"{written} = {what[0][:6]}" if what and where else written
    if len(positional) == 1 and name in _ALONG:
        positional = [f"dim = {positional[0]}"]
    written = ", ".join(positional + named)
    return written if len(written) <= 26 else written[:25] + "…"


def _subscript(written: str) -> str:
    """Return the text between the brackets of an index in Python syntax: ``:, 1``."""
    if written.startswith("("):
        written = written.removeprefix("(").removesuffix(")").removesuffix(",")
    written = _SLICE.sub(_colons, written)
    return written if len(written) <= 24 else written[:23] + "…"


def _colons(found: re.Match[str]) -> str:
    start, stop, step = ("" if part == "None" else part for part in found.groups())
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _literal(arg: Arg) -> str:
    return arg.text.replace("-", "−") if arg.number is not None else arg.text


def module_sizes(call: Call) -> str:
    """Return the sizes of a module from its ``extra_repr``: ``2 → 8``; else empty."""
    parts = [part.strip() for part in _commas(call.about)]
    sizes = [part.split("=")[-1] for part in parts[:2]]
    if not sizes or not sizes[0]:
        return ""
    if all(size.isdigit() for size in sizes) and len(sizes) == 2:
        return f"{sizes[0]} → {sizes[1]}"
    first = parts[0]
    if first.startswith("p="):
        return "p = " + sizes[0]
    if first.startswith("(") or first.isdigit():
        return first.strip("(),").replace(", ", " × ")
    return ""


def parameter_count(count: int) -> str:
    """Return a parameter count as a short text: ``72 params``, ``28 k params``; empty for none."""
    if not count:
        return ""
    if count < 10_000:
        return ngettext("{count:,} param", "{count:,} params", count)
    if count < 10_000_000:
        return tr("{thousands:,.0f} k params", thousands=count / 1000)
    return tr("{millions:,.0f} M params", millions=count / 1e6)


def _commas(written: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(written):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(written[start:at])
            start = at + 1
    return [*parts, written[start:]] if written else []


_SHORTER = {"binary_cross_entropy_with_logits": "bce_with_logits", "binary_cross_entropy": "bce"}


_PUBLIC = {
    "_pack_padded_sequence": "pack_padded_sequence",
    "_pad_packed_sequence": "pad_packed_sequence",
    "_nested_view_from_jagged": "nested_tensor_from_jagged",
    "_nested_tensor_from_mask": "nested_tensor",
    "nested_to_padded_tensor": "to_padded_tensor",
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "_weight_norm": "weight_norm",
    "_transformer_encoder_layer_fwd": "transformer_encoder_layer",
    "_native_multi_head_attention": "multi_head_attention",
    "_scaled_dot_product_attention_math": "scaled_dot_product_attention",
    "_batch_norm_impl_index": "batch_norm",
    "_convolution": "convolution",
    "_embedding_bag": "embedding_bag",
    "_fused_rms_norm": "rms_norm",
}
"""Torch's internal function -> the public name of what it computes."""


def op_title(op: Op) -> str:
    """Return the op's name on its card: torch's own, with the longest names shortened."""
    name = op.op.rsplit(".", 1)[-1]
    name = _PUBLIC.get(name, name)
    return _SHORTER.get(name, {"rsub": "sub", "rdiv": "div", "rpow": "pow"}.get(name, name))


def short_module_name(calls: Sequence[Call], number: int) -> str:
    """Return a module's path in the module that called it, or its class if it has no name.

    A member of a list comes with the name of the list, ``h.5``, unless the list itself called it,
    as a ``Sequential`` does. What the program called by itself has the last part of its path.
    """
    call = calls[number]
    caller = "" if call.parent is None else f"{calls[call.parent].name}."
    if caller and call.name.startswith(caller):
        return call.name.removeprefix(caller)
    parts = call.name.split(".")
    first = len(parts) - 1
    while first > 0 and parts[first].isdigit():
        first -= 1
    return ".".join(parts[first:]) or call.kind


def module_title(calls: Sequence[Call], number: int) -> str:
    """Return ``2: Linear``; only the class if the module has no name. See `short_module_name`."""
    name, kind = short_module_name(calls, number), calls[number].kind
    return f"{name}: {kind}" if name != kind else kind


def module_span(calls: Sequence[Call], first: int, last: int) -> str:
    """Return ``h.0–5`` for a row of equal modules, the plain name for a single module."""
    start, end = short_module_name(calls, first), short_module_name(calls, last)
    if start == end:
        return start
    same = start.rpartition(".")[0] == end.rpartition(".")[0]
    return f"{start}–{end.rpartition('.')[2] if same else end}"
