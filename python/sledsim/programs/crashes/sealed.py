"""Documents with digests: JSON files in which a changed bit anywhere is found.

The second line of such a file is the SHA-256 of its other lines, as in the ``about.json`` of a
recording.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from sledsim._core import SledsimError
from sledsim._input_files import content

if TYPE_CHECKING:
    from pathlib import Path

_BEGIN = b"{\n"


def write(path: Path, document: dict[str, Any]) -> None:
    """Write a document, which must have a key."""
    text = json.dumps(document, indent=2).encode() + b"\n"
    path.write_bytes(_BEGIN + _seal(text) + text.removeprefix(_BEGIN))


def read(path: Path) -> dict[str, Any]:
    """Read a document that `write` wrote."""
    lines = content(path).splitlines(keepends=True)
    line, others = b"".join(lines[1:2]), b"".join(lines[:1] + lines[2:])
    if line != _seal(others):
        problem = (
            "is damaged: the digest in its second line is not that of its other lines"
            if line.lstrip().startswith(b'"sha256"')
            else "has no digest in its second line: make the experiment anew, with --folder"
        )
        raise SledsimError(f"{path}: {problem}")
    document: dict[str, Any] = json.loads(others)
    return document


def _seal(others: bytes) -> bytes:
    return f'  "sha256": "{hashlib.sha256(others).hexdigest()}",\n'.encode()
