"""Chats as one HTML file that needs nothing else: no script, nothing loaded, light and dark, readable on paper."""

from collections.abc import Iterable, Iterator
from html import escape

from markdown_it import MarkdownIt

from llama_gui.chats.export import arguments_of, local_time, shown_nodes, speaker, thought_line
from llama_gui.chats.message_images import images_in
from llama_gui.chats.reasoning import parts_of
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.tree import Node
from llama_gui.vocabulary import Image, data_url

MAX_MARKDOWN = 200_000
"""Characters of a message that are laid out; a longer one is shown as it is, because layout may take very long."""

_STYLE = """
:root { color-scheme: light dark; --page: #FCFBF9; --text: #211F1C; --muted: #6E685F; --line: #E5E1DA;
  --user: #F4F1EC; --accent: #B04A1A; }
@media (prefers-color-scheme: dark) { :root { --page: #1B1A18; --text: #ECE9E2; --muted: #9F998E; --line: #35322D;
  --user: #292622; --accent: #E8935F; } }
body { margin: 0 auto; max-width: 44rem; padding: 2rem 1rem; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } .muted { color: var(--muted); font-size: .85rem; } a { color: var(--accent); }
section + section { margin-top: 4rem; border-top: 1px solid var(--line); padding-top: 2rem; }
article { margin: 1.5rem 0; } article.user { background: var(--user); border-radius: 8px; padding: .1rem 1rem; }
article > .muted { margin: .6rem 0; } .plain { white-space: pre-wrap; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .8rem; }
code { font: .9em ui-monospace, monospace; } table { border-collapse: collapse; display: block; overflow-x: auto; }
img { max-width: 100%; max-height: 24rem; border-radius: 6px; margin-inline-end: .5rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid var(--line); }
@media print { :root { --page: #fff; --text: #000; --muted: #555; --line: #bbb; --user: #f3f3f3; --accent: #000; }
  body { max-width: none; font-size: 11pt; } pre { white-space: pre-wrap; } section { break-before: page; }
  section:first-of-type { break-before: auto; } h1, .muted { break-after: avoid; } }
"""
# HTML in a message is shown, not followed; pictures would be loaded from somewhere, so they stay links.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def to_html(chats: Iterable[ChatRecord], title: str = "Chats") -> Iterator[str]:
    """Chats as an HTML page, piece by piece: of each the path that is shown."""
    # The policy is a second lock: even if a text got through as HTML, nothing would run or be loaded.
    yield (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    )
    for number, chat in enumerate(chats, start=1):
        yield f'<section id="chat{number}">\n<h1 dir="auto">{escape(chat.title)}</h1>\n{_time(chat.created)}'
        if chat.settings.system_prompt.strip():
            prompt = escape(chat.settings.system_prompt.strip())
            yield f'<details><summary class="muted">System prompt</summary><p class="plain" dir="auto">{prompt}</p>'
            yield "</details>\n"
        for node in shown_nodes(chat):
            yield _message(node)
        yield "</section>\n"
    yield "</body>\n</html>\n"


def _time(seconds: float) -> str:
    time = local_time(seconds)
    return f'<p class="muted"><time datetime="{time.isoformat()}">{time:%Y-%m-%d %H:%M}</time></p>\n' if time else ""


def _message(node: Node) -> str:
    error = f'<p class="muted" dir="auto">{escape(node.error)}</p>\n' if node.error else ""
    return (
        f'<article class="{escape(node.role)}">\n<p class="muted">{escape(speaker(node))}</p>\n'
        f"{_content(node)}{error}</article>\n"
    )


def _content(node: Node) -> str:
    """A message, with what was thought before an answer folded."""
    if node.role == "tool":
        said = f'<p class="plain" dir="auto">{escape(node.content)}</p>'
        return f'<details><summary class="muted">{escape(arguments_of(node))}</summary>{said}</details>\n'
    if node.role == "user" and (images := images_in(node.content, node.attachments)):
        return f'<p>{"".join(map(_image, images))}</p><div dir="auto">{_body(node.content)}</div>\n'
    parts = parts_of(node)
    answer = f'<div dir="auto">{_body(parts.answer)}</div>\n'
    if parts.reasoning is None:
        return answer
    thought = f'<blockquote dir="auto">{_body(parts.reasoning)}</blockquote>'
    return f'<details><summary class="muted">{thought_line(parts)}</summary>{thought}</details>\n{answer}'


def _image(image: Image) -> str:
    return f'<img alt="" src="{data_url(image.data)}">'


def _body(text: str) -> str:
    if len(text) <= MAX_MARKDOWN:
        try:
            return _MARKDOWN.render(text).replace("<a href=", '<a rel="noopener noreferrer" href=')
        except RecursionError:
            pass
    return f'<p class="plain">{escape(text)}</p>'
