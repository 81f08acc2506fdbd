"""Dependencies between the modules of a crate form no cycle, as those between crates."""

import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())
# A path from the root of the crate, as `crate::name` or `crate::{name, ...}`; and what begins with
# `super::` where that is the root.
PATH = re.compile(r"\b(crate::|(?:super::)+)(\w+|\{[^}]*\})")


def uses(source: Path, text: str) -> set[str]:
    """Return the first names of the paths from the root of the crate in a file."""
    depth = len(source.parts) - (source.name in {"mod.rs", "lib.rs"})
    code = re.sub(r"//.*", "", text).split("#[cfg(test)]")[0]
    names = set()
    for start, rest in PATH.findall(code):
        if start == "crate::" or start.count("super::") == depth:
            names |= set(re.findall(r"(?:^\{?|,)\s*(\w+)", rest))
    return names


def graph(crate: str) -> dict[str, set[str]]:
    """Return which modules of a crate each of its modules uses."""
    root = ROOT / "crates" / crate / "src"
    modules = {path.stem for path in root.iterdir()} - {"lib"}
    found: dict[str, set[str]] = {module: set() for module in modules}
    for path in root.rglob("*.rs"):
        source = path.relative_to(root)
        module = source.parts[0].removesuffix(".rs")
        if module != "lib" and source.name != "tests.rs":
            named = uses(source, path.read_text(encoding="utf-8"))
            found[module] |= (named & modules) - {module}
    return found


@pytest.mark.parametrize("crate", CRATES)
def test_modules_form_no_cycle(crate: str) -> None:
    """A cycle is an error that names the modules in it."""
    graphlib.TopologicalSorter(graph(crate)).prepare()


def test_the_uses_are_found() -> None:
    """The search finds known uses."""
    core = graph("sledsim-core")
    assert core["engine"] >= {"model"}
    assert core["catalog"] >= {"devices", "compose", "layouts", "queueing"}
    assert uses(Path("a/mod.rs"), "use super::b::C; use crate::{d, e::F};") == {"b", "d", "e"}
    assert uses(Path("a/g.rs"), "use super::b; use super::super::h; // crate::i") == {"h"}
    assert uses(Path("a.rs"), "use super::b;\n#[cfg(test)]\nmod t { use crate::c; }") == {"b"}


def test_folders_of_the_core_use_those_above_them_in_the_table() -> None:
    """CONTRIBUTING lists them in that order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("The folders of `sledsim-core/src`")[1].split("\n\n")[1]
    order = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    core = graph("sledsim-core")
    assert set(order) == set(core)
    for place, module in enumerate(order):
        assert core[module] <= set(order[:place]), module
