"""What the widgets of a test need."""

from pathlib import Path

import pytest

from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import apply_theme
from llama_gui.ui.transcript.view import TranscriptView

RESOURCES = Path(__file__).parents[2] / "resources"


@pytest.fixture(autouse=True)
def _light(qapp):
    apply_theme(qapp, "light")


@pytest.fixture
def icons(qapp) -> Icons:
    return Icons(RESOURCES / "icons")


@pytest.fixture
def view(qtbot) -> TranscriptView:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 400)
    view.show()
    return view
