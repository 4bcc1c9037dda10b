"""Rows of tokens, in eight bits and as they are."""

import pytest
import torch

from llama_gui.engine.native_kernels import NativeKernels
from llama_gui.engine.quantised_linear import quantise_rows
from llama_gui.engine.token_table import CodedTable, Int8Table, PanelsTable, PlainTable
from llama_gui.engine.weight_rows import WeightRows

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture
def weight() -> torch.Tensor:
    return torch.randn(50, 96, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("held", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_plain_rows_are_those_of_the_table(weight: torch.Tensor, held: torch.dtype, dtype: torch.dtype):
    table = PlainTable(weight.to(held))
    ids = torch.tensor([3, 0, 49, 3])
    assert torch.equal(table.look_up(ids, dtype), weight.to(held)[ids].to(dtype))
    assert table.weight_bytes == 50 * 96 * held.itemsize


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_in_eight_bits_are_as_near_as_they_can_be(weight: torch.Tensor, dtype: torch.dtype):
    weight[7] *= 1000  # each row has a scale of its own
    table = Int8Table.of(weight)
    ids = torch.tensor([7, 1, 7, 20])
    rows = table.look_up(ids, dtype)
    assert rows.dtype == dtype
    step = weight[ids].abs().amax(1, keepdim=True) / 127
    rounded = 0 if dtype == torch.float32 else torch.finfo(dtype).eps * weight[ids].abs()
    assert ((rows.float() - weight[ids]).abs() <= 0.51 * step + rounded).all()
    assert torch.equal(table.look_up(ids[1:2], dtype), rows[1:2])
    assert table.weight_bytes == 50 * 96 + 50 * 4


def test_a_table_of_levels_and_scales_is_that_of_the_weight(weight: torch.Tensor):
    levels, scales = quantise_rows(weight, torch.float32)
    table = Int8Table(levels, scales.squeeze(1))
    ids = torch.arange(50)
    assert table.rows is levels
    assert torch.equal(table.look_up(ids, torch.float32), Int8Table.of(weight).look_up(ids, torch.float32))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_in_panels_are_the_same(weight: torch.Tensor, kernels: NativeKernels, dtype: torch.dtype):
    levels, scales = quantise_rows(weight, torch.float32)
    scales, ids = scales.squeeze(1), torch.tensor([3, 0, 49, 3])
    table = PanelsTable(kernels.panels(levels), scales)
    assert torch.equal(table.look_up(ids, dtype), Int8Table(levels, scales).look_up(ids, dtype))
    assert table.weight_bytes == 64 * 96 + 50 * 4  # 32 tokens lie together


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_in_codes_are_the_same(weight: torch.Tensor, kernels: NativeKernels, dtype: torch.dtype):
    coded, ids = kernels.coded(WeightRows.of(weight)), torch.tensor([3, 0, 49, 3])
    table = CodedTable(coded, kernels)
    assert torch.equal(table.look_up(ids, dtype), weight.bfloat16()[ids].to(dtype))
    assert table.rows is coded.pairs
    assert 64 * 96 * 1.5 < table.weight_bytes < 64 * 96 * 1.6  # and what comes once for each panel
