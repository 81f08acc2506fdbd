"""Names of devices with keys behind them: ``g2(spring_factor=0)``."""

from __future__ import annotations

from pathlib import Path

from sledsim import _core
from sledsim._input_files import is_file
from sledsim._values import digest_of

_LONGEST = 80
"""Characters of a part of the name of a file, which may have 255 bytes."""


def absolute(name: str) -> str:
    """Return the name of a device as another folder needs it: the path of a file absolute."""
    base, keys = _core.split_device_name(name)
    return str(Path(base).absolute()) + keys if is_file(base) else name


def file_name(name: str) -> str:
    """Return a name of a device as part of the name of a file, without its folder and ending.

    One that is long ends in its digest.
    """
    base, keys = _core.split_device_name(name)
    text = "".join(c if c.isalnum() or c in "-_." else "_" for c in Path(base).stem + keys)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}-{digest_of(name)[:12]}"


def split_list(text: str) -> list[str]:
    """Split a list at its commas, but for those inside parentheses, brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts]
