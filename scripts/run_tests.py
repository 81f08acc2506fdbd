"""Run all tests, part by part, and say how long the parts, folders and slowest tests took.

``make test`` calls it after the build: ``python scripts/run_tests.py [CARGO FLAG...]``. The Rust
tests are compiled while the Python tests run. A part that fails does not keep the next one from
running. The exit code is 1 if one failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

SLOWEST = 20
REPORT = Path("out/tests.xml")
# The harness of Rust takes these options when this variable is set. It is set for the tests alone,
# as it would make cargo compile everything anew.
HARNESS = ("-Z", "unstable-options", "--report-time", "--shuffle")
RUNNER = "env RUSTC_BOOTSTRAP=1"
TIMED = re.compile(r"test (.+) \.\.\. ok <([0-9.]+)s>")
BINARY = re.compile(r"^ +Running .*\((?:.*/)?([a-z_]+)-[0-9a-f]{16}\)$")


@dataclass
class Part:
    """One part of the tests."""

    name: str
    seconds: float = 0.0
    passed: bool = False
    tests: list[tuple[float, str]] = field(default_factory=list)
    """Seconds and name of each test."""


def run(name: str, command: Sequence[str], **variables: str) -> Part:
    """Run a command, show what it prints, and note the tests that it times."""
    part, binary = Part(name), ""
    print(f"\n== {name}: {' '.join(command)}", flush=True)
    start = time.monotonic()
    with subprocess.Popen(
        command,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            if match := BINARY.match(line):
                binary = match[1]
            elif match := TIMED.match(line):
                part.tests.append((float(match[2]), f"{binary}: {match[1]}"))
    part.seconds = time.monotonic() - start
    part.passed = process.returncode == 0
    return part


def python_tests() -> Part:
    """Run the Python tests, and the code blocks of README.md and docs/."""
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.unlink(missing_ok=True)
    processes = 1 + (os.cpu_count() or 1)  # those that serve devices wait for the clock
    command = [sys.executable, "-m", "pytest", f"-n{processes}", f"--junitxml={REPORT}"]
    part = run("Python tests", command)
    if REPORT.exists():
        cases = ET.parse(REPORT).iter("testcase")
        part.tests = [
            (float(case.get("time", "0")), f"{case.get('classname')}: {case.get('name')}")
            for case in cases
        ]
    return part


def runner_variable() -> str:
    """Return the variable that tells cargo how to run the tests on this machine."""
    version = subprocess.run(["rustc", "-vV"], capture_output=True, check=True, text=True).stdout
    (host,) = re.findall(r"^host: (.+)$", version, re.MULTILINE)
    return f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER"


def rust_tests(cargo: Sequence[str]) -> list[Part]:
    """Run the tests that are compiled by now, and the examples in the documentation."""
    tests = [*cargo, "--lib", "--tests", "--no-fail-fast", "--", *HARNESS]
    return [
        run("Rust tests", tests, **{runner_variable(): RUNNER}),
        run("Rust examples in documentation", [*cargo, "--doc"]),
    ]


def main(flags: Sequence[str]) -> int:
    """Run everything and print the summary."""
    start = time.monotonic()
    cargo = ["cargo", "test", *flags]
    with ThreadPoolExecutor(1) as pool:
        compiling = pool.submit(run, "Rust tests, compiling", [*cargo, "--no-run", "--quiet"])
        parts = [python_tests()]
        parts.append(compiling.result())
    if parts[-1].passed:
        parts += rust_tests(cargo)
    folders: defaultdict[str, float] = defaultdict(float)
    for seconds, name in parts[0].tests:
        folders[".".join(name.partition(":")[0].split(".")[:2])] += seconds
    print("\nThe folders of Python tests, all processes together:")
    for folder, seconds in sorted(folders.items(), key=lambda one: -one[1]):
        print(f"{seconds:7.1f} s  {folder}")
    slowest = sorted((test for part in parts for test in part.tests), reverse=True)[:SLOWEST]
    print(f"\nThe {len(slowest)} slowest tests:")
    for seconds, name in slowest:
        print(f"{seconds:7.1f} s  {name}")
    print("\nThe parts:")
    for part in parts:
        print(f"{part.seconds:7.1f} s  {part.name}{'' if part.passed else ': FAILED'}")
    print(f"{time.monotonic() - start:7.1f} s  together; the first two parts run at the same time")
    return 0 if all(part.passed for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
