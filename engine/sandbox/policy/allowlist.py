"""Allow and block lists of the policy: syntax, attributes and builtins, with alternatives."""

NODES = frozenset(
    "Module FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For While If With Match "
    "Raise Try Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue BoolOp NamedExpr "
    "BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp Yield YieldFrom "
    "Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple "
    "Slice Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor "
    "BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn comprehension "
    "ExceptHandler arguments arg keyword alias withitem match_case MatchValue MatchSingleton "
    "MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr".split()
)
"""Types of syntax nodes that are allowed; coroutines and syntax of later Pythons are not."""

SPECIAL = frozenset(
    f"__{name}__"
    for name in (
        "init new call len getitem setitem delitem iter next reversed contains missing repr str "
        "bool int float complex index hash eq ne lt le gt ge add radd iadd sub rsub isub mul rmul "
        "imul truediv rtruediv itruediv floordiv rfloordiv ifloordiv mod rmod imod divmod rdivmod "
        "pow rpow ipow matmul rmatmul imatmul and rand iand or ror ior xor rxor ixor lshift "
        "rlshift rshift rrshift neg pos abs invert round trunc floor ceil format enter exit get "
        "set delete set_name init_subclass class_getitem post_init getattr copy"
    ).split()
)
"""Special methods that a class may define, and call on its base by ``super()``.

Left out are protocols that yield memory addresses to NumPy and torch (``__array_interface__``),
methods called by name in deep copying (whose memo determines what is constructed) and pickling,
and hooks of attribute access.
"""

READABLE = frozenset(("__name__", "__qualname__", "__doc__", "__version__"))
"""Special attributes that may be read on any object."""

HARMLESS = frozenset(
    "_version _base _is_view _asdict _replace _fields _make _last_lr _step_count".split()
)
"""Private names of torch and Python that are merely informative."""
SAVED_PREFIX = "_saved_"
"""Prefix of a backward node's attributes for its saved tensors."""

INDICES = frozenset("indices crow_indices col_indices ccol_indices row_indices".split())
"""Index tensors of sparse tensors, which torch never validates again once they are modified."""
OVERRIDABLE = frozenset(
    "_load_from_state_dict _save_to_state_dict _conv_forward _check_input_dim _get_name _version "
    "_apply _reset_parameters _init_group _get_closed_form_lr "
    "_abc_impl _is_protocol _is_runtime_protocol _backward_cls _randbelow".split()
)
"""Private library names that subclasses may define: hooks for them, and names Python sets."""
MODULE_TABLES = frozenset("_modules _parameters _buffers".split())
"""A module's tables of its parts: they may be read, as copies."""
UNSAFE_MODULES = frozenset(
    "os sys io gc posix builtins importlib subprocess ctypes socket shutil pathlib pickle inspect "
    "threading tempfile runpy reducer".split()
)
"""Modules that no object should give access to; as attributes they are checked at run time."""
GUARDED = (
    UNSAFE_MODULES
    | frozenset("format load_state_dict state_dict obj cast set_state fields register".split())
    | frozenset("arg_constraints new data metadata".split())
    | INDICES
    | MODULE_TABLES
)
"""Attributes that are checked again at run time."""
LAYOUT_ATTRIBUTES = frozenset(("strides", "data"))
"""Memory layout of an array; relocating an object array would turn numbers into pointers."""

_GENERATORS = frozenset("hub ops classes library package fx export".split())
AMBIGUOUS = _GENERATORS | {"save"}
"""Parts of torch that generate code or write files, with names that programs also use.

On an object of the program's own class they may be read, which is checked at run time; and a film
of Matplotlib's is saved without a file.
"""

_FRAME = "a program may not look at its own frames"
_FILE = "a program from outside reads and writes no files"
_MEMORY = "a program from outside may not reach into memory"
_CODE = "a program from outside may not make code"
_KEEP = "To keep a state, copy it: copy.deepcopy(model.state_dict())."
_SHARED = "The graph shows which tensors share memory."

ATTRIBUTES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        "tb_frame tb_next tb_lasti tb_lineno f_back f_builtins f_code f_globals f_lasti f_lineno "
        "f_locals f_trace f_trace_lines f_trace_opcodes gi_frame gi_code gi_yieldfrom gi_running "
        "gi_suspended cr_frame cr_code cr_await cr_origin cr_running cr_suspended ag_frame ag_code "
        "ag_await ag_running ag_suspended with_traceback mro co_code co_consts co_names "
        "co_varnames func_globals func_code im_func im_self".split(),
        (_FRAME, ""),
    ),
    **dict.fromkeys("save savez savez_compressed dump".split(), (_FILE, _KEEP)),
    **dict.fromkeys("load from_file fromfile load_state_dict_from_url".split(), (_FILE, _KEEP)),
    **dict.fromkeys(
        "tofile savetxt loadtxt genfromtxt fromregex memmap export_chrome_trace".split(),
        (_FILE, "Write the numbers into the program."),
    ),
    **dict.fromkeys(
        "frombuffer from_buffer from_dlpack to_dlpack set_ resize typed_storage share_memory_ "
        "share_memory storage_type ctypes cffi getfield setfield bit_generator sparse_resize_ "
        "sparse_resize_and_clear_ resize_as_sparse_".split(),
        (_MEMORY, "Make a tensor with torch.tensor, and change its shape with reshape."),
    ),
    **dict.fromkeys(
        "all_weights get_buffer fget fset fdel".split(),
        ("it looks things up by any name", "Use the attribute itself."),
    ),
    **dict.fromkeys(
        "hooks_dict_ref extra_dict_ref".split(),
        ("it holds the recorder's own hooks, too", "Use handle.remove()."),
    ),
    **dict.fromkeys("data_ptr const_data_ptr storage untyped_storage".split(), (_MEMORY, _SHARED)),
    **dict.fromkeys((*sorted(_GENERATORS), "onnx"), (_CODE, "")),
    **dict.fromkeys(
        "compile jit".split(), (_CODE, "Leave it out: the model computes the same without.")
    ),
    **dict.fromkeys(
        "distributed multiprocessing multiprocessing_context cpp_extension profiler".split(),
        ("a program from outside starts no other programs", "Leave it out."),
    ),
    "format_map": ("format_map reaches attributes by name", "Use an f-string."),
}
"""Attributes that are refused on any object: reason, and what to use instead."""

_RUN = "It would run text as a program."
BUILTINS: dict[str, str] = {
    "eval": _RUN,
    "exec": _RUN,
    "compile": _RUN,
    "open": "Write the numbers into the program.",
    "input": "Write the answer into the program: name = 3.",
    "globals": "Keep the values in a dict of your own.",
    "locals": "Keep the values in a dict of your own.",
    "vars": "Name the attributes you need: x.shape.",
    "breakpoint": "Play the tape, and step through the program there.",
    "help": "Hover a card, or read PyTorch's documentation.",
    "memoryview": "Use a tensor or an array.",
    "bytearray": "Use a list, a tensor or an array.",
    "copyright": "",
    "credits": "",
    "license": "",
}
"""Builtin functions that are not available: what to do instead."""
