"""How quick the transcript is: opening long chats, showing earlier messages, a megabyte without a space, streaming.

    .venv/bin/python -m tests.benchmarks.transcript                    # without a screen
    QT_QPA_PLATFORM=xcb .venv/bin/python -m tests.benchmarks.transcript

Opening: from `show_path` to the painted page. Frames: the longest and the p99 time that one turn of the event loop took
while something was drawn over several of them.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from llama_gui.chats.tree import Node
from llama_gui.paths import find_resources
from llama_gui.ui.icons import Icons
from llama_gui.ui.theme import apply_theme
from llama_gui.ui.transcript.find_bar import FindBar
from llama_gui.ui.transcript.view import TranscriptView
from tests.benchmarks.feel import percentile

MARKDOWN = """## Point {n}

Some **bold** text with `code` and a [link](https://example.org/{n}) that goes on for so long that it needs
two lines of it.

- first item with words, and $x^2$ in it
- second item with *words*
  1. deeper

```python
def f(x: int) -> int:
    return x + {n}  # a comment
```

| a | b |
|---|--:|
| 1 | {n} |

> The end of it, another paragraph with plain words in it to read.

"""
FORMULAS = r"""The value $x_{n}^2 + \alpha_{n}$ is at most $\frac{{a_{n}}}{{b}}$, and $n = {n}$ goes to $\infty$:

$$
\sum_{{i=1}}^{{{n}}} \frac{{1}}{{i^2}} = \sqrt{{1 + \frac{{x_{n}}}{{2}}}}
$$

"""
TIMES = 9


def chat(count: int, text: str = "") -> list[Node]:
    """So many messages, or two of which the answer is `text`."""
    return [
        Node(
            f"n{i}",
            "c",
            f"n{i - 1}" if i else None,
            "assistant" if i % 2 else "user",
            (text or MARKDOWN.format(n=i)) if i % 2 else f"Question {i} about things",
            "complete",
            0.0,
            model="Model",
        )
        for i in range(count)
    ]


def new_view() -> TranscriptView:
    """A visible transcript, as large as in the window."""
    view = TranscriptView()
    view.resize(900, 800)
    view.show()
    QCoreApplication.processEvents()
    return view


def timed(run: Callable[[], object]) -> float:
    """Seconds until something is done and painted."""
    QCoreApplication.processEvents()
    started = time.perf_counter()
    run()
    next(widget for widget in QApplication.topLevelWidgets() if widget.isVisible()).repaint()
    return time.perf_counter() - started


def opening(name: str, nodes: list[Node]) -> None:
    """Open a chat several times."""
    times, rests = [], []
    for _ in range(TIMES):
        view = new_view()
        view._rest_timer.setInterval(3_600_000)
        times.append(timed(lambda view=view: view.show_path(nodes)))
        while view.page.next_fold() is not None or view.page.has_coats:
            rests.append(timed(view._draw_rest))
        view.close()
    say(f"open {name}", times)
    if rests:
        say(f"   its next frames ({len(rests) // TIMES})", rests)


def earlier() -> None:
    """Ask for earlier messages until the beginning is there."""
    view = new_view()
    view.show_path(chat(5000))
    times = []
    while gaps := view.page.gaps():
        times.append(timed(lambda first=gaps[0][1]: view.draw_gap(first)))
        if len(times) >= 30:
            break
    view.close()
    say("show earlier messages", times)


def going() -> None:
    """Go to messages all over a chat of 5,000."""
    nodes, times = chat(5000), []
    view = new_view()
    view.show_path(nodes)
    for number in range(40):
        times.append(timed(lambda number=number: view.scroll_to_node(nodes[(number * 1237) % 5000].id)))
    view.close()
    say("go to a message", times)


def finding() -> None:
    """Find words in a chat of 5,000 messages: from a letter to the lit hits, and from hit to hit."""
    view = new_view()
    view.show_path(chat(5000))
    bar = FindBar(Icons(find_resources() / "icons"), view)
    bar.open()
    letters = [timed(lambda end=end: bar.field.setText("things"[:end])) for end in range(1, 7)]
    steps = [timed(lambda: bar.step(-1)) for _ in range(60)]
    view.close()
    say("find, from letter to hits", letters)
    say("find, from hit to hit", steps)


def streaming(name: str, text: str, piece: int) -> None:
    """Let an answer arrive in pieces, one for each frame."""
    view = new_view()
    view.show_path([*chat(200), Node("u", "c", None, "user", "Go", "complete", 0.0)])
    view.add_node(Node("a", "c", "u", "assistant", "", "streaming", 0.0, model="Model"))
    times = []
    for start in range(0, len(text), piece):
        view.add_text("a", text[start : start + piece])
        times.append(timed(view.flush))
    last = Node("a", "c", "u", "assistant", text, "complete", 0.0, model="Model")
    say(f"stream {name}", times)
    say("   its end", [timed(lambda: view.replace_node(last))])
    view.close()


def say(name: str, seconds: list[float]) -> None:
    """One line of numbers."""
    values = [1e3 * value for value in seconds]
    print(f"{name:44}{statistics.median(values):9.1f}{percentile(values, 0.99):9.1f}{max(values):9.1f}")


def main() -> None:
    """All of it."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    application = QApplication([])
    apply_theme(application, "light")
    print(f"{'milliseconds':44}{'median':>9}{'p99':>9}{'longest':>9}")
    run = "x" * 1_000_000
    fifty = "".join(MARKDOWN.format(n=n) for n in range(125))[:50_000]
    formulas = "".join(FORMULAS.format(n=n) for n in range(400))[:50_000]
    opening("a chat of 5,000 messages", chat(5000))
    opening("an answer of 50 kB", chat(2, fifty))
    opening("1 MB without a space", chat(2, run))
    opening("1 MB of Markdown", chat(2, fifty * 20))
    opening("1 MB of code", chat(2, "```python\n" + "value = function(argument, 12)\n" * 33_000 + "```"))
    opening("8 kB with 250 formulas", chat(2, formulas[:8_000]))
    opening("50 kB with 1,600 formulas", chat(2, formulas))
    earlier()
    going()
    finding()
    streaming("50 kB of Markdown", fifty, 60)
    streaming("50 kB with 1,600 formulas", formulas, 60)
    streaming("50 kB of code", "```python\n" + "value = function(argument, 12)\n" * 1600 + "```\n", 60)
    streaming("50 kB in one list", "".join(f"- item {n} with *some* words in it\n" for n in range(1400)), 200)
    streaming("1 MB without a space", run, 5_000)
    streaming("1 MB without a space, at once", run, 1_000_000)


if __name__ == "__main__":
    main()
