"""What models are on disk: folders in Hugging Face layout, GGUF files, and the cache that all hub tools share."""

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from llama_gui.errors import BrokenModelError, ModelError, ModelNotFoundError
from llama_gui.library.gguf_check import check_gguf, gguf_architecture, gguf_pooling
from llama_gui.library.hub_cache import HUB_PREFIX, SNAPSHOTS, repository_name
from llama_gui.library.plan import is_guesser
from llama_gui.library.sight import folder_reads_images, gguf_reads_images
from llama_gui.library.sizes import in_words
from llama_gui.paths import as_unicode
from llama_gui.vocabulary import ModelEntry

STARTER_NAME = "Starter model"

_CONFIG, _MODULES = "config.json", "modules.json"
_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_GGUF = ".gguf"
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.(?:safetensors|gguf)$")
_MOST_JSON_BYTES = 32 * 2**20
_MOST_HEADER_BYTES = 16 * 2**20
_NAMELESS = ("model", "ggml-model")
_PARTS_OF_MODELS = ("clip",)
_ASSISTANTS, _ASSISTANT_IN_GGUF = ("gemma4_assistant", "gemma4_unified_assistant"), "gemma4-assistant"
"""Networks that only guess for others, by their `model_type` and by the name that GGUF has for them."""
CheckGguf = Callable[[Path], None]
"""Raises `BrokenModelError` for a file that is not all there."""
GGUF_ARCHITECTURES = (
    "llama", "mistral3", "qwen2", "qwen3", "qwen2vl", "qwen3vl", "qwen3vlmoe", "smollm3", "granite", "qwen3moe",
    "granitemoe", "phi3", "gemma2", "gemma3", "gemma4", "gemma4-assistant",
    "gpt-oss", "olmo2", "olmoe", "seed_oss", "exaone4", "ernie4_5", "glm4", "chatglm", "hunyuan-dense",
    "minicpm", "qwen2moe", "ernie4_5-moe", "arcee", "qwen35", "qwen35moe",
    "qwen3next", "lfm2", "lfm2moe", "granitehybrid",
    "nemotron_h", "nemotron_h_moe",
)  # fmt: skip
"""What the engine runs, by the names that GGUF has for it; a test keeps them together."""
EMBEDDING_TYPES = ("qwen3", "qwen2", "mistral", "llama")
"""Whose relatives make vectors, by their `model_type`."""
_LAST_IN_GGUF = 3
"""The pooling of the last token."""


def scan(
    folders: Sequence[Path],
    starter: Path,
    names: Mapping[str, str] | None = None,
    others: Sequence[Path] = (),
    check: CheckGguf = check_gguf,
) -> list[ModelEntry]:
    """Every usable model in `folders`: the starter model first, the others by name.

    A folder may be a model itself, hold models one or two levels down, or be the hub's cache; it may also be one GGUF
    file. What cannot be read or used is left out: one bad folder must not hide the good ones. `names`: real path ->
    what the user calls it. `others`: folders of other programs, of which the GGUF files count that we run. `check`:
    what a GGUF file has to stand.
    """
    starters = [replace(entry, name=STARTER_NAME, is_starter=True) for entry in _usable([starter], check)]
    found = _usable((candidate for folder in folders for candidate in _candidates(folder)), check)
    files = (file for folder in others for file in _gguf_files(_candidates(folder)))
    found += _usable((file for file in files if _runs(file)), check)
    taken = {os.path.realpath(entry.path) for entry in starters}
    rest: list[ModelEntry] = []
    for entry in found:
        place = os.path.realpath(entry.path)
        if place not in taken:
            taken.add(place)
            rest.append(replace(entry, name=(names or {}).get(place, entry.name)))
    return starters + sorted(_told_apart(rest), key=lambda entry: (entry.name.casefold(), entry.path))


def name_of(path: str | Path, starter: Path, names: Mapping[str, str] | None = None) -> str:
    """What a model is called wherever the user sees it; it need not be there."""
    place = _absolute(Path(path))
    real = os.path.realpath(place)
    return STARTER_NAME if real == os.path.realpath(starter) else (names or {}).get(real) or _name(place)


def describe(path: Path) -> ModelEntry:
    """The entry of one model folder, of one model in the hub's cache, or of one GGUF file.

    Raises:
        ModelNotFoundError: there is no such folder, or a file of the model is missing.
        BrokenModelError: the folder or its configuration cannot be read, or a file is cut off.
    """
    return _described(path, check_gguf)


def _described(path: Path, check: CheckGguf) -> ModelEntry:
    asked = _absolute(path)
    try:
        if asked.suffix.lower() == _GGUF and asked.is_file():
            return _describe_gguf(asked, check)
        if not asked.is_dir():
            raise ModelNotFoundError(f"There is no folder {asked}.")
        folder = _snapshot(asked) if asked.name.startswith(HUB_PREFIX) else asked
        config = _config(folder / _CONFIG)
        _check_weights(folder)
        embeds = _pooling(folder)
        runs = embeds is None or _embeds_here(config, embeds)
        sees = folder_reads_images(config)
        entry = ModelEntry(_name(folder), str(folder), _size(folder), runs=runs, reads_images=sees)
        return replace(entry, embeds=embeds is not None, guesses=config.get("model_type") in _ASSISTANTS)
    except OSError as error:
        raise BrokenModelError(f"The folder {asked} cannot be read: {error.strerror or error}.") from error


def _describe_gguf(file: Path, check: CheckGguf) -> ModelEntry:
    if _PART.search(file.name):
        raise BrokenModelError(f"The file {file} is one part of a model. Choose a version in one file.")
    if gguf_architecture(file) in _PARTS_OF_MODELS:
        raise BrokenModelError(f"The file {file} reads pictures for another model. Choose the file of that one.")
    check(file)
    pooling = gguf_pooling(file)
    runs = not pooling or (pooling == _LAST_IN_GGUF and _runs(file))
    size, sees = file.stat().st_size, gguf_reads_images(file)
    entry = ModelEntry(_name(file), str(file), size, embeds=bool(pooling), runs=runs, reads_images=sees)
    return replace(entry, guesses=gguf_architecture(file) == _ASSISTANT_IN_GGUF or is_guesser(file.name))


def _pooling(folder: Path) -> Path | None:
    """The module that makes one vector of all, as sentence-transformers has it behind the network; None: none does."""
    modules = _read_json(folder / _MODULES) if (folder / _MODULES).is_file() else None
    for module in modules if isinstance(modules, list) else ():
        if isinstance(module, dict) and str(module.get("type")).rpartition(".")[2] == "Pooling":
            return folder / PurePosixPath(str(module.get("path")))
    return None


def _embeds_here(config: Mapping[str, Any], pooling: Path) -> bool:
    """Whether the engine makes such vectors: of the last token, by a network that it knows."""
    modes = pooling / _CONFIG
    told = _read_json(modes) if modes.is_file() else None
    is_last = isinstance(told, dict) and (told.get("pooling_mode_lasttoken") or told.get("pooling_mode") == "lasttoken")
    return bool(is_last) and config.get("model_type") in EMBEDDING_TYPES


def _runs(file: Path) -> bool:
    """Whether we run what a GGUF file holds, as far as its first bytes tell."""
    try:
        return gguf_architecture(file) in GGUF_ARCHITECTURES
    except (BrokenModelError, OSError):
        return False


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError:  # "~somebody", and there is nobody of that name
        return path.absolute()


def _usable(candidates: Iterable[Path], check: CheckGguf) -> list[ModelEntry]:
    found: list[ModelEntry] = []
    for candidate in candidates:
        with contextlib.suppress(ModelError):
            found.append(_described(candidate, check))
    return found


def _candidates(folder: Path) -> Iterator[Path]:
    """The folder, what lies in it and in the folders there, and the GGUF files in those; nothing where it cannot be
    listed. LM Studio and many people keep models as OWNER/NAME.
    """
    yield folder
    children = _children(folder)
    # A model is not a shelf of models: what lies in its folder (an "original" copy, say) belongs to it.
    if any(child.name == _CONFIG for child in children):
        yield from _gguf_files(children)
        return
    for child in children:
        yield child
        inner = _children(child)
        yield from _gguf_files(inner)
        if child.name.startswith(HUB_PREFIX):
            for snapshot in _children(child / SNAPSHOTS):
                for folder in (snapshot, *_folders(snapshot)):  # some repositories have one for each kind
                    yield from _gguf_files(_children(folder))
        elif not any(path.name == _CONFIG for path in inner):
            for path in _folders(child):
                below = _children(path)
                if path.name.startswith(HUB_PREFIX) or any(file.name == _CONFIG for file in below):
                    yield path
                yield from _gguf_files(below)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(_absolute(folder).iterdir())
    except (OSError, ValueError):  # ValueError: a path that no system can have
        return []


def _folders(folder: Path) -> list[Path]:
    """Quickly: there may be ten thousand files beside them, in a folder that holds all that somebody has."""
    try:
        with os.scandir(_absolute(folder)) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir())
    except (OSError, ValueError):
        return []


def _gguf_files(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if path.suffix.lower() == _GGUF]


def _snapshot(repository: Path) -> Path:
    """The snapshot of a cached repository that its ``main`` names, or the newest one that holds a model."""
    snapshots = [config.parent for config in (repository / SNAPSHOTS).glob(f"*/{_CONFIG}") if config.is_file()]
    if not snapshots:
        raise ModelNotFoundError(f"The folder {repository} holds no finished download of a model.")
    main = repository / "refs" / "main"
    revision = main.read_text(encoding="utf-8", errors="replace").strip() if main.is_file() else ""
    return max(snapshots, key=lambda child: (child.name == revision, child.stat().st_mtime))


def _config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ModelNotFoundError(
            f"The folder {path.parent} holds no {_CONFIG}. Choose the folder of a model in Hugging Face layout."
        )
    config = _read_json(path)
    if not isinstance(config, dict):
        raise BrokenModelError(f"The file {path} is damaged: it does not hold a JSON object.")
    return config


def _check_weights(folder: Path) -> None:
    """Each file of weights is there and none is cut off, as far as its header tells."""
    present = {path.name: path for path in folder.glob("*.safetensors") if path.is_file()}
    expected: set[str] = {path.name for path in folder.glob("*.safetensors")}
    if _WHOLE in expected:  # as the engine reads it: an index beside it is of shards that it has replaced
        expected = {_WHOLE}
    elif (folder / _INDEX).is_file():
        index = _read_json(folder / _INDEX)
        weight_map = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(weight_map, dict):
            raise BrokenModelError(f"The file {folder / _INDEX} is damaged: it does not say where the weights are.")
        expected = {str(name) for name in weight_map.values()}
    if not expected:
        raise ModelNotFoundError(f"The folder {folder} holds no safetensors file, so the model has no weights.")
    # In the hub's cache a file is a link, which stays behind when its blob was deleted.
    missing = sorted((expected | _siblings(expected)) - present.keys())
    if missing:
        raise ModelNotFoundError(f"The weights in the folder {folder} are not complete; missing: {', '.join(missing)}.")
    for name in sorted(expected):
        check_safetensors(present[name])


def _siblings(names: set[str]) -> set[str]:
    """The other parts of ``…-00001-of-00003``: while somebody copies a model its index may not be there yet."""
    siblings: set[str] = set()
    for name in names:
        part = _PART.search(name)
        if part and int(part[2]) < 1000:
            stem = name[: part.start()]
            siblings |= {f"{stem}-{n:05}-of-{part[2]}.safetensors" for n in range(1, int(part[2]) + 1)}
    return siblings


def check_safetensors(file: Path) -> None:
    """The file is as long as its header says. Only the header is read.

    Raises:
        BrokenModelError: it is shorter or longer, or has no header.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= min(_MOST_HEADER_BYTES, size - 8):
            raise BrokenModelError(f"The file {file} is damaged or cut off: it has no header. Download it again.")
        try:
            header = json.loads(stream.read(length))
            ends = [item["data_offsets"][1] for name, item in header.items() if name != "__metadata__"]
            promised = 8 + length + max(ends, default=0)
        except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise BrokenModelError(
                f"The file {file} is damaged: its header cannot be read. Download it again."
            ) from error
    if promised != size:
        raise BrokenModelError(
            f"The file {file} is not complete: it has {in_words(size)} of {in_words(promised)}. Download it again."
        )


def _read_json(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_JSON_BYTES + 1)
        if len(content) > _MOST_JSON_BYTES:
            raise BrokenModelError(f"The file {path} is damaged: it is larger than {_MOST_JSON_BYTES >> 20} MiB.")
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BrokenModelError(f"The file {path} is damaged: it is not valid JSON ({error}).") from error


def _name(folder: Path) -> str:
    """``org/name`` in the hub's cache, the folder's own name elsewhere; a file's name without its ending.

    Jan calls every file "model", in a folder that has the name.
    """
    if folder.suffix.lower() == _GGUF:
        return as_unicode(folder.parent.name if folder.stem.lower() in _NAMELESS else folder.stem)
    return as_unicode(repository_name(folder) or folder.name or str(folder))


def _told_apart(entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    """The entries with their parent folder in brackets where two would have the same name."""
    counts = Counter(entry.name for entry in entries)
    return [
        replace(entry, name=f"{entry.name} ({as_unicode(str(Path(entry.path).parent))})")
        if counts[entry.name] > 1
        else entry
        for entry in entries
    ]


def _size(folder: Path) -> int:
    """Bytes of all files below the folder. Links to files count with what they lead to, and each file counts once."""
    sizes: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file():
                status = path.stat()
                sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())
