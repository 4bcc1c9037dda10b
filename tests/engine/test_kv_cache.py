"""Slots: what is reused, copied, evicted and grown, and how many bytes that takes."""

import sys
from types import SimpleNamespace

import psutil
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.engine import GenerateRequest, kv_cache
from llama_gui.engine.cache_layout import CacheLayout
from llama_gui.engine.kv_cache import KEY_BLOCK, KVCache, common_prefix
from llama_gui.errors import GenerationError

LAYERS, KV_HEADS, DIM = 2, 3, 4
BLOCK = 2 * LAYERS * KV_HEADS * DIM * KEY_BLOCK * 4
"""Bytes of keys and values of the smallest slot in float32."""


def make_cache(blocks=8, dtype=torch.float32, longest=None):
    config = SimpleNamespace(cache_layout=CacheLayout.even(LAYERS, KV_HEADS, DIM))
    return KVCache(config, dtype, torch.device("cpu"), blocks * BLOCK, longest)


@pytest.fixture(autouse=True)
def memory_as_others_left_it(monkeypatch):
    """Nothing that is handed out holds numbers by luck."""
    monkeypatch.setattr(torch, "empty", lambda shape, **options: torch.full(shape, torch.nan, **options))


def rows(tokens):
    """What a slot's keys hold for `tokens`: each row tells its token and all that came before it."""
    sums = torch.tensor([0, *tokens]).cumsum(0)[1:]
    return sums.float().reshape(1, 1, -1, 1).expand(LAYERS, KV_HEADS, -1, DIM)


def fill(cache, slot, tokens):
    """Run what is missing of `tokens`, as the runner does."""
    cache.ensure_capacity(slot, len(tokens))
    done = len(slot.tokens)
    slot.keys[:, :, done : len(tokens)] = rows(tokens)[:, :, done:]
    slot.values[:, :, done : len(tokens)] = -rows(tokens)[:, :, done:]
    slot.tokens.extend(tokens[done:])


def chat(cache, key, tokens):
    """A whole turn; how many tokens did not have to be run."""
    slot = cache.acquire(key, tokens)
    reused = len(slot.tokens)
    assert slot.tokens == list(tokens[:reused])
    fill(cache, slot, tokens)
    assert torch.equal(slot.keys[:, :, : len(tokens)], rows(tokens))
    assert torch.equal(slot.values[:, :, : len(tokens)], -rows(tokens))
    cache.release(slot)
    return reused


def keys_of(cache):
    return [slot.key for slot in cache._slots]


# --- reuse


@pytest.mark.parametrize(
    ("a", "b", "count"), [("", "", 0), ("abc", "", 0), ("abc", "abc", 3), ("abcd", "abxd", 2), ("ab", "abc", 2)]
)
def test_common_prefix(a, b, count):
    a, b = [ord(c) for c in a], [ord(c) for c in b]
    assert common_prefix(a, b) == common_prefix(b, a) == count
    for before in (15, 16, 255, 256, 272, 300, 512, 528):
        assert common_prefix([1000] * before + a, [1000] * before + b) == before + count


def test_each_slot_is_compared_once(monkeypatch):
    cache, compared = make_cache(), []
    for key in (None, "a", None, "b"):
        chat(cache, key, [len(compared), *range(50)])
    monkeypatch.setattr(kv_cache, "common_prefix", lambda a, b: compared.append(1) or common_prefix(a, b))
    chat(cache, None, list(range(60)))
    assert len(compared) == len(cache._slots) - 1


def test_a_blank_slot_is_nobodys():
    cache = make_cache(blocks=2)
    chat(cache, None, list(range(40)))
    slot = cache.blank(KEY_BLOCK)
    assert (slot.tokens, slot.busy, len(cache._slots)) == ([], True, 2)
    with pytest.raises(GenerationError):
        cache.blank(KEY_BLOCK + 1)
    cache.drop(slot)
    assert chat(cache, None, list(range(50))) == 40


def test_a_conversation_goes_on_in_its_own_slot():
    cache = make_cache()
    tokens = list(range(1, 60))
    assert chat(cache, "a", tokens) == 0
    assert chat(cache, "a", [*tokens, 7, 8]) == 59
    assert chat(cache, "a", [*tokens[:20], 99]) == 20  # edited: what stood behind the edit is gone
    assert chat(cache, "a", tokens) == 20
    assert keys_of(cache) == ["a"]


def test_the_last_token_is_always_run():
    cache = make_cache()
    assert chat(cache, "a", [5]) == 0
    assert chat(cache, "a", [5]) == 0
    chat(cache, "a", [5, 6, 7])
    assert chat(cache, "a", [5, 6, 7]) == 2
    assert chat(cache, "a", [5, 6]) == 1
    chat(cache, "a", list(range(40)))
    assert chat(cache, "b", list(range(40))) == 39


def test_a_long_shared_beginning_is_copied():
    cache = make_cache()
    shared = list(range(100, 130))
    chat(cache, "a", [*shared, 1, 2])
    assert chat(cache, "b", [*shared, 3, 4]) == 30
    assert chat(cache, "c", [*shared[:15], 5]) == 0  # so few are cheaper to run than to copy
    assert chat(cache, "b", [*shared, 3, 4, 9]) == 32  # its own is longer
    assert chat(cache, "c", [*shared, 1, 2, 6]) == 32  # the longest of all, not the latest
    assert chat(cache, "a", [*shared, 1, 2, 8]) == 32  # and nobody lost anything by it
    assert chat(cache, "a", [*shared, 3, 4, 8]) == 30  # two more from "b" are not worth a copy


def test_a_copy_is_taken_while_the_other_still_writes():
    cache = make_cache()
    tokens = list(range(50))
    busy = cache.acquire("a", tokens)
    fill(cache, busy, tokens)
    assert chat(cache, "b", [*tokens, 1]) == 50
    assert chat(cache, "a", [*tokens, 2]) == 50  # the same conversation asks twice at once: a slot of its own
    assert len(cache._slots) == 3
    assert busy.tokens == tokens


def test_nameless_requests_continue_what_they_repeat():
    cache = make_cache()
    chat(cache, None, [1, 2, 3, 4])
    assert chat(cache, None, [1, 2, 3, 9]) == 3
    assert len(cache._slots) == 1
    assert chat(cache, None, [1, 7, 7, 7]) == 0  # too little in common to throw the other away
    assert chat(cache, "named", [1, 2, 3, 9]) == 0
    assert len(cache._slots) == 3


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 2), st.integers(1, 700)), max_size=12))
def test_whatever_was_asked_before_the_rows_are_right(turns):
    """Few sorts of token make shared beginnings and edits frequent; the budget makes eviction frequent."""
    cache = make_cache(blocks=4)
    for key, kind, length in turns:
        tokens = [1] * min(length, 40) + [kind] * max(length - 40, 0)
        assert chat(cache, key, tokens) < length
        assert cache.byte_count <= cache.byte_budget


# --- memory


@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 4), (torch.bfloat16, 2)], ids=str)
def test_bytes(dtype, size):
    cache = make_cache(dtype=dtype)
    assert (cache.bytes_for(1), cache.bytes_for(KEY_BLOCK)) == (BLOCK * size // 4,) * 2
    assert cache.bytes_for(KEY_BLOCK + 1) == 2 * cache.bytes_for(1)
    slots = [cache.acquire(key, [1] * length) for key, length in (("a", 10), ("b", KEY_BLOCK + 10))]
    assert [slot.byte_count for slot in slots] == [cache.bytes_for(1), 2 * cache.bytes_for(1)]
    assert [slot.touched for slot in slots] == [0, 0]
    for slot, length in zip(slots, (10, KEY_BLOCK + 10), strict=True):
        fill(cache, slot, [1] * length)
    assert [slot.touched for slot in slots] == [slot.byte_count for slot in slots]
    written = sum(t[:, :, : slot.finite].nbytes for slot in slots for t in (slot.keys, slot.values))
    assert cache.byte_count == written
    cache.drop(slots[0])
    assert cache.byte_count == slots[1].byte_count
    cache.drop(slots[0])  # a second time changes nothing
    cache.clear()
    assert cache.byte_count == 0


def test_the_longest_unused_goes_first():
    cache = make_cache(blocks=3)
    for key in "abc":
        chat(cache, key, [ord(key)] * 10)
    chat(cache, "a", [ord("a")] * 10)
    chat(cache, "d", [1])
    assert sorted(keys_of(cache)) == ["a", "c", "d"]
    chat(cache, "e", [2])
    assert sorted(keys_of(cache)) == ["a", "d", "e"]
    first, second = cache.acquire("d", [1]), cache.acquire("e", [2])
    for slot in (second, first):  # what counts is the end of an answer, not its beginning
        cache.release(slot)
    for key in "fg":
        chat(cache, key, [3])
    assert sorted(keys_of(cache)) == ["d", "f", "g"]


def test_more_conversations_than_can_be_looked_through_are_not_kept(monkeypatch):
    """A server whose clients ask short questions: each request would look through those of the whole day."""
    monkeypatch.setattr(kv_cache, "_MOST_IDLE", 3)
    cache = make_cache()
    busy = cache.acquire("busy", [1, 2])
    for token in range(10, 20):
        chat(cache, str(token), [token] * 10)
    assert keys_of(cache) == ["busy", "17", "18", "19"]
    assert chat(cache, "18", [18] * 12) == 10
    cache.ensure_capacity(busy, 2)
    cache.release(busy)  # the one that has just ended is the newest
    assert keys_of(cache) == ["busy", "18", "19"]
    assert cache.byte_count == 3 * BLOCK


def test_memory_that_others_took_meanwhile_is_not_ours(monkeypatch):
    """Several models in one process, and other programs: each budget is from the moment of loading."""
    cache, free = make_cache(blocks=8), [6 * BLOCK]
    monkeypatch.setattr(kv_cache, "kv_byte_budget", lambda device, held: held + free[0] // 2)
    for key in "abc":
        chat(cache, key, [ord(key)])
    free[0] = BLOCK
    busy = cache.acquire("b", [5])
    chat(cache, "d", [1])
    assert keys_of(cache) == ["b", "c", "d"]  # what is idle goes first
    chat(cache, "e", [1] * (2 * KEY_BLOCK))
    assert keys_of(cache) == ["b", "e"]
    assert not cache.has_room(3 * KEY_BLOCK)
    with pytest.raises(GenerationError, match="not enough memory"):
        cache.ensure_capacity(busy, 4 * KEY_BLOCK)
    fill(cache, busy, [5] * KEY_BLOCK * 3)
    assert keys_of(cache) == ["b"]


def test_what_a_running_answer_was_promised_is_no_reason_to_refuse_another_its_own(monkeypatch):
    cache = make_cache(blocks=8)
    slots = [cache.acquire(key, [1], room=4 * KEY_BLOCK) for key in "ab"]
    for slot in slots:
        fill(cache, slot, [1])
    monkeypatch.setattr(kv_cache, "kv_byte_budget", lambda device, held: held + 2 * BLOCK)
    for slot in slots:
        fill(cache, slot, [1] * KEY_BLOCK * 2)
    assert [slot.byte_count for slot in slots] == [2 * BLOCK] * 2


def test_running_answers_are_never_evicted():
    cache = make_cache(blocks=2)
    busy = cache.acquire("busy", [1])
    chat(cache, "idle", [2])
    chat(cache, "new", [3])
    assert keys_of(cache) == ["busy", "new"]
    assert cache.has_room(KEY_BLOCK)
    assert not cache.has_room(KEY_BLOCK + 1)
    with pytest.raises(GenerationError, match="not enough memory for a conversation of 513 tokens"):
        cache.acquire("long", [4] * (KEY_BLOCK + 1))
    cache.release(busy)
    assert cache.has_room(2 * KEY_BLOCK)
    assert not cache.has_room(2 * KEY_BLOCK + 1)


def test_the_source_of_a_copy_is_evicted_last():
    tokens = list(range(100))
    cache = make_cache(blocks=2)
    chat(cache, "source", tokens)
    chat(cache, "other", [7])
    assert chat(cache, "copy", [*tokens, 1]) == 100
    assert keys_of(cache) == ["source", "copy"]
    cache = make_cache(blocks=1)
    chat(cache, "source", tokens)
    assert chat(cache, "copy", [*tokens, 1]) == 100  # there is room for one only: it is copied, and goes
    assert keys_of(cache) == ["copy"]


def test_growth_keeps_the_rows_and_looks_ahead():
    cache = make_cache(blocks=20)
    slot = cache.acquire("a", [1] * 1500)
    fill(cache, slot, [1] * 1500)
    capacities = [slot.capacity]
    for length in (1536, 1537, 3072, 3073):
        fill(cache, slot, [1] * length)
        capacities.append(slot.capacity)
    assert capacities == [3072, 3072, 3072, 3072, 7168]  # twice as many, in whole blocks
    assert torch.equal(slot.keys[:, :, :3073], rows([1] * 3073))
    assert slot.byte_count == slot.touched == 7 * BLOCK  # what nobody has written to takes no memory


@pytest.mark.parametrize(("longest", "rows_from_the_beginning"), [(3000, 3072), (10**6, 20 * KEY_BLOCK)])
def test_a_conversation_is_never_copied_where_memory_is_only_promised(monkeypatch, longest, rows_from_the_beginning):
    """It would keep all others waiting: 155 ms at 15,000 tokens of a 1B model."""
    monkeypatch.setattr(kv_cache, "promises_memory", lambda: True)
    cache = make_cache(blocks=20, longest=longest)
    slot = cache.acquire("a", [1] * 10)
    place = slot.keys.data_ptr()
    for length in (10, KEY_BLOCK + 1, 3000):
        fill(cache, slot, [1] * length)
        assert (slot.capacity, slot.keys.data_ptr()) == (rows_from_the_beginning, place)
    assert slot.byte_count == slot.touched == 6 * BLOCK


def test_where_promised_memory_counts_little_is_reserved(monkeypatch):
    monkeypatch.setattr(kv_cache, "promises_memory", lambda: False)
    assert make_cache(blocks=20, longest=10**6).acquire("a", [1] * 10).capacity == 2 * KEY_BLOCK


def test_where_the_longest_conversation_cannot_be_reserved_it_grows(monkeypatch):
    monkeypatch.setattr(kv_cache, "promises_memory", lambda: True)
    cache, empty = make_cache(blocks=20, longest=5000), torch.empty

    def least(shape, **options):
        if shape[2] > 4 * KEY_BLOCK:
            raise RuntimeError("can't allocate memory")
        return empty(shape, **options)

    monkeypatch.setattr(torch, "empty", least)
    slot = cache.acquire("a", [1] * 10)
    assert slot.capacity == 2 * KEY_BLOCK
    fill(cache, slot, [1] * 3 * KEY_BLOCK)
    assert slot.capacity == 3 * KEY_BLOCK


@pytest.mark.parametrize("draft", [None, "itself"])
def test_an_engine_knows_its_longest_conversation(monkeypatch, load, tiny_folder, draft):
    monkeypatch.undo()
    monkeypatch.setattr(kv_cache, "promises_memory", lambda: True)
    engine = load(max_context=1500, draft=draft and tiny_folder())
    engine.generate(GenerateRequest(token_ids=[1, 2, 3], max_tokens=8))  # in the first step nothing is guessed
    proposer = engine._loop._speculator.proposer if draft else None
    for cache in (engine._cache, proposer._cache) if proposer else (engine._cache,):
        assert [slot.capacity for slot in cache._slots] == [1536]


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is in memory")
@pytest.mark.parametrize("longest", [None, 131_072])
def test_what_no_token_has_reached_takes_no_memory(monkeypatch, longest):
    monkeypatch.undo()
    cache = KVCache(
        SimpleNamespace(cache_layout=CacheLayout.even(16, 8, 64)),
        torch.bfloat16,
        torch.device("cpu"),
        2**33,
        longest,
    )
    process = psutil.Process()
    before = process.memory_info().rss
    slot = cache.acquire("a", [1] * 8192)  # 256 MiB
    cache.ensure_capacity(slot, 1000)
    taken = process.memory_info().rss - before
    assert (slot.byte_count, slot.touched) == (2**28, 2**25)
    # The process may have had pages of former tests that nobody used; what no token has reached is 2**28 less 2**25.
    assert taken < 2**25 * 1.5


def test_memory_is_taken_block_by_block():
    """The system hands it out at a few GB/s, and running answers wait meanwhile."""
    cache = make_cache(blocks=20)
    slot = cache.acquire("a", [1] * 6 * KEY_BLOCK)
    taken = [slot.touched]
    for length in (10, 20, KEY_BLOCK, KEY_BLOCK + 1, 5 * KEY_BLOCK, 5 * KEY_BLOCK + 10):
        fill(cache, slot, [1] * length)
        taken.append(slot.touched)
        seen = -(-length // KEY_BLOCK) * KEY_BLOCK
        for held in (slot.keys, slot.values):
            assert (
                held[:, :, length:seen] == 0
            ).all()  # never uninitialised: a masked key takes part in the arithmetic
    assert taken == [blocks * BLOCK for blocks in (0, 1, 1, 1, 2, 5, 6)]
    assert slot.byte_count == 6 * BLOCK  # from the beginning: it was asked for them
    slot.truncate(10)
    assert (slot.keys[:, :, 10 : slot.finite] == 0).all()


def test_what_a_slot_was_promised_nobody_else_gets(monkeypatch):
    cache = make_cache(blocks=20)
    # Of five blocks that the machine has, those are free that nobody has written to.
    monkeypatch.setattr(kv_cache, "kv_byte_budget", lambda device, held: 5 * BLOCK)
    slot = cache.acquire("a", [1] * 4 * KEY_BLOCK)
    for length in (0, 1, 3 * KEY_BLOCK, 4 * KEY_BLOCK):
        fill(cache, slot, [1] * length)
        assert cache.has_room(KEY_BLOCK)
        assert not cache.has_room(KEY_BLOCK + 1)
    cache.release(slot)
    assert cache.has_room(5 * KEY_BLOCK)


def test_what_a_cancelled_prompt_did_not_come_to_is_free_again():
    cache = make_cache(blocks=20)
    slot = cache.acquire("a", [1] * 4 * KEY_BLOCK)
    fill(cache, slot, [1] * 10)
    assert cache.byte_count == 4 * BLOCK
    cache.release(slot)
    assert cache.byte_count == BLOCK
    assert chat(cache, "a", [1] * 3 * KEY_BLOCK) == 10
    assert cache.byte_count == 3 * BLOCK


def test_elsewhere_than_on_cpu_rows_take_their_memory_at_once(monkeypatch):
    """As on a card, played by the CPU."""
    cache = make_cache(blocks=20)
    monkeypatch.setattr(cache, "_is_lazy", False)
    slot = cache.acquire("a", [1] * 1500)
    assert (slot.capacity, slot.byte_count) == (1536, 3 * BLOCK)
    capacities = []
    for length in (1536, 1537, 2304, 2305):
        fill(cache, slot, [1] * length)
        capacities.append(slot.capacity)
        assert slot.byte_count == slot.keys.nbytes + slot.values.nbytes
    assert capacities == [1536, 2048, 2560, 2560]  # a sixteenth more, in whole blocks
    assert (slot.keys[:, :, 2305:] == 0).all()


def test_a_copy_takes_what_it_writes():
    cache = make_cache(blocks=20)
    tokens = list(range(1100))
    chat(cache, "a", tokens)
    slot = cache.acquire("b", [*tokens, 7])
    assert slot.touched == BLOCK // KEY_BLOCK * 1100
    fill(cache, slot, [*tokens, 7])
    assert (slot.keys[:, :, 1101 : slot.finite] == 0).all()
    assert cache.fork("b", "c") == 1101
    assert chat(cache, "c", [*tokens, 7, 8]) == 1101


def test_where_the_system_has_no_room_for_spare_rows_there_are_none(monkeypatch):
    cache, empty = make_cache(blocks=20), torch.empty

    def least(shape, **options):
        if shape[2] > 4 * KEY_BLOCK:
            raise RuntimeError("can't allocate memory")
        return empty(shape, **options)

    monkeypatch.setattr(torch, "empty", least)
    slot = cache.acquire("a", [1] * 3 * KEY_BLOCK)
    assert slot.capacity == 3 * KEY_BLOCK
    fill(cache, slot, [1] * 4 * KEY_BLOCK)
    assert slot.capacity == 4 * KEY_BLOCK
    with pytest.raises(GenerationError, match="not enough memory"):
        cache.ensure_capacity(slot, 4 * KEY_BLOCK + 1)
    assert torch.equal(slot.keys, rows([1] * 4 * KEY_BLOCK))


def test_in_little_memory_a_conversation_grows_as_far_as_it_lasts_and_fails_unharmed():
    cache = make_cache(blocks=5)
    slot = cache.acquire("a", [1] * 2048)
    fill(cache, slot, [1] * 2048)
    fill(cache, slot, [1] * 2049)
    with pytest.raises(GenerationError, match="memory"):
        cache.ensure_capacity(slot, 5 * KEY_BLOCK + 1)
    assert torch.equal(slot.keys[:, :, :2049], rows([1] * 2049))
    assert cache.byte_count == cache.byte_budget


def test_an_allocation_that_the_machine_refuses(monkeypatch):
    cache = make_cache()

    def refuse(*shape, **options):
        raise RuntimeError("can't allocate memory")

    monkeypatch.setattr(torch, "empty", refuse)
    with pytest.raises(GenerationError, match="not enough memory"):
        cache.acquire("a", [1])
    assert cache.byte_count == 0


def test_a_conversation_that_could_not_be_copied_can_be_evicted():
    cache = make_cache(blocks=2)
    chat(cache, "a", [5])
    chat(cache, "b", list(range(100)))
    with pytest.raises(GenerationError):
        cache.acquire("a", list(range(2 * KEY_BLOCK + 1)))
    assert not any(slot.busy for slot in cache._slots)
    assert cache.has_room(2 * KEY_BLOCK)


# --- in int8 the bytes of 64 tokens lie among each other


@pytest.fixture
def whole_slot(monkeypatch):
    """A cache, and a conversation of 100 tokens in int8, whose bytes are random."""
    monkeypatch.setattr(torch, "empty", lambda shape, **options: torch.full(shape, -1, **options))
    cache = make_cache(dtype=torch.int8)
    slot = cache.acquire("a", list(range(100)))
    cache.ensure_capacity(slot, 100)
    for part in (slot.keys, slot.values):
        part[:, :, :128] = torch.randint(-128, 128, (LAYERS, KV_HEADS, 128, DIM + 4), dtype=torch.int8)
    slot.tokens = list(range(100))
    return cache, slot


def test_in_int8_each_head_has_room_for_its_scale(whole_slot):
    cache, slot = whole_slot
    assert slot.keys.shape == (LAYERS, KV_HEADS, 2 * KEY_BLOCK, DIM + 4)
    assert slot.byte_count == cache.bytes_for(100) == 2 * LAYERS * KV_HEADS * (DIM + 4) * KEY_BLOCK


@pytest.mark.parametrize("shared", [64, 70, 99])
def test_in_int8_a_prefix_is_copied_with_all_that_lies_among_it(whole_slot, shared):
    cache, slot = whole_slot
    other = cache.acquire("b", [*range(shared), 7, 8])
    assert other.tokens == list(range(shared))
    rows = 64 if shared == 64 else 128
    assert torch.equal(other.keys[:, :, :rows], slot.keys[:, :, :rows])
    assert torch.equal(other.values[:, :, :rows], slot.values[:, :, :rows])


def test_in_int8_forgetting_tokens_leaves_those_that_lie_among_them(whole_slot):
    slot = whole_slot[1]
    keys, values = slot.keys[:, :, :128].clone(), slot.values[:, :, :128].clone()
    slot.truncate(70)
    assert torch.equal(slot.keys[:, :, :128], keys)
    assert torch.equal(slot.values[:, :, :128], values)
    slot.truncate(30)
    assert torch.equal(slot.keys[:, :, :64], keys[:, :, :64])
    assert not slot.keys[:, :, 64:KEY_BLOCK].any()
