"""Hints for errors of torch.distributed, DDP and their ranks."""

from gradscribe.engine.hints.advice import HintRow

ROWS = (
    HintRow(
        "environment variable (RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT) expected, but not set",
        "This is one process, no rank of several: use Run > Ranks, record --ranks 2, or torchrun.",
        "Error initializing torch.distributed using env:// rendezvous: environment variable RANK "
        "expected, but not set",
        ValueError,
    ),
    HintRow(
        "Default process group has not been initialized",
        "Call dist.init_process_group() before the first collective and before DDP.",
        "Default process group has not been initialized, please make sure to call "
        "init_process_group.",
        ValueError,
    ),
    HintRow(
        "initialize the default process group twice",
        "One dist.init_process_group() is enough; dist.destroy_process_group() ends it.",
        "trying to initialize the default process group twice!",
        ValueError,
    ),
    HintRow(
        "ProcessGroupNCCL is only supported with GPUs",
        "There is no GPU here: use the backend gloo.",
        "ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
        ValueError,
    ),
    HintRow(
        "Distributed package doesn't have (NCCL|MPI|UCC) built in",
        "This torch has no {1}: use the backend gloo.",
        "Distributed package doesn't have NCCL built in",
    ),
    HintRow(
        "Unknown backend type",
        "Backends are gloo for the CPU and nccl for GPUs.",
        "Unknown backend type glo",
        AssertionError,
    ),
    HintRow(
        "Expected to have finished reduction in the prior iteration",
        "Some parameters got no gradient on this rank: use them all, or pass "
        "find_unused_parameters=True to DDP.",
        "Expected to have finished reduction in the prior iteration before starting a new one.",
    ),
    HintRow(
        "[Cc]onnection (closed|reset) by peer",
        "Another rank has ended while this one waited for it: its error is the first one.",
        "Connection closed by peer [127.0.0.1]:1234",
    ),
)
