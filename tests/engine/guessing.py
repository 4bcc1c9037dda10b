"""What tests of networks that guess for others ask, and how they are loaded."""

from typing import Any

from llama_gui.engine import GenerateRequest, SamplingParams

PROMPTS = [list(range(20, 90)), [7, 8, 9], [*range(30, 60)] * 2]
TOLD: Any = {"exact": True, "kernel_notes": None, "is_cancelled": None}
"""For `load_draft`."""


def asked(prompt: list[int], *, temperature: float = 0.0, seed: int = 3, max_tokens: int = 40) -> GenerateRequest:
    """A request whose answer is the same each time."""
    sampling = SamplingParams(temperature=temperature, top_k=0, top_p=1.0, min_p=0, seed=seed)
    return GenerateRequest(token_ids=prompt, max_tokens=max_tokens, sampling=sampling, logprobs=2)
