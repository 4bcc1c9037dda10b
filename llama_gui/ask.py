"""``llama-gui ask``: one question, its answer on standard output as it is written."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_gui.chats.attachments import read_attachments
from llama_gui.errors import InvalidRequestError, PromptTooLongError, UserError
from llama_gui.model_choice import ModelsHere
from llama_gui.paths import Paths
from llama_gui.terminal import engine_options, importing_torch, in_terminal
from llama_gui.vocabulary import GenerateRequest, GenerateResult, Image, Message, SamplingParams, TokenOutput

if TYPE_CHECKING:
    from llama_gui.engine import Job


def run_ask(options: argparse.Namespace, paths: Paths) -> int:
    """Answer `options.question`; the exit status."""
    return in_terminal(lambda: _ask(options, paths))


def _ask(options: argparse.Namespace, paths: Paths) -> int:
    # All is checked that can be before torch is loaded: a wrong number is told at once.
    request = _request(options)
    model = ModelsHere(paths).chosen(options.model)
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - print would say nothing, and be content
        raise UserError("Standard output is closed, so there is nowhere to write the answer to.")
    try:
        return _answer(model, request, options, paths)
    except PromptTooLongError as error:
        shorter = "Give a part of the file" if options.file else "Ask something shorter"
        raise UserError(
            f"The question is {error.prompt_tokens:,} tokens long, but this model reads at most "
            f"{error.max_context:,} and needs room to answer. {shorter}, or take another model (--model)."
        ) from error


def _request(options: argparse.Namespace) -> GenerateRequest:
    question, images = _question(options.question, options.file)
    system = [Message("system", options.system)] if options.system else []
    sampling = SamplingParams(
        temperature=options.temperature, top_k=options.top_k, top_p=options.top_p, seed=options.seed
    )
    messages = [*system, Message("user", question, images=images)]
    thinking = options.effort or options.thinking
    return GenerateRequest(messages=messages, max_tokens=options.max_tokens, sampling=sampling, thinking=thinking)


def _question(words: str | None, files: Sequence[str]) -> tuple[str, list[Image]]:
    """The texts of the files and the words, an empty line between them, and the images before the words.

    "-", or nothing at all, is standard input.
    """
    found = [part for file in files for part in _read(file)]
    parts = [text for text, image in found if not image]
    before = "\n\n".join(part.strip("\n") for part in parts)
    images = [Image(image, len(before) + 2 * bool(before)) for _, image in found if image]
    if words == "-" or (words is None and not files):
        parts += [text for text, _ in _read("-")]
    elif words is not None:
        parts.append(words)
    question = "\n\n".join(part.strip("\n") for part in parts)
    if not question.strip() and not images:
        raise InvalidRequestError("question", question[:80], 'a text that is not empty, as in: llama-gui ask "Hi"')
    images = [replace(image, place=min(image.place, len(question))) for image in images]
    return question, images


def _read(file: str) -> list[tuple[str, bytes]]:
    """A text, or an image, or those of the pages of a scan."""
    if file == "-":
        if sys.stdin is None or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] - it was closed
            raise InvalidRequestError("question", "missing", 'given, as in: llama-gui ask "What can you do?"')
        return [(sys.stdin.read(), b"")]
    try:
        if Path(file).is_file():
            read = read_attachments(Path(file))
            if read.pages > len(read.files):
                words = f"has no text, but {read.pages} pages with pictures. The first {len(read.files)} go along"
                print(f"{file} {words} as images.", file=sys.stderr, flush=True)
            return [(one.text, one.image) for one in read.files]
        return [(Path(file).read_text(encoding="utf-8", errors="replace"), b"")]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidRequestError("file", file, f"one that can be read ({reason})") from error


def _answer(model: str, request: GenerateRequest, options: argparse.Namespace, paths: Paths) -> int:
    loading = engine_options(options, paths)

    with importing_torch():
        from llama_gui.engine import Engine

    with Engine.load(model, **loading) as engine:
        job = engine.submit(request)
        try:
            _stream(job, as_json=options.json)
        finally:
            job.cancel()
        result = job.result()
        if options.json:
            print(json.dumps({"result": result_fields(result)}, ensure_ascii=False), flush=True)
        else:
            print(flush=True)
        engine.keep_prompts()  # the next question about the same file finds it read
    return 0


def _stream(job: "Job", *, as_json: bool) -> None:
    for output in job:
        print(json.dumps(output_fields(output), ensure_ascii=False) if as_json else output.text,
              end="\n" if as_json else "", flush=True)  # fmt: skip


def output_fields(output: TokenOutput) -> dict[str, Any]:
    """A token as JSON has it."""
    fields = {"text": output.text, "token_id": output.token_id, "index": output.index, "logprob": output.logprob}
    return fields | ({"top_logprobs": [asdict(top) for top in output.top_logprobs]} if output.top_logprobs else {})


def result_fields(result: GenerateResult) -> dict[str, Any]:
    """A result as JSON has it. Times are seconds."""
    return {
        "text": result.text,
        "token_ids": list(result.token_ids),
        "finish_reason": result.finish_reason,
        "usage": asdict(result.usage),
        "timings": asdict(result.timings),
        "seed": result.seed,
    }
