"""Numbers in the marks of the language."""

import re

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from llama_gui.ui.language import install_language
from llama_gui.ui.models.words import downloads_words, likes_words
from llama_gui.ui.numbers import counted, in_marks, number_text
from llama_gui.ui.parameter_table import GROUPS, ParameterSpec
from tests.journeys.conftest import RESOURCES
from tests.translations import TRANSLATIONS, read_words

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


@pytest.mark.parametrize(("count", "words"), [(0, "0 likes"), (1, "1 like"), (2, "2 likes"), (3400, "3.4 k likes")])
def test_one_is_no_plural(qapp, count, words):
    assert likes_words(count) == words
    assert downloads_words(count) == words.replace("like", "download")


def test_one_is_no_plural_in_german(german):
    assert [likes_words(count) for count in (0, 1, 2)] == ["0 Likes", "1 Like", "2 Likes"]
    texts = [
        QCoreApplication.translate("BackupOffer", "{} message"),
        QCoreApplication.translate("BackupOffer", "{} messages"),
    ]
    assert [counted(count, *texts) for count in (0, 1, 1000)] == ["0 Nachrichten", "1 Nachricht", "1.000 Nachrichten"]


def test_what_is_counted_has_a_word_for_one():
    """Of each text that begins with a number of things there is one for a single thing, in the same room."""
    said = read_words(TRANSLATIONS / "llama_gui_de.ts")
    counted_things = re.compile(
        r"^\{\} (likes|downloads|messages|chats|files|passages|tokens|characters|words|minutes)$"
    )
    missing = [
        (context, text)
        for context, text in said
        if counted_things.match(text) and (context, text.removesuffix("s")) not in said
    ]
    assert missing == [("Models", "{} tokens")]  # how much a model reads: never one
