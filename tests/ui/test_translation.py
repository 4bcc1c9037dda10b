"""German is complete, says the same, and is what the application loads."""

import json
import re

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QMessageBox

from llama_gui.library.catalog import load
from llama_gui.ui.language import TRANSLATED, install_language
from llama_gui.ui.models.catalog_words import DESCRIPTIONS
from tests.journeys.conftest import RESOURCES
from tests.problem_templates import PROBLEMS
from tests.translations import TRANSLATIONS, Words, compiled, read_words, words_in_the_source

FIELD = re.compile(r"\{[^{}]*\}")
KEPT_MARKS = ("\n", "\\n", " · ", "(*.", "  ")


@pytest.fixture(scope="session")
def said(tmp_path_factory) -> Words:
    """Every text of the source: the window's own, and what it may show of the rooms below it."""
    below = [text for room in json.loads(PROBLEMS.read_text(encoding="utf-8")).values() for text in room]
    return words_in_the_source(tmp_path_factory.mktemp("lupdate")) | {("Problems", text): "" for text in below}


@pytest.fixture(scope="session")
def german() -> Words:
    return read_words(TRANSLATIONS / "llama_gui_de.ts")


@pytest.fixture
def application(qapp):
    former = QLocale()
    yield qapp
    QLocale.setDefault(former)
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_every_language_has_its_two_files():
    assert sorted(file.name for file in TRANSLATIONS.iterdir()) == sorted(
        [PROBLEMS.name, *(f"llama_gui_{code}.{kind}" for code in TRANSLATED for kind in ("qm", "ts"))]
    )


def test_all_that_is_said_is_translated(said, german):
    assert len(said) > 500
    assert sorted(said.keys() - german.keys()) == []
    assert sorted(words for words, translation in german.items() if not translation.strip()) == []


def test_nothing_is_translated_that_nobody_says(said, german):
    assert sorted(german.keys() - said.keys()) == []


def test_the_catalogue_is_translated_as_it_is():
    assert {entry.description for entry in load(RESOURCES / "catalog.json")} == set(DESCRIPTIONS)


def test_numbers_and_names_stand_in_all_translations(german):
    """`{}` is filled by position, so the German sentence takes them in the English order; `{0}` may stand anywhere."""
    wrong = {
        source: text
        for (context, source), text in german.items()
        if sorted(FIELD.findall(source)) != sorted(FIELD.findall(text))
        or (context != "Problems" and FIELD.findall(source) != FIELD.findall(text))
    }
    assert wrong == {}


def test_the_form_of_a_text_is_kept(german):
    wrong: list[tuple[str, str]] = []
    for (context, source), text in german.items():
        if context == "Numbers":  # their marks are the other way round
            continue
        edges = re.compile(r"^\s*|\s*$")
        same = edges.findall(source) == edges.findall(text)
        same &= all(source.count(mark) == text.count(mark) for mark in KEPT_MARKS)
        same &= (re.findall(r" ?…$", source)) == re.findall(r" ?…$", text)
        same &= source.strip()[-1:] not in ".:?!" or source.strip()[-1:] == text.strip()[-1:]
        if not same:
            wrong.append((source, text))
    assert wrong == []


def test_the_quotes_are_german(german):
    wrong = [
        t for (_, s), t in german.items() if "”" in t or t.count('"') > s.count('"') or t.count("„") != s.count("“")
    ]
    assert wrong == []
    assert [text for text in german.values() if text.count("„") != text.count("“")] == []


def test_the_reader_is_not_called_sie(german):
    formal = re.compile(r"(?<=[\w,;] )(Sie|Ihr|Ihre|Ihren|Ihrem|Ihnen)\b")
    assert [text for text in german.values() if formal.search(text)] == []


def test_the_loaded_file_is_made_of_the_written_one(application, german, tmp_path):
    made, kept = QTranslator(application), QTranslator(application)
    assert made.load(str(compiled(TRANSLATIONS / "llama_gui_de.ts", tmp_path)))
    assert kept.load(str(TRANSLATIONS / "llama_gui_de.qm"))
    for (context, source), text in german.items():
        assert kept.translate(context, source) == made.translate(context, source) == text


def test_german_for_us_and_for_the_buttons_of_qt(application, qtbot):
    assert install_language(application, RESOURCES, "de", "language") == "de"
    assert QCoreApplication.translate("Actions", "New chat") == "Neuer Chat"
    box = QMessageBox(QMessageBox.Icon.NoIcon, "", "", QMessageBox.StandardButton.Cancel)
    qtbot.addWidget(box)
    assert box.button(QMessageBox.StandardButton.Cancel).text().replace("&", "") == "Abbrechen"
