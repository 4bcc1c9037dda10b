"""One module of the engine without the others, for child processes that would wait two seconds for torch."""

from pathlib import Path

import llama_gui

ALONE = f"""
import sys, types
package = types.ModuleType("llama_gui.engine")  # the real one imports all of the engine
package.__path__ = [{str(Path(llama_gui.__file__).parent / "engine")!r}]
sys.modules["llama_gui.engine"] = package
"""
"""Comes before the imports of a child's code."""
