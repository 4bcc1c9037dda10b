"""Bytes as people read them."""


def in_words(count: int) -> str:
    """Bytes in the unit that suits them, in powers of ten as disks are sold."""
    return f"{count / 1e9:.2f} GB" if count >= 10**8 else f"{count / 1e6:.1f} MB"
