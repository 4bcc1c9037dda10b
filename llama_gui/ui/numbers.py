"""Numbers as the language of the window writes them: 1,234.5 or 1.234,5; and the short names of their kinds."""

from PySide6.QtCore import QCoreApplication

_SHORT_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def dtype_text(dtype: str) -> str:
    """A kind of number in short: bf16, int8."""
    return _SHORT_DTYPES.get(dtype, dtype)


def number_text(value: float, digits: int = 0) -> str:
    """Grouped by thousands, with so many digits behind the decimal mark."""
    return in_marks(f"{value:,.{digits}f}")


def counted(count: int, one: str, many: str) -> str:
    """How many of a thing: `one` says it of a single one, `many` of any other number; the number is put into both."""
    return (one if count == 1 else many).format(number_text(count))


def in_marks(text: str) -> str:
    """A number that is written already, with the decimal mark and the grouping of the language."""
    translate = QCoreApplication.translate
    return text.translate({ord(","): translate("Numbers", ","), ord("."): translate("Numbers", ".")})
