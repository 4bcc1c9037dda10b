"""What a download will fetch: the files that the engine needs, at one commit, each with its size and checksum."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any, Self

from llama_gui.errors import DownloadError, InvalidRequestError
from llama_gui.library.gguf_kind import gguf_kind

GGUF_PREFERENCE = (
    *("q4_k_m", "q4_k_s", "q4_0", "q5_k_m", "q5_k_s", "q8_0", "q6_k", "bf16", "f16", "f32"),
    *("iq4_xs", "iq4_nl", "q4_1", "q5_0", "q5_1", "q3_k_l", "q3_k_m", "q3_k_s", "q2_k"),
)
"""Which of the files of a GGUF repository is taken when nobody says: the first of these kinds, or the smallest file."""

IMAGE_READER = "mmproj"
"""What the name of a GGUF file has in it that reads images for another one beside it."""
_GUESSER = re.compile(r"(?<![A-Za-z])mtp-[^/]*\.(?i:gguf)$", re.ASCII)  # "-MTP-" is in names of whole models
"""The same of one that guesses, as the engine finds it; a test keeps the two together."""
_GUESSER_PREFERENCE = ("q8_0", "q6_k", "bf16", "f16", "f32", "q4_0")
_READER_PREFERENCE = ("bf16", "f16", "f32", "q8_0")

_SMALL = frozenset(
    {
        "config.json", "generation_config.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template.jinja",
        "chat_template.json", "modules.json", "1_Pooling/config.json", "config_sentence_transformers.json",
        "processor_config.json", "preprocessor_config.json",
    }
)  # fmt: skip
_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_GGUF_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_IN_PARTS = "its GGUF files come in parts, which we do not run; look for a version in one file"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LONGEST_PATH = 200
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository. `size` in bytes; `checksum` is its SHA-256 (64 digits) or its git SHA-1 (40).

    Raises:
        DownloadError: its path could lead out of the model's folder, or its checksum is none.
    """

    path: str
    size: int
    checksum: str

    def __post_init__(self) -> None:
        if not is_safe_path(self.path):
            raise DownloadError(
                f"The hub names a file {self.path[:80]!r}, which no model should have. Nothing was done."
            )
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size < 0:
            raise DownloadError(f"The hub gives no size for {self.path}, so it cannot be checked. Nothing was done.")
        if not isinstance(self.checksum, str) or not _HASH.fullmatch(self.checksum):
            raise DownloadError(
                f"The hub gives no checksum for {self.path}, so it cannot be checked. Nothing was done."
            )


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    """All that a download needs to know. `revision` is what was asked for, `commit` what it meant then.

    Raises:
        DownloadError: the commit is none, or two files would be one on some systems.
        InvalidRequestError: `repo` or `revision` cannot be names on the hub.
    """

    repo: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...]

    def __post_init__(self) -> None:
        check_repo(self.repo)
        if not is_safe_path(self.revision):
            raise InvalidRequestError("revision", self.revision[:80], "a branch, a tag or a commit")
        if not _COMMIT.fullmatch(self.commit):
            raise DownloadError(f"The hub gives {self.commit[:80]!r} as the commit of {self.repo}. Nothing was done.")
        if len({file.path.casefold() for file in self.files}) < len(self.files):
            raise DownloadError(f"{self.repo} has files whose names differ only in case. Nothing was done.")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def model_in(self, folder: Path) -> Path:
        """What can be loaded where the files lie in `folder`: all of it, or the one GGUF file that is a model."""
        models = [file.path for file in self.files if not is_companion(file.path)]
        return folder / models[0] if len(models) == 1 and models[0].endswith(".gguf") else folder

    def as_json(self) -> dict[str, Any]:
        """For the queue's file."""
        files = [[file.path, file.size, file.checksum] for file in self.files]
        return {"repo": self.repo, "revision": self.revision, "commit": self.commit, "files": files}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `as_json` wrote, checked again. Raises `DownloadError`, `KeyError`, `TypeError` or `ValueError`."""
        files = tuple(RemoteFile(path, size, checksum) for path, size, checksum in values["files"])
        return cls(str(values["repo"]), str(values["revision"]), str(values["commit"]), files)


def check_repo(repo: str) -> str:
    """`repo`, when it can be the name of a model on the hub.

    Raises:
        InvalidRequestError: it cannot.
    """
    if not _REPO.fullmatch(repo) or "--" in repo or ".." in repo:
        raise InvalidRequestError("model", repo[:200], "owner/name, as in HuggingFaceTB/SmolLM2-135M-Instruct")
    return repo


def is_safe_path(path: str) -> bool:
    """Whether a path from the hub stays in its folder, on every system."""
    if not path or len(path) > _LONGEST_PATH or not path.isprintable() or any(mark in path for mark in '\\:*?"<>|'):
        return False
    parts = path.split("/")
    if PureWindowsPath(path).is_absolute() or any(part in ("", ".", "..") for part in parts):
        return False
    return not any(part.endswith((".", " ")) or part.partition(".")[0].casefold() in _RESERVED for part in parts)


def choose_files(
    repo: str, files: Sequence[RemoteFile], gguf: str | None = None, *, sees: bool = False, guesses: bool = False
) -> tuple[RemoteFile, ...]:
    """Those of `files` that the engine needs, the small ones first. `gguf` names the one file to take instead,
    see `named_gguf`; where the model `sees`, that which reads images for it goes along, and where another `guesses`
    for it, that one.

    Raises:
        DownloadError: the repository holds no weights that we can run.
    """
    if gguf is not None:
        return (_named(repo, files, gguf), *_companions(files, sees=sees, guesses=guesses))
    by_path = {file.path: file for file in files}
    weights = _safetensors(by_path)
    if not weights:
        return (_preferred_gguf(repo, files), *_companions(files, sees=sees, guesses=guesses))
    if "config.json" not in by_path:
        raise DownloadError(f"{repo} holds weights but no config.json, so nobody can tell how to run it.")
    small = sorted(_SMALL & by_path.keys(), key=lambda path: (path != "config.json", path))
    index = [_INDEX] if len(weights) > 1 and _INDEX in by_path else []
    return tuple(by_path[path] for path in (*small, *index, *weights))


def gguf_files(files: Iterable[RemoteFile]) -> tuple[RemoteFile, ...]:
    """The GGUF files that are whole models: no parts of one, no companions, no tables of importance."""
    return tuple(
        file
        for file in files
        if file.path.endswith(".gguf")
        and not _GGUF_PART.search(file.path)
        and not is_companion(file.path)
        and "imatrix" not in file.path.lower()
    )


def is_companion(path: str) -> bool:
    """Whether the GGUF file at `path` is called like one that reads images for another, or guesses for it."""
    return _is_image_reader(path) or is_guesser(path)


def _is_image_reader(path: str) -> bool:
    return path.endswith(".gguf") and IMAGE_READER in path.rpartition("/")[2].lower()


def is_guesser(path: str) -> bool:
    """Whether the GGUF file at `path` is called like one that guesses for another."""
    return _GUESSER.search(path) is not None


def _companions(files: Sequence[RemoteFile], *, sees: bool, guesses: bool) -> list[RemoteFile]:
    """Those that are there and wanted; of several of a sort that in the preferred kind."""
    wanted = (
        (_is_image_reader if sees else None, _READER_PREFERENCE),
        (is_guesser if guesses else None, _GUESSER_PREFERENCE),
    )
    found: list[RemoteFile] = []
    for is_meant, kinds in wanted:
        found += _preferred([file for file in files if is_meant is not None and is_meant(file.path)], kinds)
    return found


def _preferred(files: Iterable[RemoteFile], order: Sequence[str]) -> list[RemoteFile]:
    """The one of the first kind in `order`, if there are any."""

    def preference(file: RemoteFile) -> tuple[int, str]:
        name = file.path.lower()
        kinds = {*re.split(r"[-./]", name), *re.split(r"[-._/]", name)}  # mmproj_F16, and Q8_0
        return next((place for place, kind in enumerate(order) if kind in kinds), len(order)), file.path

    return sorted(files, key=preference)[:1]


def named_gguf(files: Iterable[RemoteFile], name: str) -> RemoteFile | None:
    """The GGUF file at the path `name`, else the one that is called so, or is of that kind (Q4_K_M, q4_k_m)."""
    by_path = {file.path: file for file in gguf_files(files)}
    path = named_path(by_path, name)
    return by_path[path] if path is not None else None


def named_path(paths: Iterable[str], name: str) -> str | None:
    """The same among the paths of GGUF files: the shortest of those that are meant."""
    if not name:
        return None
    ends = re.compile(rf"(?:^|[-./]){re.escape(name.removesuffix('.gguf'))}\.gguf$", re.IGNORECASE)
    manners: tuple[Callable[[str], bool], ...] = (
        lambda path: path == name,
        lambda path: ends.search(path) is not None,
        lambda path: gguf_kind(path) == name.upper(),
    )
    there = list(paths)
    for is_meant in manners:
        if found := [path for path in there if is_meant(path)]:
            return min(found, key=lambda path: (len(path), path))
    return None


def _safetensors(by_path: Mapping[str, RemoteFile]) -> list[str]:
    shards = sorted(path for path in by_path if _SHARD.fullmatch(path))
    if _INDEX in by_path and shards:
        return shards
    if "model.safetensors" in by_path:
        return ["model.safetensors"]
    return shards


def _named(repo: str, files: Sequence[RemoteFile], name: str) -> RemoteFile:
    found = named_gguf(files, name)
    if found is None and _GGUF_PART.search(name):
        raise DownloadError(f"{repo} cannot be run: {_IN_PARTS}.")
    if found is None:
        there = ", ".join(file.path for file in gguf_files(files)[:8]) or "none"
        raise DownloadError(f"{repo} holds no GGUF file {name[:80]}. There are: {there}.")
    return found


def _preferred_gguf(repo: str, files: Sequence[RemoteFile]) -> RemoteFile:
    whole = gguf_files(files)
    for kind in GGUF_PREFERENCE:
        for file in whole:
            if kind in re.split(r"[-./]", file.path.lower()):
                return file
    paths = [file.path for file in files]
    if whole:
        return min(whole, key=lambda file: (file.size, file.path))
    if any(_GGUF_PART.search(path) for path in paths):
        reason = _IN_PARTS
    elif any(path.startswith("adapter_model") for path in paths):
        reason = "it is an adapter, which works only on top of another model; choose a merged one"
    elif any(path.endswith((".bin", ".pth", ".pt", ".ckpt")) for path in paths):
        reason = "its weights are pickle files, which can run code; look for a version with safetensors"
    else:
        reason = "it has neither safetensors nor GGUF files"
    raise DownloadError(f"{repo} cannot be run: {reason}.")
