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


def test_a_build_equals_itself(tmp_path: Path) -> None:
    done = bench(tmp_path, f"--base={PACKAGE.parent}", "g2_rows", "raid5*", "replay_fio_iolog")
    assert done.returncode == 0, done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines()[-3:]] == ["equal"] * 3
    results = json.loads((tmp_path / "out/bench.json").read_text("utf-8"))
    assert list(results["cases"]) == ["g2_rows", "raid5_writes", "replay_fio_iolog"]
    for record in results["cases"].values():
        assert len(record["new"]["cpu_s"]) == len(record["base"]["cpu_s"]) == 2
        assert record["differences"] == []
    rows = script("table.py")["table"](results).splitlines()
    assert len(rows) == 5
    assert {row.count("|") for row in rows} == {8}
    assert all(" equal " in row for row in rows[2:])


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


def test_a_case_that_fails_is_told(tmp_path: Path) -> None:
    """A base of long ago need not know a case; the build in work must."""
    base = tmp_path / "sledsim"
    base.mkdir()
    (base / "_core.so").touch()
    (base / "__init__.py").write_text("raise SystemExit('too old')\n", encoding="utf-8")
    done = bench(tmp_path, f"--base={tmp_path}", "g2_closed")
    assert done.returncode == 0, done.stderr
    assert "the base cannot do it: too old" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--base=no-such-revision"], "neither a folder nor a revision"),
        (["--base=."], "no package sledsim"),
        (["g2_*", "nothing*"], "nothing*: no such case; known are g2_closed, "),
    ],
)
def test_refusals(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = bench(tmp_path, *arguments)
    assert done.returncode == 1
    assert says in done.stderr


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


def test_ratios_are_those_of_turns() -> None:
    """A machine that becomes half as fast from turn to turn changes no ratio."""
    slow = [1.0, 2.0, 4.0]
    record = {
        "requests": 1000,
        "loop_ns": slow,
        "base": {"cpu_s": [6 * s for s in slow], "wall_s": slow, "peak_mib": [1, 2, 3]},
        "new": {"cpu_s": [2 * s for s in slow], "wall_s": slow, "peak_mib": [1, 2, 3]},
    }
    figures = script("figures.py")["figures_of"](record)
    assert str(figures.cpu_ratio) == "3.00 (3.00-3.00)"
    assert figures.loops == pytest.approx(2e6)
    assert figures.cpu_ns == pytest.approx(4e6)


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
    assert len(cases) == 12
    for counts in kept.values():
        assert counts.keys() == cases.keys()


def test_instructions_go_to_the_part_of_their_line(tmp_path: Path) -> None:
    """A profile written by hand: inlined lines, calls, and files by their number."""
    profile = tmp_path / "profile"
    core = "/x/crates/sledsim-core/src"
    profile.write_text(
        f"fl=(1) {core}/engine/mod.rs\nfn=(1) run\n10 5\n"
        "fi=(2) /rustc/library/core/src/option.rs\n+3 7\n"  # of the engine that inlined it
        f"fi=(3) {core}/queueing/schedulers/fcfs.rs\n8 11\n"
        "fe=(1)\n* 13\n"
        f"cfi=(4) {core}/devices/mems/sled.rs\ncfn=(2) seek\ncalls=1 20\n12 1000\n"
        "fl=(4)\nfn=(2)\n-2 17\nfl=(5) ???\nfn=(3) memcpy\n0 19\n",
        encoding="utf-8",
    )
    parts = script("parts.py")
    assert parts["by_part"](profile) == {
        "engine": 25,
        "scheduler": 11,
        "mechanism": 17,
        parts["OTHERS"]: 19,
    }


def test_every_line_of_sledsim_has_a_part() -> None:
    part_of = script("parts.py")["part_of"]
    for path in (ROOT / "crates").glob("sledsim-*/src/**/*.rs"):
        assert part_of(str(path)) or path.match("sledsim-base/src/units.rs"), path
