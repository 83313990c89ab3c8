"""Export a run as a script for torchrun: its ranks share each batch and make the same steps."""

import re

import torch
from torch import nn

from gradscribe.engine.protocol.setup import SetupError
from gradscribe.engine.train.runs import export
from gradscribe.engine.train.runs.run import TrainingRun
from gradscribe.engine.train.source import catalogue, codegen
from gradscribe.engine.zoo.entry import Optimizer

PLACE = "ddp"
_ROWS = 6
"""Rows of the data with which it is checked that the loss is a mean over the examples."""
_START = """
if "RANK" not in os.environ:
    raise SystemExit("Start it with: torchrun --nproc-per-node 2 " + os.path.basename(__file__))
"""
_SHARE = '''
def share(inputs, targets):
    """Return this rank's part of a batch, and its weight in the mean over all ranks."""
    rows = torch.arange(len(inputs), device=inputs.device).tensor_split(world)[rank]
    weight = len(rows) * world / len(inputs)
    if len(rows) == 0:
        # Fewer examples than ranks: every rank takes part, this one with a gradient of zero.
        rows = torch.zeros(1, dtype=torch.long, device=inputs.device)
    return inputs[rows], targets[rows], weight


def over_ranks(loss):
    """Return the mean over all ranks: the loss of the whole batch."""
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total / world
'''


def script(run: TrainingRun, count: int, remarks: export.Remarks) -> str:
    """Return a script that makes ``count`` steps of the run under torchrun, on any number of ranks.

    Each rank draws the same batches and takes a part of each; the gradients of the parts are
    weighted by their sizes, so that their mean is the gradient of the batch. Losses and weights
    are those of the script of one process, up to the rounding of a sum in another order.

    Raises:
        SetupError: the run cannot be shared among ranks without becoming another.
    """
    check(run)
    text = export.script(run, count, remarks)
    setup = run.setup
    head = codegen.head(setup).strip()
    text = _once(text, head, _head(run, head))
    text = _once(text, "\nimport torch\n", "\nimport torch\nimport torch.distributed as dist\n")
    text = _with_os(text)
    # Made before the optimizer: a SyncBatchNorm has other parameters.
    at = text.index("\noptimizer = torch.optim.")
    text = text[:at] + f"\n{_wrapper(run)}" + text[at:]
    at = text.index("# One step\n")
    text = text[: at + len("# One step\n")] + _SHARE + "\n" + text[at + len("# One step\n") :]
    text = _step(text)
    text = text.replace("    print(step, loss)", "    if rank == 0:\n        print(step, loss)")
    text = _once(text, "plain PyTorch, written by Gradscribe.\n", _TITLE + _warning(run))
    return f"{text}dist.destroy_process_group()\n"


_TITLE = """plain PyTorch for torchrun, written by Gradscribe.

Start it with: torchrun --nproc-per-node 2 FILE
The ranks share each batch; together they make the steps of one process.
"""


def check(run: TrainingRun) -> None:
    """Check that ranks can share the run. Raises `SetupError` with the reason if not."""
    setup, model = run.setup, run.program.model
    if run.changes:
        raise SetupError("a run that was changed on its way has no form for torchrun", PLACE)
    if setup.deviates:
        raise SetupError("a step with a mistake, or of another order, has none for torchrun", PLACE)
    optimizer, _ = catalogue.find("optimizer", setup.optimizer, Optimizer)
    if optimizer.closure:
        raise SetupError(
            f"{setup.optimizer.name} searches along the loss, which a rank has of its part alone",
            PLACE,
        )
    kind = torch.device(setup.device).type
    if kind not in ("cpu", "cuda"):
        raise SetupError(f"torchrun has no backend for {kind} here", PLACE)
    if kind == "cpu" and _batch_norms(model):
        raise SetupError(
            f"{_batch_norms(model)[0]} is a BatchNorm, which would see its rank's part of a batch; "
            "PyTorch has SyncBatchNorm on a GPU alone",
            PLACE,
        )
    if not _is_mean(run):
        assert setup.loss is not None
        raise SetupError(
            f"{setup.loss.name} is not a mean over the examples, so parts of a batch do not add up",
            PLACE,
        )


def _batch_norms(model: nn.Module) -> list[str]:
    kind = nn.modules.batchnorm._BatchNorm
    return [name or "model" for name, module in model.named_modules() if isinstance(module, kind)]


def _dropouts(model: nn.Module) -> list[str]:
    """Return the names of modules that draw random numbers in training."""
    found = []
    for name, module in model.named_modules():
        shares = (getattr(module, "p", 0.0), getattr(module, "dropout", 0.0))
        if any(isinstance(share, float) and share > 0 for share in shares):
            found.append(name or "model")
    return found


def _is_mean(run: TrainingRun) -> bool:
    """Return whether the loss of some rows is the mean of the losses of each of them."""
    inputs, targets = run.program.tensor("x_train")[:_ROWS], run.program.tensor("y_train")[:_ROWS]
    model = run.program.model
    was_training, state = model.training, run.program.random_state()
    model.eval()
    try:
        with torch.no_grad():
            output = model(inputs).double()
            wide = targets.double() if targets.is_floating_point() else targets
            whole = run.program.criterion(output, wide)
            parts = [
                run.program.criterion(output[i : i + 1], wide[i : i + 1]) for i in range(len(wide))
            ]
    finally:
        model.train(was_training)
        run.program.set_random_state(state)
    mean = torch.stack(parts).mean()
    return bool(torch.isclose(whole, mean, rtol=1e-9, atol=1e-12, equal_nan=True))


def _head(run: TrainingRun, head: str) -> str:
    """Return the section that chooses device and ranks."""
    if torch.device(run.setup.device).type == "cuda":
        head = re.sub(
            r"device = .*",
            'device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))\n'
            "torch.cuda.set_device(device)",
            head,
        )
    backend = "nccl" if "cuda" in head else "gloo"
    ranks = f'dist.init_process_group("{backend}")\n'
    ranks += "rank, world = dist.get_rank(), dist.get_world_size()"
    return f"{_START.strip()}\n{head}\n{ranks}"


def _with_os(text: str) -> str:
    """Return the script with ``import os`` among the imports, sorted."""
    first = next(line for line in text.splitlines() if line.startswith("import "))
    if first in ("import torch",):
        return _once(text, "import torch\n", "import os\n\nimport torch\n")
    before = [line for line in text.splitlines() if re.fullmatch(r"import [a-n]\w*", line)]
    anchor = before[-1] if before else first
    return _once(text, f"{anchor}\n", f"{anchor}\nimport os\n")


def _wrapper(run: TrainingRun) -> str:
    """Return the lines that make the model of all ranks, each with random numbers of its own."""
    seed = codegen.seeds(run.setup)[0]
    sync, model = "", "model"
    if _batch_norms(run.program.model):
        sync = "model = nn.SyncBatchNorm.convert_sync_batchnorm(model)\n"
    unused = ", find_unused_parameters=True" if run.setup.model.name == "own" else ""
    draws = ""
    if _dropouts(run.program.model) or run.setup.model.name == "own":
        draws = f"torch.manual_seed({seed} + rank)\n"
    return f"{sync}parallel = nn.parallel.DistributedDataParallel({model}{unused})\n{draws}"


def _warning(run: TrainingRun) -> str:
    """Return a sentence for the head of the script on what differs; empty if nothing does."""
    names = _dropouts(run.program.model)
    if names:
        return (
            f"Dropout ({names[0]}) draws other numbers on each rank than in one process, so its\n"
            "losses differ by chance.\n"
        )
    return ""


def _step(text: str) -> str:
    """Return the script with a step on this rank's part of the batch."""
    indent = re.search(r"^( +)(with torch\.autocast.*\n +)?output = model\(inputs\)", text, re.M)
    assert indent is not None
    start = indent.start()
    part = f"{indent[1]}inputs, targets, weight = share(inputs, targets)\n"
    text = text[:start] + part + text[start:]
    text = _once(text, "output = model(inputs)", "output = parallel(inputs)")
    text = _once(
        text, "loss = criterion(output, targets)", "loss = weight * criterion(output, targets)"
    )
    backward = re.search(r"^( +)(scaler\.scale\(loss\)|loss)\.backward\(\)\n", text, re.M)
    assert backward is not None
    after = f"{backward[1]}loss = over_ranks(loss)\n"
    return text[: backward.end()] + after + text[backward.end() :]


def _once(text: str, old: str, new: str) -> str:
    """Return the text with the first ``old`` replaced, which is there."""
    assert old in text, old
    return text.replace(old, new, 1)
