"""Which language is shown, and on which side the window begins."""

import pytest
from PySide6.QtCore import QLocale, Qt, QTranslator

from llama_gui.ui.language import install_language, language_for
from tests.journeys.conftest import RESOURCES


@pytest.mark.parametrize(
    ("wanted", "system", "shown"),
    [
        ("system", ["de-AT", "de", "en"], "de"),
        ("system", ["fr-FR", "fr", "de"], "de"),
        ("system", ["en-GB", "de"], "en"),
        ("system", ["ja"], "en"),
        ("system", [], "en"),
        ("en", ["de"], "en"),
        ("de", ["en"], "de"),
    ],
)
def test_the_first_language_that_we_have(wanted, system, shown):
    assert language_for(wanted, system) == shown


@pytest.fixture
def application(qapp):
    former = QLocale()
    yield qapp
    QLocale.setDefault(former)
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.parametrize(
    ("direction", "side"),
    [
        ("language", Qt.LayoutDirection.LeftToRight),
        ("right_to_left", Qt.LayoutDirection.RightToLeft),
        ("left_to_right", Qt.LayoutDirection.LeftToRight),
    ],
)
def test_the_side_it_begins_on(application, direction, side):
    install_language(application, RESOURCES, "en", direction)
    assert application.layoutDirection() == side
