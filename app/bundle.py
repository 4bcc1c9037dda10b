"""``python -m app.bundle``: llama-gui in a folder that needs no Python. ``--deb``: a package for Debian of it."""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_gui.paths import native_kernels

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; the exit status."""
    options = _parser().parse_args(arguments)
    if options.deb and shutil.which("dpkg-deb") is None:  # said before minutes are spent
        print("A package for Debian is made by dpkg-deb, which is not here. Install dpkg, or leave out --deb.")
        return 1
    if native_kernels() is None:
        print("Without our own kernels, which pip compiles where there is a C compiler: many CPUs will be slower.")
    folder = build(options.to.absolute())
    print(f"{folder}: {_megabytes(folder)} MB. Copy it anywhere, and start {folder / 'llama-gui'}")
    if options.deb:
        from app.debian import make_package

        package = make_package(folder, options.to.absolute())
        print(f"{package}: {package.stat().st_size // 10**6} MB. Install it with: sudo apt install {package}")
    return 0


def build(to: Path) -> Path:
    """The bundle in the folder `to`; what was there of an older one is gone."""
    work = to / "work"
    work.mkdir(parents=True, exist_ok=True)
    if sys.platform in ("win32", "darwin"):
        write_icon(work / ("llama-gui.ico" if sys.platform == "win32" else "llama-gui.icns"))
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(to), "--workpath", str(work), str(ROOT / "app" / "llama-gui.spec")]
    subprocess.run(command, check=True, cwd=ROOT)
    folder = to / "llama-gui"
    subprocess.run([folder / "llama-gui", "ask", "--seed", "1", "What is this application?"], check=True)
    shutil.rmtree(work)
    return folder


def write_icon(target: Path) -> None:
    """Our icon in the format of Windows or macOS, by the end of the file's name."""
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(256, 256, QImage.Format.Format_ARGB32)  # no pixmap: that would need an application
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(ROOT / "resources" / "icons" / "llama-gui.svg")).render(painter)
    painter.end()
    if not image.save(str(target)):
        raise OSError(f"Qt cannot write {target}")


def _megabytes(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()) // 10**6


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.bundle", description=__doc__)
    parser.add_argument("--to", metavar="DIR", type=Path, default=ROOT / "dist", help="where to build (default: dist)")
    parser.add_argument("--deb", action="store_true", help="also a package for Debian and Ubuntu")
    return parser


if __name__ == "__main__":
    sys.exit(main())
