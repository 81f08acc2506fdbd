"""The version of the results of a paper: one digest of code, data, the core and the tools.

It covers the whole package but the command line, which no other room may import, and the folder of
the paper. A change anywhere in them judges all items again; simulations are read from the store of
outcomes, which depends on the core alone.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim.papers import model
from sledsim.papers.outcomes import core_digest

if TYPE_CHECKING:
    from sledsim.papers.model import Item

TOOLS = ("matplotlib", "numpy", "pyarrow")
"""Libraries that draw items or make their data."""

_PACKAGE = Path(__file__).parents[1]
_APART = "cli/"


def version_of(item: Item) -> str:
    """Return a digest of all that the result of an item depends on, but external files.

    Files are taken as they were when this process asked for the first time, as it imports a module
    once, too. :func:`is_current` tells whether they still are.

    Parameters
    ----------
    item
        The item.
    """
    tools = [f"{name} {_version_of_tool(name)}" for name in TOOLS]
    lines = [core_digest(), sys.version, *tools, _first_digest_of(model.folder_of(item.folder))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_current(item: Item) -> bool:
    """Return whether the files of an item are unchanged since :func:`version_of`."""
    folder = model.folder_of(item.folder)
    return _digest_of(folder) == _first_digest_of(folder)


def _digest_of(folder: Path) -> str:
    """Return a digest of the package and of the folder of a paper, by names inside them."""
    core = Path(_core.__file__).name
    digest = hashlib.sha256()
    for root in (_PACKAGE, folder):
        for file in sorted(root.rglob("*")):
            name = file.relative_to(root).as_posix()
            skipped = file.name == core or "__pycache__" in file.parts or name.startswith(_APART)
            if not skipped and file.is_file():
                digest.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


_first_digest_of = cache(_digest_of)


@cache
def _version_of_tool(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "is not there"
