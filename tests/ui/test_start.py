"""The window must not wait for what it does not show."""

import os
import subprocess
import sys

HEAVY = ("torch", "tokenizers", "safetensors", "transformers", "numpy", "pygments", "llama_gui.engine")
SCRIPT = f"""
import sys
from PySide6.QtWidgets import QApplication
app = QApplication([])
from llama_gui.ui import MainWindow, apply_theme
apply_theme(app, "system")
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_the_window_brings_no_engine():
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
