"""Types of the attributes in exported graphs; README.md documents them."""

NODE: dict[str, type] = {
    "label": str,
    "kind": str,
    "op": str,
    "phase": str,
    "line": int,
    "module": str,
    "inplace": bool,
    "nanoseconds": int,
    "name": str,
    "shape": str,
    "dtype": str,
    "device": str,
    "requires_grad": bool,
    "value": float,
    "value_norm": float,
    "grad": float,
    "grad_norm": float,
}
"""Attribute of a node -> its type, in every file; an attribute without a value is left out."""

EDGE: dict[str, type] = {
    "value": int,
    "operand": int,
    "output": int,
    "shape": str,
    "differentiable": bool,
    "grad": float,
    "grad_norm": float,
}
"""Attribute of an edge -> its type."""

GRAPH: dict[str, type] = {"torch": str, "device": str, "status": str, "format": int}
"""Attribute of the whole graph -> its type."""

FORMAT = 1
"""Version of the attributes: within it some may be added, none renamed or changed."""
