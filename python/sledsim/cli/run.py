"""``sledsim run``: a load on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._core import SledsimError
from sledsim._load import Load
from sledsim.cli import load_options, outputs, volumes
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.hardware import wrap
from sledsim.simulation import Outputs, run_load
from sledsim.traces.files import samples_folder, trace_path

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sledsim.cli.parser import Commands
    from sledsim.simulation import Run

_SHORT_BYTES = 1 << 16
"""Of a longer trace no rows are kept for the picture: they might need much memory."""

_ABOUT = """\
Run a workload or a trace on a device and split its times by cause.

  sledsim run --device g2 --workload random --set rate=500 --set requests=100000
  sledsim run --device g2 --trace sample:postmark-ext4 --rows out.parquet
  sledsim run --device g2 --set rate=500 --precision 1% --replications 4
  sledsim run study.toml --set device.spring_factor=0
  sledsim run mcd-hplajw-like --set device.segment_kib=8
  sledsim run job.fio --device g2
  sledsim run --device g2 --workload mix --set part.a.kind=zipf --set part.b.rate=100
  sledsim run --device g2 --trace volumes.csv.gz --by-volume --table volumes.csv

Options override the keys of a scenario file. After --set, keys of the workload or the trace
stand bare (rate, requests, seed, time_scale, address), those of others with their table
(device.idle, scheduler.name, layout.columns); values are written as in TOML, words without quotes.
So do warm_up_requests and warm_up_s: how much at the beginning is run but not counted.
"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "run", _run, _ABOUT)
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        nargs="?",
        help="a file with device, scheduler and load, or one that comes with sledsim: "
        + ", ".join(_core.names("scenarios"))
        + "; or a job file of fio (.fio), which is a load",
    )
    load_options.add_device(parser, required=False)
    load_options.add_background(parser)
    load_options.add_load(parser)
    load_options.add_rows(parser, "one row per request of the host")
    load_options.add_parts(parser)
    parser.add_argument(
        "--series",
        metavar="FILE",
        help="write throughput, outstanding requests and power over time (.csv or .parquet)",
    )
    parser.add_argument(
        "--series-ms",
        metavar="MS",
        type=float,
        help="the length of its windows, and of those of the power in --perfetto; by default "
        "there are at most 1,024",
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="write a trace of the host's requests and their causes for https://ui.perfetto.dev "
        "(.pftrace or .perfetto-trace)",
    )
    load_options.add_precision(parser)
    way = "the way of up to 200 requests"
    panels = ("cdf", "causes", "cylinder", "row")
    outputs.add_plot(parser, f"response times, where the time went, and {way}", *panels)
    outputs.add_report(parser)
    outputs.add_table(parser, "; of a split trace, one row per volume or window, also as .parquet")
    outputs.add_explore(parser)
    volumes.add(parser)


def _run(options: argparse.Namespace) -> None:
    rows = load_options.rows(options)
    if split := volumes.asked(options):
        volumes.refuse_others(options)
    outputs.check_plot(options, rows, options.series, options.perfetto)
    outputs.check_report(options, rows, options.series, options.perfetto)
    outputs.check_explore(options, rows, options.series, options.perfetto)
    outputs.check_table(
        options, rows, options.series, options.perfetto, more=(".parquet",) if split else ()
    )
    _check_perfetto(options)
    if options.parts and rows is None and options.perfetto is None:
        raise SledsimError("--parts: needs --rows FILE or --perfetto FILE, where they go")
    trace = None if options.trace is None else trace_path(options.trace)
    if str(options.scenario).endswith(".fio"):
        if options.workload is not None or trace is not None:
            raise SledsimError(f"{options.scenario}: is a load; give no other beside it")
        options.scenario, options.workload = None, options.scenario
    workload, settings = load_options.workload(options, options.device, scenario=options.scenario)
    named, own = load_options.scheduler(options.scheduler)
    core_device, core_load, scheduler = _core.scenario(
        options.scenario,
        options.device,
        named,
        workload,
        trace,
        settings,
        samples_folder(),
        options.layout,
        options.background,
    )
    device, load = wrap(core_device), Load(core_load, "scenario")
    if split:
        parts = volumes.run(load, device, own or scheduler, options)
        if volumes.data_file(options) is None:
            outputs.write_table(options, parts.volumes)
        _show(parts, [options.table], json=options.json)
        return
    precision = load_options.precision(options)
    run = work(
        lambda beat: run_load(
            load,
            device,
            own or scheduler,
            Outputs(
                rows=rows if rows is not None else _is_short(options, load),
                parts=options.parts,
                series=options.series if options.series is not None else False,
                series_ms=options.series_ms,
                perfetto=options.perfetto,
            ),
            precision=precision,
            replications=options.replications,
            workers=load_options.workers(options),
            progress=beat,
        )
    )
    outputs.write_plot(options, run.plot)
    outputs.write_report(options, run)
    outputs.write_table(options, run)
    outputs.write_explore(options, run)
    files = [rows, options.series, options.perfetto, options.plot, options.report, options.table]
    files.append(options.explore)
    _show(run, files, json=options.json)


def _is_short(options: argparse.Namespace, load: Load) -> bool:
    """Return whether rows are kept for the picture, which shows the ways of few requests."""
    if options.plot is None or options.precision is not None or options.replications != 1:
        return False
    from sledsim._input_files import toml  # only pictures need these
    from sledsim.plots.paths import DRAWN

    file = load._core.file
    if file is not None:
        return file.is_file() and file.stat().st_size <= _SHORT_BYTES
    return bool(toml(load.to_toml()).get("requests", DRAWN + 1) <= DRAWN)


def _check_perfetto(options: argparse.Namespace) -> None:
    """Refuse the file that ``--perfetto`` names, before a long run."""
    file = options.perfetto
    if file is None:
        return
    try:
        _core.check_perfetto_file(file)
        _core.refuse_overwriting(file, [] if options.trace is None else [options.trace])
    except SledsimError as error:
        raise SledsimError(f"--perfetto {error}") from None


def _show(run: Run, files: Sequence[str | None], *, json: bool) -> None:
    if json:
        print_json(run.to_dict())
        return
    run.show()
    for file in files:
        if file is not None:
            print(f"\nwritten: {file}")
