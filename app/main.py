"""What a double click starts; in a bundle, also what starts there with `sys.executable -P -m MODULE`."""

import os
import runpy
import sys

from llama_gui.__main__ import main


def start() -> int:
    """Run the window or a command; the exit status."""
    if getattr(sys, "frozen", False):
        give_back_library_path()
        if any(word.startswith(("--multiprocessing-fork", "from multiprocessing.")) for word in sys.argv):
            import multiprocessing  # here: no window waits for it

            multiprocessing.freeze_support()  # ends this process, which a library of others has started
        if run_module(sys.argv[1:]):
            return 0
    return main()


def give_back_library_path() -> None:
    """The bundle's own libraries are found by now. Browsers and other programs that we start must find theirs."""
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if before:
        os.environ["LD_LIBRARY_PATH"] = before


def run_module(arguments: list[str]) -> bool:
    """Do what Python would for ``-P -m MODULE ARGUMENTS…``, if it is a module of ours; a bundle has no Python."""
    if arguments[:2] != ["-P", "-m"] or not arguments[2:] or not arguments[2].startswith("llama_gui."):
        return False
    sys.argv[:] = arguments[2:]
    runpy.run_module(arguments[2], run_name="__main__", alter_sys=True)
    return True


if __name__ == "__main__":
    sys.exit(start())
