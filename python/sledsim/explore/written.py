"""Writes a page: template, styles and modules in one file."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledsim.explore.payload import Shown

_FOLDER = Path(__file__).with_name("page")
_IMPORTS = re.compile(r"^import \{[^}]*\} from [^\n]*\n", re.MULTILINE)
_EXPORTS = re.compile(r"^export ", re.MULTILINE)


def page(shown: Sequence[Shown], data: bytearray, *, at_ms: float) -> str:
    """Return the page of one run, or of two in step; the same runs give the same page.

    ``data`` holds the columns of all.
    """
    runs = [one.head for one in shown]
    devices = " and ".join(dict.fromkeys(run["device"] for run in runs))
    schedulers = " and ".join(dict.fromkeys(run["scheduler"] for run in runs))
    head: dict[str, Any] = {
        "title": f"{runs[0]['load']} on {devices}, {schedulers}",
        "notes": list(dict.fromkeys(note for one in shown for note in one.notes)),
        "version": _core.VERSION,
        "at_ns": at_ms * 1e6,
        "runs": runs,
    }
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    parts = {
        "title": html.escape(head["title"]),
        "style": f"<style>\n{_read('page.css')}</style>",
        # No text can end the element that holds it.
        "head": _element("application/json", "head", json.dumps(head).replace("<", "\\u003c")),
        "data": _element("text/plain", "data", packed),
        "modules": f'<script type="module">\n{_modules()}</script>',
    }
    template = _read("page.html")
    return re.sub(r"<!-- (\w+) -->", lambda found: parts[found[1]], template)


def _element(kind: str, name: str, content: str) -> str:
    return f'<script type="{kind}" id="{name}">{content}</script>'


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def _modules() -> str:
    """Join the modules into one: their names are unique, so that imports and exports go."""
    joined = "\n".join(_read(name) for name in _read("order.txt").split())
    return _EXPORTS.sub("", _IMPORTS.sub("", joined))
