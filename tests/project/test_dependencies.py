"""The dependencies in Rust keep deny.toml: licences and sources.

`make deny` has cargo-deny check all of the file; this takes a second, and no other program.
"""

import json
import re
import subprocess
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from scripts import third_party

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
LICENCES = frozenset(RULES["licenses"]["allow"])


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    """List every crate that is compiled on one of the systems of deny.toml."""
    listed: list[dict[str, Any]] = json.loads(cargo("metadata", "--format-version=1"))["packages"]
    # metadata adds up the features of all systems; tree does not.
    targets = [f"--target={triple}" for triple in RULES["graph"]["targets"]]
    tree = cargo("tree", "--workspace", "--prefix=none", "--format={p}", *targets)
    compiled = {tuple(line.split()[:2]) for line in tree.splitlines()}
    found = [each for each in listed if (each["name"], f"v{each['version']}") in compiled]
    assert len(found) > 100
    return found


def cargo(command: str, *options: str) -> str:
    words = ["cargo", command, "--locked", "--all-features", *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_allowed(expression: str | None, allowed: Collection[str] = LICENCES) -> bool:
    """Return whether the allowed licences satisfy an SPDX expression; `/` is an old OR."""
    parts = re.split(r"( AND | OR |[()])", (expression or "none").replace("/", " OR "))
    words = {" AND ": " and ", " OR ": " or ", "(": "(", ")": ")", "": ""}
    return bool(eval("".join(words.get(part, str(part.strip() in allowed)) for part in parts)))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("GPL-3.0-only", False),
        ("GPL-3.0-only/MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("MIT OR GPL-3.0-only AND Zlib", True),  # AND binds closer
        ("((GPL-2.0-only OR GPL-3.0-only) AND MIT) OR GPL-1.0-only", False),
        ("Zlib WITH LLVM-exception", False),  # an exception is allowed by name
    ],
)
def test_licence_expressions(expression: str, expected: bool) -> None:
    assert is_allowed(expression, {"MIT", "Zlib"}) is expected


def test_licences_and_sources(packages: list[dict[str, Any]]) -> None:
    """Every crate has a licence and is from a registry that are allowed, or is ours."""
    registries = [f"registry+{url}" for url in RULES["sources"]["allow-registry"]]
    ours = [each for each in packages if Path(each["manifest_path"]).is_relative_to(ROOT)]
    assert [each["id"] for each in packages if not is_allowed(each["license"])] == []
    others = [each for each in packages if each not in ours]
    assert [each["id"] for each in others if each["source"] not in registries] == []
    wild = [needed for each in ours for needed in each["dependencies"] if "*" in needed["req"]]
    assert [needed["name"] for needed in wild if "path" not in needed] == []


def test_licence_texts_are_those_of_what_is_linked() -> None:
    written = third_party.FILE.read_text(encoding="utf-8")
    assert written == third_party.notices(), "run python scripts/third_party.py"
    texts = {name: f"\n{name} " in written for name in ("pyo3", "ring", "tokio", "zstd-sys")}
    assert all(texts.values()), texts
    for name in ("proptest", "sledsim-core", "syn"):  # of tests, our own, a part of macros
        assert f"\n{name} " not in written
