"""Loss functions, and the softmax that stands before them."""

from playback.explain.rule import Rule, Share, Slope, sign

_LOG = "Each log-probability that was picked gets −1 ÷ N"

RULES = (
    Rule(
        ("mse_loss",),
        "{y} = mean of ({a} − {b})²",
        "Each prediction is pulled towards its target, the harder the farther it is off",
        (
            Slope("2({a}−{b})", lambda n: 2 * (n.x - n.inputs[1])),
            Slope("−2({a}−{b})", lambda n: -2 * (n.x - n.inputs[1])),
        ),
        (Share("{g} × 2({a} − {b}) ÷ {n}", "({as})"), Share("−{g} × 2({a} − {b}) ÷ {n}", "({bs})")),
    ),
    Rule(
        ("l1_loss",),
        "{y} = mean of |{a} − {b}|",
        "Each prediction is pulled towards its target, always equally hard",
        (
            Slope("sign({a}−{b})", lambda n: sign(n.x - n.inputs[1])),
            Slope("−sign({a}−{b})", lambda n: -sign(n.x - n.inputs[1])),
        ),
        (
            Share("{g} × sign({a} − {b}) ÷ {n}", "({as})"),
            Share("−{g} × sign({a} − {b}) ÷ {n}", "({bs})"),
        ),
    ),
    Rule(
        ("smooth_l1_loss", "huber_loss"),
        "{y} = a square near 0, straight lines farther out",
        "Near the target the pull grows with the distance, farther out it stays the same",
        (),
        (
            Share("{g} × bounded({a} − {b}) ÷ {n}", "({as})"),
            Share("−{g} × bounded({a} − {b}) ÷ {n}", "({bs})"),
        ),
    ),
    Rule(
        ("cross_entropy",),
        "{y} = mean of −log softmax({a}) at the classes {b}",
        "Each row gets its softmax minus 1 at the true class, divided by the number of rows",
        (),
        (Share("{g} × (softmax({a}) − one-hot({b})) ÷ N", "({as})"),),
    ),
    Rule(
        ("nll_loss",),
        "{y} = mean of −{a} at the classes {b}",
        _LOG,
        (),
        (Share("{g} × −one-hot({b}) ÷ N", "({as})"),),
    ),
    Rule(
        ("binary_cross_entropy",),
        "{y} = mean of −({b} ln {a} + (1 − {b}) ln(1 − {a}))",
        "A confident wrong probability gets a huge gradient: it is divided by p(1 − p)",
        (),
        (Share("{g} × ({a} − {b}) ÷ ({a}(1 − {a})) ÷ {n}", "({as})"),),
    ),
    Rule(
        ("binary_cross_entropy_with_logits",),
        "{y} = mean of bce(σ({a}), {b})",
        "Each logit gets its probability minus its target: no division, nothing can blow up",
        (),
        (Share("{g} × (σ({a}) − {b}) ÷ {n}", "({as})"),),
    ),
    Rule(
        ("kl_div",),
        "{y} = mean of {b}(ln {b} − {a})",
        "Each log-probability gets −target ÷ N",
        (),
        (Share("−{g} × {b} ÷ N", "({as})"),),
    ),
    Rule(
        ("softmax",),
        "{y} = e^{a} ÷ Σ e^{a}",
        "What one gains the others lose: the gradients of a row sum to 0",
        (),
        (Share("{y} × ({g} − Σ {g}·{y})", "({gs})"),),
    ),
    Rule(
        ("log_softmax",),
        "{y} = {a} − ln Σ e^{a}",
        "Each element gets its gradient less its softmax part of the row's sum",
        (),
        (Share("{g} − softmax({a})·Σ {g}", "({gs})"),),
    ),
    Rule(
        (
            "poisson_nll_loss",
            "gaussian_nll_loss",
            "hinge_embedding_loss",
            "margin_ranking_loss",
            "cosine_embedding_loss",
            "triplet_margin_loss",
            "multi_margin_loss",
            "soft_margin_loss",
            "cosine_similarity",
            "ctc_loss",
        ),
        "{y} = {op}({all})",
        "It is made of several steps, and the gradient takes their way back one by one",
    ),
)
