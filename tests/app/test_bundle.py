"""The bundle, built, carried elsewhere, and used as by somebody who has no Python.

Takes minutes and a gigabyte: ``pip install -e '.[bundle]'``, then ``pytest -m campaign tests/app/test_bundle.py``. With
BUNDLE=FOLDER one that is there already is tried.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.debian import DEPENDS
from llama_gui.engine import native_library
from tests.fakes.documents import docx, paragraph, pdf
from tests.fakes.fake_hub import FakeHub, model_files, weights_file
from tests.fakes.gguf_files import write_gguf
from tests.fakes.tiny_llama import write_tiny_llama
from tests.fakes.tiny_pixtral import picture
from tests.fakes.tiny_smolvlm import write_tiny_smolvlm
from tests.library.test_hub import info

ROOT = Path(__file__).parents[2]
GIVEN = os.environ.get("BUNDLE", "")

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bundles of other systems are tried there"),
    pytest.mark.skipif(
        not GIVEN and importlib.util.find_spec("PyInstaller") is None, reason="pip install -e '.[bundle]'"
    ),
]


def link_or_copy(source: str, target: str) -> None:
    """A second name where that is possible; what tests write may lie in memory, the bundle hardly."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of a bundle that was moved after it was built."""
    folder = Path(GIVEN)
    if not GIVEN:
        built = tmp_path_factory.mktemp("built")
        subprocess.run([sys.executable, "-m", "app.bundle", "--to", str(built)], cwd=ROOT, check=True)
        folder = built / "llama-gui"
    place = tmp_path_factory.mktemp("elsewhere") / "a folder with spaces"
    if GIVEN:
        shutil.copytree(folder, place, symlinks=True, copy_function=link_or_copy)
    else:
        folder.rename(place)
    return place / "llama-gui"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """All that a double click may rely on: neither Python nor our checkout can be found."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "PATH": "/nowhere", "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}


def run(program: Path, env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments], env=env, cwd="/", capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_answers_as_the_installed_one_does(program: Path, env):
    question = ["ask", "--seed", "1", "What is this application?"]
    installed = subprocess.run(
        [sys.executable, "-m", "llama_gui", *question], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run(program, env, *question) == installed.stdout


def test_our_own_kernels_are_in_it(program: Path, env):
    """Nothing else attends to keys of eight bits: without our kernels that is refused."""
    if native_library.load() is None:
        pytest.skip("there are no kernels here")
    assert run(program, env, "ask", "--cache-dtype", "int8", "--max-tokens", "3", "Hi").strip()


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "int4"])
def test_weights_are_kept_in_any_precision(program: Path, env, dtype: str):
    lines = run(program, env, "bench", "--dtype", dtype, "--chats", "2", "--new-tokens", "4", "--json").splitlines()
    assert {json.loads(line)["dtype"] for line in lines} == {dtype}


@pytest.mark.parametrize("kind", ["Q4_0", "Q8_0", "Q5_1"])
def test_gguf_files_are_read(program: Path, env, tmp_path: Path, kind: str):
    folder = write_tiny_llama(tmp_path / "tiny")
    file = write_gguf(folder, tmp_path / "a.gguf", kind)
    assert run(program, env, "ask", "--model", str(file), "--max-tokens", "3", "Hi")


def test_documents_are_read_by_a_process_of_their_own(program: Path, env, tmp_path: Path):
    for path in (docx(tmp_path / "a.docx", paragraph("What is")), pdf(tmp_path / "a.pdf", ["What is"])):
        assert run(program, env, "ask", "--seed", "1", "--file", str(path), "this application?").strip()
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    done = subprocess.run(
        [program, "ask", "--file", str(tmp_path / "broken.pdf"), "Hi"], env=env, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"broken.pdf is damaged" in done.stderr


def test_images_and_scans_are_read(program: Path, env, tmp_path: Path):
    model = write_tiny_smolvlm(tmp_path / "model")
    (tmp_path / "a.jpg").write_bytes(picture(60, 40, kind="JPEG").data)
    for path in (tmp_path / "a.jpg", pdf(tmp_path / "scan.pdf", ["", ""])):
        assert run(program, env, "ask", "--model", str(model), "--file", str(path), "--max-tokens", "3", "What?")


def test_models_are_searched_and_fetched(program: Path, env):
    with FakeHub() as hub:
        hub.add("owner/small-1B", model_files([weights_file(b"1" * 400_000)]), info=info())
        env = {**env, "HF_ENDPOINT": hub.endpoint}
        search = [program, "models", "--search", "small"]
        found = subprocess.run(search, env=env, capture_output=True, text=True, check=True)
        assert "owner/small-1B" in found.stdout
        done = subprocess.run([program, "download", "owner/small-1B"], env=env, capture_output=True, check=True)
        assert Path(done.stdout.decode().strip(), "model.safetensors").stat().st_size > 400_000


def test_the_server_answers(program: Path, env):
    served = subprocess.Popen(
        [program, "serve", "--port", "0", "--api-key", "a" * 30], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert served.stdout is not None
        address = next(word for line in served.stdout for word in line.split() if word.startswith("http"))
        question = {"messages": [{"role": "user", "content": "What are you?"}], "max_tokens": 5}
        for path, part in (("chat/completions", "choices"), ("messages", "content")):
            asked = urllib.request.Request(
                f"{address.rstrip('.,')}/{path}",
                json.dumps({"model": "starter", **question}).encode(),
                {"Authorization": f"Bearer {'a' * 30}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(asked, timeout=60) as answer:
                assert json.load(answer)[part]
    finally:
        served.send_signal(signal.SIGINT)
        assert served.communicate(timeout=60)[1] is None
    assert served.returncode in (0, 130)


@pytest.fixture
def window(program: Path, env, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    window = subprocess.Popen([program, "--profile", str(tmp_path / "profile")], env=env, stderr=subprocess.PIPE)
    yield window
    window.kill()


def test_a_second_start_calls_the_window(program: Path, env, tmp_path: Path, window):
    deadline = time.monotonic() + 60
    while not (tmp_path / "profile" / "chats.db").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(3)
    assert run(program, env, "--profile", str(tmp_path / "profile")) == ""
    assert window.poll() is None
    window.terminate()
    assert window.wait(60) == 0
    assert window.stderr.read() == b""
    log = (tmp_path / "profile" / "llama-gui.log").read_text("utf-8").splitlines()
    assert [line for line in log if "does not support raise()" not in line] == []  # of a screen that there is not


def test_its_menu_entry_starts_it(program: Path, env, tmp_path: Path):
    run(program, env, "menu-entry", "--add")
    entry = (tmp_path / "home/.local/share/applications/llama-gui.desktop").read_text("utf-8")
    assert f'\nExec="{program}"\n' in entry


def test_every_library_is_in_it_or_on_every_desktop(program: Path):
    """What the linker does not find here would be missing everywhere, unless our package depends on it."""
    libraries = [*program.parent.rglob("*.so"), *program.parent.rglob("*.so.*")]
    env = {"LD_LIBRARY_PATH": str(program.parent / "_internal"), "PATH": "/usr/bin:/bin"}
    missing = {
        line.split()[0]
        for file in libraries
        if not file.is_symlink() and "libqgtk3" not in file.name  # for desktops that have GTK
        for line in subprocess.run(
            ["ldd", file], env=env, capture_output=True, text=True, check=False
        ).stdout.splitlines()
        if "not found" in line
    }
    missing = {name for name in missing if not name.startswith("libgomp")}  # torch has loaded its own by then
    assert {name for name in missing if name.replace(".so.", "") not in DEPENDS} == set()


def test_licences_lie_in_it_and_nothing_of_the_gpl_alone(program: Path):
    notices = (program.parent / "_internal" / "NOTICES.txt").read_text("utf-8")
    for name in ("PySide6", "torch", "tokenizers", "ziamath", "pypdfium2", "numpy"):
        assert f"\n{name}" in notices or f"\n{name.lower()}" in notices.lower()
    names = {file.name for file in program.parent.rglob("*")}
    assert not any("virtualkeyboard" in name.lower() for name in names)
    assert "libstdc++.so.6" not in names
