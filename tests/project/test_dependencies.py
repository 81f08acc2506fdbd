"""The dependencies in Rust keep deny.toml: licences, sources, versions.

`make deny` has cargo-deny check the same file; this takes a second, and no other program.
"""

import json
import re
import subprocess
import tomllib
from collections import defaultdict
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


def named(package: dict[str, Any]) -> str:
    return f"{package['name']} {package['version']}"


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Return whether the allowed licences satisfy an SPDX expression; `/` is an old OR."""
    if re.search(r"[()]", expression):
        inner = re.compile(r"\(([^()]*)\)")
        assert inner.search(expression), f"not an SPDX expression: {expression}"
        kept = inner.sub(lambda part: "yes" if is_allowed(part[1], allowed) else "no", expression)
        return is_allowed(kept, allowed | {"yes"})
    return any(
        all(name.strip() in allowed for name in choice.split(" AND "))
        for choice in re.split(r" OR |/", expression)
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only/MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND Zlib", True),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("MIT OR GPL-3.0-only AND Zlib", True),  # AND binds closer
        ("((GPL-2.0-only OR GPL-3.0-only) AND MIT) OR GPL-1.0-only", False),
        ("Zlib WITH LLVM-exception", False),  # an exception is allowed by name
    ],
)
def test_licence_expressions(expression: str, expected: bool) -> None:
    assert is_allowed(expression, frozenset({"MIT", "Zlib"})) is expected


def test_licences(packages: list[dict[str, Any]]) -> None:
    """Every crate has a licence that is allowed, and every licence that is allowed is needed."""
    for package in packages:
        assert is_allowed(package["license"] or "no licence", LICENCES), (
            f"{named(package)}: {package['license']}; "
            f"deny.toml allows {', '.join(sorted(LICENCES))}"
        )
    for licence in LICENCES:
        assert not all(is_allowed(each["license"], LICENCES - {licence}) for each in packages), (
            f"no crate needs {licence}: take it out of deny.toml"
        )


def test_sources(packages: list[dict[str, Any]]) -> None:
    """Every crate is ours or from a registry that is allowed."""
    allowed = [f"registry+{url}" for url in RULES["sources"]["allow-registry"]]
    for package in packages:
        source = package["source"]
        if source is None:
            assert Path(package["manifest_path"]).is_relative_to(ROOT), package["manifest_path"]
        else:
            assert source in allowed, f"{named(package)} is from {source}; allowed: {allowed}"


def test_versions_are_named(packages: list[dict[str, Any]]) -> None:
    for package in packages:
        if package["source"] is None:
            wild = [needed["name"] for needed in package["dependencies"] if "*" in needed["req"]]
            ours = [needed["name"] for needed in package["dependencies"] if "path" in needed]
            assert not set(wild) - set(ours), f"{package['manifest_path']}: any version of {wild}"


def test_one_version_of_each_crate(packages: list[dict[str, Any]]) -> None:
    """Each other version is compiled, and shipped, beside the first: deny.toml says why."""
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    for skip in RULES["bans"]["skip"]:
        name, _, short = skip["crate"].partition("@")
        skipped = {each for each in versions[name] if f"{each}.".startswith(f"{short}.")}
        assert skipped, f"deny.toml skips {skip['crate']}, and it is not used: take it out"
        versions[name] -= skipped
        assert versions[name], f"deny.toml skips the only version of {name}: take it out"
    several = {name: sorted(each) for name, each in versions.items() if len(each) > 1}
    assert not several, "mend it, or skip one in deny.toml and say why"


def test_licence_texts_are_those_of_what_is_linked() -> None:
    written = third_party.FILE.read_text(encoding="utf-8")
    assert written == third_party.notices(), "run python scripts/third_party.py"
    texts = {name: f"\n{name} " in written for name in ("pyo3", "ring", "tokio", "zstd-sys")}
    assert all(texts.values()), texts
    for name in ("proptest", "sledsim-core", "syn"):  # of tests, our own, a part of macros
        assert f"\n{name} " not in written
