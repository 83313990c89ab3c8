"""Token sequences to sort."""

import torch

from gradscribe.engine.zoo.data.sequences import copy_tokens
from gradscribe.engine.zoo.entry import Data


def sort_tokens(
    n: int, length: int, vocabulary: int, rng: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens then blanks, and blanks then the tokens sorted: (n, 2 length); 0 is blank."""
    tokens = torch.randint(1, vocabulary, (n, length), generator=rng)
    blank = torch.zeros(n, length, dtype=torch.long)
    ordered = tokens.sort(dim=1).values
    return torch.cat([tokens, blank], dim=1), torch.cat([blank, ordered], dim=1)


ENTRY = Data(
    sort_tokens,
    "Sort a sequence",
    "Tokens, to be given back in rising order",
    "tokens",
    "tokens",
    options=copy_tokens.ENTRY.options,
    group="Sequences",
)
