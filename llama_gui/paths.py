"""Where things lie: data, configuration, cache and resources, in a checkout, an installed wheel and a bundle."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import platformdirs

from llama_gui.errors import ModelNotFoundError

_APP = "llama-gui"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one profile. They need not exist: whoever writes into one makes it."""

    data: Path
    config: Path
    cache: Path
    resources: Path

    @classmethod
    def default(cls) -> Self:
        """The places that the user's system has for applications."""
        return cls(
            data=platformdirs.user_data_path(_APP, appauthor=False),
            config=platformdirs.user_config_path(_APP, appauthor=False),
            cache=platformdirs.user_cache_path(_APP, appauthor=False),
            resources=find_resources(),
        )

    @classmethod
    def in_profile(cls, folder: str | Path) -> Self:
        """Everything in one folder, which can be carried about."""
        root = Path(folder).expanduser().absolute()
        return cls(data=root, config=root, cache=root / "cache", resources=find_resources())

    @property
    def chats_file(self) -> Path:
        """The chat store."""
        return self.data / "chats.db"

    @property
    def settings_file(self) -> Path:
        """The user's settings."""
        return self.config / "settings.json"

    @property
    def endpoints_file(self) -> Path:
        """The servers of others that the user has added."""
        return self.config / "endpoints.json"

    @property
    def tools_file(self) -> Path:
        """The servers of tools that the user has set up, as other applications write such files."""
        return self.config / "mcp.json"

    @property
    def server_key_file(self) -> Path:
        """The key of our own server."""
        return self.data / "server-key"

    @property
    def models(self) -> Path:
        """Where model folders of this profile lie."""
        return self.data / "models"

    @property
    def shelf_file(self) -> Path:
        """What is noted of models: the user's names for them, and when they were last used."""
        return self.data / "shelf.json"

    @property
    def downloads_file(self) -> Path:
        """The queue of downloads."""
        return self.data / "downloads.json"

    @property
    def kernel_notes(self) -> Path:
        """What was found out about this machine's kernels; made anew when it is gone."""
        return self.cache / "kernels.json"

    @property
    def bandwidth_file(self) -> Path:
        """How fast this machine was found to read its memory; made anew when it is gone."""
        return self.cache / "bandwidth.json"

    @property
    def prompt_cache(self) -> Path:
        """What models have read of long chats of the window, as keys and values; read anew when it is gone."""
        return self.cache / "prompts"

    @property
    def served_prompts(self) -> Path:
        """The same of what commands were asked: the bin and the preferences are about chats."""
        return self.cache / "served-prompts"

    @property
    def starter_model(self) -> Path:
        """The model that comes with llama-gui."""
        return self.resources / "starter_model"


def find_resources() -> Path:
    """The folder of icons, themes and the starter model.

    A bundle unpacks it beside the program, a wheel holds it inside the package, a checkout has it beside the package.
    """
    package = Path(__file__).resolve().parent
    bundle = getattr(sys, "_MEIPASS", None)
    places = [Path(bundle) / "resources"] if bundle else []
    places += [package / "_resources", package.parent / "resources"]
    return next((place for place in places if place.is_dir()), places[-1])


def native_kernels() -> Path | None:
    """The compiled kernels of the engine; None: they were not compiled when this was installed."""
    name = "kernels.dll" if sys.platform == "win32" else "kernels.so"
    path = Path(__file__).resolve().parent / "engine" / "native" / name
    return path if path.is_file() else None


def as_unicode(text: str) -> str:
    """A path, or a name from one, as it can be shown, stored and sent: what is no Unicode in it becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def check_model_is_there(path: str) -> None:
    """Whether anything lies where a model is looked for, told before torch is loaded, which takes seconds.

    Raises:
        ModelNotFoundError: nothing does.
    """
    place = os.path.abspath(os.path.expanduser(path))
    try:
        os.stat(place)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelNotFoundError(f"There is no model at {place}. Check the path, or pick another model.") from None
    except (OSError, ValueError):  # whoever opens it knows more
        pass
