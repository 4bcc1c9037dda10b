"""Which sources a compiled library was made from. Nothing of ours is imported: pip runs this beside `build.py`."""

import hashlib
from pathlib import Path


def digest(folder: Path) -> str:
    """Of the C sources in `folder`, for `SOURCES` in `kernels.c`; "": there are none, as where no Python is needed."""
    files = sorted(file for kind in ("*.h", "*.c") for file in folder.glob(kind) if file.name[0] != ".")
    if not files:
        return ""
    found = hashlib.blake2b(digest_size=16)
    for file in files:
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()
