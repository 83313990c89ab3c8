"""Matrix products: their gradients are matrix products again, with one side transposed."""

from playback.explain.rule import Rule, Share

_TURNED = "The gradient by one side is what arrived times the other side, transposed"

RULES = (
    Rule(
        ("matmul", "mm", "bmm"),
        "{y} = {a} · {b}",
        _TURNED,
        (),
        (Share("{g} · {b}ᵀ", "({gs}) · ({bt})"), Share("{a}ᵀ · {g}", "({at}) · ({gs})")),
    ),
    Rule(
        ("mv",),
        "{y} = {a} · {b}",
        "The matrix gets the outer product, the vector the transposed product",
        (),
        (Share("{g} ⊗ {b}", "({gs}) ⊗ ({bs})"), Share("{a}ᵀ · {g}", "({at}) · ({gs})")),
    ),
    Rule(
        ("vm",),
        "{y} = {a} · {b}",
        "The vector gets the product with the transposed matrix, the matrix the outer product",
        (),
        (Share("{g} · {b}ᵀ", "({gs}) · ({bt})"), Share("{a} ⊗ {g}", "({as}) ⊗ ({gs})")),
    ),
    Rule(
        ("dot", "vdot", "inner"),
        "{y} = {a} · {b}",
        "Each vector's gradient is what arrived times the other vector",
        (),
        (Share("{g} × {b}", "({gs}) × ({bs})"), Share("{g} × {a}", "({gs}) × ({as})")),
    ),
    Rule(
        ("outer", "ger"),
        "{y} = {a} ⊗ {b}",
        "Each vector's gradient is the matrix that arrived times the other vector",
        (),
        (Share("{g} · {b}", "({gs}) · ({bs})"), Share("{g}ᵀ · {a}", "({gt}) · ({as})")),
    ),
    Rule(
        ("linear",),
        "{y} = {a} {b}ᵀ + {c}",
        "The input gets the gradient times the weights; the weights get the gradient, transposed,"
        " times the input; the bias gets it summed over the batch",
        (),
        (
            Share("{g} · {b}", "({gs}) · ({bs})"),
            Share("{g}ᵀ · {a}", "({gt}) · ({as})"),
            Share("{g}, summed over the batch", "({gs}) → ({cs})"),
        ),
    ),
    Rule(
        ("addmm", "addmv", "baddbmm"),
        "{y} = {a} + {b} · {c}",
        "The sum passes the gradient on; each factor gets it times the other, transposed",
        (),
        (
            Share("{g}", "({gs}) → ({as})"),
            Share("{g} · {c}ᵀ", "({gs}) · ({ct})"),
            Share("{b}ᵀ · {g}", "({bt}) · ({gs})"),
        ),
    ),
    Rule(
        ("bilinear",),
        "{y} = {a} W {b}",
        "Each side gets the gradient times the weights and the other side",
    ),
    Rule(
        ("einsum",),
        "{y} = einsum({all})",
        "Each operand gets the gradient summed with all the other operands over their letters",
    ),
    Rule(
        ("det", "logdet", "inv", "inverse", "solve", "cholesky", "svd", "qr", "eigh"),
        "{y} = {op}({all})",
        "The gradient follows from the inverse or the factors of the matrix",
    ),
    Rule(
        ("attention", "multi_head_attention_forward"),
        "{y} = softmax({a} {b}ᵀ ÷ √d) {c}",
        "The values get the gradient by the attention weights; queries and keys by how the weights"
        " would move",
    ),
)
