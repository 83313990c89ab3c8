"""Rules of complex numbers. Gradients are conjugated, so that the loss falls along minus them."""

from gradscribe.playback.explain.rule import Rule, Share

RULES = (
    Rule(
        ("abs_of_complex",),
        "{y} = |{a}|",
        "The gradient points straight away from 0, at length one; at 0 it is 0",
        (),
        (Share("{g} × {a} ÷ {y}", "({as})"),),
    ),
    Rule(
        ("real",),
        "{y} = real part of {a}",
        "The gradient goes to the real part; the imaginary part gets 0",
        (),
        (Share("{g} + 0i", "({as})"),),
    ),
    Rule(
        ("imag",),
        "{y} = imaginary part of {a}",
        "The gradient goes to the imaginary part; the real part gets 0",
        (),
        (Share("0 + {g}·i", "({as})"),),
    ),
    Rule(
        ("conj", "conj_physical"),
        "{y} = conjugate of {a}",
        "The gradient's imaginary part turns its sign, as the number's does",
        (),
        (Share("conjugate of {g}", "({as})"),),
    ),
    Rule(
        ("angle",),
        "{y} = angle of {a}",
        "The gradient points across the number, the harder the nearer it is to 0",
        (),
        (Share("{g} × i·{a} ÷ |{a}|²", "({as})"),),
    ),
    Rule(
        ("complex",),
        "{y} = {a} + {b}·i",
        "The real part gets the gradient's real part, the imaginary part its imaginary part",
        (),
        (Share("real part of {g}", "({as})"), Share("imaginary part of {g}", "({bs})")),
    ),
    Rule(
        ("view_as_real", "view_as_complex"),
        "{y} = {a}, real and imaginary parts side by side",
        "Only the view of the numbers changes, and the gradient is viewed the other way",
        (),
        (Share("{g}, read the other way", "({gs}) → ({as})"),),
    ),
)
