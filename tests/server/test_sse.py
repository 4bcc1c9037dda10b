"""Events out of bytes, wherever those were cut."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_gui.errors import GenerationError
from llama_gui.server.sse import MOST_EVENT_BYTES, EventReader

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.sse"))


def read(*chunks: bytes) -> list[str]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.finish()


def test_what_was_recorded_is_there():
    assert len(RECORDED) == 14


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_every_place_to_cut_gives_the_same_events(file: Path, line_end: bytes):
    stream = file.read_bytes().replace(b"\n", line_end)
    expected = [line.removeprefix("data: ") for line in file.read_text("utf-8").split("\n") if line.startswith("data")]
    assert read(stream) == expected
    for cut in range(len(stream)):
        assert read(stream[:cut], stream[cut:]) == expected, cut
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data: a\n\ndata: b", ["a", "b"]),  # without its last lines
        (b"data: a\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b": comment\n\ndata: a\n: comment\n\n", ["a"]),
        (b"event: message\nid: 5\nretry: 10\ndata: a\nother\n\n", ["a"]),
        (b"data\n\n", [""]),
        (b"data: \xff\xfe\n\n", ["\ufffd\ufffd"]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
    ],
)
def test_odd_streams(stream: bytes, expected: list[str]):
    assert read(stream) == expected
    for cut in range(len(stream)):
        assert read(stream[:cut], stream[cut:]) == expected, cut


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_bytes_cut_anywhere(stream: bytes, cuts: list[int]):
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert read(*(stream[a:b] for a, b in itertools.pairwise(places))) == read(stream)


@pytest.mark.parametrize("start", [b"data: ", b"", b": "])
def test_an_event_without_an_end_is_cut(start: bytes):
    with pytest.raises(GenerationError, match="longer than any answer"):
        read(start, *[b"x" * 65536] * (MOST_EVENT_BYTES // 65536 + 2))


@pytest.mark.parametrize("lines", [b"data: " + b"x" * 65536 + b"\n", b"data:\n" * 65536])
def test_an_event_of_lines_without_an_end_is_cut(lines: bytes):
    with pytest.raises(GenerationError, match="longer than any answer"):
        read(*[lines] * (MOST_EVENT_BYTES // 65536 + 2))
