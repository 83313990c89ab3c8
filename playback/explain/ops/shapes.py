"""Rules of ops that move elements without changing them: the gradient is moved back."""

from gradscribe.playback.explain.rule import Rule, Share, constant_slope, share_rule
from gradscribe.playback.translation import tr

_BACK = (Share(tr("{g}, in the old shape"), "({gs}) → ({as})"),)
_PASSES = tr("The numbers only change their places, and the gradient is moved back")

RULES = (
    share_rule(
        "t T mT H mH transpose adjoint",
        "{y} = {a}ᵀ",
        tr("The gradient is transposed back"),
        Share("{g}ᵀ", "({gs}) → ({as})"),
    ),
    share_rule(
        "permute movedim moveaxis swapaxes swapdims",
        tr("{y} = {a} with its dimensions in another order"),
        _PASSES,
        Share(tr("{g}, its dimensions in the old order"), "({gs}) → ({as})"),
    ),
    share_rule(
        "flip fliplr flipud roll rot90",
        tr("{y} = {a} with its elements in other places"),
        _PASSES,
        Share(tr("{g}, put back in place"), "({gs}) → ({as})"),
    ),
    Rule(
        "view reshape flatten unflatten ravel squeeze unsqueeze view_as reshape_as",
        tr("{y} = {a} in another shape"),
        _PASSES,
        (constant_slope(1),),
        _BACK,
    ),
    share_rule(
        "expand expand_as broadcast_to repeat tile repeat_interleave",
        "{y} = {a}, repeated",
        tr("An element used many times gets the sum of all the gradients of its copies"),
        Share(tr("{g}, summed over the copies"), "({gs}) → ({as})"),
    ),
    share_rule(
        "cat hstack vstack dstack column_stack",
        tr("{y} = {all}, one after another"),
        tr("Each part gets back its own piece of the gradient"),
        *(Share(tr("its piece of {g}"), "({gs}) → ({as})"),) * 12,
    ),
    share_rule(
        "stack",
        "{y} = {all}, stacked",
        tr("Each part gets back its own layer of the gradient"),
        *(Share(tr("its layer of {g}"), "({gs}) → ({as})"),) * 12,
    ),
    share_rule(
        "index select narrow take gather index_select masked_select diagonal diag unfold "
        "take_along_dim",
        tr("{y} = elements of {a}"),
        tr("What was taken gets its gradient, what was left out gets 0"),
        Share(tr("{g} at the places taken, 0 elsewhere"), "({gs}) → ({as})"),
    ),
    share_rule(
        "split chunk unbind tensor_split hsplit vsplit dsplit",
        tr("{parts} = pieces of {a}"),
        tr("The gradients of the pieces are put together again; a piece that was not used gives 0"),
        Share(tr("the pieces' gradients, put together"), "→ ({as})"),
    ),
    share_rule(
        "index_add scatter_add scatter_reduce",
        tr("{y} = {a} with elements of {last} added where the numbers say"),
        tr("What was added gets the gradient of the place it was added to; the rest passes on"),
        Share("{g}", "({gs}) → ({as})"),
        Share(""),
        Share(""),
        Share(tr("{g} at the places it was added to"), "({gs}) → ({ds})"),
    ),
    share_rule(
        "index_put copy masked_fill fill scatter index_fill index_copy",
        tr("{y} = {a} with some elements replaced"),
        tr("What was overwritten gets 0; what stayed gets its gradient"),
        Share(tr("{g}, 0 where it was overwritten"), "({gs}) → ({as})"),
    ),
    share_rule(
        "tril triu",
        tr("{y} = a triangle of {a}"),
        tr("Outside the triangle the gradient is 0"),
        Share(tr("{g} inside the triangle"), "({gs})"),
    ),
    share_rule(
        "pad",
        tr("{y} = {a} with a margin"),
        tr("The margin's gradient is dropped"),
        Share(tr("{g} without the margin"), "({gs}) → ({as})"),
    ),
    Rule(
        "clone contiguous to float double half bfloat16 type type_as cpu cuda alias identity",
        "{y} = {a}",
        tr("A copy passes the gradient on unchanged"),
        (constant_slope(1),),
    ),
    Rule(
        "detach data",
        tr("{y} = {a}, cut off"),
        tr("Detached: the numbers go on, the gradient does not come back"),
        (constant_slope(0),),
    ),
)
