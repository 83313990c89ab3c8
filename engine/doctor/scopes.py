"""Functions of the program: their scopes, callers and arguments."""

import ast

from gradscribe.engine.doctor.program_tree import ProgramTree, called_name, names, receiver

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def enclosing_function(program: ProgramTree, node: ast.AST) -> Function | None:
    """Return the innermost function around a node."""
    return next((n for n in program.above(node) if isinstance(n, Function)), None)


def scope_of(program: ProgramTree, name: str, node: ast.AST) -> ast.AST | None:
    """Return the function or comprehension that the variable ``name`` at ``node`` is local to.

    None if it is a global.
    """
    for around in program.above(node):
        if isinstance(around, COMPREHENSIONS):
            if any(name in names(loop.target) for loop in around.generators):
                return around
        elif isinstance(around, Function) and name in _own_names(around):
            return around
    return None


def _own_names(function: Function) -> set[str]:
    parameters = function.args
    several = [a for a in (parameters.vararg, parameters.kwarg) if a is not None]
    own = {
        a.arg for a in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs, *several)
    }
    body = function.body if isinstance(function.body, list) else [function.body]
    return own.union(*(names_bound_in(inner) for inner in body)) - {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }


def names_bound_in(node: ast.AST) -> set[str]:
    """Return the variables that a node binds, except in nested scopes."""
    found, left = set[str](), [node]
    while left:
        inner = left.pop()
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found.add(inner.id)
        if not isinstance(inner, Function | ast.ClassDef | COMPREHENSIONS):
            left += ast.iter_child_nodes(inner)
    return found


def arguments_for(program: ProgramTree, node: ast.expr) -> list[ast.expr]:
    """Return the arguments that callers pass for the parameter read at ``node``.

    A default comes last. Empty if the node is no parameter of its function.
    """
    function = enclosing_function(program, node)
    if function is None or not isinstance(node, ast.Name):
        return []
    name = node.id
    parameters = function.args
    places = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    if name not in places and name not in [a.arg for a in parameters.kwonlyargs]:
        return []
    found = []
    for call in _calls(program, function):
        skipped = 1 if places[:1] == ["self"] else 0
        argument = next((k.value for k in call.keywords if k.arg == name), None)
        index = places.index(name) - skipped if name in places else len(call.args)
        if argument is None and 0 <= index < len(call.args):
            argument = call.args[index]
        if argument is not None and not isinstance(argument, ast.Starred):
            found.append(argument)
    return found + _default(parameters, places, name)


def callers(program: ProgramTree, node: ast.AST) -> list[ast.Call]:
    """Return the calls of the function around ``node``."""
    function = enclosing_function(program, node)
    return _calls(program, function) if function is not None else []


def _calls(program: ProgramTree, function: Function) -> list[ast.Call]:
    if isinstance(function, ast.Lambda):
        bound = [n for n, rows in program.bindings.items() if any(v is function for _, v in rows)]
        return [call for name in bound for call in program.calls(name)]
    owner = next(iter(program.above(function)), None)
    if function.name == "__init__" and isinstance(owner, ast.ClassDef):
        return program.calls(owner.name)
    is_method = isinstance(owner, ast.ClassDef)
    return [c for c in program.calls(function.name) if is_method == (receiver(c) is not None)]


def _default(parameters: ast.arguments, places: list[str], name: str) -> list[ast.expr]:
    ends = dict(zip(reversed(places), reversed(parameters.defaults), strict=False))
    keyed = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    ends |= {a.arg: value for a, value in keyed if value is not None}
    return [ends[name]] if name in ends else []


def literal_number(program: ProgramTree, node: ast.expr) -> ast.Constant | None:
    """Return the literal number that an expression evaluates to, if it can be found.

    Variables, attributes, dict entries, and parameters through their callers are followed.
    """
    for _ in range(5):
        if isinstance(node, ast.Constant):
            return node if type(node.value) in (int, float) else None
        found = _behind(program, node)
        if found is None:
            return None
        node = found
    return None


def _behind(program: ProgramTree, node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        table = program.last_binding(ast.unparse(node.value), node.lineno)
        return dict_entry(table, node.slice.value)
    if isinstance(node, ast.Name):
        outside = arguments_for(program, node)
        return outside[0] if outside else program.last_binding(node.id, node.lineno)
    if isinstance(node, ast.Attribute):
        rows = program.bindings.get(ast.unparse(node)) or _fields(program, node.attr)
        return rows[-1][1] if rows else None
    return None


def _fields(program: ProgramTree, name: str) -> list[tuple[int, ast.expr]]:
    """Return an attribute's bindings in a class body, or by a constructor: ``Config(lr=1.0)``."""
    rows = program.bindings.get(name, [])
    inside = [(at, value) for at, value in rows if _is_in_class(program, value)]
    by_keyword: list[tuple[int, ast.expr]] = [
        (k.value.lineno, k.value)
        for node in program.find(ast.Call)
        if called_name(node)[:1].isupper()
        for k in node.keywords
        if k.arg == name and isinstance(k.value, ast.Constant)
    ]
    return inside or by_keyword


def _is_in_class(program: ProgramTree, node: ast.expr) -> bool:
    statement = program.statement_of(node)
    around = next(program.above(statement), None) if statement is not None else None
    return isinstance(around, ast.ClassDef)


def dict_entry(table: ast.expr | None, key: object) -> ast.expr | None:
    """Return the value of a key in a dict display or ``dict`` call."""
    if isinstance(table, ast.Dict):
        for name, value in zip(table.keys, table.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    if isinstance(table, ast.Call) and called_name(table) == "dict":
        return next((k.value for k in table.keywords if k.arg == key), None)
    return None
