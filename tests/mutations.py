"""Damaged files: a few bytes or words of a good one changed, the same ones each time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_PIECE = re.compile(r'\s+|[{}\[\]=,#"]|[^\s{}\[\]=,#"]+')
_EXTREMES = (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF)


def changed_bytes(good: bytes, rng: random.Random, begin: int = 0) -> bytes:
    """Return the bytes with 1 to 4 changes from ``begin`` on: a bit, a byte, a cut, a copy.

    Parameters
    ----------
    good
        What is changed; at least a byte after ``begin``.
    rng
        Decides where and how.
    begin
        What comes before it is kept.
    """
    data = bytearray(good)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(begin, len(data))
        kind = rng.randrange(8)
        if kind <= 3:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 4:
            data[at] = rng.choice(_EXTREMES)
        elif kind == 5:
            data[at : at + 4] = rng.randbytes(4)
        elif kind == 6:
            del data[at : at + rng.choice((1, 4, 64))]
        else:
            source = rng.randrange(begin, len(data))
            data[at:at] = data[source : source + rng.choice((1, 8, 64))]
        if len(data) <= begin:
            return bytes(good[:begin])
    return bytes(data)


_NUMBERS = ("0", "-1", "1e308", "-1e-308", "99999999999999999999", "0xffffffffffffffffffff")
_MORE = ("9" * 5000, "1.5", "0 .. 99999999999999999999", "d0 .. d9", "x", "source")
_SIGNS = ("{", "}", "[", "]", ",", "=", '"', "#", "[]", "\0", "\N{ARABIC-INDIC DIGIT FIVE}")
_WORDS = (*_NUMBERS, *_MORE, *_SIGNS)


def changed_text(good: str, rng: random.Random, more: Sequence[str] = ()) -> str:
    """Return the text with 1 to 3 words changed: replaced, taken out, doubled, or swapped.

    Parameters
    ----------
    good
        What is changed.
    rng
        Decides where and how.
    more
        Words to put in, beside those that often make trouble.
    """
    pieces = [piece for piece in _PIECE.findall(good) if piece]
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(pieces))
        kind = rng.randrange(6)
        if kind <= 2:
            pieces[at] = rng.choice((*_WORDS, *more))
        elif kind == 3:
            pieces[at] = ""
        elif kind == 4:
            pieces[at] += pieces[at]
        else:
            other = rng.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
    return "".join(pieces)
