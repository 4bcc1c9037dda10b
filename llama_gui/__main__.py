"""The entry point: ``llama-gui`` opens the window, ``llama-gui ask`` answers in the terminal."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

import llama_gui
from llama_gui.paths import Paths

_WHICH_MODEL = "a name that `llama-gui models` lists or how it begins, a model folder, or a GGUF file"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status. 0: done, 1: failed with a sentence, 2: wrong usage, 130: interrupted."""
    try:
        return _run(_parsed(argv))
    except KeyboardInterrupt:  # before the command itself sees it, as while its modules are imported
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is where it was closed
            print(file=sys.stderr)
        return 130


def _run(options: argparse.Namespace) -> int:
    # Before torch is loaded. Its threads wait for each other by spinning, some milliseconds unless told otherwise. On a
    # busy desktop the one that spins keeps the one it waits for off the core: 3 tokens/s where 140 are possible.
    os.environ.setdefault("GOMP_SPINCOUNT", "30000")
    paths = options.profile if options.profile is not None else Paths.default()
    # Imported only now: the terminal command needs no Qt, and --help needs neither Qt nor torch.
    if options.command == "ask":
        from llama_gui.ask import run_ask

        return run_ask(options, paths)
    if options.command == "serve":
        from llama_gui.serve_command import run_serve

        return run_serve(options, paths)
    if options.command == "models":
        from llama_gui.models_command import run_models

        return run_models(options, paths)
    if options.command == "download":
        from llama_gui.download_command import run_download

        return run_download(options)
    if options.command == "bench":
        from llama_gui.bench_command import run_bench

        return run_bench(options, paths)
    if options.command == "menu-entry":
        from llama_gui.menu_command import run_menu_entry

        return run_menu_entry(options, paths)
    from llama_gui.desktop import open_window, reason_for_no_window

    reason = reason_for_no_window()
    if reason:
        print(f"llama-gui: {reason}", file=sys.stderr)
        return 1
    return open_window(paths)


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    options, unknown = _parser().parse_known_args(argv)
    if unknown:  # argparse by itself would show the usage of the program, which has no word on what a command takes
        options.fail(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def _profile(text: str) -> Paths:
    try:
        if text:
            return Paths.in_profile(text)
    except RuntimeError:  # a home folder that there is not
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no folder")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="llama-gui", description="Chat with a language model on this machine. Without a command: the window."
    )
    parser.add_argument("--version", action="version", version=f"llama-gui {llama_gui.__version__}")
    parser.add_argument(
        "--profile", metavar="DIR", type=_profile, help="keep all data in this folder instead of the usual places"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    parser.set_defaults(fail=parser.error)
    for name, add, summary, description in _commands():
        command = commands.add_parser(name, help=summary, description=description)
        command.set_defaults(fail=command.error)
        add(command)
    return parser


def _commands() -> list[tuple[str, Callable[[argparse.ArgumentParser], None], str, str]]:
    """Each one's name, what adds its options, what the list of commands says of it, and what its own help says."""
    return [
        ("ask", _add_ask, "ask one question in the terminal", "Ask one question."),
        ("models", _add_models, "list, verify and delete models; find more", "Without an option: the models on disk."),
        (
            "download",
            _add_download,
            "fetch a model from the hub",
            "Fetch a model into the cache that all Hugging Face tools share. Ctrl+C pauses; the same command goes on. "
            "HF_TOKEN, HF_HOME and HF_ENDPOINT are respected.",
        ),
        (
            "serve",
            _add_serve,
            "serve models to other programs over HTTP",
            "Serve models to programs that speak the HTTP protocol of OpenAI, Anthropic or Ollama.",
        ),
        (
            "bench",
            _add_bench,
            "measure how fast this machine is",
            "Measure how fast this machine reads prompts and writes answers. Random weights in the shape of a real "
            "model are as fast as the real ones, and nothing need be downloaded.",
        ),
        (
            "menu-entry",
            _add_menu_entry,
            "enter llama-gui into the applications menu of a Linux desktop",
            "The entry in the applications menu of a Linux desktop. With --profile, it keeps the profile. Without an "
            "option: whether it is there.",
        ),
    ]


def _add_menu_entry(menu_entry: argparse.ArgumentParser) -> None:
    what = menu_entry.add_mutually_exclusive_group()
    what.add_argument("--add", action="store_true", help="write it; again if the program has moved")
    what.add_argument("--remove", action="store_true", help="take it out again")


def _add_cache_dtype(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--cache-dtype",
        metavar="D",
        default="auto",
        help="of the keys and values of what was said: auto, or int8 for half the memory and faster steps in long "
        "chats, at a small loss",
    )


def _add_prompt_cache(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--prompt-cache",
        metavar="GB",
        type=float,
        default=8.0,
        help="how much of the disk may keep what was read of long prompts, so that it is not read again at the next "
        "start (default: 8); 0: nothing is kept",
    )


def _add_bench(bench: argparse.ArgumentParser) -> None:
    bench.add_argument(
        "--preset",
        metavar="NAME",
        help="random weights: llama-3.2-1b, qwen2.5-0.5b, tinyllama-1.1b, llama-3.1-8b, gemma-3-270m, gemma-3-1b, "
        "gemma-4-12b, qwen3.5-0.8b, qwen3.5-4b, lfm2-1.2b, granite-4.0-h-1b, granite-4.0-h-tiny, granite-3.1-1b-a400m, "
        "qwen3-30b-a3b or gpt-oss-20b",
    )
    bench.add_argument("--model", metavar="MODEL", help=f"{_WHICH_MODEL} (default: the starter model)")
    bench.add_argument("--dtype", metavar="D", default="auto", help="auto, float32, bfloat16, float16, int8 or int4")
    _add_cache_dtype(bench)
    bench.add_argument("--chats", metavar="N,N", default="1,3,10", help="answers written at once (default: 1,3,10)")
    bench.add_argument("--prompt-tokens", metavar="N", type=int, default=128, help="default: 128")
    bench.add_argument("--new-tokens", metavar="N", type=int, default=32, help="default: 32")
    bench.add_argument("--threads", metavar="N", type=int, help="CPU threads (default: one for each physical core)")
    bench.add_argument("--json", action="store_true", help="one JSON object for each measurement")


def _add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("question", nargs="?", help="what to ask; - or nothing reads standard input")
    ask.add_argument(
        "--file",
        "-f",
        metavar="PATH",
        action="append",
        default=[],
        help="a text or a document (PDF, DOCX, ODT, XLSX, PPTX, EPUB, HTML, RTF) that comes before the question; "
        "again for more",
    )
    ask.add_argument("--model", metavar="MODEL", help=f"{_WHICH_MODEL} (default: the starter model)")
    ask.add_argument("--system", metavar="TEXT", help="the system prompt")
    ask.add_argument("--max-tokens", metavar="N", type=int, help="the longest answer, in tokens")
    ask.add_argument("--temperature", metavar="T", type=float, help="0 is greedy (default: the model's own)")
    ask.add_argument("--top-p", metavar="P", type=float, help="draw from the likeliest tokens that make up P")
    ask.add_argument("--top-k", metavar="K", type=int, help="draw from the K likeliest tokens; 0: off")
    ask.add_argument("--seed", metavar="N", type=int, help="the same seed gives the same answer")
    ask.add_argument(
        "--thinking",
        action=argparse.BooleanOptionalAction,
        help="reason before the answer, or not, where the model has a switch for that (default: the model's own)",
    )
    ask.add_argument(
        "--effort", choices=("low", "medium", "high"), help="how long to reason, where that can be chosen (gpt-oss)"
    )
    _add_cache_dtype(ask)
    _add_prompt_cache(ask)
    ask.add_argument("--json", action="store_true", help="one JSON object for each token, then one with the result")


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--model",
        metavar="MODEL",
        action="append",
        help=f"{_WHICH_MODEL} (default: the starter model); again for more, loaded when asked for",
    )
    serve.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="where to listen: 0.0.0.0 lets other machines in (default: this one only)",
    )
    serve.add_argument("--port", metavar="N", type=int, default=8080, help="default: 8080; 0: any that is free")
    serve.add_argument("--api-key", metavar="KEY", help="default: one that is made at the first start, and kept")
    serve.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name of this machine by which clients call it, or a proxy before it (NAME:443); again for more",
    )
    serve.add_argument(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="a web page that may use the server, as https://example.org; again for more",
    )
    serve.add_argument(
        "--no-access-log",
        dest="access_log",
        action="store_false",
        help="no line on standard error for each request (it holds no key and no text)",
    )
    serve.add_argument("--dtype", metavar="D", default="auto", help="auto, float32, bfloat16, float16, int8 or int4")
    _add_cache_dtype(serve)
    _add_prompt_cache(serve)
    serve.add_argument("--max-context", metavar="N", type=int, help="tokens of prompt and answer together")


def _add_models(models: argparse.ArgumentParser) -> None:
    what = models.add_mutually_exclusive_group()
    what.add_argument("--offered", action="store_true", help="models to begin with, and whether they run here")
    what.add_argument("--search", metavar="WORDS", help="models on the hub that we can run")
    what.add_argument(
        "--verify", metavar="NAME", nargs="?", const=True, help="check every byte of one model, or of all"
    )
    what.add_argument("--delete", metavar="NAME", help="delete one model from the disk")
    what.add_argument(
        "--prune",
        metavar="NAME",
        nargs="?",
        const=True,
        help="delete what was downloaded and no model uses, as parts of unfinished files and files of old revisions: "
        "of one model, or of all but those that wait in the window",
    )
    models.add_argument("--yes", action="store_true", help="delete without asking")


def _add_download(download: argparse.ArgumentParser) -> None:
    download.add_argument(
        "repo",
        metavar="REPO",
        help="owner/name, as in HuggingFaceTB/SmolLM2-135M-Instruct, with :Q4_K_M behind it for a kind of GGUF file, "
        "or the web address of a model or GGUF file",
    )
    download.add_argument("--revision", metavar="NAME", help="a branch, a tag or a commit (default: main)")
    download.add_argument("--file", metavar="NAME", help="which GGUF file of the repository, or of which kind")
    download.add_argument("--limit", metavar="SPEED", help="bytes per second at most, as in 500K or 2.5M")


if __name__ == "__main__":
    sys.exit(main())
