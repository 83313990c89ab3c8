"""Edits of a program's text that load a module's weights from a file."""

import ast

from gradscribe.playback.code.parameter_edits import module_line
from gradscribe.playback.code.program_text import ProgramText


def with_weights(source: str, module: str, path: str) -> str:
    """Return the program that loads a module's ``state_dict`` from a file.

    A line that does so already gets the path. Empty without a safe place.
    """
    text = ProgramText(source)
    made = module_line(text, module)
    if made is None:
        return ""
    for statement in text.block_after(made):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{module}.load_state_dict":
            loaded = call.args[0] if call.args else None
            if not isinstance(loaded, ast.Call) or ast.unparse(loaded.func) != "torch.load":
                return ""
            return text.replaced(loaded, _load(path))
    return text.with_line_after(made, f"{module}.load_state_dict({_load(path)})")


def _load(path: str) -> str:
    # As the formatter of most programs would have it.
    quoted = repr(path) if '"' in path or "\\" in path else f'"{path}"'
    return f"torch.load({quoted}, weights_only=True)"
