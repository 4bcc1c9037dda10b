"""How rows are shared out between calls."""

import pytest
import torch

from llama_gui.engine.row_tiles import TILE, RowTiles, SameBits, pad_rows

WEIGHT = torch.randn(8, 16, generator=torch.Generator().manual_seed(1))


def product(x, bias):
    y = torch.stack([row @ WEIGHT.t() for row in x])  # row by row: always the same bits
    return y if bias is None else y + bias


@pytest.mark.parametrize(
    ("seconds", "rows", "parts"),
    [
        ({TILE: 1.0}, 70, (TILE, TILE, TILE)),
        ({TILE: 1.0, 128: 1.5}, 128, (128,)),
        ({TILE: 1.0, 128: 1.5}, 33, (128,)),  # filled up: faster than two
        ({TILE: 1.0, 128: 2.5}, 33, (TILE, TILE)),
        ({TILE: 1.0, 128: 2.0, 512: 6.0}, 600, (512, 128)),
        ({TILE: 1.0, 128: 9.0}, 128, (TILE,) * 4),  # one that is slower than its parts
    ],
)
def test_the_fastest_calls(seconds, rows, parts):
    tiles = RowTiles(seconds)
    assert tiles.split(rows) == parts
    assert sum(parts) >= rows


@pytest.mark.parametrize("rows", [1, TILE, TILE + 1, 100, 700])
def test_every_row_is_in_one_part(rows):
    x = torch.arange(rows).unsqueeze(1)
    parts = RowTiles({TILE: 1.0, 128: 1.5, 256: 2.0}).tiles(x)
    assert torch.equal(torch.cat([part for part, _ in parts]), x)
    assert all(len(part) <= max(least, TILE) and least in (1, 128, 256) for part, least in parts)


def test_only_calls_with_the_same_bits_are_used():
    check = SameBits(product, WEIGHT)
    tiles = RowTiles.probe(product, lambda x, bias: product(x, bias) + (1e-6 if len(x) in (64, 256) else 0), check)
    assert set(tiles.sizes) >= {TILE, 128, 512}
    assert not {64, 256} & set(tiles.sizes)


def test_a_difference_that_half_precision_hides_is_seen():
    weight, wrong = WEIGHT.bfloat16(), 2.0**-13

    def rounded(x, bias, error=0.0):
        y = product(x.float(), None) * (1 + error)
        return (y if bias is None else y + bias.float()).bfloat16()

    check = SameBits(rounded, weight)
    assert check.holds(rounded, 64)
    assert not check.holds(lambda x, bias: rounded(x, bias, wrong), 64)


def test_a_slow_call_counts_as_different():
    check = SameBits(product, WEIGHT, limit=0.0)
    assert not check.holds(product, TILE)
    assert check.seconds(product, TILE) is None


def test_padding():
    x = torch.ones(3, 2)
    assert pad_rows(x, 3) is x
    assert pad_rows(x, 5).tolist() == [[1, 1]] * 3 + [[0, 0]] * 2
