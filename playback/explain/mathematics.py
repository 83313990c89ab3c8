"""Calls in torch's formulas written as mathematics, and the test for what is still code."""

import re

_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_FACTOR = rf"((?:[\w.∂/]|(?<=\w)')+(?:\[[^\[\]]*\])?[²³ᵀ]?(?:{_NESTED})?|(?<!\w){_NESTED})"
"""A name, or an expression in parentheses: what a method is called on."""
_INSIDE = r"((?:[^(),]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+)"
"""An argument of a call."""
_OF_ONE = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "erfinv")},
    "log": "ln",
    "sqrt": "√",
    "abs": "abs",
    "digamma": "digamma",
    "sgn": "sign",
    "exp2": "2^",
}
_RULES = (
    (r" ?/\*.*?\*/ ?", ""),
    (r"\bM_PI\b", "π"),
    (r"(?<=\d)\.0?(?![\d\w])", ""),
    (r"\b\w+\.dim\(\) > 0 \? ([^:?]*?) : [^:?]*?(?=\) × |$)", r"\1"),
    (r"zeros\(\[\], \w+(?:\.options\(\))?\)", "0"),
    (r"^[^?]*(?:defined\(\)|is_enabled\(\)) ?\? ([^?:]*) : .*tuple.*$", r"\1"),
    (r"^accumulate \? grad : (.*)$", r"\1, unless accumulate"),
    (r"^(?:zeros(?:_like)?\([^()]*(?:\([^()]*\))?\)|Tensor\(\))$", "0"),
    (r"^([\w. ><=−]+) \? (.+) : (.+)$", r"\2 if \1, else \3"),
    (r", scalar_tensor\(0\.?, [^()]*\(\)\)\)", ", 0)"),
    (rf"\bwhere\({_INSIDE}, {_INSIDE}, {_INSIDE}\)", r"(\2 where \1, elsewhere \3)"),
    (rf"{_FACTOR}\.masked_fill_?\({_INSIDE}, 0\.?\)", r"(\1, but 0 where \2)"),
    (r"\.options\(\)|\.contiguous\(\)", ""),
    (rf"\.to\({_INSIDE}(?:\(\))?\)", ""),
    (rf"{_FACTOR}\.(?:transpose\(1, 2\)|transpose\(−?\d, −?\d\)|t\(\)|mT\b|mH\b|T\b)", r"\1ᵀ"),
    (rf"{_FACTOR}\.(?:pow\(2\)|square\(\))", r"\1²"),
    (rf"{_FACTOR}\.pow\(3\)", r"\1³"),
    (rf"{_FACTOR}\.ger\({_INSIDE}\)", r"\1 · (\2)ᵀ"),
    (rf"{_FACTOR}\.(?:mv|bmm|mm|matmul)\({_INSIDE}\)", r"\1 · (\2)"),
    (rf"{_FACTOR}\.rsqrt\(\)", r"(1 ÷ √(\1))"),
    (rf"{_FACTOR}\.neg\(\)", r"(−\1)"),
    (rf"{_FACTOR}\.numel\(\)", r"count(\1)"),
    (rf"{_FACTOR}\.(?:expand|expand_as|reshape|reshape_as|view)\({_INSIDE}\)", r"\1"),
    (rf"{_FACTOR}\.sum\([^()]*\)", r"Σ \1"),
    (rf"{_FACTOR}\.index_select\({_INSIDE}, {_INSIDE}\)", r"\1 at the indices"),
    (rf"{_FACTOR}\.index_fill\({_INSIDE}, {_INSIDE}, 0\)", r"\1, but 0 at the indices"),
    (rf"{_FACTOR}\.(?:index|take)\({_INSIDE}\)", r"\1 at the indices"),
    (rf"{_FACTOR}\.gather\({_INSIDE}, {_INSIDE}\)", r"\1 at the indices"),
    (rf"{_FACTOR}\.scatter\({_INSIDE}, {_INSIDE}, 0\)", r"\1, but 0 at the indices"),
    (rf"{_FACTOR}\.(?:index_put|put)\({_INSIDE}, .*?\)(?=, unless|$)", r"\1, but 0 at the indices"),
    (rf"{_FACTOR}\.diagonal\([^()]*\)", r"the diagonal of \1"),
    (rf"{_FACTOR}\.conj_physical\(\)", r"conj(\1)"),
    (rf"{_FACTOR}\.div\({_INSIDE}, \"\w+\"\)", r"⌊\1 ÷ \2⌋"),
    (rf"{_FACTOR}\.unsqueeze\([^()]*\)|{_FACTOR}\.squeeze\([^()]*\)", r"\1\2"),
    (rf"{_FACTOR}\.is(?:_c|C)omplex\(\) \? [^?:]* : (.*)$", r"\2"),
    (r"\bspecial_(\w+\()", r"\1"),
    (rf"{_FACTOR}\.isnan\(\)", r"\1 is NaN"),
    (rf"{_FACTOR}\.div\(self\)", r"\1 ÷ self"),
    (rf"{_FACTOR}\.logical_or_?\({_INSIDE}\)", r"(\1 or \2)"),
    (rf"{_FACTOR}\.logical_not_?\(\)", r"not \1"),
    (rf"\blogical_and\({_INSIDE}, {_INSIDE}\)", r"\1 and \2"),
    (rf"\bpow\(2, {_INSIDE}\)", r"2^(\1)"),
    (r"\blgamma\(", "ln Γ("),
    (r"\blog\(", "ln("),
    (r"\bsqrt\(", "√("),
    (r" == ", " = "),
    (r" != ", " ≠ "),
    (r" >= ", " ≥ "),
    (r" <= ", " ≤ "),
    (r" & ", " and "),
    (r"(?<=· )\(([\w.∂/]+[ᵀ²³]?)\)", r"\1"),
    (rf"−\(({_NESTED})\)", r"−\1"),
    (r"√\(\(([^()]*)\)\)", r"√(\1)"),
)
_CODE = re.compile(
    r"\?|::|->|&&|\|\||!|[{}]|/\*|\w_\(|grad_input_mask|grads?\[\d|<\w+>|"
    r"\.\w+\(|\b_\w+|\b\w*_(?:backward|jvp|differential)\w*|\b[a-z]+\w*_\w+\("
)
"""Signs of C++: operators, methods, templates, and functions that exist in torch's source alone."""


def in_mathematics(formula: str) -> str:
    """Return a formula with the calls that mathematics has a sign for written by that sign."""
    before = ""
    while before != formula:
        before = formula
        for pattern, instead in _RULES:
            formula = re.sub(pattern, instead, formula)
        for method, sign in _OF_ONE.items():
            formula = re.sub(rf"{_FACTOR}\.{method}\(\)", rf"{sign}(\1)", formula)
        formula = re.sub(r"(\w|√|\^)\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)", r"\1(\2)", formula)
    return re.sub(r"^\(([^()]*)\)$", r"\1", formula)


def is_code(formula: str) -> bool:
    """Return whether a formula has parts that only readers of C++ understand."""
    if formula.count("(") != formula.count(")"):
        return True
    return _CODE.search(formula) is not None
