"""``sledsim validate``: a measured device against its model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._load import Load
from sledsim.cli import load_options, outputs
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.hardware import wrap
from sledsim.traces.files import samples_folder, trace_path
from sledsim.validation import validate

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Commands

_ABOUT = """\
Replay measurements of a real device on its model and compare the times.

  sledsim validate --device my.toml --trace measured.validate --plot cdf.png
  sledsim validate --device my.toml --trace week.srt --set trace_device=0 --set requests=10000
  sledsim validate --device my.toml --trace mine.csv --set queue_depth=1 \\
    --columns 'time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=service:us'
  sledsim validate --published barracuda2t

The demerit figure is the root mean square of the horizontal distance between the distribution
functions of measured and simulated times (Ruemmler and Wilkes 1994), from all times, sorted. Of all
requests together it may hide errors of reads and writes that cancel; the class-weighted figure, the
root mean square of those of reads and writes, does not.
Traces with times of arrival are replayed at these times, response against response; those without
(disksim_validate), and others with queue_depth=1, with one request outstanding: then the measured
service time is compared with the simulated response time.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "validate", _validate, _ABOUT)
    parser.add_argument("--device", metavar="DEVICE", help="a preset, or the path of a TOML file")
    parser.add_argument("--trace", metavar="FILE", help="a trace that has measured times")
    parser.add_argument(
        "--published",
        metavar="DRIVE",
        help="compare the numbers that are known of a drive, and come with sledsim, instead of a "
        "trace: barracuda2t, exos2x18 or nearline20t; with --device, of another model",
    )
    parser.add_argument("--scheduler", metavar="NAME", help=f"scheduler: {load_options.SCHEDULERS}")
    load_options.add_reading(parser)
    parser.add_argument(
        "--max-demerit",
        metavar="PERCENT",
        help="exit with 1 if the demerit figure of all requests is above this percentage of the "
        "measured mean",
    )
    load_options.add_rows(parser, "one row per request, measured and simulated")
    outputs.add_plot(parser, "the distributions of both")
    outputs.add_report(parser)
    outputs.add_table(parser)


def _published(options: argparse.Namespace) -> bool:
    from sledsim.published import published_devices, validate_published  # others do without

    if options.published not in (known := published_devices()):
        raise SledsimError(f"--published {options.published}: must be one of {', '.join(known)}")
    for name in ("trace", "rows", "plot", "report", "scheduler", "max_demerit"):
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise SledsimError(f"--{flag}: is for a trace; leave it out with --published")
    outputs.check_table(options)
    found = work(
        lambda beat: validate_published(options.published, device=options.device, progress=beat)
    )
    outputs.write_table(options, found)
    if options.json:
        print_json(found.to_dict())
        return True
    found.show()
    if options.table is not None:
        print(f"\nwritten: {options.table}")
    return True


def _validate(options: argparse.Namespace) -> bool:
    if options.published is not None:
        return _published(options)
    for name in ("device", "trace"):
        if getattr(options, name) is None:
            raise SledsimError(f"--{name}: must be given, or --published DRIVE")
    limit = _limit(options.max_demerit)
    rows = load_options.rows(options)
    outputs.check_plot(options, rows)
    outputs.check_report(options, rows)
    outputs.check_table(options, rows)
    core_device, core_load, scheduler = _core.scenario(
        None,
        options.device,
        options.scheduler,
        None,
        trace_path(options.trace),
        load_options.settings(options),
        samples_folder(),
    )
    device, load = wrap(core_device), Load(core_load, options.trace)
    validation = work(lambda beat: validate(load, device, scheduler, progress=beat))
    if rows is not None:
        validation.write_rows(rows)
    outputs.write_plot(options, validation.plot)
    outputs.write_report(options, validation)
    outputs.write_table(options, validation)
    share = validation.demerit_percent["all"]
    passed = limit is None or (share is not None and share <= limit)
    if options.json:
        print_json(validation.to_dict())
        return passed
    validation.show()
    for file in (rows, options.plot, options.report, options.table):
        if file is not None:
            print(f"\nwritten: {file}")
    if limit is not None:
        verdict = "within" if passed else "NOT within"
        print(f"\ndemerit figure of all requests: {verdict} {limit:g} % of the measured mean")
    return passed


def _limit(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        limit = float(text.removesuffix("%"))
    except ValueError:
        limit = math.nan
    if not 0 <= limit < math.inf:
        raise SledsimError(f"--max-demerit {text}: must be a percentage from 0 up, as in 5%")
    return limit
