"""Ops whose kernels report an index out of bounds later, to whatever call synchronizes next."""

import torch

BOUNDS_CHECKING_OPS = frozenset(
    (
        "getitem setitem index_add index_add_ index_copy index_copy_ index_fill index_fill_ "
        "index_put index_put_ index_reduce index_reduce_ index_select gather scatter scatter_ "
        "scatter_add scatter_add_ scatter_reduce scatter_reduce_ take take_along_dim put put_ "
        "embedding embedding_bag one_hot cross_entropy nll_loss binary_cross_entropy "
        "multi_margin_loss multilabel_margin_loss multinomial bernoulli bernoulli_ _assert_async"
    ).split()
)
"""Ops whose kernels check on the device whether their inputs are within bounds."""


def synchronize(t: torch.Tensor) -> None:
    """Synchronize with the device of ``t``, so that a pending kernel error is raised here.

    Raises:
        RuntimeError: a kernel failed; `torch.AcceleratorError` since torch 2.8.
    """
    if t.is_cuda and not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize(t.device)
