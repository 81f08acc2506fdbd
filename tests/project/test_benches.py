"""The benchmarks find what they are for: differing results, and more instructions."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sledsim as ss

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benches"
PACKAGE = Path(ss.__file__).parent


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHES)


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(BENCHES / name))


def differences(base: Any, new: Any, *files: tuple[Path, Path]) -> list[str]:
    results = [
        {"document": document, "files": [str(pair[index]) for pair in files]}
        for index, document in enumerate((base, new))
    ]
    found: list[str] = script("differences.py")["differences"](*results)
    return found


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Measure a tiny run in a folder; the loop of fixed arithmetic needs no compiler there."""
    loop = folder / "loop"
    loop.write_text("#!/bin/sh\nsum=0\nwhile [ $sum -lt 9999 ]; do sum=$((sum + 1)); done\n")
    loop.chmod(0o755)
    command = [sys.executable, BENCHES / "bench.py", "--turns=2", "--share=0.001", *arguments]
    return subprocess.run(
        [*map(str, command), f"--yardstick={loop}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_another_result_is_found(tmp_path: Path) -> None:
    """A base whose random workload begins elsewhere: the summary and the rows differ."""
    base = tmp_path / "base"
    shutil.copytree(PACKAGE, base / "sledsim", ignore=shutil.ignore_patterns("__pycache__"))
    init = base / "sledsim" / "__init__.py"
    init.write_text(
        f"{init.read_text('utf-8')}\n\ndef workload(*names, **keys):\n"
        "    return _import('sledsim.loads').workload(*names, **{'seed': 7} | keys)\n",
        encoding="utf-8",
    )
    done = bench(tmp_path, f"--base={base}", "g2_rows")
    assert done.returncode == 1, done.stderr
    assert "DIFFER" in done.stdout
    assert re.search(r"^    /\S+: \S+ before, \S+ now$", done.stdout, re.MULTILINE)
    assert re.search(r"^    rows.parquet: \w+ of row 0: \S+ before", done.stdout, re.MULTILINE)


def test_an_unknown_case_is_refused(tmp_path: Path) -> None:
    done = bench(tmp_path, "g2_*", "nothing*")
    assert done.returncode == 1
    assert "nothing*: no such case; known are g2_closed, " in done.stderr


def test_documents_differ_by_one_bit() -> None:
    least = 5e-324
    base = {"a": [1.0, 0.1 + 0.2, 0.0], "b": None}
    assert differences(base, json.loads(json.dumps(base))) == []
    assert differences(base, base | {"a": [1.0, 0.3, 0.0]}) == [
        "/a/1: 0.30000000000000004 before, 0.3 now"
    ]
    assert differences(base, base | {"a": [1.0, 0.1 + 0.2, -0.0]}) == ["/a/2: 0.0 before, -0.0 now"]
    assert differences({"a": 0.0}, {"a": least}) == ["/a: 0.0 before, 5e-324 now"]
    assert differences(base, {"a": base["a"]}) == ["/b: null before, absent now"]
    assert differences([0] * 9, [1] * 9)[-1] == "and 4 more"


def test_files_differ_in_one_row(tmp_path: Path) -> None:
    files = (tmp_path / "old.parquet", tmp_path / "new.parquet")
    for file, last in zip(files, (3, 4), strict=True):
        pq.write_table(pa.table({"a": [1, 2, last], "b": [2, last, 0]}), file)
    assert differences({}, {}, (files[0], files[0])) == []
    assert differences({}, {}, files) == ["new.parquet: b of row 1: 3 before, 4 now"]


def test_more_instructions_are_found() -> None:
    counts = script("counts.py")
    old = {"a": 1000, "b": 1000, "c": 1000}
    assert counts["grown"](old, {"a": 1030, "b": 970, "c": 400}) == []
    assert counts["shrunk"](old, {"a": 1030, "b": 970, "c": 400}) == ["c"]
    grown = counts["grown"](old, {"a": 1031, "b": 1, "d": 5})
    assert grown == [
        "c: not counted",
        "a: 1,000 before, 1,031 now, +3.1%",
        "d: 5 a request, and no count is kept",
    ]


def test_the_kept_counts_are_of_the_cases() -> None:
    cases = script("callgrind.py")["CASES"]
    kept = json.loads((BENCHES / "counts.json").read_text("utf-8"))
    assert len(cases) == 16
    for counts in kept.values():
        assert counts.keys() == cases.keys()
