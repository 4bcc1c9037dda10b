"""Rows that stay in their file."""

from pathlib import Path

import pytest
import torch

from llama_gui.engine.checkpoint import Checkpoint
from llama_gui.engine.file_rows import FileRows
from llama_gui.errors import BrokenModelError
from tests.fakes.tiny_llama import write_tiny_llama

WIDTH = 5


def rows_in(file: Path, rows: torch.Tensor) -> FileRows:
    file.write_bytes(b"head" + rows.numpy().tobytes())
    return FileRows(
        file, "table", offset=4, row_bytes=4 * WIDTH, count=len(rows), numbers_of=lambda data: data.view(torch.float32)
    )


def test_rows_in_any_order_and_the_first_for_those_it_does_not_have(tmp_path: Path):
    rows = torch.randn(7, WIDTH)
    ids = [6, 2, 2, 0, 7, 999]
    assert torch.equal(rows_in(tmp_path / "file", rows).look_up(ids), rows[[6, 2, 2, 0, 0, 0]])


def test_a_file_that_was_deleted_is_still_read(tmp_path: Path):
    rows = torch.randn(3, WIDTH)
    source = rows_in(tmp_path / "file", rows)
    (tmp_path / "file").unlink()
    assert torch.equal(source.look_up([1]), rows[1:2])


def test_a_file_that_was_cut_off(tmp_path: Path):
    source = rows_in(tmp_path / "file", torch.randn(3, WIDTH))
    with (tmp_path / "file").open("r+b") as file:
        file.truncate(4 + 4 * WIDTH + 3)
    assert source.look_up([0]).shape == (1, WIDTH)
    with pytest.raises(BrokenModelError, match=r"file: table cannot be read: it ended while it was read"):
        source.look_up([0, 1])


def test_numbers_that_are_none(tmp_path: Path):
    rows = torch.randn(3, WIDTH)
    rows[2, 1] = torch.nan
    source = rows_in(tmp_path / "file", rows)
    source.look_up([0, 1])
    with pytest.raises(BrokenModelError, match="not finite"):
        source.look_up([2])


def test_no_file(tmp_path: Path):
    with pytest.raises(BrokenModelError, match="cannot be opened"):
        FileRows(tmp_path / "none", "t", offset=0, row_bytes=4, count=1, numbers_of=lambda data: data)


def test_of_a_folder(tmp_path: Path):
    name = "model.embed_tokens_per_layer.weight"
    with Checkpoint(write_tiny_llama(tmp_path / "model", "gemma4")) as files:
        source, want = files.file_rows(name), files.tensor(name).clone()
    assert torch.equal(source.look_up([3, 17, 399]), want[[3, 17, 399]])
