"""Numbers in the marks of the language."""

import pytest
from PySide6.QtCore import QLocale, QTranslator

from llama_gui.ui.language import install_language
from llama_gui.ui.numbers import in_marks, number_text
from llama_gui.ui.parameter_table import GROUPS, ParameterSpec
from tests.journeys.conftest import RESOURCES

SPECS = {spec.name: spec for group in GROUPS for spec in group.parameters if isinstance(spec, ParameterSpec)}


@pytest.fixture
def german(qapp):
    former = QLocale()
    install_language(qapp, RESOURCES, "de", "language")
    yield
    QLocale.setDefault(former)
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()


def test_english(qapp):
    assert number_text(1234567) == "1,234,567"
    assert number_text(1234.56, 1) == "1,234.6"
    assert in_marks("0.05") == "0.05"


def test_german(german):
    assert number_text(1234567) == "1.234.567"
    assert number_text(1234.56, 1) == "1.234,6"
    assert in_marks("0.05") == "0,05"


@pytest.mark.parametrize(("name", "value"), [("temperature", 0.35), ("top_p", 0.9), ("frequency_penalty", -1.25)])
def test_what_a_parameter_shows_can_be_typed_again(german, name, value):
    spec = SPECS[name]
    assert "," in spec.show(value)
    assert spec.parse(spec.show(value)) == value
    assert spec.parse(str(value)) == value  # with the English mark too


def test_days_are_those_of_the_language(german):
    assert QLocale().standaloneMonthName(3) == "März"
