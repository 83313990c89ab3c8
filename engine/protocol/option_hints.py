"""Hints at the part of a setup to which a misplaced option belongs.

A test compares the table with the catalogue, which only the engine can import.
"""

import json

OPTIONS: dict[str, dict[str, str]] = {
    "data": {
        "circle": "n noise",
        "circles": "factor",
        "gaussians": "classes",
        "line": "slope intercept",
        "outliers": "share",
        "polynomial": "coefficients",
        "sine": "waves",
        "copy_tokens": "length vocabulary",
        "csv": "path inputs target header missing limit",
        "formula": "formula low high",
        "points": "points names",
    },
    "model": {
        "mlp": "layers activation dropout norm init output",
        "linear": "bias",
        "polynomial": "degree",
        "two_parameters": "kind a b",
        "cnn": "channels",
        "recurrent": "cell width",
        "transformer": "heads blocks",
        "own": "source class arguments guarded",
    },
    "loss": {"cross_entropy": "label_smoothing", "huber": "delta"},
    "optimizer": {
        "adam": "lr betas eps weight_decay amsgrad maximize decoupled_weight_decay",
        "sgd": "momentum dampening nesterov",
        "adadelta": "rho",
        "adafactor": "beta2_decay d",
        "adagrad": "lr_decay initial_accumulator_value",
        "asgd": "lambd alpha t0",
        "lbfgs": "max_iter tolerance_grad tolerance_change history_size line_search_fn",
        "muon": "ns_coefficients ns_steps adjust_lr_fn",
        "nadam": "momentum_decay",
        "rmsprop": "centered",
        "rprop": "etas step_sizes",
    },
    "schedule": {
        "step": "step_size gamma",
        "cosine": "T_max eta_min",
        "linear": "start_factor end_factor total_iters",
        "cyclic": "base_lr max_lr step_size_up mode scale_mode cycle_momentum base_momentum"
        " max_momentum",
        "multistep": "milestones",
        "one_cycle": "total_steps pct_start anneal_strategy div_factor final_div_factor"
        " three_phase",
        "plateau": "factor patience threshold threshold_mode cooldown min_lr",
        "warm_restarts": "T_0 T_mult",
        "constant": "factor total_iters",
        "polynomial": "total_iters power",
    },
}
"""Kind of part -> entry -> options; an option of several entries is listed under the best known."""
ALIASES = {"learning_rate": "lr", "wd": "weight_decay", "hidden": "layers"}
"""Common other names of options."""
LONGEST = 60


def hint_for_option(word: str, value: object, besides: str = "") -> str:
    """Return a hint at the part that has the option ``word``, with an example; else empty.

    ``besides`` is the kind of part to leave out: the option was given there.
    """
    name = ALIASES.get(word, word)
    for kind, entries in OPTIONS.items():
        for entry, options in entries.items():
            if kind != besides and name in options.split():
                example = json.dumps({"name": entry, name: value}, default=str)
                if len(example) > LONGEST:
                    example = f'{{"name": "{entry}", "{name}": …}}'
                return f'it belongs to the {kind}, as in "{kind}": {example}'
    return ""
