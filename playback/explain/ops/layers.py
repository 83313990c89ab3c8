"""Rules of layers: convolution, normalisation, dropout, embedding, pooling, recurrent cells."""

from gradscribe.playback.explain.rule import Rule, Share, share_rule
from gradscribe.playback.translation import tr

RULES = (
    share_rule(
        "conv1d conv2d conv3d",
        "{y} = {a} ∗ {b} + {c}",
        tr(
            "The input gets the gradient convolved with "
            "the turned kernel; the kernel gets the input"
            " correlated with the gradient; the bias gets it summed over places and batch"
        ),
        Share(tr("{g} ∗ turned {b}"), "({gs}) → ({as})"),
        Share("{a} ⋆ {g}", "({as}), ({gs}) → ({bs})"),
        Share(tr("{g}, summed over places and batch"), "({gs}) → ({cs})"),
    ),
    share_rule(
        "conv_transpose1d conv_transpose2d conv_transpose3d",
        "{y} = {a} ∗ᵀ {b} + {c}",
        tr("The input gets the gradient convolved with the kernel"),
        Share("{g} ∗ {b}", "({gs}) → ({as})"),
    ),
    share_rule(
        "rms_norm",
        tr("{y} = {a} ÷ root mean square × γ"),
        tr("The gradient loses its part along the result, which would only move the size"),
        Share(tr("γ·{g}, less its part along {y}, over the root mean square"), "({gs})"),
        Share(""),
        Share(tr("{g} × normalised {a}, summed over the batch"), "({gs}) → ({cs})"),
    ),
    share_rule(
        "layer_norm group_norm",
        "{y} = ({a} − mean) ÷ spread × γ + β",
        tr(
            "The gradient loses what would only move the mean or the spread, for these are fixed;"
            " γ and β are the layer's weight and bias"
        ),
        Share(tr("γ·{g}, less its mean and its part along {y}, over the spread"), "({gs})"),
        Share(""),
        Share(tr("{g} × normalised {a}, summed over the batch"), "({gs}) → ({cs})"),
        Share(tr("{g}, summed over the batch"), "({gs}) → ({ds})"),
    ),
    share_rule(
        "batch_norm instance_norm",
        "{y} = ({a} − mean) ÷ spread × γ + β",
        tr(
            "In training, mean and spread come from the batch itself, so every example's gradient"
            " depends on the others; in eval they are fixed numbers. γ and β are weight and bias"
        ),
        Share(tr("γ·{g}, less what moves mean and spread, over the spread"), "({gs})"),
        Share(""),
        Share(""),
        Share(tr("{g} × normalised {a}, summed over the batch"), "({gs}) → ({ds})"),
        Share(tr("{g}, summed over the batch"), "({gs}) → ({es})"),
    ),
    share_rule(
        "dropout dropout1d dropout2d dropout3d alpha_dropout",
        "{y} = {a} × mask ÷ (1 − p)",
        tr("The gradient goes through the same mask: what was dropped gets 0"),
        Share("{g} × mask ÷ (1 − p)", "({gs})"),
    ),
    share_rule(
        "embedding",
        tr("{y} = rows of {b} numbered by {a}"),
        tr(
            "Each row that was looked up gets its gradient, "
            "added up where it was used more than once"
        ),
        Share(tr("no gradient: numbers of rows")),
        Share(tr("{g}, added into its rows"), "({gs}) → ({bs})"),
    ),
    Rule("embedding_bag", tr("{y} = sums of rows of {b}"), tr("Each row gets its bag's gradient")),
    share_rule(
        "max_pool1d max_pool2d max_pool3d adaptive_max_pool2d",
        tr("{y} = the largest of each window of {a}"),
        tr("In each window only the largest element gets the gradient"),
        Share(tr("{g} at each window's largest, 0 elsewhere"), "({gs}) → ({as})"),
    ),
    share_rule(
        "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d",
        tr("{y} = the mean of each window of {a}"),
        tr("In each window every element gets an equal part"),
        Share(tr("{g}, shared equally in each window"), "({gs}) → ({as})"),
    ),
    Rule(
        "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell",
        "{y} = {op}({a}, …)",
        tr("The gradient runs back through all time steps, through gates and weights at each"),
    ),
    Rule(
        "interpolate upsample pixel_shuffle grid_sample",
        "{y} = {a}, resampled",
        tr("Each input gets the gradients of the outputs it was used for, by its weights there"),
    ),
    Rule(
        "normalize",
        "{y} = {a} ÷ ‖{a}‖",
        tr("The gradient loses its part along the vector, for the length is fixed"),
    ),
)
