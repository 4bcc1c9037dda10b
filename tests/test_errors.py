"""What people read when something is wrong."""

from llama_gui.errors import InvalidRequestError


def test_a_value_stands_there_as_it_was_written():
    assert str(InvalidRequestError("model", r"C:\b\x", "a folder")) == r"model is 'C:\b\x', but it must be a folder."
    assert str(InvalidRequestError("seed", "a\nb", "a number")) == r"seed is 'a\nb', but it must be a number."
    assert str(InvalidRequestError("seed", 0.5, "whole")) == "seed is 0.5, but it must be whole."


def test_a_long_value_does_not_bury_the_sentence():
    error = InvalidRequestError("prompt", list(range(10_000)), "a text")
    assert str(error).startswith("prompt is [0, 1, 2, ")
    assert str(error).endswith("…, but it must be a text.")
    assert len(str(error)) < 300
    assert error.value == list(range(10_000))
