"""The language of the window, and the side it begins on."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QApplication

from llama_gui.settings import Language, LayoutDirection
from llama_gui.ui.problem_words import use_problems

TRANSLATED = ("de",)
"""Languages with a file in `resources/translations`; English is in the source."""


def language_for(wanted: Language, system: Sequence[str]) -> str:
    """The language to show. `system`: what the desktop asks for, the dearest first, like ["de-AT", "de", "en"]."""
    if wanted != "system":
        return wanted
    for tag in system:
        code = tag.partition("-")[0].lower()
        if code == "en" or code in TRANSLATED:
            return code
    return "en"


def install_language(application: QApplication, folder: Path, language: Language, direction: LayoutDirection) -> str:
    """Translate what is built from now on, Qt's own buttons included, and mirror it where asked. The language taken."""
    code = language_for(language, QLocale.system().uiLanguages())
    system = QLocale.system().language()
    if system != QLocale(code).language() and (code != "en" or system != QLocale.Language.C):
        QLocale.setDefault(QLocale(code))  # else months and days would be those of the desktop
    if code != "en":
        for name, place in (
            (f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
            (f"llama_gui_{code}", str(folder / "translations")),
        ):
            translator = QTranslator(application)
            if translator.load(name, place):
                application.installTranslator(translator)
    use_problems(None if code == "en" else folder / "translations" / "problems.json")
    sides = {"left_to_right": Qt.LayoutDirection.LeftToRight, "right_to_left": Qt.LayoutDirection.RightToLeft}
    application.setLayoutDirection(sides.get(direction) or QLocale(code).textDirection())
    return code
