"""How an answer was made, as the text that is kept beside it."""

import json
from dataclasses import asdict, replace

from llama_gui.vocabulary import GenerateRequest, GenerateResult, ModelInfo


def recipe_text(request: GenerateRequest, model: ModelInfo | None, result: GenerateResult) -> str:
    """JSON with the model, every sampling value as it was used, the seed and the counts: enough to do it again."""
    sampling = request.sampling.or_else(model.sampling) if model else request.sampling
    recipe = {
        "model": model.path if model else "",
        "sampling": asdict(replace(sampling, seed=result.seed)),
        "max_tokens": request.max_tokens,
        "stop": list(request.stop),
        "finish_reason": result.finish_reason,
        "usage": asdict(result.usage),
        "timings": asdict(result.timings),
    }
    return json.dumps(recipe)
