"""What the server has done, in the text format of Prometheus. One event loop, so plain numbers."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from llama_gui.server.served import ServedEngine
from llama_gui.vocabulary import Usage

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Histogram:
    """How many requests took at most so long."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_SECONDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self._counts[bisect_left(_SECONDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str) -> Iterable[str]:
        """As Prometheus reads it."""
        total = 0
        for bound, count in zip((*_SECONDS, "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._sum:.6f}"
        yield f"{name}_count {total}"


class Metrics:
    """Counts since the server was started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        """Route and status -> how many. Routes are our own names, or "none": what a client wrote is never one."""
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.completion_tokens = 0
        self.hung_up = 0
        """Requests whose client went away before the end."""
        self.first_token_seconds = Histogram()
        self.request_seconds = Histogram()

    def count_prompt(self, usage: Usage) -> None:
        """An answer ended. Its own tokens were counted as they came: their rate is to be smooth, and some are cut."""
        self.prompt_tokens += usage.prompt_tokens
        self.cached_tokens += usage.cached_tokens

    def text(self, engines: Mapping[str, ServedEngine], running: int, waiting: int) -> str:
        """All of it. `running`: places at the gate in use, `waiting`: requests in front of it."""
        lines: list[str] = []
        plain: Mapping[str, tuple[str, str, float]] = {
            "prompt_tokens_total": ("counter", "Tokens of prompts.", self.prompt_tokens),
            "cached_prompt_tokens_total": ("counter", "Tokens of prompts that the cache held.", self.cached_tokens),
            "completion_tokens_total": ("counter", "Tokens of answers.", self.completion_tokens),
            "clients_hung_up_total": ("counter", "Requests whose client went away.", self.hung_up),
            "answers_running": ("gauge", "Answers that are being written for clients.", running),
            "requests_waiting": ("gauge", "Requests that wait for a place.", waiting),
        }
        for name, (kind, words, value) in plain.items():
            lines += [*_head(name, kind, words), f"llama_gui_{name} {value}"]
        lines += _head("http_requests_total", "counter", "Requests by route and status.")
        lines += [
            f'llama_gui_http_requests_total{{route="{route}",status="{status}"}} {count}'
            for (route, status), count in sorted(self.requests.items())
        ]
        lines += _head("first_token_seconds", "histogram", "From the request to its first token.")
        lines += self.first_token_seconds.lines("llama_gui_first_token_seconds")
        lines += _head("request_seconds", "histogram", "From the request to the end of its answer.")
        lines += self.request_seconds.lines("llama_gui_request_seconds")
        return "\n".join([*lines, *_engine_lines(engines)]) + "\n"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP llama_gui_{name} {words}", f"# TYPE llama_gui_{name} {kind}"]


def _engine_lines(engines: Mapping[str, ServedEngine]) -> list[str]:
    gauges = {
        "tokens_per_second": "Tokens that the engine writes.",
        "running": "Answers in the engine, those of the window included.",
        "waiting": "Requests that wait in the engine.",
        "kv_bytes": "Bytes of the cache of conversations.",
        "weight_bytes": "Bytes of the weights.",
    }
    all_stats = [(_escaped(name), engine.stats()) for name, engine in engines.items()]
    lines: list[str] = []
    for name, words in gauges.items():
        lines += _head(f"engine_{name}", "gauge", words)
        lines += [f'llama_gui_engine_{name}{{model="{model}"}} {getattr(stats, name)}' for model, stats in all_stats]
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
