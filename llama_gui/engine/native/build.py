"""A build hook for hatchling: compiles `kernels.c` where there is a C compiler; without one torch's kernels do.

`pip install` runs it. The library lies beside its source, and in the wheel, which is then one for this platform.
"""

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = Path(__file__).parent
_SOURCE, _LIBRARY = _FOLDER / "kernels.c", _FOLDER / "kernels.so"
_COMPILERS = ("gcc", "cc")  # whose OpenMP is the one that torch brings
_FLAGS = (
    "-O3",
    "-std=c11",
    "-D_GNU_SOURCE",
    "-fPIC",
    "-shared",
    "-fopenmp",
    "-ffp-contract=off",
    "-fvisibility=hidden",
)
_SECONDS = 120


class CustomBuildHook(BuildHookInterface):
    """Adds the compiled kernels to wheels for Linux on x86-64."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; `version` is "standard" or "editable"."""
        if self.target_name != "wheel" or (sys.platform, platform.machine()) != ("linux", "x86_64"):
            return
        _LIBRARY.unlink(missing_ok=True)  # a running program keeps the old one
        error = compile_kernels(_LIBRARY)
        if error is not None:
            self.app.display_warning(f"The kernels were not compiled, int8 and int4 are slower on some CPUs: {error}")
            return
        build_data["artifacts"].append(f"/{_LIBRARY.relative_to(self.root).as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def compile_kernels(library: Path) -> str | None:
    """Write `library`; returns what went wrong."""
    failed = "no C compiler was found"
    for compiler in filter(None, (os.environ.get("CC"), *_COMPILERS)):
        command = [*compiler.split(), *_FLAGS, "-o", str(library), str(_SOURCE)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS)
        except FileNotFoundError:
            continue
        except (subprocess.SubprocessError, OSError) as error:
            failed = f"{compiler}: {getattr(error, 'stderr', None) or error}"
        else:
            return None
    return failed
