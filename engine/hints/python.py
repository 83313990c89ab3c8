"""Hints for Python's own errors: syntax, names, arithmetic, memory."""

import bdb
import re
import traceback

from gradscribe.engine.hints import advice, calls, loops
from gradscribe.engine.hints.advice import HintRow
from gradscribe.engine.sandbox.confine import box

_COMMA = "Something is missing or too much here: an operator, a comma, a bracket or a quote."


_UNCALLED = "'(?:builtin_function_or_method|method|function)'"
_PROCESSES = re.compile(r"system|subprocess|popen|fork|spawn|Process|Pool|Manager|exec[lv]")


def _closed(_: re.Match[str], case: advice.HintContext) -> str:
    if not box.is_confined():
        return "The system does not let you: check who owns it."
    if "num_workers" in case.code or "DataLoader" in _inside(case.exc):
        return "Programs here cannot start processes: use num_workers=0."
    if _PROCESSES.search(case.code) or "multiprocessing" in _inside(case.exc):
        return (
            "No other program or process starts from here. "
            "Run > Let my programs use files opens that too."
        )
    return (
        "Programs here are kept from files, the network and other programs. "
        "Run > Let my programs use files opens them."
    )


def _inside(exc: BaseException) -> str:
    """Return the files and functions of the traceback as text."""
    return str([(at.filename, at.name) for at in traceback.extract_tb(exc.__traceback__)])


def _offline(_: re.Match[str], __: advice.HintContext) -> str:
    if not box.is_confined():
        return "Is there a network, and is the name right?"
    return (
        "Programs here are kept from the network. Run > Let my programs use files opens that too."
    )


def _undefined(match: re.Match[str], case: advice.HintContext) -> str:
    return loops.never_assigned(match[1], case) or advice.undefined_name(match, case)


def _unbound(match: re.Match[str], case: advice.HintContext) -> str:
    return loops.never_assigned(match[1], case) or (
        f"The function gives {match[1]} a value of its own, but only later: pass it in as an "
        "argument."
    )


ROWS = (
    HintRow("", _closed, "[Errno 1] Operation not permitted: 'out.txt'", PermissionError),
    HintRow(
        r"(?i)(open file failed|shared memory|failed to bind).*(not permitted|ermission denied)",
        _closed,
        "[enforce fail at inline_container.cc:747] . open file failed with strerror: Operation "
        "not permitted",
    ),
    HintRow(
        "name resolution|Name or service not known|nodename nor servname|etwork is unreachable",
        _offline,
        "<urlopen error [Errno -3] Temporary failure in name resolution>",
        OSError,
    ),
    HintRow(
        "",
        "There is no keyboard for a debugger here: step through the run with the buttons below.",
        "",
        bdb.BdbQuit,
    ),
    HintRow("", "Indent with spaces only.", "inconsistent use of tabs and spaces", TabError),
    HintRow(
        "expected an indented block after (.+) on line",
        "Indent the lines that belong to the {1} by four spaces.",
        "expected an indented block after 'for' statement on line 1",
        IndentationError,
    ),
    HintRow(
        "unexpected indent",
        "This line starts further right than the one above: remove the spaces before it.",
        "unexpected indent",
        IndentationError,
    ),
    HintRow(
        "unindent does not match",
        "Begin this line in the same column as the lines it belongs with.",
        "unindent does not match any outer indentation level",
        IndentationError,
    ),
    HintRow(
        "null bytes",
        "An invisible character that no program may hold stands here: delete it.",
        "source code string cannot contain null bytes",
        SyntaxError,
    ),
    HintRow(
        r"'(.)' was never closed", "Close it with a bracket.", "'(' was never closed", SyntaxError
    ),
    HintRow(r"unmatched '(.)'", "Nothing opens this {1}: remove it.", "unmatched ')'", SyntaxError),
    HintRow(
        r"closing parenthesis '(.)' does not match opening parenthesis '(.)'",
        "{2} is open here, so close it before {1}.",
        "closing parenthesis ']' does not match opening parenthesis '('",
        SyntaxError,
    ),
    HintRow(r"expected '(.+)'", "Put {1} here.", "expected ':'", SyntaxError),
    HintRow(
        "unterminated (triple-quoted )?(f-)?string",
        "End the text with the quote it began with.",
        "unterminated string literal (detected at line 1)",
        SyntaxError,
    ),
    HintRow(
        r"invalid character '(.)'|invalid non-printable character",
        "Python does not know this character: type it anew on the keyboard.",
        "invalid character '“' (U+201C)",
        SyntaxError,
    ),
    HintRow(
        "Maybe you meant '==' or ':=' instead of '='|Maybe you meant '==' instead of '='",
        "= gives a name a value; == compares.",
        "cannot assign to literal here. Maybe you meant '==' instead of '='?",
        SyntaxError,
    ),
    HintRow(
        "cannot assign to|cannot delete",
        "Left of = stands a name, an element x[0] or a field x.data.",
        "cannot assign to function call",
        SyntaxError,
    ),
    HintRow("Missing parentheses", "Write print(...).", "Missing parentheses in call", SyntaxError),
    HintRow(
        "positional argument follows keyword",
        "Put the arguments without a name first.",
        "positional argument follows keyword argument",
        SyntaxError,
    ),
    HintRow(
        "'(return|yield|await)' outside",
        "{1} belongs inside a function (def).",
        "'return' outside function",
        SyntaxError,
    ),
    HintRow(
        "'(break|continue)' (outside|not properly in) loop",
        "{1} belongs inside a for or while loop.",
        "'break' outside loop",
        SyntaxError,
    ),
    HintRow(
        "invalid decimal literal",
        "A name cannot begin with a digit.",
        "invalid decimal literal",
        SyntaxError,
    ),
    HintRow(
        "forgot a comma",
        "Put a comma or an operator between the two.",
        "invalid syntax. Perhaps you forgot a comma?",
        SyntaxError,
    ),
    HintRow("invalid syntax|unexpected EOF", _COMMA, "invalid syntax", SyntaxError),
    HintRow(
        "local variable '(.+)'",
        _unbound,
        "cannot access local variable 'x' where it is not associated with a value",
        UnboundLocalError,
    ),
    HintRow(r"name '(\w+)' is not defined", _undefined, "name 'x' is not defined", NameError),
    HintRow(
        r"No module named '([\w.]+)'",
        advice.missing_module,
        "No module named 'foo'",
        ModuleNotFoundError,
    ),
    HintRow(
        r"cannot import name '(\w+)' from '([\w.]+)'",
        "{2} has no {1}: check the spelling.",
        "cannot import name 'foo' from 'torch' (unknown location)",
        ImportError,
    ),
    HintRow(
        r"'NoneType' object has no attribute '(\w+)'",
        calls.none_attribute,
        "'NoneType' object has no attribute 'zero_'",
        AttributeError,
    ),
    HintRow(
        r"cannot assign (module|parameter)s? before (Module.__init__)",
        "Begin __init__ with super().__init__().",
        "cannot assign module before Module.__init__() call",
        AttributeError,
    ),
    HintRow(
        r"has no attribute '(\w+)'",
        calls.missing_attribute,
        "'Tensor' object has no attribute 'sume'",
        AttributeError,
    ),
    HintRow(
        r"unsupported operand type\(s\) for .+'NoneType'",
        calls.none_operand,
        "unsupported operand type(s) for *: 'float' and 'NoneType'",
        TypeError,
    ),
    HintRow(
        rf"unsupported operand type\(s\) for .+{_UNCALLED}|{_UNCALLED} object is not subscr",
        "A function or method is not called yet: write () after its name.",
        "unsupported operand type(s) for +: 'builtin_function_or_method' and 'Tensor'",
        TypeError,
    ),
    HintRow(
        "must be Tensor, not (builtin_function_or_method|method|function)$",
        "A function or method is not called yet: write () after its name.",
        "linear(): argument 'input' (position 1) must be Tensor, not builtin_function_or_method",
        TypeError,
    ),
    HintRow(
        r"unsupported operand type\(s\) for (.+): '(\w+)' and '(\w+)'",
        "{1} does not work between {2} and {3}: convert one of them.",
        "unsupported operand type(s) for +: 'Tensor' and 'str'",
        TypeError,
    ),
    HintRow(
        "'NoneType' object is not",
        "This is None. Does a function forget its return, or is a .grad not there yet?",
        "'NoneType' object is not subscriptable",
        TypeError,
    ),
    HintRow(
        "'(Tensor|float|int)' object is not callable",
        "Parentheses call a function; a product needs *, an element needs [ ].",
        "'Tensor' object is not callable",
        TypeError,
    ),
    HintRow(
        "unexpected keyword argument '(.+?)'",
        "It takes no argument named {1}: check the spelling.",
        "f() got an unexpected keyword argument 'lrr'",
        TypeError,
    ),
    HintRow(
        r"takes (from )?\d+ .*positional arguments? .*but \d+ (was|were) given",
        calls.too_many,
        "tensor() takes 1 positional argument but 2 were given",
        TypeError,
    ),
    HintRow(
        r"invalid literal for int\(\).*: (.+)|could not convert string to float: (.+)",
        "This text is no number Python can read.",
        "invalid literal for int() with base 10: 'a'",
        ValueError,
    ),
    HintRow(
        "(too many|not enough) values to unpack",
        calls.wrong_unpacking,
        "too many values to unpack (expected 2)",
        ValueError,
    ),
    HintRow("", "The divisor is 0 here.", "division by zero", ZeroDivisionError),
    HintRow(
        "(list|tuple|string|range) (object )?(assignment )?index out of range",
        "Indices go from 0 to the length minus 1.",
        "list index out of range",
        IndexError,
    ),
    HintRow(r"^'(.*\.(weight|bias))'$", advice.state_key, "'fc.weight'", KeyError),
    HintRow(r"^(.+)$", advice.missing_key, "'a'", KeyError),
    HintRow(
        "during compilation",
        "An expression is nested too deeply: split it into several lines.",
        "maximum recursion depth exceeded during compilation",
        RecursionError,
    ),
    HintRow(
        "cannot set the recursion limit",
        "Choose a bigger number.",
        "cannot set the recursion limit to 1 at the recursion depth 13: the limit is too low",
        RecursionError,
    ),
    HintRow(
        "",
        "A function calls itself without end: give it a case in which it stops.",
        "maximum recursion depth exceeded",
        RecursionError,
    ),
    HintRow("", "More memory than there is. Make a size smaller.", "", MemoryError),
    HintRow(
        "",
        "There is no such file where the program runs: check the name and the folder.",
        "[Errno 2] No such file or directory: 'data.pt'",
        FileNotFoundError,
    ),
    HintRow(
        "",
        "Nothing can be typed into a running program here: write the value into the code.",
        "EOF when reading a line",
        EOFError,
    ),
    HintRow("^$", "What the assert states is not true here.", "", AssertionError),
    HintRow("", "The program was interrupted.", "", KeyboardInterrupt),
)
