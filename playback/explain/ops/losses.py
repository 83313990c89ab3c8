"""Rules of loss functions and of softmax."""

from gradscribe.playback.explain.rule import Rule, Share, Slope, share_rule, sign
from gradscribe.playback.translation import tr

_LOG = tr("Each log-probability that was picked gets −1 ÷ N")

RULES = (
    Rule(
        "mse_loss",
        tr("{y} = mean of ({a} − {b})²"),
        tr("Each prediction is pulled towards its target, the harder the farther it is off"),
        (
            Slope("2({a}−{b})", lambda n: 2 * (n.x - n.inputs[1])),
            Slope("−2({a}−{b})", lambda n: -2 * (n.x - n.inputs[1])),
        ),
        (Share("{g} × 2({a} − {b}) ÷ {n}", "({as})"), Share("−{g} × 2({a} − {b}) ÷ {n}", "({bs})")),
    ),
    Rule(
        "l1_loss",
        tr("{y} = mean of |{a} − {b}|"),
        tr("Each prediction is pulled towards its target, always equally hard"),
        (
            Slope("sign({a}−{b})", lambda n: sign(n.x - n.inputs[1])),
            Slope("−sign({a}−{b})", lambda n: -sign(n.x - n.inputs[1])),
        ),
        (
            Share("{g} × sign({a} − {b}) ÷ {n}", "({as})"),
            Share("−{g} × sign({a} − {b}) ÷ {n}", "({bs})"),
        ),
    ),
    share_rule(
        "smooth_l1_loss",
        tr(
            "{y} = mean of d²÷2β where |d| < β, elsewhere |d| − β÷2, with d = {a} − {b}, β = {beta}"
        ),
        tr("Near the target the pull grows with the distance, farther out it stays the same"),
        Share(tr("{g} × (d÷β, held between −1 and 1) ÷ {n}"), "({as})"),
        Share(tr("−{g} × (d÷β, held between −1 and 1) ÷ {n}"), "({bs})"),
    ),
    share_rule(
        "huber_loss",
        tr(
            "{y} = mean of ½d² where |d| < δ, elsewhere δ(|d| − ½δ), with d = {a} − {b}, δ = {beta}"
        ),
        tr("Near the target the pull grows with the distance, farther out it stays the same"),
        Share(tr("{g} × (d, held between −δ and δ) ÷ {n}"), "({as})"),
        Share(tr("−{g} × (d, held between −δ and δ) ÷ {n}"), "({bs})"),
    ),
    share_rule(
        "cross_entropy",
        tr("{y} = mean of −log softmax({a}) at the classes {b}"),
        tr("Each row gets its softmax minus 1 at the true class, divided by the number of rows"),
        Share("{g} × (softmax({a}) − one-hot({b})) ÷ N", "({as})"),
    ),
    share_rule(
        "cross_entropy_of_probabilities_special",
        tr("{y} = mean over rows of −Σ {b}·log softmax({a})"),
        tr(
            "Each row gets its softmax minus the probabilities "
            "it should have, divided by the number"
            " of rows"
        ),
        Share("{g} × (softmax({a}) − {b}) ÷ N", "({as})"),
    ),
    share_rule(
        "cross_entropy_smoothed_special",
        tr("{y} = mean of −Σ t·log softmax({a}), t = {eps} shared by all classes, the rest at {b}"),
        tr("Each row gets its softmax minus its smoothed target, divided by the number of rows"),
        Share("{g} × (softmax({a}) − t) ÷ N", "({as})"),
    ),
    Rule(
        "cross_entropy_special",
        tr("{y} = mean of −log softmax({a}) at the classes {b}"),
        tr(
            "Each row that is not ignored gets its softmax "
            "minus its target, divided by their number"
        ),
    ),
    Rule(
        "cross_entropy_weighted",
        tr("{y} = weighted mean of −log softmax({a}) at the classes {b}"),
        tr(
            "Each row gets its softmax minus 1 at the true class, times the weight of that class,"
            " divided by the sum of the rows' weights"
        ),
    ),
    share_rule(
        "nll_loss",
        tr("{y} = mean of −{a} at the classes {b}"),
        _LOG,
        Share("{g} × −one-hot({b}) ÷ N", "({as})"),
    ),
    share_rule(
        "binary_cross_entropy",
        tr("{y} = mean of −({b} ln {a} + (1 − {b}) ln(1 − {a}))"),
        tr("A confident wrong probability gets a huge gradient: it is divided by p(1 − p)"),
        Share("{g} × ({a} − {b}) ÷ ({a}(1 − {a})) ÷ {n}", "({as})"),
    ),
    share_rule(
        "binary_cross_entropy_with_logits",
        tr("{y} = mean of bce(σ({a}), {b})"),
        tr("Each logit gets its probability minus its target: no division, nothing can blow up"),
        Share("{g} × (σ({a}) − {b}) ÷ {n}", "({as})"),
    ),
    share_rule(
        "kl_div",
        tr("{y} = mean of {b}(ln {b} − {a})"),
        tr("Each log-probability gets −target ÷ N"),
        Share("−{g} × {b} ÷ N", "({as})"),
    ),
    share_rule(
        "softmax",
        "{y} = e^{a} ÷ Σ e^{a}",
        tr("What one gains the others lose: the gradients of a row sum to 0"),
        Share("{y} × ({g} − Σ {g}·{y})", "({gs})"),
    ),
    share_rule(
        "log_softmax",
        "{y} = {a} − ln Σ e^{a}",
        tr("Each element gets its gradient less its softmax part of the row's sum"),
        Share("{g} − softmax({a})·Σ {g}", "({gs})"),
    ),
    Rule(
        "poisson_nll_loss gaussian_nll_loss hinge_embedding_loss margin_ranking_loss "
        "cosine_embedding_loss triplet_margin_loss multi_margin_loss soft_margin_loss "
        "cosine_similarity ctc_loss",
        "{y} = {op}({all})",
        tr("It consists of several steps, and the gradient passes back through them one by one"),
    ),
)
