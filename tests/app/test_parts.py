"""What a bundle holds and what it leaves out, without building one."""

import ast
import importlib.util
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from app import parts
from app.bundle import write_icon
from app.parts import EXCLUDED, OPTIONAL, installed, is_wanted, without_cards
from tests.fakes.documents import docx, paragraph
from tests.test_imports import run_python

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "place",
    [
        "PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboardplugin.so",
        "PySide6\\plugins\\platforminputcontexts\\qtvirtualkeyboardplugin.dll",
        "PySide6/Qt/lib/libQt6VirtualKeyboard.so.6",
        "PySide6/Qt/lib/libQt6Quick.so.6",
        "PySide6/Qt/qml/QtQuick/qmldir",
        "PySide6/Qt/translations/qtbase_fr.qm",
        "PySide6/Qt/translations/qtdeclarative_de.qm",
        "torch/test/a_test",
        "torch/include/ATen/ATen.h",
        "torch/bin/protoc-3.13.0.0",
        "torch/bin/test_api",
        "torch/bin/TCPStoreTest",
        "resources/starter_model/training/texts/plain.toml",
        "resources/translations/llama_gui_de.ts",
    ],
)
def test_what_nobody_needs_is_left_out(place: str):
    assert not is_wanted(place)


@pytest.mark.parametrize(
    "place",
    [
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "PySide6/Qt/lib/libQt6Widgets.so.6",
        "torch/lib/libtorch_cpu.so",
        "torch/bin/torch_shm_manager",  # torch is not imported without
        "torch/nn/functional.py",
        "resources/starter_model/model.safetensors",
        "resources/translations/llama_gui_de.qm",
        "resources/icons/llama-gui.svg",
        "ziamath/fonts/STIXTwoMath-Regular.ttf",
    ],
)
def test_what_is_needed_stays(place: str):
    assert is_wanted(place)


@pytest.mark.parametrize(
    ("place", "source", "wanted"),
    [
        ("libxcb-cursor.so.0", "/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0", True),
        ("libssl.so.3", "/lib/x86_64-linux-gnu/libssl.so.3", True),
        ("libgtk-3.so.0", "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0", False),
        ("libstdc++.so.6", "/usr/lib64/libstdc++.so.6", False),
        ("libQt6Core.so.6", "PySide6/Qt/lib/libQt6Core.so.6", True),
        ("libpython3.11.so.1.0", "/usr/local/lib/libpython3.11.so.1.0", True),
        ("numpy/_core/_multiarray_umath.so", "/usr/lib/python3/dist-packages/numpy/_core/_multiarray_umath.so", True),
    ],
)
def test_of_the_system_only_what_others_may_lack_is_taken(place: str, source: str, wanted: bool):
    assert is_wanted(place, source) is wanted


def test_the_font_of_formulas_is_found_by_the_package_that_lies_beside_it():
    """Without the package in the bundle formulas were written in Unicode there."""
    spec = (ROOT / "app" / "llama-gui.spec").read_text("utf-8")
    assert 'hidden.append("ziamath")' in spec
    assert 'collect_data_files("ziamath"' in spec


def test_every_language_of_the_window_has_qt_s_own_words():
    from llama_gui.ui.language import TRANSLATED

    assert all(is_wanted(f"PySide6/Qt/translations/qtbase_{code}.qm") for code in TRANSLATED)


def test_only_what_is_installed_is_taken_along():
    assert installed(["json", "no_such_library"]) == ["json"]
    assert set(installed(OPTIONAL)) == {name for name in OPTIONAL if importlib.util.find_spec(name)}


def test_nothing_of_ours_imports_what_is_left_out():
    for file in sorted((ROOT / "llama_gui").rglob("*.py")):
        if file.name == "build.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                assert not any(f"{name}.".startswith(f"{out}.") for out in EXCLUDED), f"{file} needs {name}"


def test_the_engine_needs_none_of_what_is_left_out():
    """In a process in which an import of it fails, as in the bundle."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys({[name for name in EXCLUDED if "." not in name]!r}))
sys.modules.update({{"torch.utils.tensorboard": None, "torch.utils.benchmark": None}})
from llama_gui.__main__ import main
main(["bench", "--dtype", "bfloat16", "--chats", "2", "--prompt-tokens", "40", "--new-tokens", "4"])
sys.exit(main(["ask", "--seed", "1", "--max-tokens", "5", "Hi"]))
"""
    assert len(run_python(code).splitlines()) > 2


def test_the_spec_is_python_and_reads_these_lists():
    spec = (ROOT / "app" / "llama-gui.spec").read_text("utf-8")
    names = {node.id for node in ast.walk(ast.parse(spec)) if isinstance(node, ast.Name)}
    lists = ("EXCLUDED", "OPTIONAL", "installed", "is_wanted", "without_cards")
    assert {*lists, "write_notices"} <= names
    assert all(hasattr(parts, name) for name in (*lists, "APP_ID"))


def test_triton_is_left_out_where_there_is_no_card():
    assert (without_cards(None), without_cards("12.8")) == (("triton",), ())


@pytest.mark.parametrize(("name", "head"), [("a.ico", b"\0\0\1\0"), ("a.icns", b"icns")])
def test_the_icon_is_written_for_other_systems(tmp_path: Path, name: str, head: bytes):
    """In a process without an application of Qt, as the one that builds a bundle is."""
    icon = tmp_path / name
    run_python(f"from pathlib import Path; from app.bundle import write_icon; write_icon(Path({str(icon)!r}))")
    assert icon.read_bytes().startswith(head)


def test_the_icon_has_its_colours_and_clear_corners(tmp_path: Path):
    icon = tmp_path / "a.ico"
    write_icon(icon)
    image = QImage(str(icon))
    assert (image.width(), image.height()) == (256, 256)
    assert image.pixelColor(0, 0).alpha() == 0
    assert image.pixelColor(128, 20).name() == "#b04a1a"


def test_a_module_of_ours_is_run_as_python_would_run_it(tmp_path: Path):
    document = docx(tmp_path / "a.docx", paragraph("Some words."))
    code = f"""
import sys
sys.frozen = True
sys.argv = ["llama-gui", "-P", "-m", "llama_gui.chats.documents.child", {str(document)!r}, "60"]
from app.main import start
sys.exit(start())
"""
    assert run_python(code) == r'{"text": "Some words.\n"}'


@pytest.mark.parametrize("arguments", [["-P", "-m", "http.server"], ["-m", "llama_gui.ask"], ["-P", "-m"], []])
def test_no_other_module_is_run(arguments: list[str]):
    from app.main import run_module

    assert not run_module(arguments)


@pytest.mark.parametrize(
    ("environment", "left"),
    [
        ({"LD_LIBRARY_PATH": "/bundle"}, None),
        ({"LD_LIBRARY_PATH": "/bundle:/mine", "LD_LIBRARY_PATH_ORIG": "/mine"}, "/mine"),
        ({}, None),
    ],
)
def test_programs_that_we_start_find_their_own_libraries(monkeypatch: pytest.MonkeyPatch, environment, left):
    from app.main import give_back_library_path

    environ = dict(environment)
    monkeypatch.setattr("app.main.os.environ", environ)
    give_back_library_path()
    assert environ == ({"LD_LIBRARY_PATH": left} if left else {})


def test_the_entry_of_a_bundle_is_what_pip_starts():
    code = "import sys; sys.argv = ['llama-gui', '--version']; from app.main import start; start()"
    assert run_python(code).startswith("llama-gui ")
