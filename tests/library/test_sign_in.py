"""The token is kept where it is safest, and we say where that is."""

import stat
import sys
from pathlib import Path

import huggingface_hub.constants
import pytest

from llama_gui.errors import HubError, InvalidRequestError
from llama_gui.library.access import HubAccess, HubPlace
from llama_gui.library.sign_in import TokenKeeper

ENDPOINT = "https://hub.example"


class MemorySafe:
    def __init__(self, *, is_locked: bool = False) -> None:
        self.secrets: dict[tuple[str, str], str] = {}
        self.is_locked = is_locked

    def _check(self) -> None:
        if self.is_locked:
            raise RuntimeError("locked")

    def get_password(self, service_name: str, username: str) -> str | None:
        self._check()
        return self.secrets.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        self._check()
        self.secrets[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        self._check()
        del self.secrets[service_name, username]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HF_HOME": str(tmp_path / "home")}


def test_the_safe_comes_first(environment: dict[str, str]):
    safe = MemorySafe()
    keeper = TokenKeeper(ENDPOINT, safe, environment)
    kept = keeper.keep(" hf_abc\n")
    assert (kept.token, kept.place) == ("hf_abc", "keyring")
    assert list(safe.secrets.values()) == ["hf_abc"]
    assert not keeper.file.exists()
    assert keeper.read().place == "keyring"
    assert keeper.forget().place == "nowhere"
    assert safe.secrets == {}


@pytest.mark.parametrize("safe", [None, MemorySafe(is_locked=True)])
def test_without_a_safe_there_is_the_file(environment: dict[str, str], safe: MemorySafe | None, monkeypatch):
    keeper = TokenKeeper(ENDPOINT, safe, environment)
    kept = keeper.keep("hf_abc")
    assert (kept.token, kept.place) == ("hf_abc", "file")
    assert str(keeper.file) in kept.words
    if sys.platform != "win32":
        assert stat.S_IMODE(keeper.file.stat().st_mode) == 0o600
    assert [path.name for path in keeper.file.parent.iterdir()] == ["token"]
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(keeper.file))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert huggingface_hub.get_token() == "hf_abc", "other tools read it"
    assert keeper.read().place == "file"
    assert keeper.forget().token is None
    assert not keeper.file.exists()


def test_the_environment_counts_most(environment: dict[str, str]):
    keeper = TokenKeeper(ENDPOINT, MemorySafe(), environment | {"HF_TOKEN": "hf_env"})
    keeper.keep("hf_abc")
    assert (keeper.read().token, keeper.read().place) == ("hf_env", "environment")
    assert keeper.forget().place == "environment"


def test_the_token_stays_out_of_sight(environment: dict[str, str]):
    kept = TokenKeeper(ENDPOINT, MemorySafe(), environment).keep("hf_secret")
    assert "hf_secret" not in repr(kept) + kept.words


@pytest.mark.parametrize("text", ["", " \n", "hf_\x00", "hf_é", "x" * 501])
def test_what_cannot_be_a_token_is_refused_unseen(environment: dict[str, str], text: str):
    with pytest.raises(InvalidRequestError) as caught:
        TokenKeeper(ENDPOINT, None, environment).keep(text)
    assert text.strip() == "" or text not in str(caught.value)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(HubError, match="cannot be kept in"):
        TokenKeeper(ENDPOINT, None, {"HF_HOME": str(tmp_path / "file")}).keep("hf_abc")


def test_the_environment_says_where_everything_is(tmp_path: Path):
    access = HubAccess.from_environment({"HOME": "/h", "XDG_CACHE_HOME": "/x"})
    assert (access.endpoint, access.cache, access.token) == ("https://huggingface.co", Path("/x/huggingface/hub"), None)
    environment = {"HF_HOME": "/a", "HF_ENDPOINT": "https://m.example/", "HF_TOKEN": " t\n", "HF_HUB_OFFLINE": "1"}
    access = HubAccess.from_environment(environment, token="other")
    assert (access.endpoint, access.cache, access.token, access.is_offline) == (
        "https://m.example", Path("/a/hub"), "t", True,
    )  # fmt: skip
    assert HubAccess.from_environment({"HF_HUB_CACHE": "/b"}, token="other").cache == Path("/b")
    assert HubAccess.from_environment({}, token="other").token == "other"


@pytest.mark.parametrize(
    ("url", "sees_it"),
    [
        ("https://hub.example/a", True),
        ("https://HUB.example:443/a", True),
        ("http://hub.example/a", False),
        ("https://hub.example:8443/a", False),
        ("https://hub.example.evil/a", False),
        ("https://cdn.example/a", False),
    ],
)
def test_the_token_is_for_the_hub_only(url: str, sees_it: bool):
    headers = HubAccess(ENDPOINT, Path(), "hf_secret").headers_for(url)
    assert ("Authorization" in headers) == sees_it


@pytest.mark.parametrize(
    ("endpoint", "token", "words"),
    [
        ("http://hub.example", "hf_secret", "not encrypted, so the token was not sent to hub.example"),
        ("http://10.0.0.1:8080", "hf_secret", "not encrypted"),
        ("hub.example", None, "must be an address like https://huggingface.co"),
        ("ftp://hub.example", None, "must be an address"),
        ("https://", None, "must be an address"),
        ("https://[::1", None, "must be an address"),
        ("https://hub.example:port", None, "must be an address"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(endpoint: str, token: str | None, words: str):
    with pytest.raises(HubError) as caught:
        HubAccess(endpoint, Path(), token).check_online()
    assert words in str(caught.value)
    assert "hf_secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "token"),
    [
        ("https://hub.example", "t"),
        ("http://hub.example", None),
        ("http://127.0.0.1:1", "t"),
        ("http://localhost", "t"),
        ("http://[::1]:8", "t"),
    ],
)
def test_other_addresses_are_fine(endpoint: str, token: str | None):
    HubAccess(endpoint, Path(), token).check_online()


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://huggingface.co/Qwen/Qwen3-0.6B", HubPlace("Qwen/Qwen3-0.6B")),
        (" hf.co/Qwen/Qwen3-0.6B/ ", HubPlace("Qwen/Qwen3-0.6B")),
        ("https://HuggingFace.co/Qwen/Qwen3-0.6B?library=vllm#use", HubPlace("Qwen/Qwen3-0.6B")),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/discussions/7", HubPlace("Qwen/Qwen3-0.6B")),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/tree/main", HubPlace("Qwen/Qwen3-0.6B", "main")),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/tree", HubPlace("Qwen/Qwen3-0.6B")),
        ("https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json", HubPlace("Qwen/Qwen3-0.6B", "main")),
        ("https://huggingface.co/a/b-GGUF/blob/main/b-Q4_K_M.gguf", HubPlace("a/b-GGUF", "main", "b-Q4_K_M.gguf")),
        ("hf.co/a/b/resolve/refs%2Fpr%2F1/x/b%20c.gguf?download=true", HubPlace("a/b", "refs/pr/1", "x/b c.gguf")),
        ("http://mirror.example:81/Qwen/Qwen3-0.6B", HubPlace("Qwen/Qwen3-0.6B")),
        ("hf.co/a/b-GGUF:Q4_K_M", HubPlace("a/b-GGUF", file="Q4_K_M")),
        ("https://huggingface.co/a/b-GGUF:b-Q4_K_M.gguf", HubPlace("a/b-GGUF", file="b-Q4_K_M.gguf")),
        ("hf.co/a/b-GGUF:latest", HubPlace("a/b-GGUF")),
        ("a/b-GGUF:iq3_xxs", HubPlace("a/b-GGUF", file="iq3_xxs")),
        ("https://huggingface.co/a/b?show_file_info=x%2Fb-Q8_0.gguf", HubPlace("a/b", file="x/b-Q8_0.gguf")),
        ("https://hf.co/a/b/tree/v2?show_file_info=b.gguf", HubPlace("a/b", "v2", "b.gguf")),
        ("https://hf.co/a/b?show_file_info=model.safetensors", HubPlace("a/b")),
        ("localhost:8080", HubPlace()),
        ("C:/models:x", HubPlace()),
        ("a/b:", HubPlace()),
        ("https://huggingface.co/Qwen", HubPlace()),
        ("https://huggingface.co", HubPlace()),
        ("https://github.com/Qwen/Qwen3", HubPlace()),
        ("Qwen/Qwen3-0.6B", HubPlace()),
        ("huggingface.co what is it", HubPlace()),
        ("http://[huggingface.co/a/b", HubPlace()),
        ("", HubPlace()),
    ],
)
def test_the_address_of_a_model_names_it(address: str, place: HubPlace):
    assert HubAccess("http://mirror.example:81", Path("c")).place_at(address) == place
