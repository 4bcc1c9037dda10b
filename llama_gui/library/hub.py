"""What the hub tells about models: search, one model in detail, and the plan of a download. Blocking calls."""

import contextlib
import json
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import httpx2
from huggingface_hub import HfApi, get_session
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import ModelInfo, RepoSibling
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from llama_gui.errors import BrokenModelError, DownloadError, HubError, HubOfflineError, NotOnHubError
from llama_gui.library.access import HubAccess, origin
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.plan import DownloadPlan, RemoteFile, check_repo, choose_files, gguf_files, is_safe_path
from llama_gui.library.quantisation import is_fp8_on_hub, unread_method
from llama_gui.library.shape_reader import shape_of
from llama_gui.library.transfer import gated

Sort = Literal["downloads", "likes", "lastModified", "trendingScore", "createdAt"]

ARCHITECTURES = frozenset(
    {
        "LlamaForCausalLM",
        "MistralForCausalLM",
        "Ministral3ForCausalLM",
        "Mistral3ForConditionalGeneration",
        "Qwen2ForCausalLM",
        "Qwen3ForCausalLM",
        "SmolLM3ForCausalLM",
        "Olmo2ForCausalLM",
        "Olmo3ForCausalLM",
        "OlmoeForCausalLM",
        "GlmForCausalLM",
        "Glm4ForCausalLM",
        "HunYuanDenseV1ForCausalLM",
        "ArceeForCausalLM",
        "SeedOssForCausalLM",
        "Exaone4ForCausalLM",
        "Ernie4_5ForCausalLM",
        "Ernie4_5_MoeForCausalLM",
        "GraniteForCausalLM",
        "MiniCPMForCausalLM",
        "MixtralForCausalLM",
        "Qwen2MoeForCausalLM",
        "Qwen3MoeForCausalLM",
        "GraniteMoeForCausalLM",
        "GraniteMoeHybridForCausalLM",
        "NemotronHForCausalLM",
        "Phi3ForCausalLM",
        "Gemma2ForCausalLM",
        "Gemma3ForCausalLM",
        "Gemma3ForConditionalGeneration",
        "Gemma4ForCausalLM",
        "Gemma4AssistantForCausalLM",
        "Gemma4ForConditionalGeneration",
        "Gemma4UnifiedForCausalLM",
        "Gemma4UnifiedAssistantForCausalLM",
        "Gemma4UnifiedForConditionalGeneration",
        "Qwen2VLForConditionalGeneration",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
        "Qwen3_5ForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForCausalLM",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3NextForCausalLM",
        "Lfm2ForCausalLM",
        "Lfm2MoeForCausalLM",
        "Idefics3ForConditionalGeneration",
        "SmolVLMForConditionalGeneration",
        "GptOssForCausalLM",
    }
)
"""What the engine runs, see `engine.families`; a test keeps the two together."""

MODEL_TYPES = frozenset(
    {
        "llama",
        "mistral",
        "mistral3",
        "ministral3",
        "qwen2",
        "qwen3",
        "smollm3",
        "granite",
        "minicpm",
        "mixtral",
        "qwen2_moe",
        "qwen3_moe",
        "granitemoe",
        "granitemoehybrid",
        "nemotron_h",
        "phi3",
        "gemma2",
        "gemma3",
        "gemma3_text",
        "gemma4",
        "gemma4_text",
        "gemma4_assistant",
        "gemma4_unified_assistant",
        "gemma4_unified",
        "gemma4_unified_text",
        "qwen2_vl",
        "qwen2_5_vl",
        "qwen3_vl",
        "qwen3_5",
        "qwen3_5_text",
        "qwen3_5_moe",
        "qwen3_5_moe_text",
        "qwen3_next",
        "lfm2",
        "lfm2_moe",
        "idefics3",
        "smolvlm",
        "olmo2",
        "olmo3",
        "olmoe",
        "glm",
        "glm4",
        "hunyuan_v1_dense",
        "arcee",
        "seed_oss",
        "exaone4",
        "ernie4_5",
        "ernie4_5_moe",
        "gpt_oss",
    }
)

_GGUF_TYPES = frozenset(
    {
        "qwen2vl",
        "qwen3vl",
        "qwen3vlmoe",
        "qwen3moe",
        "gpt-oss",
        "chatglm",
        "hunyuan-dense",
        "qwen2moe",
        "ernie4_5-moe",
        "qwen35",
        "qwen35moe",
        "qwen3next",
        "lfm2moe",
        "granitehybrid",
        "nemotron_h_moe",
    }
)
"""What GGUF files call those whose model type is another; the hub names either."""

_WHO = {"user-agent": "llama-gui"}
"""The client would tell the versions of Python and torch, too."""
_TIMEOUT_S = 10.0
_EXPAND = (
    "config",
    "downloads",
    "gated",
    "gguf",
    "lastModified",
    "library_name",
    "likes",
    "pipeline_tag",
    "safetensors",
    "tags",
)
_WRITING = "text-generation"
_SEEING, _HEARING, _SEEING_FOLDERS = "image-text-to-text", "any-to-any", "ForConditionalGeneration"
"""The tasks of models that read images, or hear besides, and what the architectures of those are called that we run."""
_HEARING_FILES = ("gemma4",)
"""What GGUF files of the latter are called whose images are read. Qwen2.5-Omni's have the name of Qwen2.5-VL's."""
_SEEING_FILES = ("mistral3", "gemma3", "gemma4", "qwen2vl", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe")
"""What GGUF files are called that may have another one beside them for images."""
_GUESSED_FOR = ("gemma4", "qwen35", "qwen35moe", "qwen3next")
"""The same of what guesses for them."""
_SEEING_LLAMAS = ("mistral-small-3", "smolvlm", "granite-docling")
_WRITING_TASKS = frozenset({"", _WRITING, _SEEING, _HEARING})
"""What models are said to be for that write. Of Ministral 3 nothing is said; of Gemma 3, that it reads pictures."""
_REASONS = {
    429: "it is asked too often; wait a few minutes",
    451: "it does not give this out, for reasons of law",
}
_PAGE = 30
_MOST_PAGES_FOR_ONE = 4
_MOST_BYTES = 64 * 1024
_MOST_EXCERPT = 1200


@dataclass(frozen=True, slots=True)
class FoundModel:
    """One model on the hub, as a search finds it. None: the hub does not say. `parameters` are counted, not guessed.

    `task`: what it is for by the hub's name, "" where nobody says. `is_fp8`: its weights are in FP8. `unread`: the
    method by which they are stored, where we do not read it.
    """

    repo: str
    architecture: str | None
    parameters: int | None
    licence: str
    is_gated: bool
    downloads: int
    likes: int
    changed: datetime | None
    has_gguf: bool
    task: str = ""
    is_fp8: bool = False
    unread: str = ""

    @property
    def reads_images(self) -> bool:
        """Whether the engine reads images with it, as far as the hub tells: of some it says nothing."""
        name = self.architecture or ""
        reads = name in ARCHITECTURES and name.endswith(_SEEING_FOLDERS)
        if self.task == _HEARING:
            return reads or name in _HEARING_FILES
        return self.task == _SEEING and (reads or _sees(self))


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some results, and where the next are; "" after the last. `file`: the GGUF file whose address was looked for."""

    models: tuple[FoundModel, ...]
    next_page: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """One model in detail. `size`: bytes of what we would fetch, `gguf`: the files of which one can be chosen.

    `problem` says why it cannot be run, "" when it can; `excerpt` is the beginning of its card as plain text. `shape`
    is guessed from the parameters where config.json may not be read (`is_guessed`), None where not even they are known.
    """

    found: FoundModel
    commit: str
    size: int
    files: tuple[RemoteFile, ...]
    gguf: tuple[RemoteFile, ...]
    config: Mapping[str, Any]
    shape: ModelShape | None
    is_guessed: bool
    excerpt: str
    page: str
    problem: str


class Hub:
    """The hub as `access` reaches it."""

    def __init__(self, access: HubAccess) -> None:
        self._access = access
        self._api = HfApi(endpoint=access.endpoint, token=access.token or False, headers=_WHO)

    def search(
        self, words: str = "", *, sort: Sort = "downloads", family: str | None = None, gguf: bool = False
    ) -> SearchPage:
        """The first page of models that we can run. `family`: only one of `MODEL_TYPES`; `gguf`: only GGUF files.

        `words` may be the web address of a model, too, in whatever form its weights are.

        Raises:
            HubOfflineError, HubError: the hub cannot be asked.
        """
        query = {"expand": list(_EXPAND), "sort": sort, "limit": str(_PAGE)}
        place = self._access.place_at(words)
        if not place.repo:
            query["filter"] = ["gguf" if gguf else "safetensors", *([family] if family else [])]
        words = place.repo or words.strip()
        if not words and not family and not gguf:  # of all that there is, most writes nothing
            query["pipeline_tag"] = _WRITING
        if words:
            query["search"] = words[:200]
        page = self._page(f"{self._access.endpoint}/api/models?{httpx2.QueryParams(query)}", any_task=bool(place.repo))
        return replace(page, file=place.file)

    def more(self, page: SearchPage) -> SearchPage:
        """What follows `page`. Raises as `search` does."""
        return self._page(page.next_page)

    def details(self, repo: str, revision: str | None = None, *, with_card: bool = True) -> ModelDetails:
        """One model; `with_card`: with the beginning of its card, which is one question more.

        Raises:
            InvalidRequestError: `repo` cannot be the name of one.
            NotOnHubError, HubOfflineError, HubError: the hub does not tell.
        """
        info = self._info(repo, revision)
        files = _remote_files(info)
        found = _found(info)
        problem = _problem(found)
        chosen: tuple[RemoteFile, ...] = ()
        try:
            chosen = choose_files(repo, files, sees=_sees(found), guesses=_is_guessed_for(found))
        except DownloadError as error:
            problem = problem or str(error)
        config = info.config or {}
        if any(file.path == "config.json" for file in chosen):
            config = _json_object(self._beginning(repo, info.sha or "main", "config.json")) or config
        shape = _shape(config)
        return ModelDetails(
            found=found,
            commit=info.sha or "",
            size=sum(file.size for file in chosen),
            files=chosen,
            gguf=gguf_files(files),
            config=config,
            shape=shape
            or (ModelShape.guess(found.parameters, repo, is_fp8=found.is_fp8) if found.parameters else None),
            is_guessed=shape is None,
            excerpt=plain_excerpt(self._beginning(repo, info.sha or "main", "README.md")) if with_card else "",
            page=self._access.page(repo),
            problem=problem,
        )

    def plan(self, repo: str, revision: str = "main", gguf: str | None = None) -> DownloadPlan:
        """What to fetch for `repo`, all of it at the one commit that `revision` means now. `gguf`: this file of it.

        Raises:
            InvalidRequestError, NotOnHubError, HubOfflineError, HubError: see `details`.
            DownloadError: it holds nothing that we can run.
        """
        info = self._info(repo, revision)
        found = _found(info)
        problem = _problem(found)
        files = (
            ()
            if problem
            else choose_files(repo, _remote_files(info), gguf, sees=_sees(found), guesses=_is_guessed_for(found))
        )
        if problem:
            raise DownloadError(problem)
        return DownloadPlan(repo, revision, info.sha or "", files)

    def _info(self, repo: str, revision: str | None) -> ModelInfo:
        check_repo(repo)
        with self._told(repo, revision):
            return self._api.model_info(repo, revision=revision, files_metadata=True, timeout=_TIMEOUT_S)

    def _page(self, url: str, *, any_task: bool = False) -> SearchPage:
        """The page at `url`; pages of models that we cannot run are passed over, a few at a time.

        `any_task`: also of models that are not said to write.
        """
        found: list[FoundModel] = []
        for _ in range(_MOST_PAGES_FOR_ONE):
            items, url = self._items(url)
            found += [model for model in map(_found, items) if _can_run(model) and (any_task or _writes(model))]
            if found or not url:
                break
        return SearchPage(tuple(found), url)

    def _items(self, url: str) -> tuple[list[ModelInfo], str]:
        with self._told("", None):
            if origin(url) != origin(self._access.endpoint):
                raise HubError(
                    f"The hub names {url[:100]} as its next page, which is another server. It was not asked."
                )
            headers = build_hf_headers(token=self._access.token or False, headers=_WHO)
            response = get_session().get(url, headers=headers, timeout=_TIMEOUT_S)
            hf_raise_for_status(response)
            following = response.links.get("next", {}).get("url") or ""
            items = response.json()
            if not isinstance(items, list):
                raise ValueError("no list of models")
            return list(_readable(items)), following

    def _beginning(self, repo: str, commit: str, path: str) -> str:
        """The beginning of a small file; "" where there is none, or it may not be read."""
        url = self._access.file_url(repo, commit, path)
        content = b""
        with contextlib.suppress(HubError), self._told(repo, None):
            headers = self._access.headers_for(url)
            with get_session().stream("GET", url, headers=headers, timeout=_TIMEOUT_S) as response:
                hf_raise_for_status(response)
                for piece in response.iter_bytes(_MOST_BYTES):
                    content += piece
                    if len(content) >= _MOST_BYTES:
                        break
        return content[:_MOST_BYTES].decode("utf-8", errors="replace")

    @contextlib.contextmanager
    def _told(self, repo: str, revision: str | None) -> Iterator[None]:
        """Say in our words what the client raises."""
        self._access.check_online()
        host = origin(self._access.endpoint)[1]
        try:
            yield
        except GatedRepoError as error:
            raise gated(self._access, repo) from error
        except RevisionNotFoundError as error:
            raise NotOnHubError(
                f"{repo} has no revision {revision}. Its page lists them: {self._access.page(repo)}"
            ) from error
        except RepositoryNotFoundError as error:
            raise self._unknown(repo) from error
        except OfflineModeIsEnabled as error:
            raise HubOfflineError("HF_HUB_OFFLINE is set, so the hub was not asked. Unset it to search.") from error
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status == 401 and self._access.token:
                raise HubError(f"The hub {host} does not know your token any more. Sign in with another.") from error
            reason = _REASONS.get(status, "try again later")
            raise HubError(f"The hub {host} answers {status}: {reason}.") from error
        except httpx2.TransportError as error:
            if _is_unknown_name(error):
                raise HubOfflineError(f"The hub {host} is not found. Is this computer online?") from error
            raise HubOfflineError(
                f"The hub {host} cannot be reached ({str(error) or type(error).__name__}). Check the network."
            ) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TypeError, KeyError) as error:
            raise HubError(
                f"What {host} answers is not what a hub answers ({type(error).__name__}). "
                "Does this network want a sign-in?"
            ) from error

    def _unknown(self, repo: str) -> HubError:
        if self._access.token:
            return NotOnHubError(f"There is no model {repo} on the hub, or your token may not see it. Check the name.")
        return NotOnHubError(f"There is no model {repo} on the hub, or it is private: then sign in with a token first.")


def _is_unknown_name(error: BaseException | None) -> bool:
    """Whether the address of the host could not be looked up, as where there is no network at all."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _readable(items: list[dict[str, Any]]) -> Iterator[ModelInfo]:
    """What the client understands of a page; one strange entry must not hide the others."""
    for item in items:
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            yield ModelInfo(**item)


def _remote_files(info: ModelInfo) -> list[RemoteFile]:
    """The files that could be fetched; those with dangerous names or without checksums are not seen at all."""
    return [
        RemoteFile(item.rfilename, item.size or 0, _checksum(item))
        for item in info.siblings or ()
        if is_safe_path(item.rfilename) and _checksum(item) and item.size is not None
    ]


def _checksum(item: RepoSibling) -> str:
    return (item.lfs.sha256 if item.lfs else item.blob_id) or ""


def _found(info: ModelInfo) -> FoundModel:
    config = info.config or {}
    architectures = config.get("architectures") or [None]
    tags = info.tags or []
    gguf = info.gguf or {}
    counted = info.safetensors.total if info.safetensors else gguf.get("total")
    in_fp8 = is_fp8_on_hub(config, info.safetensors.parameters if info.safetensors else None)
    return FoundModel(
        repo=info.id,
        architecture=architectures[0] or gguf.get("architecture"),
        parameters=counted,
        licence=next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), ""),
        is_gated=bool(info.gated),
        downloads=info.downloads or 0,
        likes=info.likes or 0,
        changed=info.last_modified,
        has_gguf="gguf" in tags or bool(gguf),
        task=info.pipeline_tag or "",
        is_fp8=in_fp8,
        unread=unread_method(config, in_fp8=in_fp8),
    )


def _json_object(text: str) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        values = json.loads(text)
        return values if isinstance(values, dict) else {}
    return {}


def _shape(config: Mapping[str, Any]) -> ModelShape | None:
    with contextlib.suppress(BrokenModelError):
        return shape_of(config)
    return None


def _can_run(model: FoundModel) -> bool:
    return not _problem(model)


def _sees(model: FoundModel) -> bool:
    """Whether the engine reads images with its GGUF files. SmolVLM has Llama's name, and so had Mistral Small 3.1."""
    is_named = model.architecture == "llama" and any(name in model.repo.lower() for name in _SEEING_LLAMAS)
    return model.architecture in _SEEING_FILES or is_named


def _is_guessed_for(model: FoundModel) -> bool:
    """Whether the engine runs what guesses for its GGUF files."""
    return model.architecture in _GUESSED_FOR


def _writes(model: FoundModel) -> bool:
    """Whether it writes texts, as far as anybody says: others have the same architectures, to compare texts, say."""
    return model.has_gguf or model.task in _WRITING_TASKS


def _problem(model: FoundModel) -> str:
    if model.unread:
        return (
            f"{model.repo} holds weights that are quantised already, in a way we do not run ({model.unread}). "
            "Choose the plain version, one in FP8, or GGUF files."
        )
    name = model.architecture
    whole = name and name.removesuffix("Model") + "ForCausalLM"  # of models for embeddings the inner part is told
    known = name is None or whole in ARCHITECTURES or name in ARCHITECTURES | MODEL_TYPES | _GGUF_TYPES
    if not known:
        return f"{model.repo} is a {model.architecture}; we run {', '.join(sorted(ARCHITECTURES))}."
    return ""


_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---\n", re.DOTALL)
_CODE = re.compile(r"```.*?(```|\Z)", re.DOTALL)
# With limits: somebody's card of nothing but brackets would hold up the whole program for seconds.
_TAG = re.compile(r"<[^>]{0,500}>")
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\]\([^)]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\([^)]{0,1000}\)")
_MARKS = re.compile(r"^[#>\s]+|[*_`]{1,3}", re.MULTILINE)


def plain_excerpt(card: str) -> str:
    """The beginning of a model card without its front matter, markup, pictures, tables and code."""
    text = _FRONT_MATTER.sub("", card.replace("\r\n", "\n"))
    for pattern, instead in ((_CODE, ""), (_IMAGE, ""), (_LINK, r"\1"), (_TAG, "")):
        text = pattern.sub(instead, text)
    paragraphs = [" ".join(_MARKS.sub("", part).split()) for part in re.split(r"\n\s*\n", text)]
    kept = "\n\n".join(part for part in paragraphs if part and not part.startswith("|"))
    kept = "".join(mark for mark in kept if mark.isprintable() or mark == "\n")
    return kept if len(kept) <= _MOST_EXCERPT else kept[:_MOST_EXCERPT].rsplit(" ", 1)[0] + " …"
