"""PySide reads the source of what is imported after it, and keeps the lines; the application does not let it."""

import subprocess
import sys

import pytest

CODE = """
import linecache, sys
import PySide6.QtCore
if sys.argv[1] == "plainly":
    from llama_gui.plain_imports import import_plainly
    import_plainly()
import PySide6.QtWidgets, colorsys, wave  # which nothing else needs
print([module.__name__ for module in (colorsys, wave) if module.__file__ in linecache.cache])
print(PySide6.QtCore.QObject(objectName="x").objectName())
"""


@pytest.mark.parametrize(
    ("way", "kept"),
    # The second is why there is the first: where it fails, PySide has changed, and `import_plainly` can go.
    [("plainly", "[]"), ("as PySide does it", "['colorsys', 'wave']")],
)
def test_no_source_is_read_to_import_it(way: str, kept: str):
    done = subprocess.run([sys.executable, "-c", CODE, way], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [kept, "x"]
