"""Folders made to harm: an index that leads elsewhere, pipes and devices, pickles, code beside the weights."""

import ast
import json
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import llama_gui
from llama_gui.engine.checkpoint import Checkpoint
from llama_gui.engine.config import load_config
from llama_gui.engine.generation_defaults import load_generation_defaults
from llama_gui.engine.tokenizer import Tokenizer
from llama_gui.errors import BrokenModelError, ModelError, UnsupportedModelError
from tests.fakes.tiny_llama import write_tiny_llama

INDEX = "model.safetensors.index.json"
needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def save(file: Path, *names: str) -> None:
    """A file with the weights `names`, all ones."""
    save_file({name: torch.ones(2) for name in names}, file)


def write_index(folder: Path, weight_map: Any) -> None:
    """An index with this map."""
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))


def read(folder: Path, *names: str) -> list[list[float]]:
    """The weights `names`, which must be all there are."""
    with Checkpoint(folder) as checkpoint:
        checkpoint.check(dict.fromkeys(names, (2,)))
        return [checkpoint.tensor(name).tolist() for name in names]


# --- where weights may lie


@pytest.mark.parametrize(
    "name",
    [
        "../../secret", "../x.safetensors", "/etc/passwd", "/etc/x.safetensors", "a/../b.safetensors",
        "a/b.safetensors", "./x.safetensors", "C:\\x.safetensors", "C:x.safetensors", "\\\\host\\share\\x.safetensors",
        "//host/share/x.safetensors", "..\\x.safetensors", "/dev/zero", "~/x.safetensors", "x.safetensors/",
        "x.safetensors\n", "x.SAFETENSORS", ".", "a" * 10**6, True, 1.5, ["x.safetensors"], None, {},
    ],
    ids=lambda name: repr(name)[:30],
)  # fmt: skip
def test_an_index_that_names_what_is_no_file_of_the_folder(tmp_path: Path, name: Any) -> None:
    """Refused before anything is opened: one good entry beside it changes nothing."""
    folder = tmp_path / "model"
    folder.mkdir()
    save(folder / "x.safetensors", "a")
    write_index(folder, {"a": "x.safetensors", "b": name})
    with pytest.raises(BrokenModelError, match=r"index\.json names .+ not a weight file of this folder") as caught:
        Checkpoint(folder)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "name", ["\0.safetensors", "\ud800.safetensors", "a" * 300 + ".safetensors"], ids=lambda n: ascii(n)[:30]
)
def test_an_index_with_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    write_index(tmp_path, {"a": name})
    with pytest.raises(ModelError, match=r"safetensors"):
        Checkpoint(tmp_path)


def test_a_weight_in_another_shard_than_the_index_says(tmp_path: Path) -> None:
    """All the same it is found; where it is in none, its name is said."""
    save(tmp_path / "x.safetensors", "a")
    save(tmp_path / "y.safetensors", "b")
    write_index(tmp_path, {"a": "y.safetensors", "b": "x.safetensors"})
    assert read(tmp_path, "a", "b") == [[1, 1], [1, 1]]
    with pytest.raises(BrokenModelError, match=": c missing from the weight files"):
        read(tmp_path, "a", "b", "c")


def test_an_index_that_gives_a_weight_to_two_shards(tmp_path: Path) -> None:
    save(tmp_path / "x.safetensors", "a")
    (tmp_path / INDEX).write_text('{"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}}')
    with pytest.raises(BrokenModelError, match=r"index\.json cannot be read: it gives 'a' twice"):
        Checkpoint(tmp_path)


def test_links_as_the_hub_lays_them_are_followed(tmp_path: Path) -> None:
    """In its cache each file is a link out of the folder; a download never makes one, so its owner did."""
    folder = tmp_path / "snapshots" / "1"
    folder.mkdir(parents=True)
    save(tmp_path / "blob", "a")
    (folder / "model.safetensors").symlink_to(Path("..", "..", "blob"))
    assert read(folder, "a") == [[1, 1]]


def pipe(file: Path) -> None:
    """To open it waits until somebody writes."""
    os.mkfifo(file)


def link_to_nothing(file: Path) -> None:
    """A link whose target was deleted."""
    file.symlink_to("gone")


def link_to_itself(file: Path) -> None:
    """A link that never ends."""
    file.symlink_to(file.name)


def link_to_zeros(file: Path) -> None:
    """A file without an end."""
    file.symlink_to("/dev/zero")


SPECIAL: list[Any] = [
    pytest.param(pipe, id="pipe", marks=needs_fifo),
    pytest.param(link_to_zeros, id="device", marks=needs_fifo),
    pytest.param(Path.mkdir, id="folder"),
    pytest.param(link_to_nothing, id="dead link"),
    pytest.param(link_to_itself, id="ring"),
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", SPECIAL)
@pytest.mark.parametrize("indexed", [True, False])
def test_weights_that_are_no_file(tmp_path: Path, make: Callable[[Path], None], indexed: bool) -> None:
    make(tmp_path / "model.safetensors")
    if indexed:
        write_index(tmp_path, {"a": "model.safetensors"})
    with pytest.raises(ModelError, match=r"model\.safetensors (is missing|is damaged or cut off: .+)"):
        Checkpoint(tmp_path)


READERS: dict[str, Callable[[Path], object]] = {
    "config.json": load_config,
    "generation_config.json": load_generation_defaults,
    "tokenizer.json": Tokenizer.load,
    "tokenizer_config.json": Tokenizer.load,
    "special_tokens_map.json": Tokenizer.load,
    INDEX: Checkpoint,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("make", SPECIAL[:3])
def test_settings_that_are_no_file(tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
    folder = write_tiny_llama(tmp_path / "model", num_hidden_layers=1, shards=2)
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    with pytest.raises(ModelError, match=name):
        READERS[name](folder)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"tokenizer.json"}))
def test_settings_beyond_all_size_are_not_read(tmp_path: Path, name: str) -> None:
    folder = write_tiny_llama(tmp_path / "model", num_hidden_layers=1, shards=2)
    with (folder / name).open("wb") as stream:
        stream.truncate(2**40)  # sparse: it takes no room
    with pytest.raises(BrokenModelError, match=rf"{name} cannot be read: it is too large, with {2**40} bytes"):
        READERS[name](folder)


# --- code


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self._marker),)


def test_the_payload_works(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Payload(tmp_path / "marker")))
    assert (tmp_path / "marker").exists()


@pytest.mark.parametrize("writer", ["pickle", "torch"])
@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth", "model.ckpt", "model.pkl", "weights.pickle",
             "PYTORCH_MODEL.BIN", "model.safetensors", "pytorch_model.safetensors"]
)  # fmt: skip
def test_a_pickle_is_refused_by_name_and_never_loaded(tmp_path: Path, name: str, writer: str) -> None:
    folder, payload = tmp_path / "model", {"a": Payload(tmp_path / "marker")}
    folder.mkdir()
    if writer == "torch":
        torch.save(payload, folder / name)
    else:
        (folder / name).write_bytes(pickle.dumps(payload))
    kind = BrokenModelError if name.endswith(".safetensors") else UnsupportedModelError
    with pytest.raises(kind, match=name):
        Checkpoint(folder)
    assert not (tmp_path / "marker").exists()


def test_a_pickle_beside_safetensors_is_not_opened(tmp_path: Path) -> None:
    save(tmp_path / "model.safetensors", "a")
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(tmp_path / "marker")))
    assert read(tmp_path, "a") == [[1, 1]]
    assert not (tmp_path / "marker").exists()


UNPICKLERS = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


def loads_code(node: ast.AST) -> bool:
    """Whether `node` could run what a file of somebody else's says."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] in UNPICKLERS for alias in names)
        case ast.ImportFrom(module=str(module)):
            return module.split(".")[0] in UNPICKLERS
        case ast.Call(func=ast.Name(id="eval" | "exec" | "compile" | "__import__")):
            return True
        case ast.Attribute(value=ast.Name(id="torch"), attr="load") | ast.Attribute(attr="UntypedStorage"):
            return True
        case ast.keyword(arg="trust_remote_code") | ast.Constant(value="trust_remote_code"):
            return True
    return False


@pytest.mark.parametrize(
    "text", ["import pickle", "from marshal import loads", "torch.load(f)", "eval('1')", "exec(s)",
             "load(f, trust_remote_code=True)", "import joblib.memory"]
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(text: str) -> None:
    assert any(map(loads_code, ast.walk(ast.parse(text))))


def test_nothing_in_the_package_can_load_code() -> None:
    found: list[str] = []
    for file in sorted(Path(llama_gui.__file__).parent.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found += [f"{file}:{getattr(node, 'lineno', '?')}" for node in ast.walk(tree) if loads_code(node)]
    assert found == []


CHILD = """
    import sys

    from llama_gui.engine.loading import load_model
    from llama_gui.errors import ModelError

    load_model(sys.argv[1], device="cpu", dtype="float32")  # what torch imports at first use is imported now
    heard = []
    OUTWARD = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "urllib.")

    def listen(event, arguments):
        text = " ".join(map(str, arguments[:2]))  # a path, a code object, or a module's name and file
        code = event in ("import", "exec", "compile", "open") and ".py" in text and folder in text
        if code or "evil" in text or event.startswith(OUTWARD):
            heard.append((event, text))

    sys.addaudithook(listen)
    for folder in sys.argv[2:]:
        sys.path.insert(0, folder)  # even if somebody starts the program there
        open(folder + "/modeling_evil.py").close()
        assert len(heard) == 1, "the hook is deaf"
        heard.clear()
        try:
            load_model(folder, device="cpu", dtype="float32")
            print("loaded", end=" ")
        except ModelError as error:
            print("refused", end=" ")
        print(heard)
        heard.clear()
        sys.path.remove(folder)
"""


def test_code_beside_the_weights_is_neither_imported_nor_read(tmp_path: Path) -> None:
    plain = write_tiny_llama(tmp_path / "plain", num_hidden_layers=1)
    code = f"import os; os.mkdir({str(tmp_path / 'marker')!r})"
    folders = [
        _with_code(tmp_path / "known", "LlamaForCausalLM", code),
        _with_code(tmp_path / "strange", "EvilForCausalLM", code),
    ]
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD), str(plain), *map(str, folders)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (child.stdout.splitlines(), child.returncode) == (["loaded []", "refused []"], 0), child.stderr
    assert not (tmp_path / "marker").exists()


def _with_code(folder: Path, architecture: str, code: str) -> Path:
    """A model whose configuration names code, which lies beside it."""
    write_tiny_llama(folder, num_hidden_layers=1, shards=2)
    values = {
        **json.loads((folder / "config.json").read_text(encoding="utf-8")),
        "architectures": [architecture],
        "auto_map": {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "owner/repository--modeling_evil.Evil"},
        "trust_remote_code": True,
        "_attn_implementation": "owner/kernel",
        "_attn_implementation_internal": "owner/kernel",
        "custom_pipelines": {"text-generation": {"impl": "evil.Pipeline", "pt": ["evil"]}},
    }
    (folder / "config.json").write_text(json.dumps(values))
    for name in ("evil.py", "modeling_evil.py", "tokenization_evil.py", "__init__.py", "conftest.py", "numpy.py"):
        (folder / name).write_text(code)
    return folder
