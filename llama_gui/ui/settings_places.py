"""The fields of the settings, as the palette finds them: by name, and by what other applications call them."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication

from llama_gui.ui.dialogs import Command
from llama_gui.ui.parameter_table import GROUPS
from llama_gui.ui.settings_panel import SettingsPanel

FIELD_SYNONYMS = {
    "system_prompt": "persona instructions anweisungen rolle",
    "temperature": "creativity randomness kreativität zufall",
    "top_p": "nucleus",
    "max_tokens": "length n_predict max_new_tokens länge",
    "min_tokens": "length länge",
    "seed": "random reproduce zufall startwert",
    "stop": "stop sequences stoppwörter",
    "repetition_penalty": "repeat wiederholung strafe",
    "frequency_penalty": "repeat wiederholung strafe",
    "presence_penalty": "repeat wiederholung strafe",
    "penalty_window": "repeat_last_n wiederholung strafe",
    "typical_p": "locally typical",
    "overflow": "truncate sliding window kürzen kontext",
}
_ENGLISH = {"system_prompt": "system prompt", "stop": "stop strings"} | {
    spec.name: spec.label.lower() for group in GROUPS for spec in group.parameters
}


def settings_places(panel: SettingsPanel, go_to: Callable[[str], object]) -> list[Command]:
    """A way to each field of the panel. `go_to` brings the user to the field of that name."""
    note = QCoreApplication.translate("CommandPalette", "Settings of this chat")
    return [
        Command(shown, note, _other_names(name), partial(go_to, name)) for name, shown in panel.field_names().items()
    ]


def _other_names(name: str) -> str:
    return f"{name.replace('_', ' ')} {_ENGLISH[name]} {FIELD_SYNONYMS.get(name, '')}"
