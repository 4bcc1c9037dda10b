"""The hook that compiles the kernels when the package is installed."""

import ctypes
import importlib.util
import platform
import re
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llama_gui.engine import native_library

pytest.importorskip("hatchling", reason="the hook is for hatchling, which is not installed")

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from llama_gui.engine.native import build
from llama_gui.engine.native.build import CustomBuildHook, compile_kernels
from llama_gui.engine.native.sources import digest
from llama_gui.paths import native_kernels

SMALL = '__attribute__((visibility("default"))) int llama_gui_can_run(void) { return 1; }\n'
PROJECT = """
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "small"
version = "1"

[tool.hatch.build.targets.wheel]
packages = ["small"]

[tool.hatch.build.targets.wheel.hooks.custom]
path = "small/native/build.py"
"""

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, build._COMPILERS)) or sys.platform != "linux", reason="there is no C compiler"
)


class Hook:
    """One in a project of its own, and what it says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.library = root / "small" / "native" / "kernels.so"
        self.warnings: list[str] = []

    def hook(self, target: str = "wheel") -> CustomBuildHook:
        app: Any = SimpleNamespace(display_warning=self.warnings.append)
        nothing: Any = None
        return CustomBuildHook(str(self.root), {}, nothing, nothing, str(self.root / "dist"), target, app)

    def run(self, target: str = "wheel") -> dict[str, Any]:
        """What is added to the data that hatchling begins with."""
        hook = self.hook(target)
        before: dict[str, Any] = {"artifacts": [], "pure_python": True, "infer_tag": False}
        data = {**before, "artifacts": []}
        hook.initialize("standard", data)
        return {key: value for key, value in data.items() if value != before.get(key)}


@pytest.fixture(autouse=True)
def _the_real_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "_LIBRARIES", dict.fromkeys(build._LIBRARIES, tmp_path / "nowhere" / "kernels.so"))


@pytest.fixture
def small_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """In place of ours, which takes seconds."""
    source = tmp_path / "small.c"
    source.write_text(SMALL, encoding="utf-8")
    monkeypatch.setattr(build, "_SOURCE", source)
    monkeypatch.delenv("CC", raising=False)
    return source


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small_source: Path) -> Hook:
    """As on Linux on x86-64, wherever this runs."""
    hook = Hook(tmp_path)
    hook.library.parent.mkdir(parents=True)
    monkeypatch.setattr(build, "_LIBRARIES", dict.fromkeys(build._LIBRARIES, hook.library))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return hook


def loads(library: Path) -> bool:
    return ctypes.CDLL(str(library)).llama_gui_can_run() == 1


# --- compiling


def stamp_of(library: Path) -> str:
    """What it says that it was compiled from; "": nothing, or it does not load."""
    try:
        stamp = ctypes.CDLL(str(library)).llama_gui_sources
    except (OSError, AttributeError):
        return ""
    stamp.restype = ctypes.c_char_p
    return stamp().decode()


@needs_compiler
def test_our_kernels_compile_and_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    library = native_kernels()
    if stamp_of(library) != digest(build._FOLDER):  # else the hook has just compiled these very sources
        library = tmp_path / "kernels.so"
        monkeypatch.delenv("CC", raising=False)
        assert compile_kernels(library) is None
        assert [file.name for file in tmp_path.iterdir()] == ["kernels.so"]
        assert stamp_of(library) == digest(build._FOLDER)
    can_run = ctypes.CDLL(str(library)).llama_gui_can_run()
    monkeypatch.setattr(native_library, "native_kernels", lambda: library)
    assert (native_library.load() is not None) == bool(can_run)


def test_what_the_kernels_ask_of_openmp_is_linked_for_windows():
    """For others, such as sections and single, clang makes calls that libiomp5md.def does not name."""
    sources = [file for kind in ("*.h", "*.c") for file in build._FOLDER.glob(kind)]
    lines = [
        line for file in sources for line in file.read_text(encoding="utf-8").splitlines() if "#pragma omp" in line
    ]
    assert len(lines) > 30
    known = re.compile(r"#pragma omp (?:(?:parallel )?for|parallel|barrier|atomic write)\b")
    assert [line for line in lines if not known.match(line)] == []


@needs_compiler
@pytest.mark.parametrize(
    "named", [None, "", "cc", "cc -pipe -O1", "no-such-compiler", "no-such-compiler -O2"], ids=repr
)
def test_which_compiler(monkeypatch: pytest.MonkeyPatch, small_source: Path, named: str | None):
    """That which CC names, if it is there, with its arguments."""
    if named is not None:
        monkeypatch.setenv("CC", named)
    library = small_source.with_name("small.so")
    assert compile_kernels(library) is None
    assert loads(library)


def test_the_one_that_is_named_comes_first(monkeypatch: pytest.MonkeyPatch, small_source: Path):
    called: list[list[str]] = []
    monkeypatch.setattr(build.subprocess, "run", lambda command, **options: called.append(command))
    monkeypatch.setenv("CC", "ours --fast")
    assert compile_kernels(Path("to.so")) is None
    assert [command[:2] for command in called] == [["ours", "--fast"]]
    assert called[0][-4:] == ["-o", "to.so", str(small_source), "-lm"]


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch, small_source: Path, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    library = tmp_path / "small.so"
    assert compile_kernels(library) == "no C compiler was found"
    monkeypatch.setenv("CC", "no-such-compiler")
    assert compile_kernels(library) == "no C compiler was found"
    assert not library.exists()


@needs_compiler
def test_what_cannot_be_compiled(small_source: Path):
    small_source.write_text("#error not for this machine\n", encoding="utf-8")
    library = small_source.with_name("small.so")
    said = compile_kernels(library)
    assert said is not None
    assert "not for this machine" in said
    assert not library.exists()


@needs_compiler
def test_a_compiler_that_fails_is_not_the_last_that_is_tried(
    monkeypatch: pytest.MonkeyPatch, small_source: Path, tmp_path: Path
):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no OpenMP here >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert compile_kernels(tmp_path / "small.so") is None
    monkeypatch.setattr(build, "_COMPILERS", ())
    assert compile_kernels(tmp_path / "small.so") == f"{broken}: no OpenMP here\n"
    broken.chmod(0o644)
    said = compile_kernels(tmp_path / "small.so")
    assert said is not None
    assert "Permission denied" in said


@needs_compiler
def test_an_assembler_that_does_not_know_everything(small_source: Path):
    whole = small_source.read_text(encoding="utf-8")
    small_source.write_text(f"#ifndef OLD_ASSEMBLER\n#error what is vex\n#endif\n{whole}", encoding="utf-8")
    library = small_source.with_name("small.so")
    assert compile_kernels(library) is None
    assert loads(library)


def test_a_compiler_that_does_not_end(monkeypatch: pytest.MonkeyPatch, small_source: Path, tmp_path: Path):
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    monkeypatch.setenv("CC", f"{sys.executable} {slow}")
    monkeypatch.setattr(build, "_COMPILERS", ())
    monkeypatch.setattr(build, "_SECONDS", 0.1)
    said = compile_kernels(tmp_path / "small.so")
    assert said is not None
    assert "timed out" in said


# --- the hook


@needs_compiler
def test_a_wheel_gets_the_library_and_is_for_this_platform(hook: Hook):
    hook.library.write_text("an old one", encoding="utf-8")
    added = hook.run()
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert added == {
        "artifacts": ["/small/native/kernels.so"],
        "pure_python": False,
        "tag": f"py3-none-{name}",
    }
    assert loads(hook.library)
    assert hook.warnings == []


def test_without_a_compiler_the_wheel_is_for_all_platforms(hook: Hook, monkeypatch: pytest.MonkeyPatch):
    hook.library.write_text("an old one", encoding="utf-8")
    monkeypatch.setattr(build, "_COMPILERS", ())
    assert hook.run() == {}
    (said,) = hook.warnings
    assert said.endswith("slower on some CPUs: no C compiler was found")
    assert not hook.library.exists()  # it would be that of an older source


@pytest.mark.parametrize(
    ("target", "system", "machine"),
    [
        ("sdist", "linux", "x86_64"),
        ("wheel", "linux", "aarch64"),
        ("wheel", "darwin", "x86_64"),
        ("wheel", "darwin", "arm64"),
        ("wheel", "win32", "ARM64"),
        ("sdist", "win32", "AMD64"),
    ],
)
def test_elsewhere_nothing_is_compiled(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, target: str, system: str, machine: str
):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(build, "compile_kernels", None)
    assert hook.run(target) == {}
    assert hook.hook(target).dependencies() == []
    assert hook.warnings == []
    assert not hook.library.exists()


@pytest.mark.parametrize(
    ("system", "machine", "needed"), [("linux", "x86_64", []), ("win32", "AMD64", ["ziglang>=0.15"])]
)
def test_a_compiler_is_fetched_where_nobody_has_one(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, needed: list[str]
):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert hook.hook().dependencies() == needed


# --- Windows


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")
@pytest.mark.timeout(900)  # it compiles Windows' own libraries first
def test_our_kernels_compile_for_windows(tmp_path: Path):
    library = tmp_path / "kernels.dll"
    assert compile_kernels(library) is None
    assert library.read_bytes()[:2] == b"MZ"
    assert [file.name for file in tmp_path.iterdir()] == ["kernels.dll"]


def test_without_zig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(build, "_ZIG", (sys.executable, "-m", "no_such_zig"))
    said = compile_kernels(tmp_path / "kernels.dll")
    assert said is not None
    assert said.startswith("zig: ")
    assert "no_such_zig" in said
    assert list(tmp_path.iterdir()) == []


def test_all_that_clang_calls_of_openmp_is_known_to_the_linker():
    """The pragmas that are used, and what they become; another one needs another name in the list."""
    source = "".join(file.read_text(encoding="utf-8") for file in build._FOLDER.glob("*.[ch]"))
    used = {line.split("if (")[0].strip() for line in re.findall(r"#pragma omp (.*)", source)}
    assert used <= {
        "parallel", "parallel for", "for", "for nowait", "for schedule(dynamic) nowait", "for schedule(guided) nowait",
        "barrier", "atomic write",
    }  # fmt: skip
    counters = re.findall(r"#pragma omp (?:parallel )?for.*\n *for \((\w+) ", source)
    assert set(counters) == {"ptrdiff_t"}  # of eight bytes: what shares out loops of others has other names
    assert len(counters) == len(re.findall(r"#pragma omp (?:parallel )?for", source))
    names = build._OPENMP.read_text(encoding="utf-8").split("EXPORTS\n")[1].split()
    assert set(re.findall(r"\bomp_get_\w+", source)) <= set(names)


# --- hatchling


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with our hook and a small source; git ignores the library, as in ours."""
    root = tmp_path / "project"
    native = root / "small" / "native"
    native.mkdir(parents=True)
    (root / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (root / ".gitignore").write_text("small/native/kernels.so\n", encoding="utf-8")
    (root / "small" / "__init__.py").touch()
    (native / "kernels.c").write_text(SMALL, encoding="utf-8")
    for name in ("build.py", "sources.py"):
        shutil.copy(Path(build.__file__).with_name(name), native)
    return root


@needs_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="compiled for x86-64 only")
def test_hatchling_runs_it_for_wheels(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CC", raising=False)
    (file,) = WheelBuilder(str(project)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    assert Path(file).name.startswith("small-1-py3-none-linux_x86_64")
    with zipfile.ZipFile(file) as wheel:
        assert {"small/native/kernels.so", "small/native/kernels.c"} <= set(wheel.namelist())
        wheel.extract("small/native/kernels.so", tmp_path)
    assert loads(tmp_path / "small" / "native" / "kernels.so")


@needs_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="compiled for x86-64 only")
def test_hatchling_runs_it_for_an_editable_install(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CC", raising=False)
    builder = WheelBuilder(str(project))
    # The rest of it needs a package that pip brings for itself.
    list(builder.build(directory=str(tmp_path / "dist"), versions=["editable"], hooks_only=True))
    assert loads(project / "small" / "native" / "kernels.so")


def test_hatchling_leaves_the_library_out_of_what_is_to_be_compiled_elsewhere(project: Path, tmp_path: Path):
    library = project / "small" / "native" / "kernels.so"
    library.write_text("compiled here", encoding="utf-8")
    (file,) = SdistBuilder(str(project)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    with tarfile.open(file) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"small/native/kernels.c", "small/native/build.py", "small/native/sources.py", "pyproject.toml"} <= names
    assert "small/native/kernels.so" not in names
    assert library.exists()
