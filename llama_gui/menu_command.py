"""``llama-gui menu-entry``: enter llama-gui into the applications menu of this desktop, or take it out."""

import argparse

from llama_gui.menu_entry import MenuEntry
from llama_gui.paths import Paths
from llama_gui.terminal import in_terminal


def run_menu_entry(options: argparse.Namespace, paths: Paths) -> int:
    """Do what `options` say; the exit status."""
    return in_terminal(lambda: _menu_entry(options, MenuEntry(paths.resources, paths.data)))


def _menu_entry(options: argparse.Namespace, entry: MenuEntry) -> int:
    if options.add:
        entry.add()
    elif options.remove:
        entry.remove()
    print(f"The applications menu has llama-gui: {entry.file}" if entry.is_there() else "It is not in the menu.")
    return 0
