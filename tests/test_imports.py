"""Who may import whom, and what is loaded when. Child processes, because this one has loaded everything.

That the window shows before torch is loaded: see the first start in `test_desktop.py`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "tokenizers", "safetensors", "transformers")


def run_python(code: str, *arguments: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_the_import_contracts_hold():
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kept, 0 broken" in done.stdout


def test_the_readme_names_every_room():
    plan = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The rooms")[2].partition("```\n")[2]
    named = {line.split()[0] for line in plan.partition("```")[0].splitlines() if line.strip()}
    files = [*(ROOT / "llama_gui").rglob("*.py"), *(ROOT / "app").glob("*.py")]
    rooms = {path.name for path in files if path.name != "__init__.py"}
    assert rooms - named == set()
    assert {name for name in named if name.endswith(".py")} - rooms == set()


def test_the_engine_needs_no_qt_and_what_reads_gguf_files_is_for_those():
    code = """
import sys
sys.modules["PySide6"] = sys.modules["shiboken6"] = None  # an import of these fails now, as if not installed
import llama_gui.engine
print(llama_gui.engine.Engine.__name__, "gguf" in sys.modules)
"""
    assert run_python(code) == "Engine False"


def test_what_reads_and_lays_out_formulas_is_not_loaded_before_the_first_one():
    code = """
import sys
import llama_gui.ui
from llama_gui.ui.transcript.view import TranscriptView
rooms = ("latex.tree", "typesetting", "ziamath", "pylatexenc")
print([name for name in sys.modules if any(room in name for room in rooms)])
"""
    assert run_python(code) == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ask", "--help"]])
def test_help_is_quick(arguments: list[str]):
    code = f"""
import contextlib, sys
from llama_gui.__main__ import main
with contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print([name for name in {(*HEAVY, "PySide6")!r} if name in sys.modules])
"""
    assert run_python(code, *arguments).splitlines()[-1] == "[]"
