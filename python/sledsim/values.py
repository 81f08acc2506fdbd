"""What devices and loads have in common as values."""

from __future__ import annotations

from typing import NoReturn

from sledsim import _core
from sledsim._core import SledsimError


def digest_of(text: str) -> str:
    """Return the SHA-256 of the text that identifies a value, in hexadecimal digits."""
    import hashlib  # noqa: PLC0415 (most commands do without)

    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(text: str) -> int:
    """Return the hash of a value that a text identifies, the same in all processes."""
    return int(digest_of(text)[:15], 16)


def refuse_other(what: str, version: str) -> NoReturn:
    """Raise the error for a pickle that makes another value here.

    Raises
    ------
    SledsimError
        Always.
    """
    msg = (
        f"{what}: its pickle is of sledsim {version}, and this is {_core.NUMBERS}, where the same "
        "keys are another one: a preset has changed"
    )
    raise SledsimError(msg)
