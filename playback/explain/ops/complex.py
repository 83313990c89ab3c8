"""Rules of complex numbers. Gradients are conjugated, so that the loss falls along minus them."""

from gradscribe.playback.explain.rule import Share, share_rule
from gradscribe.playback.translation import tr

RULES = (
    share_rule(
        "abs_of_complex",
        "{y} = |{a}|",
        tr("The gradient points straight away from 0, at length one; at 0 it is 0"),
        Share("{g} × {a} ÷ {y}", "({as})"),
    ),
    share_rule(
        "real",
        tr("{y} = real part of {a}"),
        tr("The gradient goes to the real part; the imaginary part gets 0"),
        Share("{g} + 0i", "({as})"),
    ),
    share_rule(
        "imag",
        tr("{y} = imaginary part of {a}"),
        tr("The gradient goes to the imaginary part; the real part gets 0"),
        Share("0 + {g}·i", "({as})"),
    ),
    share_rule(
        "conj conj_physical",
        tr("{y} = conjugate of {a}"),
        tr("The gradient's imaginary part turns its sign, as the number's does"),
        Share(tr("conjugate of {g}"), "({as})"),
    ),
    share_rule(
        "angle",
        tr("{y} = angle of {a}"),
        tr("The gradient points across the number, the harder the nearer it is to 0"),
        Share("{g} × i·{a} ÷ |{a}|²", "({as})"),
    ),
    share_rule(
        "complex",
        "{y} = {a} + {b}·i",
        tr("The real part gets the gradient's real part, the imaginary part its imaginary part"),
        Share(tr("real part of {g}"), "({as})"),
        Share(tr("imaginary part of {g}"), "({bs})"),
    ),
    share_rule(
        "view_as_real view_as_complex",
        tr("{y} = {a}, real and imaginary parts side by side"),
        tr("Only the view of the numbers changes, and the gradient is viewed the other way"),
        Share(tr("{g}, read the other way"), "({gs}) → ({as})"),
    ),
)
