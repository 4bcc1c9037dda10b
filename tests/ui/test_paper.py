"""A chat as a PDF: what is on its pages, read again by PDFium."""

import re

import pypdfium2 as pdfium
import pytest

from llama_gui.chats.attachments import Attachment
from llama_gui.chats.message_files import compose
from llama_gui.chats.record import ChatRecord
from llama_gui.chats.tree import Node
from llama_gui.ui.transcript.paper import chat_as_pdf
from tests.fakes.tiny_pixtral import picture

ANSWER = """<think>
Nobody sees this thought.
</think>

It is **two**, since $1 + 1 = 2$.

| Sum | Result |
| --- | --- |
| 1 + 1 | 2 |

```python
def f() -> int:
    return 1
```
"""


def chat(*texts: str, title: str = "Sums") -> ChatRecord:
    """Question, answer, question…"""
    nodes, parent = list[Node](), None
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        nodes.append(
            Node(f"n{number}", "c", parent, role, text, "complete", 1.0 + number, "Llama" if number % 2 else "")
        )
        parent = nodes[-1].id
    return ChatRecord("c", title, 1_700_000_000.0, tuple(nodes), leaf_id=parent)


def pages(content: bytes) -> list[str]:
    document = pdfium.PdfDocument(content)
    texts = ["".join(page.get_textpage().get_text_range().split()) for page in document]  # PDFium parts letters
    document.close()
    return texts


def test_the_shown_messages_are_on_it_without_thoughts_and_commands(qapp):
    (text,) = pages(chat_as_pdf(chat("How do I add?", ANSWER)))
    for words in ("Sums", "2023-11-1", "How do I add?", "Llama", "It is two", "Result", "def f() -> int:", "python"):
        assert "".join(words.split()) in text
    for word in ("thought", "think", "Copy", "Again", "1/1"):
        assert word not in text


def test_images_are_on_it(qapp):
    data = picture(400, 200, kind="JPEG").data
    content, where = compose("What is it?", (Attachment("a.jpg", "", len(data), image=data),))
    asked = Node("n0", "c", None, "user", content, "complete", 1.0, attachments=where)
    document = pdfium.PdfDocument(chat_as_pdf(ChatRecord("c", "Seen", 1.0, (asked,), leaf_id="n0")))
    (image,) = document[0].get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE])
    left, bottom, right, top = image.get_bounds()
    assert (right - left) / (top - bottom) == pytest.approx(2, rel=0.02)
    document.close()


@pytest.mark.parametrize("gap", ["\n\n", " "], ids=["paragraphs", "one"])
def test_long_messages_are_on_it_to_their_end(qapp, gap: str):
    mine, all_of_it = (gap.join(f"{letter}{number:04}" for number in range(2000)) for letter in "qa")
    texts = pages(chat_as_pdf(chat(mine, all_of_it)))
    assert texts[-1].endswith(f"{len(texts)}/{len(texts)}")
    found = set(re.findall(r"[qa]\d{4}", " ".join(texts)))
    assert found >= set(mine.split()) | set(all_of_it.split())


def test_nothing_is_in_the_margins(qapp):
    document = pdfium.PdfDocument(chat_as_pdf(chat("Why?\n" * 90, ANSWER * 5 + "x" * 500)))
    for page in document:
        ink = page.render(scale=1).to_numpy()[..., 0] < 250
        height, width = ink.shape
        assert not ink[:, : width // 16].any()
        assert not ink[:, -width // 16 :].any()
        assert not ink[: height // 30].any()
    document.close()


def test_an_empty_chat_is_a_page_with_its_title(qapp):
    assert "Nothingyet" in pages(chat_as_pdf(chat(title="Nothing yet")))[0]
