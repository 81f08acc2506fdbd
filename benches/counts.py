"""Compares instruction counts with those of benches/counts.json: `make counts`.

A count is that of a request: what a run of so many takes beyond one of a quarter, over the
difference, so that neither the start of the program nor the length of a run is in it. Counts do not
depend on the machine, nor on what else it does; they do on the compiler, by whose version they are
kept. Fails if a case has grown by more than 3 %. `--renew` (`make counts-renew`) writes the file.
`--program` names another build of crates/sledsim-experiments/benches/scenario.rs to count beside
this one, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from builds import yardstick
from callgrind import CASES, arguments_of, instructions, is_there

FILE = Path(__file__).with_name("counts.json")
ALLOWED = 0.03
Counts = dict[str, int]


def compiler() -> str:
    """Return the version and the target of the compiler."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    facts = dict(line.split(": ", 1) for line in told.splitlines()[1:])
    return f"rustc {facts['release']} {facts['host']}"


def count(program: Path, case: str) -> int:
    """Count the instructions of a request."""
    requests, _ = CASES[case]
    few = requests // 4
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.parquet"
        least, most = (
            instructions(program, arguments_of(case, number, rows)) for number in (few, requests)
        )
    return round((most - least) / (requests - few))


def counted(program: Path) -> Counts:
    """Count all cases; those that the program cannot do are left out."""

    def one(case: str) -> int | None:
        try:
            return count(program, case)
        except RuntimeError as error:
            print(f"sledsim: {case}: {error}", file=sys.stderr)
            return None

    with ThreadPoolExecutor(2) as pool:
        found = zip(CASES, pool.map(one, CASES), strict=True)
        return {case: number for case, number in found if number is not None}


def grown(old: Counts, new: Counts) -> list[str]:
    """Name the cases that take more instructions than are allowed, or are missing."""
    lines = [f"{case}: not counted" for case in old if case not in new]
    for case, now in new.items():
        before = old.get(case)
        if before is None:
            lines.append(f"{case}: {now:,} a request, and no count is kept")
        elif now > before * (1 + ALLOWED):
            lines.append(f"{case}: {before:,} before, {now:,} now, {now / before - 1:+.1%}")
    return lines


def shrunk(old: Counts, new: Counts) -> list[str]:
    """Name the cases that take fewer instructions, by more than is allowed."""
    both = {case: (old[case], new[case]) for case in old if case in new}
    return [case for case, (before, now) in both.items() if now < before * (1 - ALLOWED)]


def compare() -> int:
    """Compare with the file; return the exit code."""
    kept: dict[str, Counts] = json.loads(FILE.read_text(encoding="utf-8"))
    if (key := compiler()) not in kept:
        print(f"sledsim: instructions are not compared: {FILE.name} has no counts of {key}")
        return 0
    new = counted(yardstick())
    if lines := grown(kept[key], new):
        print("sledsim: more instructions a request (if it must be: make counts-renew):")
        print(*(f"  {line}" for line in lines), sep="\n")
        return 1
    if less := shrunk(kept[key], new):
        print(f"sledsim: fewer instructions: {', '.join(less)}; keep that: make counts-renew")
    else:
        print(f"sledsim: {len(new)} cases take as many instructions as before")
    return 0


def renew() -> None:
    """Write the counts of this compiler; those of others stay."""
    kept: dict[str, Counts] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    kept[compiler()] = counted(yardstick())
    FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"Written: {FILE}")


def table(old: Counts, new: Counts) -> str:
    """Set two programs beside each other, in Markdown."""
    lines = ["| case | instructions a request before | now | ratio |", "| --- | --- | --- | --- |"]
    for case, now in new.items():
        ratio = (
            f"{old[case]:,} | {now:,} | {old[case] / now:.2f}" if case in old else f" | {now:,} |"
        )
        lines.append(f"| {case} | {ratio} |")
    return "\n".join(lines)


def main() -> int:
    """Compare, renew, or print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--program", type=Path)
    given = parser.parse_args()
    if not is_there():
        print("sledsim: instructions are not counted: valgrind is not installed; make test does it")
        return 0
    if given.program:
        print(table(counted(given.program), counted(yardstick())))
    elif given.renew:
        renew()
    else:
        return compare()
    return 0


if __name__ == "__main__":
    sys.exit(main())
