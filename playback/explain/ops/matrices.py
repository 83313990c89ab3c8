"""Rules of matrix products and other linear algebra."""

from gradscribe.playback.explain.rule import Rule, Share, share_rule
from gradscribe.playback.translation import tr

_TURNED = tr("The gradient by one side is what arrived times the other side, transposed")

RULES = (
    share_rule(
        "matmul mm bmm",
        "{y} = {a} · {b}",
        _TURNED,
        Share("{g} · {b}ᵀ", "({gs}) · ({bt})"),
        Share("{a}ᵀ · {g}", "({at}) · ({gs})"),
    ),
    share_rule(
        "mv",
        "{y} = {a} · {b}",
        tr("The matrix gets the outer product, the vector the transposed product"),
        Share("{g} ⊗ {b}", "({gs}) ⊗ ({bs})"),
        Share("{a}ᵀ · {g}", "({at}) · ({gs})"),
    ),
    share_rule(
        "vm",
        "{y} = {a} · {b}",
        tr("The vector gets the product with the transposed matrix, the matrix the outer product"),
        Share("{g} · {b}ᵀ", "({gs}) · ({bt})"),
        Share("{a} ⊗ {g}", "({as}) ⊗ ({gs})"),
    ),
    share_rule(
        "dot vdot inner",
        "{y} = {a} · {b}",
        tr("Each vector's gradient is what arrived times the other vector"),
        Share("{g} × {b}", "({gs}) × ({bs})"),
        Share("{g} × {a}", "({gs}) × ({as})"),
    ),
    share_rule(
        "outer ger",
        "{y} = {a} ⊗ {b}",
        tr("Each vector's gradient is the matrix that arrived times the other vector"),
        Share("{g} · {b}", "({gs}) · ({bs})"),
        Share("{g}ᵀ · {a}", "({gt}) · ({as})"),
    ),
    share_rule(
        "linear",
        "{y} = {a} {b}ᵀ + {c}",
        tr(
            "The input gets the gradient times the weights; "
            "the weights get the gradient, transposed,"
            " times the input; the bias gets it summed over the batch"
        ),
        Share("{g} · {b}", "({gs}) · ({bs})"),
        Share("{g}ᵀ · {a}", "({gt}) · ({as})"),
        Share(tr("{g}, summed over the batch"), "({gs}) → ({cs})"),
    ),
    share_rule(
        "addmm addmv baddbmm",
        "{y} = {a} + {b} · {c}",
        tr("The sum passes the gradient on; each factor gets it times the other, transposed"),
        Share("{g}", "({gs}) → ({as})"),
        Share("{g} · {c}ᵀ", "({gs}) · ({ct})"),
        Share("{b}ᵀ · {g}", "({bt}) · ({gs})"),
    ),
    Rule(
        "bilinear",
        "{y} = {a} W {b}",
        tr("Each side gets the gradient times the weights and the other side"),
    ),
    Rule(
        "einsum",
        "{y} = einsum({all})",
        tr(
            "An operand's gradient is such a sum again: what arrived takes its place among the"
            " operands, and its letters become those of the result"
        ),
    ),
    share_rule(
        "inv inverse linalg_inv",
        "{y} = {a}⁻¹",
        tr(
            "Where the matrix grows its inverse shrinks: "
            "the gradient passes the inverse on both sides"
        ),
        Share("−{y}ᵀ · {g} · {y}ᵀ", "({as})"),
    ),
    share_rule(
        "det linalg_det",
        tr("{y} = det {a}"),
        tr("Each element's slope is its cofactor: the determinant times the inverse, transposed"),
        Share("{g} × {y} × ({a}⁻¹)ᵀ", "() → ({as})"),
    ),
    share_rule(
        "logdet",
        tr("{y} = ln det {a}"),
        tr("The slope of a log determinant is the inverse, transposed"),
        Share("{g} × ({a}⁻¹)ᵀ", "() → ({as})"),
    ),
    share_rule(
        "trace",
        tr("{y} = sum of the diagonal of {a}"),
        tr("Every element of the diagonal gets the whole gradient, all others get 0"),
        Share(tr("{g} on the diagonal, elsewhere 0"), "() → ({as})"),
    ),
    share_rule(
        "solve linalg_solve",
        tr("{y} with {a} · {y} = {b}"),
        tr("Going back is another system, with the matrix transposed"),
        Share(tr("−u ⊗ {y}, with {a}ᵀ · u = {g}")),
        Share(tr("u, with {a}ᵀ · u = {g}")),
    ),
    Rule(
        "cholesky linalg_cholesky",
        tr("{y} with {y} · {y}ᵀ = {a}, lower triangular"),
        tr("The gradient goes back through the triangular factor and comes out symmetric"),
    ),
    share_rule(
        "svd linalg_svd",
        tr("{parts} with {a} = U · diag(S) · Vᵀ"),
        tr("A singular value moves with what its two vectors make of a change: uᵀ · change · v"),
        Share(tr("what arrived at the factors, taken back through them")),
    ),
    share_rule(
        "eigh linalg_eigh",
        tr("{parts} with {a} = V · diag(λ) · Vᵀ"),
        tr("An eigenvalue moves with what its vector makes of a change: vᵀ · change · v"),
        Share(tr("what arrived at the factors, taken back through them")),
    ),
    share_rule(
        "qr linalg_qr",
        tr("{parts} with {a} = Q · R"),
        tr("The gradient goes back through both factors: Q is orthogonal, R triangular"),
        Share(tr("what arrived at the factors, taken back through them")),
    ),
    Rule(
        "attention multi_head_attention_forward",
        "{y} = softmax({a} {b}ᵀ ÷ √d) {c}",
        tr(
            "The values get the gradient by the attention "
            "weights; queries and keys by how the weights"
            " would move"
        ),
    ),
)
