"""What devices, loads and results have in common as values: how they are identified."""

from __future__ import annotations

import re
from typing import NoReturn

from sledsim import _core
from sledsim._core import SledsimError

_CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f]")


def digest_of(text: str) -> str:
    """Return the SHA-256 of the text that identifies a value, in hexadecimal digits."""
    import hashlib  # most commands do without

    return hashlib.sha256(text.encode()).hexdigest()


def printable(text: str) -> str:
    """Return a text with escapes in place of control characters, as a name is shown."""
    return _CONTROL.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def hash_of(text: str) -> int:
    """Return the hash of a value that a text identifies, the same in all processes."""
    return int(digest_of(text)[:15], 16)


def refuse_other(what: str, version: str) -> NoReturn:
    """Raise the error for a pickle that makes another value here."""
    raise SledsimError(
        f"{what}: its pickle is of sledsim {version}, and this is {_core.NUMBERS}, where the same "
        "keys are another one: a preset has changed"
    )
