"""Rules of reductions: sums, means, extremes, norms, variances."""

from gradscribe.playback.explain.rule import Rule, Share, constant_slope, share_rule
from gradscribe.playback.translation import tr

_COUNTS = tr("The result counts or compares: no gradient passes")

RULES = (
    Rule(
        "sum nansum",
        tr("{y} = sum of {a}"),
        tr("Every element that was added gets the whole gradient of the sum"),
        (constant_slope(1),),
        (Share(tr("{g}, repeated for every element"), "({gs}) → ({as})"),),
    ),
    Rule(
        "mean nanmean",
        tr("{y} = mean of {a}"),
        tr("Every element gets an equal part: the gradient divided by how many were averaged"),
        (constant_slope(1),),
        (Share(tr("{g} ÷ {n}, for every element"), "({gs}) → ({as})"),),
    ),
    share_rule(
        "cumsum",
        tr("{y} = running sum of {a}"),
        tr("An element is in its own sum and all later ones, and gets the sum of their gradients"),
        Share(tr("{g}, summed from the end"), "({gs})"),
    ),
    share_rule(
        "prod",
        tr("{y} = product of {a}"),
        tr("Each factor gets the gradient times the product of all the others"),
        Share(tr("{g} × the product of the others"), "({gs}) → ({as})"),
    ),
    *(
        share_rule(
            name,
            "{y} = " + which + tr(" of {a}"),
            tr(
                "Only the element that was taken gets the gradient; equal ones share it, all others"
                " get 0"
            ),
            Share(tr("{g} at the chosen place, shared by equal ones"), "({gs}) → ({as})"),
        )
        for name, which in (("amax", "largest"), ("amin", "smallest"))
    ),
    *(
        share_rule(
            name,
            "{y} = " + which + tr(" of {a}"),
            tr("Only the element that was taken gets the gradient, all others get 0"),
            Share(tr("{g} at the chosen place, 0 elsewhere"), "({gs}) → ({as})"),
        )
        for name, which in (
            ("max", "largest"),
            ("min", "smallest"),
            ("median", tr("middle one")),
            ("aminmax", tr("smallest and largest")),
        )
    ),
    share_rule(
        "topk sort msort kthvalue",
        tr("{y} = elements of {a} in order"),
        tr("Each gradient goes back to the place its element came from"),
        Share(tr("{g}, put back in place"), "({gs}) → ({as})"),
    ),
    share_rule(
        "norm",
        "{y} = ‖{a}‖",
        tr("The gradient points along the vector itself, at length one"),
        Share("{g} × {a} ÷ {y}", "({gs}) → ({as})"),
    ),
    share_rule(
        "logsumexp",
        "{y} = ln Σ e^{a}",
        tr("The gradient is shared out by the softmax of the input"),
        Share("{g} × softmax({a})", "({gs}) → ({as})"),
    ),
    share_rule(
        "var",
        tr("{y} = variance of {a}"),
        tr("Each element gets a gradient in proportion to its distance from the mean"),
        Share("{g} × 2({a} − mean) ÷ (n − correction)", "({gs}) → ({as})"),
    ),
    share_rule(
        "std",
        tr("{y} = standard deviation of {a}"),
        tr(
            "Each element gets a gradient in proportion to "
            "its distance from the mean, over the spread"
        ),
        Share("{g} × ({a} − mean) ÷ ((n − correction)·{y})", "({gs}) → ({as})"),
    ),
    *(
        Rule(name, "{y} = {a} " + sign + " {b}", _COUNTS)
        for name, sign in zip("gt lt ge le eq ne".split(), "> < ≥ ≤ = ≠".split(), strict=True)
    ),
    Rule("argmax argmin isnan isfinite bincount", "{y} = {op}({all})", _COUNTS),
)
