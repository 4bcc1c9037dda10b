"""What goes into a bundle, and what is left out: the lists that `llama-gui.spec` is made of."""

import importlib.util
from collections.abc import Iterable
from pathlib import PurePosixPath

APP_ID = "org.llama_gui.llama_gui"
"""For software shops and macOS, which want a domain's name backwards. We have none: this one cannot be mistaken."""

OPTIONAL = ("keyring", "llguidance", "mcp")
"""Libraries that do more where they are installed: taken along then."""

EXCLUDED = (
    # torch loads them when it compiles or exports graphs, which we do not.
    "sympy",
    "networkx",
    "mpmath",
    "torch.utils.tensorboard",
    "torch.utils.benchmark",
    "tensorboard",
    "mcp.cli",  # ends the program that imports it without typer
    "hf_xet",  # we transfer ourselves
    # Tools of those who build and test.
    "tests",
    "pytest",
    "_pytest",
    "hypothesis",
    "transformers",
    "openai",
    "hatchling",
    "pip",
    "setuptools",
    "pkg_resources",
    "wheel",
    "PyInstaller",
    "IPython",
    "matplotlib",
    "tkinter",
    # Rooms of Qt that the window does not use.
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtQuickWidgets",
    "PySide6.QtQuickControls2",
    "PySide6.QtDesigner",
    "PySide6.QtSql",
    "PySide6.QtTest",
    "PySide6.QtUiTools",
    "PySide6.QtHelp",
    "PySide6.scripts",
)
"""Modules that something in the bundle imports, and that nothing of ours needs."""


def without_cards(cuda: str | None) -> tuple[str, ...]:
    """What is left out besides where torch computes on no NVIDIA card; `cuda`: `torch.version.cuda`.

    Triton is a gigabyte. Where it is not needed, the tests have brought it.
    """
    return () if cuda else ("triton",)


_LEFT_OUT = (
    "resources/starter_model/training/*",  # how it was made
    "resources/translations/*.ts",  # the source of the .qm beside it
    "torch/test/*",  # programs that test torch
    "torch/bin/*test*",
    "torch/bin/*Test",
    "torch/bin/protoc*",
    "torch/bin/upgrader_models/*",
    "torch/include/*",
    "torch/share/*",
    "torch/lib/*_test.so",
    "PySide6/Qt/plugins/platforminputcontexts/*virtualkeyboard*",  # GPL only, and it brings Qt Quick
    "PySide6/plugins/platforminputcontexts/*virtualkeyboard*",
    "PySide6/Qt/plugins/platforms/libqeglfs.so",  # screens without a desktop
    "PySide6/Qt/plugins/platforms/libqlinuxfb.so",
    "PySide6/Qt/plugins/platforms/libqminimalegl.so",
    "PySide6/Qt/plugins/platforms/libqvkkhrdisplay.so",
    "PySide6/Qt/plugins/egldeviceintegrations/*",
    "PySide6/Qt/plugins/generic/*",
    "PySide6/Qt/lib/libQt6Egl*",
    "libQt6Egl*",
    "PySide6/Qt/qml/*",
    "PySide6/qml/*",
    "PySide6/Qt/lib/libQt6Qml*",
    "PySide6/Qt/lib/libQt6Quick*",
    "PySide6/Qt/lib/libQt6VirtualKeyboard*",
    "PySide6/Qt6Qml*",
    "PySide6/Qt6Quick*",
    "PySide6/Qt6VirtualKeyboard*",
)
_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
_TAKEN = (
    "libpython",
    "libssl",
    "libcrypto",
    "libffi",
    "libsqlite3",
    "libreadline",
    "libtinfo",
    "libbz2",
    "liblzma",
    "libuuid",
    "libzstd",
    "libbrotli",
    "libgssapi_krb5",
    "libkrb5",
    "libk5crypto",
    "libcom_err",
    "libkeyutils",
    "libxcb-",
    "libxkbcommon",
)
"""Of the libraries of the system that is built on, those of Python and Qt that some systems lack or have otherwise. All
others belong to the system that is run on: its GTK wants its own GLib, its graphics a C++ library as new as they."""
_QT_WORDS = ("PySide6/Qt/translations", "PySide6/translations")
_LANGUAGES = ("qtbase_de.qm",)
"""Qt's own words in the languages that the window speaks; English is in its source."""


def is_wanted(place: str, source: str = "") -> bool:
    """Whether the file that would lie at `place` in the bundle, taken from `source`, belongs there."""
    path = PurePosixPath(place.replace("\\", "/"))
    if len(path.parts) == 1 and source.startswith(_SYSTEM):
        return path.name.startswith(_TAKEN)
    if str(path.parent) in _QT_WORDS:
        return path.name in _LANGUAGES
    return not any(_fits(path, pattern) for pattern in _LEFT_OUT)


def _fits(path: PurePosixPath, pattern: str) -> bool:
    """`pattern` stands for a file, or with ``/*`` at its end for all below a folder."""
    folder = pattern.removesuffix("/*")
    return path.match(pattern) or (pattern != folder and path.is_relative_to(folder))


def installed(names: Iterable[str]) -> list[str]:
    """Those of the modules that are installed here."""
    return [name for name in names if importlib.util.find_spec(name) is not None]
