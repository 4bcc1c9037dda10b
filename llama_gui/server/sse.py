"""Server-sent events: bytes, cut anywhere -> the data of each event. Pure."""

from llama_gui.errors import GenerationError

MOST_EVENT_BYTES = 4 * 2**20
"""A whole answer that comes as one event fits; what is longer is no answer."""

_BOM = b"\xef\xbb\xbf"


class EventReader:
    """Reads one stream. Lines may end in LF, CRLF or CR; comments and other fields are passed over."""

    def __init__(self) -> None:
        self._rest = bytearray()  # of a line whose end has not come; byte by byte, it may be long
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[str]:
        """The data of every event that is complete now.

        Raises:
            GenerationError: an event is longer than any answer.
        """
        if self._after_cr and chunk.startswith(b"\n"):  # the second half of a line end that was cut
            chunk = chunk[1:]
            self._after_cr = False
        elif chunk:
            self._after_cr = False
        if chunk.endswith(b"\r"):
            self._after_cr = True
        if b"\n" not in chunk and b"\r" not in chunk:
            self._rest += chunk
            self._check_size()
            return []
        lines = (bytes(self._rest) + chunk).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(lines.pop())
        events = [event for line in lines if (event := self._line(line)) is not None]
        self._check_size()
        return events

    def finish(self) -> list[str]:
        """What is left when the stream ends: some servers leave out the last empty line."""
        rest, self._rest = bytes(self._rest), bytearray()
        events = [self._line(rest), self._line(b"")] if rest else [self._line(b"")]
        return [event for event in events if event is not None]

    def _line(self, line: bytes) -> str | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            data, self._data, self._size = self._data, [], 0
            # Bytes that are no UTF-8 are one odd letter, not the end of the answer.
            return b"\n".join(data).decode("utf-8", "replace") if data else None
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._size += len(value) + 1  # its line end: lines of nothing fill memory too
        return None

    def _check_size(self) -> None:
        if self._size + len(self._rest) > MOST_EVENT_BYTES:
            raise GenerationError("The server sent an event that is longer than any answer.")
