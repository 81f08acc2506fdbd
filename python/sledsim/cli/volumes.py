"""Options of ``sledsim run`` that split a trace by volume or by time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sledsim._core import SledsimError
from sledsim.cli.progress import work
from sledsim.simulation import simulate

if TYPE_CHECKING:
    import argparse

    from sledsim._load import Load
    from sledsim.cli.parser import Parser
    from sledsim.hardware import Device
    from sledsim.volumes import VolumesRun

_OWN = ("warm_up", "folder")
"""Options that need a split."""
_OTHERS: dict[str, object] = {
    "rows": None,
    "parts": False,
    "series": None,
    "series_ms": None,
    "perfetto": None,
    "precision": None,
    "replications": 1,
    "plot": None,
    "report": None,
    "explore": None,
    "background": [],
}
"""Options of a single run, with their defaults."""


def add(parser: Parser) -> None:
    """Take the options."""
    parser.add_argument(
        "--by-volume",
        action="store_true",
        help="split the trace by its devices, and run each on a device of its own",
    )
    parser.add_argument(
        "--by-window",
        metavar="S",
        type=float,
        help="split the trace into windows of S seconds, and run each on a device of its own",
    )
    parser.add_argument(
        "--warm-up",
        metavar="S",
        type=float,
        help="begin the run of a window S seconds before it; what arrives then is not counted "
        "(default: a tenth of a window)",
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        help="keep the files of the parts here, and use them if they are of the same trace",
    )


def asked(options: argparse.Namespace) -> bool:
    """Tell whether the trace is to be split."""
    if options.by_volume and options.by_window is not None:
        raise SledsimError("--by-volume and --by-window: give one of them")
    splits: bool = options.by_volume or options.by_window is not None
    for name in _OWN:
        if not splits and getattr(options, name) is not None:
            raise SledsimError(f"{_flag(name)}: needs --by-volume or --by-window")
    if options.warm_up is not None and options.by_volume:
        raise SledsimError(
            "--warm-up: needs --by-window; by volume, --set warm_up_s=... applies to each"
        )
    return splits


def refuse_others(options: argparse.Namespace) -> None:
    """Refuse options of a single run."""
    way = "--by-volume" if options.by_volume else "--by-window"
    for name, default in _OTHERS.items():
        if getattr(options, name) != default:
            raise SledsimError(
                f"{_flag(name)}: must not be given with {way}: it is of a single run"
            )


def run(load: Load, device: Device, scheduler: str, options: argparse.Namespace) -> VolumesRun:
    """Split the trace and run its parts."""
    split: Literal["volumes"] | float = "volumes" if options.by_volume else options.by_window
    return work(
        lambda beat: simulate(
            load,
            device,
            scheduler,
            split=split,
            warm_up_s=options.warm_up,
            workers=options.workers,
            folder=options.folder,
            table=data_file(options),
            progress=beat,
        )
    )


def data_file(options: argparse.Namespace) -> str | None:
    """Return the file of ``--table`` if it is written as the parts are joined."""
    table: str | None = options.table
    return table if table is not None and table.lower().endswith((".csv", ".parquet")) else None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
