"""Digests of the results of a build, to check that a change moves no number.

Run it with the Python of each build, then compare::

    BEFORE/.venv/bin/python scripts/digests.py before.json
    AFTER/.venv/bin/python scripts/digests.py after.json
    diff before.json after.json

It covers, by the summary as JSON and the rows as Parquet: every preset of a device under every
scheduler; every preset of a workload on sled, disk and hybrids; every sample trace, replayed in
three ways, converted to every format, described, and run through every cache policy; layouts,
background tasks, batches, arrays, seeds and precision; crash tests, tip failures, tables, seeks;
and every item of the papers, quick.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REQUESTS = 1500
ARRAY = """title = "An array"
kind = "{kind}"
children = 4
{unit}[child]
base = "g2"
"""


def digest(what: object) -> str:
    """Return a digest of bytes, of text, or of a value as JSON."""
    data = what
    if not isinstance(data, bytes):
        # Sample traces are where the build is.
        text = what if isinstance(what, str) else json.dumps(what, sort_keys=True)
        data = text.replace(str(Path(ss.__file__).parent), "").encode()
    return hashlib.sha256(data).hexdigest()[:16]


def cases(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what is computed, by its name."""

    def run(load: Callable[[], ss.Load], device: Any, scheduler: str = "fcfs", **more: Any) -> Any:
        def result() -> list[str]:
            path = folder / "rows.parquet"
            found = ss.simulate(load(), device, scheduler, rows=path, **more)
            return [digest(found.to_dict()), digest(path.read_bytes())]

        return result

    def described(preset: str) -> Any:
        return ss.device(preset).spec

    def random(**keys: Any) -> Callable[[], ss.Load]:
        return lambda: ss.workload("random", requests=REQUESTS, **keys)

    for preset in ss.devices():
        for scheduler in ss.schedulers():
            yield f"{preset}, {scheduler}", run(random(queue_depth=16), preset, scheduler)
        yield f"{preset}, open", run(random(rate=50), preset)
        yield f"show {preset}", partial(described, preset)
    yield "host queue", run(random(queue_depth=16), "g2", "fcfs(host=sptf; device_depth=4)")
    for name in ss.loads.workload_presets():
        load = partial(ss.workload, name, requests=REQUESTS)
        for device in ("g2", "atlas10k", "mcd", "mwb", "disk_ram"):
            yield f"{name} on {device}", run(load, device)
    for kind in ("raid0", "raid1", "raid5", "raid6", "raid10"):
        path = folder / f"{kind}.toml"
        unit = "" if kind == "raid1" else "unit_blocks = 16\n"
        path.write_text(ARRAY.format(kind=kind, unit=unit))
        yield kind, run(random(queue_depth=8, read_fraction=0.5), path.name)
    path = folder / "actuators.toml"
    path.write_text('kind = "actuators"\nactuators = 3\n[child]\nbase = "atlas10k"\n')
    yield "actuators", run(random(queue_depth=8, read_fraction=0.5), path.name)
    layouts = ("simple", "organ_pipe", "columnar", "subregioned", "bipartite")
    for layout in layouts:
        yield f"layout {layout}", run(random(), "g2", layout=layout)
    replays: dict[str, dict[str, Any]] = {
        "": {},
        "closed": {"queue_depth": 4},
        "scaled": {"time_scale": 2},
    }
    for sample in ss.sample_traces():
        for name, keys in replays.items():
            load = partial(
                ss.read_trace, f"sample:{sample}", requests=REQUESTS, address="wrap", **keys
            )
            for device in ("g2", "mcd"):
                yield f"{sample} {name} on {device}", run(load, device)
        yield f"info {sample}", partial(ss.trace_info, f"sample:{sample}")


COMMANDS = (
    "run --device g2 --workload random --set requests=1500 --set rate=500 --replications 3 --json",
    "run --device g2 --workload random --set rate=800 --precision 5% --json",
    "run --device cmu2003 --set requests=1500 --background scan --background refresh --json",
    "compare --devices g2,atlas10k --workload tpcc --set requests=1500 --json",
    "crash --device mwb --points 50 --set last_lbn=500 --set queue_depth=8 --json",
    "crash --device mcd --points 50 --set last_lbn=500 --set queue_depth=8 --json",
    "faults --ecc-tips 2 --spare-tips 128 --failed-tips 400 --trials 2000 --json",
    "parallel 33 --device cmu2003 --json",
    "seek --device atlas10k 100 --json",
    "trace hits sample:postmark --sizes 1,4,16 --json",
    "trace info sample:sqlite --json",
    "trace convert sample:sqlite -o out.trace --json",
    "trace convert sample:sqlite -o out.iolog --json",
    "trace convert sample:sqlite -o out.csv --json",
    "trace convert sample:sqlite -o out.parquet --json",
)


def run_all() -> dict[str, Any]:
    """Return all digests by name; what fails has its error."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        for case, compute in cases(folder):
            try:
                result = compute()
            except ss.SledsimError as error:
                result = str(error)
            found[case] = result if isinstance(result, list | str) else digest(result)
        for line in COMMANDS:
            said, failed = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(failed):
                code = main(line.split())
            found[line] = digest(said.getvalue()) if code == 0 else [code, failed.getvalue()]
        for file in sorted(folder.glob("out.*")):
            found[file.name] = digest(file.read_bytes())
        with contextlib.redirect_stdout(io.StringIO()):
            main(["papers", "run", "--quick", "-o", "papers"])
        for file in sorted(folder.glob("papers/quick/**/*.json")):
            found[str(file.relative_to(folder))] = digest(file.read_bytes())
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(run_all(), indent=1), encoding="utf-8")
