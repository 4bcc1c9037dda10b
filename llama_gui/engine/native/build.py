"""A build hook for hatchling: compiles `kernels.c` where there is a C compiler; without one torch's kernels do.

`pip install` runs it. The library lies beside its source, and in the wheel, which is then one for this platform. Its
threads are those of torch: the compiler must speak to the OpenMP that torch brings, which is gcc's on Linux and Intel's
on Windows. There the compiler is Zig's, from PyPI, because hardly anybody has one.
"""

import os
import platform
import runpy
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = Path(__file__).parent
_SOURCE, _OPENMP = _FOLDER / "kernels.c", _FOLDER / "libiomp5md.def"
_LIBRARIES = {("linux", "x86_64"): _FOLDER / "kernels.so", ("win32", "AMD64"): _FOLDER / "kernels.dll"}
_COMPILERS = ("gcc", "cc")
_ZIG = (sys.executable, "-m", "ziglang")
_ZIG_TARGET = ("-target", "x86_64-windows-gnu", "-mcpu=x86_64")
_FLAGS = (
    "-O3",
    "-std=c11",
    "-mavx2",
    "-mfma",
    "-mf16c",
    "-shared",
    "-fopenmp",
    "-ffp-contract=off",
    "-fvisibility=hidden",
)
_SECONDS = 600


class CustomBuildHook(BuildHookInterface):
    """Adds the compiled kernels to wheels for Linux and Windows on x86-64."""

    def dependencies(self) -> list[str]:
        """What pip fetches for the build."""
        return ["ziglang>=0.15"] if self._library() is not None and sys.platform == "win32" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; `version` is "standard" or "editable"."""
        library = self._library()
        if library is None:
            return
        error = compile_kernels(library)
        if error is not None:
            self.app.display_warning(f"The kernels were not compiled, int8 and int4 are slower on some CPUs: {error}")
            return
        build_data["artifacts"].append(f"/{library.relative_to(self.root).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")

    def _library(self) -> Path | None:
        """What is to be compiled here, if anything."""
        return _library_here() if self.target_name == "wheel" else None


def _library_here() -> Path | None:
    return _LIBRARIES.get((sys.platform, platform.machine()))


def compile_kernels(library: Path) -> str | None:
    """Write `library`, for Windows if it is called .dll; returns what went wrong."""
    library.unlink(missing_ok=True)  # a running program keeps the old one
    return _compile_with_zig(library) if library.suffix == ".dll" else _compile_with_gcc(library)


def _flags() -> list[str]:
    digest = runpy.run_path(str(_FOLDER / "sources.py"))["digest"]  # pip runs this file alone: it cannot import
    return [*_FLAGS, f'-DSOURCES="{digest(_SOURCE.parent)}"']


def _compile_with_gcc(library: Path) -> str | None:
    failed = "no C compiler was found"
    for compiler in filter(None, (os.environ.get("CC"), *_COMPILERS)):
        command = [*compiler.split(), *_flags(), "-D_GNU_SOURCE", "-fPIC", "-o", str(library), str(_SOURCE), "-lm"]
        for more in ([], ["-DOLD_ASSEMBLER"]):  # binutils before 2.36 do not know AVX-VNNI
            try:
                _run([*command, *more])
            except FileNotFoundError:
                break
            except (subprocess.SubprocessError, OSError) as error:
                failed = f"{compiler}: {getattr(error, 'stderr', None) or error}"
            else:
                return None
    return failed


def _compile_with_zig(library: Path) -> str | None:
    """Also on Linux, for Windows."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            openmp = str(Path(folder) / "libiomp5md.a")
            # What it compiles of Windows' own libraries would stay in the home folder.
            places = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
            _run([*_ZIG, "dlltool", "-m", "i386:x86-64", "-d", str(_OPENMP), "-l", openmp], places)
            _run([*_ZIG, "cc", *_ZIG_TARGET, *_flags(), "-o", str(library), str(_SOURCE), openmp], places)
    except (subprocess.SubprocessError, OSError) as error:
        return f"zig: {getattr(error, 'stderr', None) or error}"
    for suffix in (".lib", ".pdb"):  # for linkers and debuggers
        library.with_suffix(suffix).unlink(missing_ok=True)
    return None


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=_SECONDS, env={**os.environ, **(environment or {})}
    )


if __name__ == "__main__":  # after a change to the sources: python -m llama_gui.engine.native.build
    to = _library_here()
    sys.exit("They are compiled on Linux and Windows on x86-64 only." if to is None else compile_kernels(to))
