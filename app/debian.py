"""A package for Debian, Ubuntu and their kin, made of the bundle; ``dpkg-deb`` is all it takes."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import llama_gui
from app.parts import APP_ID
from llama_gui.menu_entry import WINDOW_NAME, desktop_entry

ROOT = Path(__file__).resolve().parents[1]
DEPENDS = (
    "libstdc++6",
    "libgcc-s1",
    "zlib1g",
    "libglib2.0-0",
    "libdbus-1-3",
    "libegl1",
    "libgl1",
    "libfontconfig1",
    "libfreetype6",
    "libwayland-client0",
    "libwayland-cursor0",
    "libwayland-egl1",
    "libx11-6",
    "libx11-xcb1",
    "libxcb1",
)
"""What the bundle needs and does not hold."""
_MODES = (0o755, 0o644)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

_CONTROL = """Package: llama-gui
Version: {version}
Architecture: {architecture}
Maintainer: The makers of llama-gui <llama-gui@localhost>
Installed-Size: {kilobytes}
Depends: libc6 (>= {libc}), {depends}
Section: misc
Priority: optional
Description: chat with language models that run on your own machine
 A desktop chat application that runs Llama-family language models, and an
 HTTP server for other programs. Several chats answer at the same time, and
 nothing that is written leaves the machine. A small model comes with it.
"""

_METAINFO = """<?xml version="1.0" encoding="UTF-8"?>
<component type="desktop-application">
  <id>{id}</id>
  <name>llama-gui</name>
  <summary>Chat with language models on your own machine</summary>
  <summary xml:lang="de">Mit Sprachmodellen auf dem eigenen Rechner chatten</summary>
  <metadata_license>CC0-1.0</metadata_license>
  <project_license>MIT</project_license>
  <developer_name>The makers of llama-gui</developer_name>
  <description>
    <p>Runs Llama-family language models on your own machine. Nothing you write leaves it. Several chats answer at the
    same time, each token by token; a conversation is a tree whose branches stay; documents go along.</p>
    <p xml:lang="de">Führt Sprachmodelle der Llama-Familie auf dem eigenen Rechner aus. Nichts, was Sie schreiben,
    verlässt ihn. Mehrere Chats antworten gleichzeitig; ein Gespräch ist ein Baum, dessen Zweige bleiben; Dokumente
    gehen mit einer Frage mit.</p>
  </description>
  <launchable type="desktop-id">{desktop}.desktop</launchable>
  <provides>
    <binary>llama-gui</binary>
  </provides>
  <content_rating type="oars-1.1" />
</component>
"""


def make_package(bundle: Path, to: Path) -> Path:
    """The package of the folder `bundle`, written into the folder `to`; of one that fails, nothing stays.

    Raises:
        CalledProcessError, OSError: it could not be made; `dpkg-deb` has said why.
    """
    tree, made = to / "package", to / "package.deb"
    shutil.rmtree(tree, ignore_errors=True)
    try:
        _fill(tree, bundle)
        # zstd: what xz takes minutes for, in seconds, and a tenth larger. All who have the C library for this read it.
        command = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z10", "--build", str(tree), str(made)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return made.rename(to / f"llama-gui_{llama_gui.__version__}_{architecture()}.deb")
    finally:
        shutil.rmtree(tree, ignore_errors=True)
        made.unlink(missing_ok=True)


def _fill(tree: Path, bundle: Path) -> None:
    """Write all that the package installs, with the rights that it has there."""
    shutil.copytree(bundle, tree / "opt" / "llama-gui", symlinks=True, copy_function=_link)
    lay_out(tree)
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink() and path.stat().st_mode & 0o777 not in _MODES:
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def lay_out(tree: Path) -> None:
    """Write all that lies around the bundle in opt/llama-gui: the command, the menu entry, what shops show, control."""
    kilobytes = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024
    share = tree / "usr" / "share"
    command = tree / "usr" / "bin" / "llama-gui"
    command.parent.mkdir(parents=True)
    command.symlink_to("/opt/llama-gui/llama-gui")
    _write(share / "applications" / f"{WINDOW_NAME}.desktop", desktop_entry(["/opt/llama-gui/llama-gui"]))
    _write(share / "metainfo" / f"{APP_ID}.metainfo.xml", metainfo())
    _write(
        share / "doc" / "llama-gui" / "copyright",
        (ROOT / "LICENSE").read_text("utf-8")
        + "\nThe work of others that it holds, and its licences: /opt/llama-gui/_internal/NOTICES.txt\n",
    )
    icon = share / "icons" / "hicolor" / "scalable" / "apps" / f"{WINDOW_NAME}.svg"
    _write(icon, (ROOT / "resources" / "icons" / "llama-gui.svg").read_text("utf-8"))
    _write(tree / "DEBIAN" / "control", control(kilobytes))


def control(kilobytes: int) -> str:
    """What the package says of itself."""
    return _CONTROL.format(
        version=llama_gui.__version__,
        architecture=architecture(),
        kilobytes=kilobytes,
        # The bundle holds libraries of the system that it is built on.
        libc=(os.confstr("CS_GNU_LIBC_VERSION") or "glibc 2.34").split()[-1],
        depends=", ".join(DEPENDS),
    )


def metainfo() -> str:
    """What software shops show of it (AppStream)."""
    return _METAINFO.format(id=APP_ID, desktop=WINDOW_NAME)


def architecture() -> str:
    """Debian's name of this machine's."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _link(source: str, target: str) -> None:
    """No second copy of half a gigabyte, where one file can have two names, and need not be changed."""
    try:
        if os.stat(source).st_mode & 0o777 in _MODES:
            os.link(source, target)
            return
    except OSError:  # another disk
        pass
    shutil.copy2(source, target)
