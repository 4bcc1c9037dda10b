"""What the rows and the pane say of a model: of the catalogue, of the hub, on this machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from llama_gui.bridge.fit_adviser import FitAdviser
from llama_gui.bridge.model_shelf import ShelfItem
from llama_gui.library.catalog import CatalogEntry, CatalogFile
from llama_gui.library.fit import Fit, counted_tokens
from llama_gui.library.gguf_kind import gguf_dtype, gguf_kind
from llama_gui.library.model_shape import ModelShape
from llama_gui.library.plan import GGUF_PREFERENCE, named_gguf
from llama_gui.ui.models.catalog_words import described
from llama_gui.ui.models.detail_pane import FileChoice, PaneContent
from llama_gui.ui.models.row_list import ModelRow
from llama_gui.ui.models.words import (
    context_words,
    count_words,
    day_words,
    downloads_words,
    gguf_words,
    likes_words,
    plain,
    short_verdict,
    size_words,
    verdict_role,
)
from llama_gui.ui.numbers import dtype_text
from llama_gui.ui.problem_words import problem_text

if TYPE_CHECKING:
    from llama_gui.library.hub import FoundModel, ModelDetails
    from llama_gui.library.plan import RemoteFile

translate = QCoreApplication.translate
_MOST_FILES = 40
_FP8 = "FP8"
ORIGINAL = "*.safetensors"
"""Chosen as file: the weights as their makers publish them."""


def catalog_fit(entry: CatalogEntry, adviser: FitAdviser) -> Fit:
    """Whether a recommended model runs here, in the bits in which most people want it."""
    return adviser.best(entry.shape, entry.context, _stored(entry.gguf))


def usual_catalog_fit(entry: CatalogEntry, adviser: FitAdviser) -> Fit:
    """The same, whatever else runs just now."""
    return adviser.usual(entry.shape, entry.context, _stored(entry.gguf))


def catalog_row(entry: CatalogEntry, adviser: FitAdviser) -> ModelRow:
    """A recommended model in the list."""
    fit = catalog_fit(entry, adviser)
    size = entry.gguf.download if entry.gguf else entry.size
    facts = [size_words(size), entry.licence, context_words(entry.context)]
    facts += [translate("Models", "for embeddings")] if entry.embeds else []
    note, role = ("", "muted") if entry.embeds else (short_verdict(fit), _note_role(fit))
    return ModelRow(entry.repo, entry.name, " · ".join(facts), described(entry.description), note, role)


def catalog_content(
    entry: CatalogEntry, adviser: FitAdviser, page: str, details: "ModelDetails | None", file: str = ""
) -> PaneContent:
    """A recommended model in the pane; `page` is its address, `details` what the hub told when it was asked.

    `file`: `ORIGINAL`, where that is chosen and not the file in fewer bits.
    """
    gguf = gguf_of(entry, file)
    stored = _stored(gguf)
    size = gguf.download if gguf else details.size if details and details.size else entry.size
    is_gated = entry.is_gated and gguf is None
    facts = [
        (translate("Models", "Download"), size_words(size)),
        (translate("Models", "Licence"), _licence(entry.licence, is_gated)),
        (translate("Models", "Parameters"), count_words(entry.parameters)),
        (translate("Models", "Context"), context_words(entry.context)),
    ]
    facts += [(translate("Models", "Comes from"), gguf.repo)] if gguf else []
    return PaneContent(
        title=entry.name,
        subtitle=entry.repo,
        lead=described(entry.description),
        warning=_gate(is_gated),
        page=page if is_gated else "",
        facts=tuple(facts),
        fits=adviser.fits(entry.shape, entry.context) if not entry.embeds else (),
        counted=counted_tokens(entry.context),
        best=adviser.best(entry.shape, entry.context, stored).dtype if not entry.embeds else "",
        is_rounded=_is_rounded(stored, entry.shape),
        files=_forms(entry, entry.gguf) if entry.gguf else (),
        file=gguf.path if gguf else ORIGINAL if entry.gguf else "",
        excerpt=details.excerpt if details else "",
    )


def gguf_of(entry: CatalogEntry, file: str) -> CatalogFile | None:
    """The file of a recommended model that is meant; None: its original weights."""
    return None if file == ORIGINAL else entry.gguf


def _forms(entry: CatalogEntry, gguf: CatalogFile) -> tuple[FileChoice, ...]:
    kind = gguf_kind(gguf.path)
    original = [size_words(entry.size), gguf_words("F16")]
    original += [translate("Models", "licence to accept")] if entry.is_gated else []
    return (
        FileChoice(gguf.path, kind, " · ".join((size_words(gguf.download), gguf_words(kind)))),
        FileChoice(ORIGINAL, translate("Models", "Original weights"), " · ".join(original)),
    )


def _stored(gguf: CatalogFile | None) -> str:
    return gguf_dtype(gguf_kind(gguf.path)) if gguf else ""


def _is_rounded(stored: str, shape: ModelShape | None) -> bool:
    """Whether the numbers have few bits already: those of a file, whose dtype `stored` is, or of a folder."""
    return (stored or (shape.stored if shape else "")) in ("int8", "int4")


def _weights_fact(shape: ModelShape | None) -> list[tuple[str, str]]:
    """How a folder holds its weights, where that is not plainly."""
    if shape is None or not shape.is_fp8:
        return []
    return [(translate("Models", "Weights"), translate("Models", "FP8: eight bits each, converted when it is loaded"))]


def found_row(found: "FoundModel", adviser: FitAdviser, *, gguf: bool = False) -> ModelRow:
    """A find of the search in the list. `gguf`: its GGUF files are meant, of which one in few bits is proposed."""
    owner, _, name = found.repo.partition("/")
    facts = [plain(owner, 40)]
    facts += [count_words(found.parameters)] if found.parameters else []
    facts += [_FP8] if found.is_fp8 else []
    facts += [translate("Models", "reads images")] if found.reads_images else []
    facts += [plain(found.licence, 30)] if found.licence else []
    facts += [translate("Models", "licence to accept")] if found.is_gated else []
    facts += [downloads_words(found.downloads)]
    shape = ModelShape.guess(found.parameters, found.repo, is_fp8=found.is_fp8) if found.parameters else None
    stored = gguf_dtype(GGUF_PREFERENCE[0].upper()) if gguf and found.has_gguf else ""
    fit = adviser.best(shape, 0, stored) if shape else None
    note, role = (short_verdict(fit), _note_role(fit)) if fit else ("", "muted")
    return ModelRow(found.repo, plain(name, 100), " · ".join(facts), "", note, role)


def waiting_content(found: "FoundModel") -> PaneContent:
    """A find while the hub is asked for more."""
    return PaneContent(
        title=plain(found.repo.partition("/")[2], 100), subtitle=plain(found.repo), lead=translate("Models", "Reading…")
    )


def failed_content(repo: str, problem: str) -> PaneContent:
    """A model of which the hub tells nothing."""
    return PaneContent(title=plain(repo.partition("/")[2], 100), subtitle=plain(repo), warning=problem_text(problem))


def details_content(details: "ModelDetails", adviser: FitAdviser, wanted: str = "") -> PaneContent:
    """A model as the hub describes it. `wanted`: the GGUF file to choose first, if it has that one;
    see `named_gguf`."""
    found = details.found
    context = details.config.get("max_position_embeddings")
    context = context if isinstance(context, int) else 0
    facts = (
        [(translate("Models", "Download"), size_words(details.size))]
        if details.size and not _has_choice(details)
        else []
    )
    facts.append(
        (
            translate("Models", "Licence"),
            _licence(plain(found.licence, 60) or translate("Models", "not named"), found.is_gated),
        )
    )
    shape = details.shape
    facts += [(translate("Models", "Parameters"), count_words(found.parameters))] if found.parameters else []
    facts += _weights_fact(shape)
    facts += [(translate("Models", "Context"), context_words(context))] if context else []
    facts.append((translate("Models", "On the hub"), _popularity(found)))
    file = details.files[0].path if _has_choice(details) and details.files else ""
    named = named_gguf(details.gguf, wanted) if file and wanted else None
    file = named.path if named else file
    stored = gguf_dtype(gguf_kind(file))
    rough = translate("Models", "An estimate from the number of parameters.")
    return PaneContent(
        title=plain(found.repo.partition("/")[2], 100),
        subtitle=plain(found.repo),
        warning=problem_text(details.problem) or _gate(found.is_gated),
        page=details.page if found.is_gated or details.problem else "",
        facts=tuple(facts),
        fits=adviser.fits(shape, context) if shape and not details.problem else (),
        counted=counted_tokens(context),
        best=adviser.best(shape, context, stored).dtype if shape else "",
        is_rounded=_is_rounded(stored, shape),
        verdict_note=rough if details.is_guessed and shape else "",
        files=_choices(details.gguf, shape, adviser) if _has_choice(details) else (),
        file=file,
        excerpt=details.excerpt,
    )


def shelf_row(item: ShelfItem, adviser: FitAdviser, current: str) -> ModelRow:
    """A model on this machine in the list. `current` is the key of the one that is open."""
    entry = item.entry
    used = day_words(item.last_used)
    facts = [size_words(entry.size)]
    facts += [_FP8] if item.shape and item.shape.is_fp8 else []
    facts += [translate("Models", "for embeddings")] if entry.embeds else []
    facts += [translate("Models", "guesses for another model")] if entry.guesses else []
    facts += [translate("Models", "reads images")] if entry.reads_images else []
    facts += [translate("Models", "comes with llama-gui")] if entry.is_starter else []
    facts += [item.keeper] if item.keeper else []
    facts += [translate("Models", "last used {}").format(used)] if used else []
    fit = (
        adviser.best(item.shape, item.context, gguf_dtype(gguf_kind(entry.path)), entry.key)
        if item.shape and not item.unread and not entry.is_starter and entry.chats
        else None
    )
    state = translate("Models", "open") if entry.key == current else ""
    note, role = (short_verdict(fit), _note_role(fit)) if fit else ("", "muted")
    note = translate("Models", "does not run") if item.unread else note
    return ModelRow(entry.path, plain(entry.name), " · ".join(facts), "", note, role, state)


def shelf_content(item: ShelfItem, adviser: FitAdviser) -> PaneContent:
    """A model on this machine in the pane."""
    entry, shape = item.entry, None if item.unread else item.shape
    facts = [(translate("Models", "Size"), size_words(entry.size))]
    if shape and not item.is_guessed:
        facts.append((translate("Models", "Parameters"), count_words(shape.parameters)))
    facts += _weights_fact(shape)
    facts += [(translate("Models", "Context"), context_words(item.context))] if item.context else []
    if not entry.is_starter:  # of which nobody keeps a note
        facts.append((translate("Models", "Last used"), day_words(item.last_used) or translate("Models", "never")))
    facts.append((translate("Models", "Place"), plain(entry.path, 1000)))
    facts += [(translate("Models", "Kept by"), item.keeper)] if item.keeper else []
    stored = gguf_dtype(gguf_kind(entry.path))
    judged = shape if entry.chats else None  # by how fast it writes
    lead = translate("Models", "The small model that comes with llama-gui, to try it with.") if entry.is_starter else ""
    if entry.embeds:
        lead = translate("Models", "It turns texts into vectors, by which other programs search. It does not chat.")
    if entry.guesses:
        lead = translate(
            "Models",
            "It guesses what the model writes that it is named like, which makes that one faster. "
            "It is used by itself, and does not chat.",
        )
    return PaneContent(
        title=plain(entry.name),
        lead=lead,
        warning=_unread_words(item.unread) if item.unread else "",
        facts=tuple(facts),
        fits=adviser.fits(judged, item.context, entry.key) if judged else (),
        counted=counted_tokens(item.context),
        best=adviser.best(judged, item.context, stored, entry.key).dtype if judged else "",
        is_rounded=_is_rounded(stored, shape),
        verdict_note=translate("Models", "An estimate from the size of the file.") if item.is_guessed else "",
    )


def _unread_words(method: str) -> str:
    words = translate(
        "Models",
        "Its weights are quantised in a way that does not run here ({}). Choose the plain model, one in FP8, or a GGUF "
        "file.",
    )
    return words.format(plain(method, 40))


def _has_choice(details: "ModelDetails") -> bool:
    """Whether a GGUF file is to be chosen: there are some, and no plain weights beside them."""
    return bool(details.gguf) and not any(file.path.endswith(".safetensors") for file in details.files)


def _choices(files: "Sequence[RemoteFile]", shape: ModelShape | None, adviser: FitAdviser) -> tuple[FileChoice, ...]:
    """The files, the smallest first."""
    fits = {fit.dtype: fit for fit in adviser.fits(shape)} if shape else {}
    made: list[FileChoice] = []
    for file in sorted(files, key=lambda file: (file.size, file.path)):
        kind = gguf_kind(file.path)
        words = [size_words(file.size), gguf_words(kind)]
        if fit := fits.get(gguf_dtype(kind)):
            judged = {
                "runs": translate("Models", "runs"),
                "tight": translate("Models", "just fits"),
                "too large": translate("Models", "too large"),
            }[fit.verdict]
            amount = translate("Models", "{} as {}: {} of memory")
            words.append(amount.format(judged, dtype_text(fit.dtype), size_words(fit.needed)))
        name = kind or plain(file.path.rpartition("/")[2], 60)
        made.append(FileChoice(file.path, name, " · ".join(word for word in words if word)))
    return tuple(made[:_MOST_FILES])


def _popularity(found: "FoundModel") -> str:
    parts = [
        downloads_words(found.downloads),
        likes_words(found.likes),
    ]
    day = day_words(found.changed)
    return " · ".join([*parts, *([translate("Models", "changed {}").format(day)] if day else [])])


def _licence(name: str, is_gated: bool) -> str:
    return translate("Models", "{}, to be accepted on its page").format(name) if is_gated else name


def _gate(is_gated: bool) -> str:
    if not is_gated:
        return ""
    return translate(
        "Models", "Its makers want its licence accepted first: open its page, sign in, agree; then sign in here too."
    )


def _note_role(fit: Fit) -> str:
    role = verdict_role(fit)
    return "muted" if role == "text" else role
