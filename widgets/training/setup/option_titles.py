"""Titles of the options of data, models and the rest, where they have none of their own.

Arguments of torch without a name in plain words, ``T_max`` say, are called as torch calls them.
"""

from gradscribe.engine.protocol.training import Option
from gradscribe.playback.translation import pgettext, tr, translated

TITLES = {
    "activation": tr("activation"),
    "betas": tr("betas"),
    "bias": tr("bias"),
    "blocks": tr("blocks"),
    "cell": tr("cell"),
    "channels": tr("channels"),
    "class": tr("class"),
    "classes": tr("classes"),
    "coefficients": tr("coefficients"),
    "columns": tr("columns"),
    "comment": tr("comment"),
    "degree": tr("degree"),
    "dropout": tr("dropout"),
    "encoding": tr("encoding"),
    "factor": tr("factor"),
    "formula": tr("formula"),
    "heads": tr("heads"),
    "high": tr("high"),
    "init": tr("init"),
    "inputs": tr("inputs"),
    "intercept": tr("intercept"),
    "k": tr("classes"),
    "kind": tr("kind"),
    "label_smoothing": tr("label smoothing"),
    "layers": tr("layers"),
    "length": tr("length"),
    "limit": tr("rows at most"),
    "low": tr("low"),
    "missing_words": tr("missing words"),
    "mode": tr("mode"),
    "momentum": tr("momentum"),
    "n": tr("examples"),
    "noise": tr("noise"),
    "norm": pgettext("option", "norm"),
    "output": tr("output"),
    "path": tr("file"),
    "patience": tr("patience"),
    "points": tr("points"),
    "power": tr("power"),
    "separator": tr("separator"),
    "share": tr("share"),
    "slope": tr("slope"),
    "source": tr("source"),
    "target": tr("target"),
    "thousands": tr("thousands"),
    "threshold": tr("threshold"),
    "total_steps": tr("total steps"),
    "vocabulary": tr("vocabulary"),
    "waves": tr("waves"),
    "weight_decay": tr("weight decay"),
    "width": tr("width"),
}
"""Title of an option's name in the middle of a sentence."""


def option_title(option: Option) -> str:
    """Return the title of an option, capitalized."""
    words = translated(option.title) or TITLES.get(option.name, option.name.replace("_", " "))
    return words[:1].upper() + words[1:]
