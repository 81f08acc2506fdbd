"""Runs a program under callgrind, which counts instructions: the same ones on every machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from inputs import COLUMNS, array, trace

if TYPE_CHECKING:
    from collections.abc import Callable

CASES: dict[str, tuple[int, list[str]]] = {
    "g2_closed": (8_000, ["device=g2"]),
    "g2_open": (8_000, ["device=g2", "rate=500"]),
    "g2_rows": (8_000, ["device=g2", "rows=ROWS"]),
    "g2_sptf_64": (4_000, ["device=g2", "scheduler=sptf", "queue_depth=64"]),
    "g2_aged_sptf_256": (4_000, ["device=g2", "scheduler=aged_sptf", "queue_depth=256"]),
    "atlas10k": (8_000, ["device=atlas10k"]),
    "atlas10k_sptf_64": (4_000, ["device=atlas10k", "scheduler=sptf", "queue_depth=64"]),
    "nearline20t": (4_000, ["device=nearline20t"]),
    "exos2x18_sptf_64": (4_000, ["device=exos2x18", "scheduler=sptf", "queue_depth=64"]),
    "mcd_cello": (8_000, ["device=mcd", "workload=cello"]),
    "mwb_hplajw": (8_000, ["device=mwb", "workload=hplajw"]),
    "raid0": (4_000, ["device=RAID0"]),
    "raid5_writes": (4_000, ["device=RAID5", "read_fraction=0"]),
    "replay_disksim_ascii": (8_000, ["device=g2", "trace=TRACE", "queue_depth=1"]),
    "replay_csv": (8_000, ["device=g2", "trace=CSV", f'columns="{COLUMNS}"', "queue_depth=1"]),
    "hits_arc": (16_000, ["device=g2", "workload=zipf", "hits=arc:16384"]),
}
"""Of each case: requests, and the arguments of crates/sledsim-experiments/benches/scenario.rs."""


def is_there() -> bool:
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def arguments_of(case: str, requests: int, rows: Path) -> list[str]:
    """Return the arguments for so many requests."""
    _, given = CASES[case]
    files: dict[str, Callable[[], Path]] = {
        "rows=ROWS": lambda: rows,
        "device=RAID0": lambda: array("raid0", 4),
        "device=RAID5": lambda: array("raid5", 4),
        "trace=TRACE": lambda: trace("disksim_ascii", requests),
        "trace=CSV": lambda: trace("csv", requests),
    }
    made = [f"{one.partition('=')[0]}={files[one]()}" if one in files else one for one in given]
    replays = any(one.startswith("trace=") for one in given)
    return made if replays else [*made, f"requests={requests}"]


def instructions(program: Path, arguments: list[str], out: Path = Path("/dev/null")) -> int:
    """Count the instructions of a whole process; `out` tells which function took how many.

    Raises
    ------
    RuntimeError
        If the program fails; the message is its last line.
    """
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)]
    command[2:2] = ["--dump-line=yes"] if out != Path("/dev/null") else []
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        told = [line for line in done.stderr.splitlines() if line and line[:2] != "=="]
        raise RuntimeError((told or ["no output"])[-1])
    return int(found[1])
