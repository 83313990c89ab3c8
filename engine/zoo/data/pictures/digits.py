"""Small synthetic images of digits, drawn stroke by stroke."""

import math

import torch

from gradscribe.engine.protocol.training.catalogue import Option
from gradscribe.engine.zoo.entry import Data


def digits(n: int, noise: float, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return synthetic digits (n, 1, 8, 8) in [0, 1] and which they are (n,).

    Each is drawn from the corners of its strokes on a grid 4 wide and 6 high, rotated, scaled
    and shifted a little: they are not handwritten.
    """
    strokes = {
        0: "1030 3043 4346 4636 3616 1606 0603 0310",
        1: "0220 2026",
        2: "0110 1030 3041 4142 4206 0646",
        3: "0040 4022 2243 4345 4536 3606",
        4: "2004 0444 3036",
        5: "4000 0002 0232 3243 4345 4536 3606",
        6: "4020 2003 0305 0516 1636 3645 4534 3404",
        7: "0040 4016",
        8: "1030 3041 4132 3212 1201 0110 1203 3243 0305 4345 0516 4536 1636",
        9: "4212 1201 0110 1030 3041 4143 4326 2606",
    }
    pixels = torch.stack(torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="xy"), -1)
    labels = torch.randint(0, 10, (n,), generator=rng)
    jitter = torch.rand(n, 5, generator=rng) * 2 - 1
    images = torch.zeros(n, 1, 8, 8)
    for i in range(n):
        ends = [[int(c) for c in pair] for pair in strokes[int(labels[i])].split()]
        lines = torch.tensor(ends, dtype=torch.float32).reshape(-1, 2, 2) - torch.tensor([2.0, 3.0])
        angle, wide, high, right, down = jitter[i].tolist()
        turn = torch.tensor(
            [
                [math.cos(0.2 * angle), -math.sin(0.2 * angle)],
                [math.sin(0.2 * angle), math.cos(0.2 * angle)],
            ]
        )
        scale = torch.tensor([1 + 0.15 * wide, 1 + 0.1 * high])
        lines = (lines * scale) @ turn.T + torch.tensor([3.5 + 0.7 * right, 3.5 + 0.5 * down])
        start, along = lines[:, 0], lines[:, 1] - lines[:, 0]
        way = ((pixels[:, :, None] - start) * along).sum(-1) / along.square().sum(-1)
        nearest = start + way.clamp(0, 1)[..., None] * along
        distance = (pixels[:, :, None] - nearest).norm(dim=-1).min(dim=-1).values
        images[i, 0] = (1.3 - distance).clamp(0, 1)
    images = images + noise * torch.randn(n, 1, 8, 8, generator=rng)
    return images.clamp(0, 1), labels


ENTRY = Data(
    digits,
    "Digits",
    "Synthetic 8 by 8 pictures, drawn from strokes with jitter; nobody's handwriting",
    "classes",
    "image",
    options=(
        Option("n", "int", 500, "Pictures", low=10, high=20_000, log=True),
        Option("noise", "float", 0.05, "Standard deviation of the noise", low=0.0, high=1.0),
    ),
    group="Pictures",
)
