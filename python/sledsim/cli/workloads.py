"""``sledsim workloads``: list, show and characterise workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._load import Load
from sledsim._number_text import number
from sledsim.cli import load_options
from sledsim.cli.devices import resolve
from sledsim.cli.parser import command, print_json
from sledsim.loads import workload_presets, workload_spec
from sledsim.papers.characteristics import CACHES_MB, WINDOWS_S, characteristics
from sledsim.show.text import specification, table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
List the workloads that come with sledsim, show one, or characterise its requests.

Wherever a workload is named, the path of a TOML file will do; it may start from one of these with
base = "cello" and state only what differs.
"""

_SHOW = """\
Show a workload that is a file: every key with its source; of a job file of fio, the keys.

  sledsim workloads show cello
  sledsim workloads show job.fio
"""

_INFO = """\
Draw all requests of an open workload and characterise them; nothing is simulated.

  sledsim workloads info cello
  sledsim workloads info zipf --set rate=100 --set requests=100_000 --device g2
"""


def add(commands: Commands) -> None:
    """Add the command."""
    actions = command(commands, "workloads", _list, _ABOUT).add_commands()
    command(actions, "list", _list, "List the workloads that come with sledsim (the default).")
    show = command(actions, "show", _show, _SHOW)
    show.add_argument("workload", metavar="NAME", help="a name, a TOML file, or a job file of fio")
    info = command(actions, "info", _info, _INFO)
    info.add_argument("workload", metavar="NAME", help="as in sledsim run")
    info.add_argument(
        "--device",
        metavar="DEVICE",
        default="atlas10k-50mbps",
        help="the device it is laid on (default: atlas10k-50mbps)",
    )
    info.add_repeatable("--set", "KEY=VALUE", "a key of the workload, as in --set requests=1000")


def _list(options: argparse.Namespace) -> None:
    specs = [workload_spec(name) for name in workload_presets()]
    listed = [
        {
            "name": spec["name"],
            **{key: spec["parameters"][key]["value"] for key in ("title", "kind", "requests")},
        }
        for spec in specs
    ]
    if options.json:
        print_json({"generators": _core.names("workloads"), "workloads": listed})
        return
    rows = [["workload", "requests", "kind", "title"]]
    rows += [
        [line["name"], number(line["requests"]), line["kind"], line["title"]] for line in listed
    ]
    print(table(rows, "<><<"), end="\n\n")
    print(f"Generators: {', '.join(_core.names('workloads'))}.")


def _show(options: argparse.Namespace) -> None:
    if options.workload.endswith(".fio"):
        _show_job(options)
        return
    spec = workload_spec(options.workload)
    if options.json:
        print_json(spec)
        return
    print(specification(spec))


def _show_job(options: argparse.Namespace) -> None:
    from sledsim.fio_jobs import fio_job  # few commands read one

    job = fio_job(options.workload)
    load_options.caution(job.cautions)
    toml = job.load.to_toml()
    if options.json:
        print_json({"toml": toml, "cautions": job.cautions, "ignored": job.ignored})
        return
    print(toml, end="")


def _info(options: argparse.Namespace) -> None:
    workload, settings = load_options.workload(options, options.device)
    assert workload is not None
    core = _core.workload_of_settings(workload, settings)
    found = characteristics(Load(core, options.workload), on=resolve(options.device, []))
    if options.json:
        print_json(found)
        return
    rows = [[name, _figure(found[key], unit)] for name, key, unit in _FIGURES]
    counts, misses = found["index_of_dispersion"], found["lru_miss_ratio"]
    rows += [
        [f"dispersion in {window:g} s", _figure(counts.get(window), "")] for window in WINDOWS_S
    ]
    rows += [[f"LRU misses, {size} MB", _figure(100 * misses[size], "%")] for size in CACHES_MB]
    print(table(rows, "<>"))


_FIGURES = (
    ("requests", "requests", ""),
    ("duration", "duration", "h"),
    ("reads", "reads", "%"),
    ("mean size", "mean_size", "KB"),
    ("working set", "working_set", "MB"),
    ("sequential", "sequentiality", "%"),
    ("reads below 8 KB", "reads_below_8kb", "%"),
    ("writes below 8 KB", "writes_below_8kb", "%"),
)


def _figure(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{number(value)} {unit}".rstrip()
