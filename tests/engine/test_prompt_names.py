"""Names of what was read: the same for the same tokens, and others for any other."""

import pytest

from llama_gui.engine.prompt_names import BLOCK, PromptNames, block_start, is_state, last_block, state_place
from llama_gui.errors import GenerationError

TOKENS = list(range(300))


@pytest.fixture
def names():
    return PromptNames(lambda: b"this model")


def test_a_block_is_named_by_all_tokens_up_to_its_end(names):
    blocks = names.blocks(TOKENS, "")
    assert len(blocks) == len(TOKENS) // BLOCK
    assert names.blocks(TOKENS[:-60], "") == blocks[:3]
    assert names.blocks([9, *TOKENS[1:]], "")[3] != blocks[3]
    assert names.blocks(TOKENS, "another")[0] != blocks[0]
    assert PromptNames(lambda: b"another model").blocks(TOKENS, "")[0] != blocks[0]
    assert [block_start(name) for name in blocks] == [0, 64, 128, 192]


def test_a_state_is_named_by_all_tokens_before_it(names):
    blocks = names.blocks(TOKENS, "")
    found = {names.state(TOKENS, place, blocks) for place in range(65, 301)}
    assert len(found) == 236
    assert all(map(is_state, found))
    assert not any(map(is_state, blocks))
    name = names.state(TOKENS, 256, blocks)
    assert (state_place(name), block_start(name), last_block(256)) == (256, 192, 3)
    other = [*TOKENS[:255], 9]
    assert names.state(other, 256, names.blocks(other, "")) != name


def test_the_deepest_state_is_found_that_these_tokens_lead_to(names):
    blocks = names.blocks(TOKENS, "")
    other = names.blocks([9, *TOKENS], "")
    kept = [names.state(TOKENS, place, blocks) for place in (100, 256, 257, 290)]
    kept += [*blocks, names.state([9, *TOKENS], 295, other), "000001-damaged+", "x+²"]
    deepest = {most: names.deepest_state(TOKENS[:most], 65, blocks, kept) for most in (300, 289, 256, 255, 99)}
    assert [found and found[1] for found in deepest.values()] == [290, 257, 256, 100, None]
    assert names.deepest_state(TOKENS, 65, blocks[:3], kept) == (kept[1], 256)  # its own block is in its file
    assert names.deepest_state(TOKENS, 65, blocks[:2], kept) == (kept[0], 100)
    assert names.deepest_state(TOKENS, 101, blocks[:2], kept) is None


def test_without_memory_for_a_probe_there_are_no_names_yet():
    answers = [GenerationError("no memory"), b"this model"]

    def identity():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    names = PromptNames(identity)
    assert names.blocks(TOKENS, "") == []
    assert len(names.blocks(TOKENS, "")) == 4
