"""Which action runs what: the table between the names of `actions` and the rooms of the window."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from llama_gui.ui.actions import Actions
from llama_gui.ui.chat_keeping import ChatKeeping
from llama_gui.ui.deck import TabDeck
from llama_gui.ui.exchange_dialogs import ExchangeDialogs
from llama_gui.ui.tab_verbs import TabVerbs
from llama_gui.ui.theme import COLOR_SCHEMES
from llama_gui.ui.window_connections import WindowConnections
from llama_gui.ui.window_library import WindowLibrary
from llama_gui.ui.window_looks import ZOOM_STEP, WindowLooks
from llama_gui.ui.window_menu_entry import WindowMenuEntry
from llama_gui.ui.window_models import WindowModels
from llama_gui.ui.window_preferences import WindowPreferences
from llama_gui.ui.window_sides import WindowSides

Runs = dict[str, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class ActionParts:
    """The rooms that do the work."""

    deck: TabDeck
    verbs: TabVerbs
    sides: WindowSides
    looks: WindowLooks
    preferences: WindowPreferences
    keeping: ChatKeeping
    exchange: ExchangeDialogs
    connections: WindowConnections
    models: WindowModels
    library: WindowLibrary
    menu_entry: WindowMenuEntry


def connect_actions(actions: Actions, parts: ActionParts, others: Runs) -> None:
    """Let every action run what it names. `others`: the actions of the window itself."""
    runs = {**_on_tabs(parts), **_on_messages(parts), **_on_chats(parts), **_on_window(parts), **others}
    for name, run in runs.items():
        actions[name].triggered.connect(lambda _=False, run=run: run())


def _on_tabs(parts: ActionParts) -> Runs:
    deck, verbs = parts.deck, parts.verbs
    return {
        "new_tab": deck.new_tab,
        "close_tab": deck.close_current,
        "reopen_tab": deck.reopen,
        "next_tab": partial(deck.step, 1),
        "previous_tab": partial(deck.step, -1),
        **{f"tab_{number}": partial(deck.go_to, number) for number in range(1, 10)},
        "split_view": deck.toggle_split,
        "chat_beside": deck.go_beside,
        "branches": verbs.show_branches,
        "reasoning": verbs.toggle_reasoning,
        "sources": verbs.toggle_sources,
        "find": verbs.find,
        "find_next": partial(verbs.find_step, 1),
        "find_previous": partial(verbs.find_step, -1),
        "focus_composer": verbs.focus_composer,
    }


def _on_messages(parts: ActionParts) -> Runs:
    verbs = parts.verbs
    return {
        "stop": verbs.stop,
        "regenerate": verbs.regenerate,
        "regenerate_with": partial(verbs.on_last_message, "regenerate_with"),
        "edit_last": partial(verbs.on_last_message, "edit"),
        "edit_answer": partial(verbs.on_last_message, "edit_answer"),
        "attach": verbs.attach,
        "folder": verbs.open_folder,
        "thinking": verbs.toggle_thinking,
        "tools": verbs.open_tools,
        "previous_version": partial(verbs.on_last_message, "previous"),
        "next_version": partial(verbs.on_last_message, "next"),
        "continue_answer": partial(verbs.on_last_message, "continue"),
        "words": partial(verbs.on_last_message, "words"),
        "run_again": partial(verbs.on_last_message, "run_again"),
        "fork": partial(verbs.on_last_message, "fork"),
        "copy_answer": verbs.copy_answer,
    }


def _on_chats(parts: ActionParts) -> Runs:
    verbs, keeping, exchange = parts.verbs, parts.keeping, parts.exchange

    def with_chat(run: Callable[[str], object]) -> Callable[[], object]:
        return partial(verbs.with_chat, partial(keeping.with_listed, run))

    return {
        "rename_chat": with_chat(parts.sides.rename_chat),
        "pin_chat": with_chat(keeping.toggle_pin),
        "move_chat": with_chat(keeping.choose_folder),
        "delete_chat": with_chat(keeping.delete),
        "archive_chat": with_chat(partial(keeping.archive, archived=True)),
        "import_chats": exchange.ask_where_from,
        "import_folder": exchange.ask_for_folder,
        "export_chat": with_chat(lambda chat_id: exchange.ask_where_to([chat_id])),
        "export_pdf": with_chat(lambda chat_id: exchange.ask_where_to([chat_id], "pdf")),
        "export_all": partial(exchange.ask_where_to, []),
        "bin": keeping.show_bin,
    }


def _on_window(parts: ActionParts) -> Runs:
    sides, looks, models, library = parts.sides, parts.looks, parts.models, parts.library
    return {
        "models": sides.show_models,
        "presets": sides.show_presets,
        "find_models": library.show_models,
        "manage_models": library.show_shelf,
        "load_options": models.show_options,
        "open_model": models.ask_for_folder,
        "open_model_file": models.ask_for_file,
        "sidebar": sides.toggle_sidebar,
        "settings_panel": sides.toggle_panel,
        "search": sides.search,
        "zoom_in": partial(looks.zoom_by, ZOOM_STEP),
        "zoom_out": partial(looks.zoom_by, -ZOOM_STEP),
        "zoom_reset": partial(looks.set_zoom, 1.0),
        **{f"scheme_{scheme}": partial(looks.set_scheme, scheme) for scheme in COLOR_SCHEMES},
        "server": parts.connections.show_server,
        "endpoints": parts.connections.show_endpoints,
        "tool_servers": parts.connections.show_tools,
        "preferences": parts.preferences.show_dialog,
        "add_to_menu": parts.menu_entry.add,
        "remove_from_menu": parts.menu_entry.remove,
    }
