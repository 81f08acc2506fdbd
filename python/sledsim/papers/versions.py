"""The version of an item: a digest of its code, the package, the core and the tools.

Of the papers it covers the modules that the item imports, directly or not, the engine, and the data
of the item. It covers the rest of the package, but :data:`APART` only if one of these modules
imports it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import sys
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import sledsim
from sledsim import _core, papers
from sledsim.outcomes import core_digest
from sledsim.papers import model

if TYPE_CHECKING:
    from sledsim.papers.model import Item

APART = ("cli", "emulator", "reports")
"""Folders that hardly any number of an item depends on: command line, emulator and pages."""
TOOLS = ("matplotlib", "numpy", "pyarrow")
"""Libraries that draw items or make their data."""

_PACKAGE = Path(sledsim.__file__).parent
_PAPERS = "sledsim.papers"


def version_of(item: Item) -> str:
    """Return a digest of all that the result of an item depends on, but external files.

    Files are taken as they were when this process asked for the first time, as it imports a module
    once, too. :func:`is_current` tells whether they still are.

    Parameters
    ----------
    item
        The item.

    Raises
    ------
    SledsimError
        If the core was replaced since it was loaded.
    """
    lines = [core_digest(), sys.version]
    lines += [f"{name} {_version_of_tool(name)}" for name in TOOLS]
    lines += [f"{name} {_first_digest_of(file)}" for name, file in _files_of(item)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_current(item: Item) -> bool:
    """Return whether the files of an item are unchanged since :func:`version_of`."""
    return all(_digest_of(file) == _first_digest_of(file) for _, file in _files_of(item))


def _files_of(item: Item) -> list[tuple[str, Path]]:
    """Return the files of an item by names that do not depend on where the package is."""
    modules = modules_of(item)
    reached = {name.split(".")[1] for name in modules}
    left_out = {"papers", *APART} - (reached & {*APART})
    others = [named for named in _all_below(_PACKAGE) if named[0].partition("/")[0] not in left_out]
    own = [(name, file) for name, file in modules.items() if name.startswith(_PAPERS)]
    folder = model.folder_of(item.folder)
    data = [named for named in _all_below(folder) if "/" in named[0]]
    data += [(name, folder / f"{name}.toml") for name in (item.name, "setup")]
    return [*others, *sorted(own), *data]


@cache
def _all_below(folder: Path) -> list[tuple[str, Path]]:
    """Return the files below a folder, without the core and bytecode."""
    core = Path(_core.__file__).name
    return sorted(
        (file.relative_to(folder).as_posix(), file)
        for file in folder.rglob("*")
        if file.name != core and "__pycache__" not in file.parts and file.is_file()
    )


def modules_of(item: Item) -> dict[str, Path]:
    """Return the modules of the package that an item imports, in turn, by name.

    The engine is among them, as importing a module runs the packages around it. Every import
    counts, wherever it stands, but those for type checkers. What is taken from ``sledsim`` itself
    counts as its own module; the package as a whole would lead everywhere.
    """
    modules: dict[str, Path] = {}
    left = [f"{_PAPERS}.{item.folder}.{item.name}"]
    while left:
        name = left.pop()
        file = _file_of(name, tuple(papers.__path__))
        if file is not None and name not in modules:
            modules[name] = file
            left += [name.rpartition(".")[0], *_imported(name, file)]
    return modules


@cache
def _file_of(module: str, of_papers: tuple[str, ...]) -> Path | None:
    """Return the file of a module inside the package, or ``None`` if it is no such module."""
    top, *parts = module.split(".")
    if top != "sledsim" or not parts:
        return None
    roots = [_PACKAGE]
    if parts[0] == "papers":
        roots, parts = [Path(root) for root in of_papers], parts[1:]
    for root in roots:
        base = root.joinpath(*parts)
        for file in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if file.is_file():
                return file
    return None


@cache
def _imported(module: str, file: Path) -> list[str]:
    """Return the names of all that a module imports; some are names in modules."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    names = []
    left: list[ast.AST] = [ast.parse(file.read_bytes())]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.orelse
            continue
        left += ast.iter_child_nodes(node)
        match node:
            case ast.Import():
                names += [alias.name for alias in node.names]
            case ast.ImportFrom():
                source = resolve_name("." * node.level + (node.module or ""), package)
                names += [source, *(f"{source}.{alias.name}" for alias in node.names)]
                if source == "sledsim":
                    names += [_home_of(alias.name) for alias in node.names]
            case ast.Attribute():
                names.append(_home_of(node.attr))
    return names


@cache
def _home_of(name: str) -> str:
    """Return the module that a name of ``sledsim`` is from; empty if there is no such name."""
    found = getattr(sledsim, name, None) if name in sledsim.__all__ else None
    return found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", "")


def _digest_of(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None  # it was there a moment ago


_first_digest_of = cache(_digest_of)


@cache
def _version_of_tool(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "is not there"
