"""The name that an unknown word of a setup means: keys, options, entries and choices.

A word is compared without case, spaces, hyphens and the dots of a module: ``nn.ReLU()`` is
``relu``. Names that other libraries have for the same thing come next, then names spelled alike.
"""

import re
from collections.abc import Iterable, Mapping

MAX_WORD_CHARS = 60
"""Longer words are no misspelled names."""
ALIKE, NEARLY = 0.75, 0.65
"""Least similarity (of `difflib`) to another library's name, and to a name of a setup."""
LEAST_CHARS = 3
"""Least length of a name that is looked for inside a word."""

_OTHER_NAMES = {
    # Keys of a setup
    "data": "dataset datasets traindata source",
    "model": "network net architecture arch module nn",
    "loss": "criterion objective lossfunction lossfn cost costfunction",
    "optimizer": "optim optimiser solver algorithm opt",
    "schedule": "scheduler lrscheduler lrschedule learningrateschedule lrdecay",
    "steps": "epochs epoch numepochs nepochs maxepochs nbepoch iterations iters niter maxiter "
    "maxsteps numsteps updates totalsteps trainsteps",
    "batch": "batchsize batchsizes bs minibatch minibatchsize samplesperbatch batchnorm "
    "batchnorm1d",
    "shuffle": "shuffled permute",
    "drop_last": "droplastbatch dropremainder",
    "train": "trainsize trainshare trainsplit trainratio trainfraction split testsize testsplit "
    "valsplit validationsplit validationfraction valsize validation holdout trainingshare",
    "validate_every": "evalevery evaluateevery valinterval valevery validationsteps evalsteps "
    "checkvaleverynepoch validateinterval",
    "features": "transforms polynomialfeatures featuremap",
    "standardize": "standardise normalize normalise normalization scale scaling scaler "
    "standardscaler zscore whiten rescale",
    "l1": "lasso l1penalty l1regularization l1lambda l1weight mae maeloss meanabsoluteerror "
    "absolute l1loss",
    "l2": "ridge l2penalty l2regularization l2lambda l2weight regularization regularisation",
    "clip_norm": "gradclip clip clipping clipgradnorm maxgradnorm gradientclipping gradclipnorm "
    "gradientclipval maxnorm",
    "clip_value": "clipgradvalue gradclipvalue gradientclipvalue",
    "accumulate": "gradaccum gradientaccumulation gradaccumulation accumulategradbatches "
    "gradientaccumulationsteps microbatches accumulationsteps",
    "frozen": "freeze freezelayers fixed",
    "seed": "randomstate randomseed manualseed rng randseed",
    "device": "gpu cuda usegpu accelerator",
    "dtype": "precision floatx floattype",
    "amp": "mixedprecision autocast fp16 bf16",
    "threads": "numthreads nthreads workers numworkers njobs",
    "mistakes": "errors bugs",
    # Options
    "lr": "learningrate learnrate rate eta eta0 alpha learningrateinit stepsize",
    "weight_decay": "wd weightdecay decay",
    "momentum": "mom",
    "betas": "beta beta1 beta2",
    "eps": "epsilon",
    "layers": "hidden hiddenlayers hiddensizes hiddenlayersizes hiddenunits units neurons sizes "
    "layersizes widths hiddendim numlayers",
    "activation": "act nonlinearity activationfunction activations activationfn",
    "dropout": "dropoutrate dropoutp pdrop",
    "norm": "normalization normalisation batchnorm layernorm batchnormalization",
    "init": "initialization initialisation initializer weightinit kernelinitializer",
    "bias": "fitintercept intercept",
    "cell": "cells celltype",
    "width": "hiddensize hiddendim dmodel embeddim statesize",
    "heads": "numheads nheads nhead",
    "blocks": "numblocks depth",
    "path": "file filename filepath csv csvfile table",
    "inputs": "x xcolumns inputcolumns predictors columns featurecolumns input",
    "target": "y ycolumn label labels targets targetcolumn output",
    "classes": "classification nclasses numclasses categorical",
    "header": "hasheader headers firstrow",
    "missing": "na nan missingvalues navalues dropna fillna",
    "limit": "rows maxrows nrows mostrows",
    "n": "samples nsamples numsamples examples numexamples size points count",
    "noise": "std sigma noisestd",
    "label_smoothing": "smoothing",
    "gamma": "decayrate factor decay",
    # Entries of the catalogue
    "moons": "makemoons twomoons moon halfmoons",
    "circles": "makecircles rings",
    "gaussians": "blobs makeblobs clusters",
    "digits": "mnist handwrittendigits",
    "csv": "table file dataframe spreadsheet csvfile tsv",
    "sine": "sin sinus sinewave",
    "line": "linearregression straightline",
    "spirals": "makespirals",
    "mlp": "dense fullyconnected feedforward neuralnetwork neuralnet nn fc perceptron "
    "multilayerperceptron mlpclassifier mlpregressor sequential ann dnn",
    "linear": "linearregression logisticregression logistic linreg logreg linearmodel identity "
    "none no off noop",
    "cnn": "conv convnet convolutional lenet convolution conv2d",
    "recurrent": "recurrentnetwork",
    "transformer": "gpt attention selfattention",
    "own": "custom mine mymodel module user",
    "bce": "bcewithlogits bcewithlogitsloss bceloss binarycrossentropy logloss logisticloss",
    "cross_entropy": "crossentropyloss ce celoss nll nllloss softmax categoricalcrossentropy "
    "sparsecategoricalcrossentropy",
    "mse": "mseloss l2 meansquarederror squarederror squared l2loss rmse",
    "huber": "huberloss smoothl1 smoothl1loss",
    "hinge": "svm hingeloss marginloss",
    "sgd": "gd gradientdescent stochasticgradientdescent momentum vanilla",
    "adam": "adamoptimizer",
    "plateau": "reducelronplateau",
    "step": "steplr",
    "cosine": "cosineannealinglr cosineannealing",
    "warm_restarts": "cosineannealingwarmrestarts sgdr",
    # Choices
    "relu": "rectifier rectifiedlinear relu6",
    "silu": "swish",
    "leaky_relu": "lrelu",
    "sigmoid": "logistic logsigmoid sigm",
    "tanh": "hyperbolictangent tanhyp hardtanh",
    "xavier": "glorot xavieruniform glorotuniform",
    "kaiming": "he henormal heuniform kaiminguniform kaimingnormal",
    "zeros": "zero",
    "normal": "gaussian randn",
    "layer": "layernorm",
    "leave rows out": "drop dropna skip remove omit ignore leaveout",
    "float32": "float fp32 single f32 full",
    "float64": "double fp64 f64",
    "float16": "half fp16 f16 16",
    "bfloat16": "bf16",
    "reference": "plain eager slow python",
    "captured": "fast compiled compile jit graph",
}
"""Names of a setup, with what the same is called elsewhere."""

REMARKS: dict[str, tuple[tuple[str, ...], str]] = {
    "steps": (
        ("epoch",),
        'a step is one batch: an epoch has as many as there are batches, with "batch": 0 one',
    ),
    "train": (("test", "val", "hold"), "it is the share that is trained on"),
}
"""Names with other words: parts of these words, and a remark on the difference."""


def plain(word: str) -> str:
    """Return a word without case, separators, a module before it and brackets behind it."""
    return re.sub(r"[^0-9a-z]", "", re.sub(r"\(.*", "", word).rpartition(".")[2].lower())


def nearest(word: str, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> str:
    """Return the name of ``known`` that a word means; empty if none is near.

    ``other_names``: more names for the known ones, in the form of `plain`.
    """
    if not word or len(word) > MAX_WORD_CHARS:
        return ""
    names = {plain(name): name for name in reversed([*known])}
    bare = plain(word)
    if bare in names:
        return names[bare]
    others = {
        other: name
        for name in reversed([*names.values()])
        for other in _OTHER_NAMES.get(name, "").split()
    }
    others |= {other: name for other, name in (other_names or {}).items() if plain(name) in names}
    if bare in others:
        return others[bare]
    return _spelled_alike(bare, names, others)


def _spelled_alike(bare: str, names: Mapping[str, str], others: Mapping[str, str]) -> str:
    import difflib

    close = difflib.get_close_matches(bare, names, 1, NEARLY)
    foreign = difflib.get_close_matches(bare, others, 1, ALIKE)
    if close and foreign:
        ratio = difflib.SequenceMatcher
        if ratio(None, foreign[0], bare).ratio() > ratio(None, close[0], bare).ratio():
            return others[foreign[0]]
    if close:
        return names[close[0]]
    if foreign:
        return others[foreign[0]]
    longest = sorted(names, key=len, reverse=True)
    inside = (name for name in longest if len(name) >= LEAST_CHARS and name in bare)
    around = (name for name in longest if len(bare) >= LEAST_CHARS and bare in name)
    found = next(inside, None) or next(around, None)
    return names[found] if found else ""


def did_you_mean(
    word: str, known: Iterable[str], other_names: Mapping[str, str] | None = None
) -> str:
    """Return a hint at the known word that is nearest to ``word``; else empty."""
    meant = nearest(word, known, other_names)
    if not meant:
        return ""
    parts, remark = REMARKS.get(meant, ((), ""))
    is_other = any(part in plain(word) for part in parts)
    return f"; did you mean {meant!r}?" + (f" {remark[:1].upper()}{remark[1:]}" if is_other else "")
