"""Write LICENSE-THIRD-PARTY: the licences of the crates that are part of the extension module.

Run it after a change of Cargo.lock; tests/project/test_dependencies.py fails until then. The wheel
and the sdist hold the file, as most licences ask for their text wherever the program goes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "LICENSE-THIRD-PARTY"
NAMES = re.compile(r"(licen[cs]e|copying|copyright|notice)", re.IGNORECASE)
HEAD = """\
sledsim itself is licensed as LICENSE-MIT or LICENSE-APACHE say. Its extension module is linked with
the Rust crates below, on one of its systems or all. Where a crate has a choice of licences with MIT
among them, its MIT licence is here. Written by scripts/third_party.py.
"""


def cargo(command: str, *options: str) -> str:
    """Return what cargo prints; it has said why if it fails."""
    words = ["cargo", command, "--locked", *options]
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout


def linked_crates() -> list[dict[str, Any]]:
    """List the crates of others that are linked on the systems of deny.toml, by name.

    Each is an entry of ``cargo metadata``. Build scripts and macros are not linked.
    """
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    targets = [f"--target={triple}" for triple in rules["graph"]["targets"]]
    edges = "--edges=normal,no-proc-macro"
    tree = cargo("tree", "-p=sledsim-python", edges, "--prefix=none", "--format={p}", *targets)
    linked = {tuple(line.split()[:2]) for line in tree.splitlines()}
    packages = json.loads(cargo("metadata", "--format-version=1"))["packages"]
    found = [
        each
        for each in packages
        if each["source"] and (each["name"], f"v{each['version']}") in linked
    ]
    return sorted(found, key=lambda each: (each["name"], each["version"]))


def licence_texts(crate: dict[str, Any]) -> list[str]:
    """Read the licences of a crate. It is an error if it has none, and is not under Apache-2.0."""
    folder = Path(crate["manifest_path"]).parent
    files = [each for each in sorted(folder.iterdir()) if NAMES.match(each.name)]
    mit = [each for each in files if "mit" in each.name.lower()]
    if mit and " AND " not in crate["license"]:
        files = mit
    if not files and "Apache-2.0" in crate["license"]:
        files = [ROOT / "LICENSE-APACHE"]
    if not files:
        sys.exit(f"{crate['name']}: {crate['license']}, and no file with the text in {folder}")
    return [each.read_text(encoding="utf-8") for each in files if each.is_file()]


def notices() -> str:
    """Return the content of the file: each text once, below the crates that it holds for."""
    crates_of: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for crate in linked_crates():
        for text in licence_texts(crate):
            words = " ".join(text.split())  # the same text may be wrapped in other places
            texts.setdefault(words, "\n".join(line.rstrip() for line in text.splitlines()).strip())
            line = f"{crate['name']} {crate['version']}: {crate['license']}"
            crates_of.setdefault(words, []).append(line)
    parts = [HEAD]
    for words, crates in crates_of.items():
        parts += ["=" * 100, *crates, "-" * 100, texts[words], ""]
    return "\n".join(parts)


if __name__ == "__main__":
    FILE.write_text(notices(), encoding="utf-8")
