"""Token sequences to repeat after their end."""

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Data


def copy_tokens(
    n: int, length: int, vocabulary: int, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens then blanks, and blanks then the same tokens: (n, 2 length); 0 is blank."""
    tokens = torch.randint(1, vocabulary, (n, length), generator=rng)
    blank = torch.zeros(n, length, dtype=torch.long)
    return torch.cat([tokens, blank], dim=1), torch.cat([blank, tokens], dim=1)


ENTRY = Data(
    copy_tokens,
    "Copy a sequence",
    "Tokens, to be repeated in order once all have been read",
    "tokens",
    "tokens",
    options=(
        Option("n", "int", 500, "Sequences", low=4, high=100_000, log=True),
        Option("length", "int", 4, "Tokens in a sequence", low=1, high=32),
        Option("vocabulary", "int", 8, "Different tokens, the blank included", low=2, high=64),
    ),
    group="Sequences",
)
