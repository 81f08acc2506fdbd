"""Options that choose a load, and descriptions of loads."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._arguments import optional, share
from sledsim._core import SledsimError
from sledsim._own_schedulers import is_path

if TYPE_CHECKING:
    from sledsim.cli.parser import Parser


def _either(names: list[str], default: str = " (the default)") -> str:
    """List names in words, and ``default`` behind the first."""
    first, *others, last = names
    return f"{', '.join([first + default, *others])} or {last}"


_FILED = (
    f"{', '.join(_core.names('workload_presets'))}; or the path of a TOML file, or of a job file "
    "of fio (.fio)"
)

SCHEDULERS, LAYOUTS = _either(_core.names("schedulers")), _either(_core.names("layouts"))


def add_load(parser: Parser) -> None:
    """Take the options that choose a load."""
    parser.add_argument(
        "--workload", metavar="NAME", help=f"{_either(_core.names('workloads'))}; {_FILED}"
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="a trace to replay, sample:NAME, or - for standard input",
    )
    add_reading(parser)


def add_device(parser: Parser, *, required: bool) -> None:
    """Take ``--device``, ``--scheduler`` and ``--layout``."""
    parser.add_argument(
        "--device", metavar="DEVICE", required=required, help="a preset, or the path of a TOML file"
    )
    parser.add_argument(
        "--scheduler", metavar="NAME", help=f"scheduler: {SCHEDULERS}; or yours, as FILE.py:CLASS"
    )
    parser.add_argument("--layout", metavar="NAME", help=f"layout of the blocks: {LAYOUTS}")


def scheduler(name: str | None) -> tuple[str | None, str | None]:
    """Return the name of a scheduler of sledsim, and the import path of one of the user."""
    is_own = name is not None and is_path(name)
    return (None, name) if is_own else (name, None)


def add_background(parser: Parser) -> None:
    """Take ``--background``."""
    parser.add_argument(
        "--background",
        metavar="TASK",
        action="append",
        default=[],
        help=f"task on unused tips: {_either(_core.names('background_tasks'), '')}, with "
        'keys as in "scan(tail=0.01)"; may be repeated',
    )


def add_reading(parser: Parser) -> None:
    """Take the options of reading a trace, and ``--set``."""
    parser.add_argument(
        "--format", metavar="NAME", help="format of the trace, if its content is ambiguous"
    )
    parser.add_argument(
        "--sort",
        metavar="MS",
        nargs="?",
        const="1000",
        help="sort requests of the trace that are at most so many ms late (default: 1000)",
    )
    parser.add_argument(
        "--columns", metavar="MAP", help="columns of a CSV or Parquet trace, as FIELD=COLUMN"
    )
    add_repairs(parser)
    parser.add_repeatable("--set", "KEY=VALUE", "override a key, as in --set rate=500")


def add_rows(parser: Parser, what: str) -> None:
    """Take ``--rows``."""
    parser.add_argument("--rows", metavar="FILE", help=f"write {what} (.parquet or .csv)")


def add_parts(parser: Parser) -> None:
    """Take ``--parts``."""
    parser.add_argument(
        "--parts",
        action="store_true",
        help="write also the requests inside a device made of devices, each with its parent",
    )


def rows(options: argparse.Namespace) -> str | None:
    """Return the file that ``--rows`` names."""
    file: str | None = options.rows
    if file is not None:
        try:
            _core.check_table_file(file)
            _core.refuse_overwriting(file, [] if options.trace is None else [options.trace])
        except SledsimError as error:
            raise SledsimError(f"--rows {error}") from None
    return file


def add_repairs(parser: Parser) -> None:
    """Take the units of a trace, ``--blk-action`` and ``--drop-glitches``."""
    for flag, what, units in (
        ("--time-unit", "times", "s, ms, us, ns, or a number of one such as 100ns"),
        ("--place-unit", "first bytes", "B, KiB, MiB, GiB, or a number of one such as 512B"),
        ("--length-unit", "lengths", "the same"),
    ):
        parser.add_argument(
            flag,
            metavar="UNIT",
            help=f"unit of the {what} in a text trace, where it is not that of the format: {units}",
        )
    parser.add_argument(
        "--blk-action",
        metavar="ACTION",
        help="which events of a blkparse trace are the requests: Q (queued, the default), D "
        "(issued) or C (complete)",
    )
    parser.add_argument(
        "--drop-glitches",
        action="store_true",
        help="drop and count single requests whose time is over a minute above, or below, those "
        "of both their neighbours",
    )


def add_precision(parser: Parser) -> None:
    """Take ``--precision``, ``--replications`` and ``--workers``."""
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        help="run until the mean response time is known to within this share of it, as in 1%%, "
        "with 95%% confidence, or the load ends",
    )
    parser.add_argument(
        "--replications",
        metavar="N",
        type=int,
        default=1,
        help="run with N consecutive seeds, from that of the workload on, in parallel",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        help="how many run at once; by default as many as there are processors",
    )


def workers(options: argparse.Namespace) -> int | None:
    """Return the number of ``--workers``, if it is given."""
    if options.workers is None:
        return None
    if not options.workers.isdecimal() or not 1 <= int(options.workers[:9]) <= 1024:
        raise SledsimError(f"--workers {options.workers}: must be a number from 1 to 1024")
    return int(options.workers)


def settings(options: argparse.Namespace) -> list[str]:
    """Return the settings of ``--set`` and of the other options of a trace."""
    settings = list(options.set)
    if options.format is not None:
        settings.append(f"trace_format={json.dumps(options.format)}")
    if options.sort is not None:
        settings.append(f"sort_ms={options.sort}")
    if options.columns is not None:
        settings.append(f"columns={json.dumps(options.columns)}")
    settings += [
        f"{key}={json.dumps(unit)}"
        for key in ("time_unit", "place_unit", "length_unit")
        if (unit := getattr(options, key)) is not None
    ]
    if options.blk_action is not None:
        settings.append(f"blk_action={json.dumps(options.blk_action)}")
    if options.drop_glitches:
        settings.append('glitches="drop"')
    return settings


def workload(
    options: argparse.Namespace,
    device: str | None,
    *,
    scenario: str | None = None,
    blocks: int | None = None,
) -> tuple[str | None, list[str]]:
    """Return the workload's name and the settings; a job file of fio becomes both.

    Parameters
    ----------
    options
        The options.
    device, scenario
        What names the device that the job is laid on.
    blocks
        Instead of a device, how many blocks there are.
    """
    name: str | None = options.workload
    given = settings(options) if hasattr(options, "format") else list(options.set)
    if name is None or not name.endswith(".fio") or getattr(options, "trace", None) is not None:
        return name, given
    from sledsim.fio_jobs import settings_of_job  # few commands read one
    from sledsim.traces.files import samples_folder

    if blocks is None:
        of_device = [item for item in given if item.startswith(("device.", "layout."))]
        layout = getattr(options, "layout", None)
        made, _, _ = _core.scenario(
            scenario, device, None, None, None, of_device, samples_folder(), layout
        )
        blocks = made.blocks
    counted = any(item.startswith(("requests=", "workload.requests=")) for item in given)
    kind, of_job, cautions = settings_of_job(name, blocks, counted=counted)
    caution(cautions)
    return kind, of_job + given


def caution(texts: list[str]) -> None:
    """Print cautions about a load."""
    for each in texts:
        print(f"sledsim: caution: {each}", file=sys.stderr)


def precision(options: argparse.Namespace) -> float | None:
    """Return the share that ``--precision`` asks for: 1% or 0.01."""
    return optional(share, "--precision", options.precision)
