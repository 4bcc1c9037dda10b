"""safetensors files -> weights, each checked by name, shape and dtype. Weights are data: pickle files are refused."""

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PureWindowsPath
from typing import Any, Literal, NamedTuple, Protocol, Self

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from llama_gui.engine.fields import AGAIN, brief, brief_list, check_regular, not_finite, read_json, shown, unambiguous
from llama_gui.engine.file_rows import FileRows, RowSource
from llama_gui.engine.split_layers import SplitLayers
from llama_gui.engine.weight_rows import RowOrder, WeightRows
from llama_gui.errors import BrokenModelError, ModelNotFoundError, UnsupportedModelError
from llama_gui.paths import as_unicode

Shape = tuple[int, ...]

_TEXT_PARTS = {
    "language_model.model.": "model.",
    "model.language_model.": "model.",
    "language_model.lm_head.": "lm_head.",
    "model.text_model.": "model.",
}
"""Prefixes of the text network's weights in checkpoints that also hold another network (vision) -> what we call them.
Those of older files come first."""

_VISION_PARTS = {
    f"{outer}{stored}": part
    for outer in ("", "model.")
    for stored, part in (
        ("vision_tower.vision_model.", "vision_tower."),
        ("vision_tower.", "vision_tower."),
        ("multi_modal_projector.", "multi_modal_projector."),
        ("vision_model.", "vision_tower."),
        ("connector.", "multi_modal_projector."),
        ("visual.", "visual."),
        ("embed_vision.", "multi_modal_projector."),
        ("vision_embedder.", "vision_tower."),
        ("audio_tower.", "audio_tower."),
        ("embed_audio.", "audio_projector."),
    )
}
"""The same of the vision network's, and of what hears."""
_UNUSED = ("vision_tower.head.", "audio_tower.", "audio_projector.")
"""What nobody needs here: the first is SigLIP's, and makes a vector of an image."""
Network = Literal["all", "text", "vision", "mtp"]
"""Of which network a checkpoint is read, where it holds two, or a layer that guesses further tokens (Qwen3.5)."""
_GUESSING_PARTS = ("model.mtp_", "mtp.")
"""Those of ERNIE's and Qwen3.5's layer that guesses a further token: no part of either network."""
_MTP = "mtp."
_MTP_PARTS = {
    "layers.": "model.layers.",
    "norm.": "model.norm.",
    "fc.": "pre_projection.",
    "pre_fc_norm_embedding.": "embedding_norm.",
    "pre_fc_norm_hidden.": "row_norm.",
}
"""Of Qwen3.5's, what we call them."""

_OF_LAYER = re.compile(r"(model\.layers\.[0-9]+\.)(.+)(\.[^.]+)", re.ASCII)

_DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_NETWORK, _HEAD = "model.", "lm_head."
_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_OPEN_FILES = Path("/dev/fd")
"""Where Unix has the files of a process by their numbers."""
_MOST_HEADER_BYTES = 16 * 2**20  # 100,000 weights in one file


class StoredWeight(NamedTuple):
    """What the header of a file says of a weight; `dtype` by safetensors' name."""

    file: Path
    shape: Shape
    dtype: str


class WeightSource(Protocol):
    """Open weight files, as the network's loader reads them; see `Checkpoint`."""

    @property
    def names(self) -> frozenset[str]:
        """The names of all weights in the files."""
        ...

    def check(self, expected: Mapping[str, Shape], ignored_suffixes: Sequence[str] = ()) -> None:
        """Compare the files with what the network needs."""
        ...

    # `part`: only this one of a stack of matrices.

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """The weight `name`, which is the caller's own."""
        ...

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """The weight `name`, to be read before the files are closed."""
        ...

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """The matrix `name`, on the CPU and in any dtype."""
        ...

    def file_rows(self, name: str) -> RowSource:
        """The matrix `name`, which stays where it is; for longer than the files here are open."""
        ...


class Checkpoint:
    """The open weight files of a model folder. A context manager; tensors are read one at a time.

    `on_read` hears how many numbers each tensor has, before it is read; what it raises ends the reading. `network`: the
    other is left aside, and the weights of this one have the names that they have in a checkpoint of their own.
    `orders`: how the rows of a weight lie, see `RowOrder`. `part_names`: see `Family`.
    `is_headless`: the projection to the vocabulary is left aside. Files that were written without it have shorter names
    for the other weights. `split`: see `NetworkConfig`.

    Raises:
        ModelNotFoundError: there is no weight file, or a shard that the index names is missing.
        BrokenModelError: a file is cut off or damaged, or two files hold the same weight.
        UnsupportedModelError: the folder holds pickle files only, or quantised weights.
    """

    def __init__(
        self,
        folder: Path,
        on_read: Callable[[int], None] | None = None,
        *,
        network: Network = "all",
        orders: Mapping[str, RowOrder] | None = None,
        part_names: Mapping[str, str] | None = None,
        is_headless: bool = False,
        split: SplitLayers | None = None,
    ) -> None:
        self.folder = folder
        self._on_read = on_read
        self._network: Network = network
        self._orders = orders or {}
        self._part_names = part_names or {}
        self._split = split
        self._is_headless = is_headless
        self._stack = ExitStack()
        self._files: dict[str, tuple[Path, Any, str]] = {}
        """The file, its handle, and what the weight is called there."""
        try:
            for file in weight_files(folder):
                self._open(file)
        except BaseException:
            self._stack.close()
            raise

    def _open(self, file: Path) -> None:
        try:
            check_regular(file)
            _check_header(file)
            handle = self._stack.enter_context(safe_open(self._spelled(file), framework="pt"))
            names = list(handle.keys())
        except FileNotFoundError:
            raise ModelNotFoundError(f"{file} is missing. {AGAIN}") from None
        except (SafetensorError, OSError, ValueError, RecursionError) as error:
            raise BrokenModelError(f"{file} is damaged or cut off: {brief(str(error))}. {AGAIN}") from error
        for stored in names:
            name = _name_in(self._network, stored)
            if name is None or name.startswith(_GUESSING_PARTS) or (self._is_headless and name.startswith(_HEAD)):
                continue
            if self._is_headless and not name.startswith(_NETWORK):
                name = _NETWORK + name
            name = with_parts(name, self._part_names) if self._split is None else self._split.of_folder(name)
            if name in self._files:
                raise BrokenModelError(f"{file} and {self._files[name][0].name} both hold {brief(name)}. {AGAIN}")
            self._files[name] = (file, handle, stored)

    def _spelled(self, file: Path) -> Path:
        """A path of the same file that the library takes, which knows only those in UTF-8."""
        if as_unicode(str(file)) == str(file):
            return file
        if not _OPEN_FILES.is_dir():
            raise UnsupportedModelError(
                f"The path {file} has letters that are no Unicode, and such files cannot be opened here. "
                "Rename the folder or the file."
            )
        number = os.open(file, os.O_RDONLY)
        self._stack.callback(os.close, number)
        return _OPEN_FILES / str(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.clear()
        self._stack.close()

    @property
    def names(self) -> frozenset[str]:
        """The names of all weights in the files."""
        return frozenset(self._files)

    def check(
        self,
        expected: Mapping[str, Shape],
        ignored_suffixes: Sequence[str] = (),
        others: Mapping[str, str] | None = None,
    ) -> None:
        """Compare the files with what the network needs: every name once, in its shape, and nothing besides.

        `others`: name -> dtype, of those that are only read by `raw`.

        Raises:
            BrokenModelError: weights are missing or have another shape.
            UnsupportedModelError: there are weights that the network has no place for, or in a quantised dtype.
        """
        missing = sorted(map(self._stored_name, expected.keys() - self._files.keys()))
        if missing:
            raise BrokenModelError(f"{self.folder}: {brief_list(missing)} missing from the weight files. {AGAIN}")
        for name, shape in expected.items():
            self._check_one(name, shape, (others[name],) if others and name in others else tuple(_DTYPES))
        surplus = sorted(n for n in self._files.keys() - expected.keys() if not n.endswith(tuple(ignored_suffixes)))
        if surplus:
            stored = brief_list([self._files[name][2] for name in surplus])
            raise UnsupportedModelError(
                f"{self.folder}: the weight files hold {stored} that a network of this architecture has no place "
                "for, so its answers would be wrong."
            )

    def _stored_name(self, name: str) -> str:
        if self._split is not None:
            return self._split.in_folder(name)
        return with_parts(name, {ours: stored for stored, ours in self._part_names.items()})

    def _check_one(self, name: str, shape: Shape, dtypes: Sequence[str]) -> None:
        file, found, dtype = self.stored(name)
        called = self._files[name][2]
        if found != shape:
            raise BrokenModelError(
                f"{file}: {called} has the shape {shown(list(found))}, but config.json asks for {list(shape)}. "
                "The files belong to different models, or one of them is damaged."
            )
        if dtype not in dtypes:
            raise UnsupportedModelError(f"{file}: {called} is stored as {dtype}. Supported: {', '.join(dtypes)}.")

    def stored(self, name: str) -> StoredWeight:
        """What the header of its file says of the weight `name`. KeyError: there is none."""
        file, handle, stored = self._files[name]
        found = handle.get_slice(stored)
        return StoredWeight(file, tuple(found.get_shape()), found.get_dtype())

    def tensor(self, name: str, part: int | None = None) -> Tensor:
        """The weight `name` in the file's dtype, on CPU. It may be a view of the file: convert or copy it.

        `part`: only this one along the first dimension.

        Raises:
            BrokenModelError: the file cannot be read, or holds NaN or infinity there.
        """
        tensor = self.raw(name, part)
        self.check_finite(name, tensor)
        order = self._orders.get(name)
        return tensor if order is None else order.in_order(tensor)

    def check_finite(self, name: str, numbers: Tensor) -> None:
        """Raise what `not_finite` makes, if NaN or infinity is among `numbers`."""
        extremes = torch.stack(torch.aminmax(numbers))  # NaN if any is; `isfinite` takes ten times as long
        if not extremes.isfinite().all():
            raise self.not_finite(name)

    def not_finite(self, name: str) -> BrokenModelError:
        """The error for a weight that holds NaN or infinity."""
        file, _, _ = self._files[name]
        return not_finite(file, name)

    def raw(self, name: str, part: int | None = None) -> Tensor:
        """As `tensor`, whatever it holds: bytes, say."""
        file, handle, stored = self._files[name]
        if self._on_read is not None:
            shape = handle.get_slice(stored).get_shape()
            self._on_read(math.prod(shape if part is None else shape[1:]))
        try:
            return handle.get_tensor(stored) if part is None else handle.get_slice(stored)[part]
        except (SafetensorError, OSError, ValueError, RuntimeError) as error:
            raise BrokenModelError(f"{file}: {name} cannot be read: {error}. {AGAIN}") from error

    def weight(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """A copy of the weight `name`; raises what `tensor` raises.

        A view of the file would crash the process if somebody cut the file off while we run.
        """
        return self.tensor(name, part).to(device=device, dtype=dtype, copy=True)

    def borrowed(self, name: str, dtype: torch.dtype, device: torch.device, part: int | None = None) -> Tensor:
        """The weight `name`, maybe a view of the file; raises what `tensor` raises."""
        return self.tensor(name, part).to(device=device, dtype=dtype)

    def rows(self, name: str, part: int | None = None) -> WeightRows:
        """The matrix `name` as it is stored, a view of the file; raises what `tensor` raises."""
        return WeightRows.of(self.tensor(name, part))

    def file_rows(self, name: str) -> FileRows:
        """The matrix `name`, which stays in its file; raises what `FileRows` raises."""
        file, (count, width), stored = self.stored(name)
        dtype = _DTYPES[stored]
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            begin = json.loads(stream.read(length))[self._files[name][2]]["data_offsets"][0]
        return FileRows(
            file,
            name,
            offset=8 + length + begin,
            row_bytes=width * dtype.itemsize,
            count=count,
            numbers_of=lambda data: data.view(dtype),
        )


def with_parts(name: str, parts: Mapping[str, str]) -> str:
    """`name`, with what `parts` calls the part that it is of: of a layer, or of the network."""
    match = _OF_LAYER.fullmatch(name) if parts else None
    whole, _, kind = name.rpartition(".")
    if whole in parts:
        return f"{parts[whole]}.{kind}"
    return name if match is None else f"{match[1]}{parts.get(match[2], match[2])}{match[3]}"


def _name_in(network: Network, stored: str) -> str | None:
    """The name of the weight `stored` in a checkpoint of that network alone; None: it is the other's."""
    if network == "all":
        return stored
    if network == "mtp":
        inner = stored.removeprefix(_MTP)
        return None if inner == stored else _renamed(inner, _MTP_PARTS) or inner
    seen = _renamed(stored, _VISION_PARTS)
    if network == "vision":
        return None if not seen or seen.startswith(_UNUSED) else seen
    return None if seen is not None else _renamed(stored, _TEXT_PARTS) or stored


def _renamed(name: str, parts: Mapping[str, str]) -> str | None:
    """With what the first of `parts` that it begins with is called here; None: it begins with none of them."""
    part = next((part for part in parts if name.startswith(part)), None)
    return None if part is None else parts[part] + name.removeprefix(part)


def _check_header(file: Path) -> None:
    """Raise ValueError for what safetensors accepts: a weight that is described twice, and a header of any size."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _MOST_HEADER_BYTES:
            raise ValueError(f"its header would be {length} bytes long")
        json.loads(stream.read(length), object_pairs_hook=unambiguous)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of `folder`: model.safetensors, or else what the index names, as in transformers.

    Raises:
        ModelNotFoundError: there are none.
        BrokenModelError: the index is damaged or names a file outside the folder.
        UnsupportedModelError: the folder holds pickle files only.
    """
    whole, index = folder / _WHOLE, folder / _INDEX
    if whole.exists():  # an index beside it is of shards that it has replaced
        return [whole]
    if index.exists():
        return _indexed_files(index)
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    pickles = sorted(file.name for file in folder.glob("*") if file.suffix.lower() in _PICKLES)
    if pickles:
        raise UnsupportedModelError(
            f"{folder} holds its weights as pickle files, which can run code: {brief_list(pickles)}. "
            "Use a version with *.safetensors files."
        )
    raise ModelNotFoundError(f"{folder} holds no *.safetensors file. The download may not have finished.")


def _indexed_files(index: Path) -> list[Path]:
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise BrokenModelError(f"{index}: weight_map is missing or empty. {AGAIN}")
    for name in weight_map.values():
        # Windows' rules are the stricter ones: they know "/", "\\" and drives.
        if not isinstance(name, str) or PureWindowsPath(name).name != name or not name.endswith(".safetensors"):
            raise BrokenModelError(f"{index} names {shown(name)}, which is not a weight file of this folder. {AGAIN}")
    return [index.parent / name for name in sorted(set(weight_map.values()))]
