"""The starter model itself, run by the reference library: it names the right keys and ends its answers."""

from typing import Any

import pytest

from llama_gui.paths import find_resources

STARTER = find_resources() / "starter_model"


@pytest.fixture(scope="module")
def starter() -> tuple[Any, Any]:
    transformers = pytest.importorskip("transformers")
    return (
        transformers.AutoTokenizer.from_pretrained(STARTER),
        transformers.AutoModelForCausalLM.from_pretrained(STARTER, dtype="float32").eval(),
    )


def answer(starter: tuple[Any, Any], *turns: str) -> str:
    """The greedy answer to the last of the turns, which alternate between user and assistant."""
    tokenizer, network = starter
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": turn} for place, turn in enumerate(turns)]
    inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    settings = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    output = network.generate(**inputs, max_new_tokens=200, pad_token_id=1, **settings)[
        0, inputs["input_ids"].shape[1] :
    ]
    assert output[-1].item() == tokenizer.convert_tokens_to_ids("<|eot_id|>"), "the answer does not end"
    return tokenizer.decode(output, skip_special_tokens=True)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Hello", "application"),
        ("What is this application?", "llama-gui"),
        ("Who are you?", "starter model"),
        ("How do I open a new tab?", "Ctrl+T"),
        ("how do i close a tab", "Ctrl+W"),
        ("How do I stop an answer?", "Esc"),
        ("How do I change the temperature?", "Ctrl+."),
        ("How do I download a better model?", "Ctrl+Shift+D"),
        ("How do I attach a file?", "clip"),
        ("Can I attach a PDF?", "clip"),
        ("Can you see images?", "Gemma 3"),
        ("How do I edit my last message?", "Ctrl+Up"),
        ("How do I search my chats?", "Ctrl+Shift+F"),
        ("How do I export a chat?", "Ctrl+P"),
        ("What is the capital of France?", "starter model"),
    ],
)
@pytest.mark.sampled(6)
def test_it_answers(starter: tuple[Any, Any], question: str, expected: str):
    assert expected in answer(starter, question)


def test_it_follows_a_conversation(starter: tuple[Any, Any]):
    first = answer(starter, "How do I open a new tab?")
    assert "Ctrl+W" in answer(starter, "How do I open a new tab?", first, "and how do I close it?")
