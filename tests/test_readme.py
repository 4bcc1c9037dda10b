"""Each example in the README runs as it stands, with the starter model in place of the reader's."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
STARTER = ROOT / "resources" / "starter_model"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
IMPORTS = "from llama_gui.engine import Engine, GenerateRequest, Message, SamplingParams\n"


def run(source: str, tmp_path: Path) -> dict[str, Any]:
    """Execute an example; the names that it defines."""
    another = tmp_path / "another"
    another.symlink_to(STARTER)
    source = source.replace("path/to/model", str(STARTER)).replace("path/to/another", str(another))
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(IMPORTS + source, "README.md", "exec"), names)
    return names


def find(word: str) -> str:
    return next(example for example in EXAMPLES if word in example)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_example_runs(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    if "json_schema" in EXAMPLES[number]:
        pytest.importorskip("llguidance")
    run(EXAMPLES[number], tmp_path)
    assert capsys.readouterr().out.strip() or "Starlette" in EXAMPLES[number]


def test_the_stream_is_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    names = run(find("for out in job:  # TokenOutput"), tmp_path)
    assert capsys.readouterr().out == names["result"].text != ""


def test_the_batch_comes_back_in_order(tmp_path: Path):
    names = run(find("generate_batch"), tmp_path)
    assert len(names["answers"]) == 3
    assert all(answer.text for answer in names["answers"])


def test_the_answer_goes_on_behind_the_sixth_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    names = run(find("AnswerState"), tmp_path)
    kept, result = json.loads(names["kept"]), names["job"].result()
    assert 6 <= len(kept["token_ids"]) < 60
    assert list(result.token_ids[: len(kept["token_ids"])]) == kept["token_ids"]
    assert result.finish_reason in ("stop", "length")


def test_the_processor_keeps_the_letter_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run(find("no_letter_e"), tmp_path)
    written = [line.split(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert "e" not in "".join(written).lower()


def test_the_route_streams_several_answers_at_once(tmp_path: Path):
    app = run(find("Starlette"), tmp_path)["app"]

    async def post(question: str) -> list[bytes]:
        body = json.dumps({"question": question, "max_tokens": 12}).encode()
        asked = iter([{"type": "http.request", "body": body, "more_body": False}])
        pieces: list[bytes] = []
        over = asyncio.Event()

        async def receive() -> dict[str, Any]:
            message = next(asked, None)
            if message is None:
                await over.wait()
            return message or {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body":
                pieces.append(message["body"])

        scope = {"type": "http", "method": "POST", "path": "/chat", "headers": [], "query_string": b"", "app": app}
        await app(scope, receive, send)
        over.set()
        return pieces

    async def serve() -> list[list[bytes]]:
        async with app.router.lifespan_context(app):
            return await asyncio.gather(*[post(question) for question in ("What is this?", "Who are you?", "Hi")])

    answers = asyncio.run(serve())
    assert all(len(pieces) > 3 and b"".join(pieces).decode() for pieces in answers)
