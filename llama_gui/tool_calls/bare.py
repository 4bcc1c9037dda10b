"""Calls without a mark, which are known by how an answer begins. Pure."""

import json
import re
from collections.abc import Collection

_SPACE = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\Z))|\s+', re.DOTALL)
_ARGUMENTS = ("arguments", "parameters")


class BareBeginnings:
    """How an answer begins that is one call of these functions or more, in JSON or as `[f(a=1)]`.

    Each object has the name of a function first, or that it is a function, or its arguments (as an object or its text),
    or an id: an answer in JSON that begins in another way need not wait for its end to be known as one.
    """

    def __init__(self, names: Collection[str]) -> None:
        spelled = {json.dumps(name, ensure_ascii=is_ascii) for name in names for is_ascii in (True, False)}
        objects = ['{"type":"function",', '{"id":"', *(f'{{"{key}":{begins}' for key in _ARGUMENTS for begins in '{"')]
        objects += [f'{{"name":{name}' for name in spelled]
        self._all = (*objects, *(f"[{begins}" for begins in objects), *(f"[{name}(" for name in names))

    def may_come(self, text: str) -> bool:
        """Whether `text` is the first part of such a beginning."""
        squeezed = _squeezed(text)
        return any(len(begins) > len(squeezed) and begins.startswith(squeezed) for begins in self._all)

    def are_in(self, text: str) -> bool:
        """Whether `text` begins so."""
        return _squeezed(text).startswith(self._all)


def _squeezed(text: str) -> str:
    """JSON without the white space between its parts."""
    return _SPACE.sub(lambda found: found[1] or "", text)
