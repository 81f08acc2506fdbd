"""``sledsim sweep``: a study of many simulations."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._arguments import near, whole
from sledsim._core import SledsimError
from sledsim._input_files import is_file
from sledsim._number_text import number
from sledsim._progress import duration
from sledsim.cli import load_options, outputs
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.studies import study_files
from sledsim.studies.estimate import estimate
from sledsim.studies.runner import Sweep
from sledsim.studies.settings import axis, setting
from sledsim.studies.store import ABOUT

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from sledsim.cli.parser import Commands
    from sledsim.studies.design import Design
    from sledsim.studies.study import Study

_ABOUT = """\
Run a simulation at every point of a design, on all cores or a cluster.

  sledsim sweep study.toml --output out/study
  sledsim sweep --device g2 --vary rate=300,600,900 --vary scheduler=fcfs,sptf --set requests=100000
  sledsim sweep study.toml --dry-run
  sledsim sweep study.toml --output out/study --workers dask://localhost:8786

A file of a study has the tables [base], keys with one value, and [grid], keys with lists of values,
all combinations of which are points; the page on studies has the rest. Options add to the file.
What the folder of --output has already is not run again: an interrupted study goes on, and one that
has grown runs the new points alone.
"""
_MOST_CHECKED = 20_000
"""Runs that a dry run checks."""
_MOST_LINES = 40
"""Points listed on a terminal."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "sweep", _sweep, _ABOUT)
    parser.add_argument("study", metavar="STUDY.toml", nargs="?", help="a file of a study")
    for flag, what in (
        ("--device", "a preset, or the path of a TOML file"),
        ("--workload", "the name of a workload"),
        ("--trace", "a trace to replay, or sample:NAME"),
        ("--scenario", "a scenario: device, scheduler and load"),
    ):
        parser.add_argument(flag, metavar="NAME", help=what)
    parser.add_repeatable("--set", "KEY=VALUE", "give a key one value, as in --set requests=5000")
    parser.add_repeatable(
        "--vary", "KEY=A,B,...", "give a key several values, as in --vary rate=100,300"
    )
    parser.add_argument(
        "--replications", metavar="N", type=int, help="runs of each point, with consecutive seeds"
    )
    parser.add_argument(
        "--precision",
        metavar="SHARE",
        help="run each until its mean response time is known to within this share, as in 1%%",
    )
    parser.add_argument(
        "--experiment", metavar="NAME", help="simulate (the default), crash_test or hit_ratios"
    )
    parser.add_argument(
        "--workers",
        metavar="WHERE",
        help="N threads, threads (the default), processes, processes:N, or dask://HOST:PORT",
    )
    parser.add_argument("--output", metavar="FOLDER", help="where the results go, and are reused")
    parser.add_argument(
        "--resume", action="store_true", help="require that the folder of --output has this study"
    )
    parser.add_argument(
        "--keep-versions",
        action="store_true",
        help="take runs of other versions of sledsim in the folder as done",
    )
    parser.add_argument(
        "--run-rows",
        action="store_true",
        help="write the rows of each run to FOLDER/rows",
    )
    load_options.add_parts(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print how many points there are and an estimate of the time, and run nothing else",
    )
    parser.add_argument(
        "--show", metavar="COLUMN,...", help="results to list, as their columns are called"
    )
    outputs.add_plot(parser, "a result")
    parser.add_argument(
        "--axes",
        metavar="X,Y[,BY]",
        help="for --plot and --report: key, result, and key for lines",
    )
    parser.add_argument(
        "--heat", metavar="X,Y,Z", help="for --plot, a map instead: two keys, and a result"
    )
    for flag, where in (("--col", "side by side"), ("--row", "below each other")):
        parser.add_argument(
            flag, metavar="KEY", help=f"for --plot: a key whose values have panels {where}"
        )
    outputs.add_report(parser)
    outputs.add_table(parser)


def _sweep(options: argparse.Namespace) -> bool:
    outputs.check_plot(options)
    outputs.check_report(options)
    outputs.check_table(options)
    for option in ("heat", "col", "row"):
        if options.plot is None and (given := getattr(options, option)) is not None:
            raise SledsimError(f"--{option} {given}: must come with --plot FILE")
    heat = None if options.heat is None else _names("--heat", options.heat, "X,Y,Z", 3)
    if options.output is not None and Path(options.output).suffix in {".csv", ".parquet", ".json"}:
        raise SledsimError(
            f"--output {options.output}: must be a folder, which holds the rows of all runs as"
            " Parquet; --json prints them"
        )
    found = {} if options.study is None else study_files.read(options.study)
    beside = None if options.study is None else Path(options.study).parent
    if options.resume:
        _require_study(options.output)
    design = study_files.design(_merged(found, options), beside)
    replications = _first(options.replications, found.get("replications"), 1)
    if options.dry_run and design.runs(whole("replications", replications, 1)) > _MOST_CHECKED:
        _count(design, replications, options)
        return True
    sweep = Sweep(
        design,
        replications=replications,
        experiment=_first(options.experiment, found.get("experiment"), "simulate"),
        output=options.output,
        run_rows=options.run_rows,
        parts=options.parts,
        keep_versions=options.keep_versions,
    )
    if options.dry_run:
        _dry_run(sweep, options)
        return True
    axes = _axes(options, found)
    work(lambda beat: sweep.run(options.workers, _told(sweep, beat)), "runs")
    study = sweep.study()
    panels = {"col": options.col, "row": options.row}
    draw = functools.partial(study.heat, *heat) if heat else functools.partial(study.plot, *axes)
    outputs.write_plot(options, functools.partial(draw, **panels))
    outputs.write_report(options, study, axes)
    shown = _shown(study, options)
    outputs.write_table(options, study, [*study.varied, *shown] if shown else ())
    if options.json:
        print_json(_document(sweep, study))
    else:
        print("\n\n".join(_report(sweep, study, shown, options)))
    return True


def _first(*given: Any) -> Any:
    return next(each for each in given if each is not None)


def _require_study(output: str | None) -> None:
    if output is None or not is_file(Path(output) / ABOUT):
        raise SledsimError(
            f"--resume: needs --output with the folder of a study, and {output} is none"
        )


def _merged(found: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Return a file with the options over it."""
    base, grid = dict(found.get("base", {})), dict(found.get("grid", {}))
    for name in ("device", "workload", "trace", "scenario", "precision"):
        if getattr(options, name) is not None:
            base[name] = getattr(options, name)
            grid.pop(name, None)
    for given in options.set:
        key, value = setting(given)
        base[key] = value
        grid.pop(key, None)
    for given in options.vary:
        key, values = axis(given)
        grid[key] = values
    return {**found, "base": base, "grid": grid}


def _told(sweep: Sweep, beat: Callable[..., None]) -> Callable[[int, int | None], None]:
    """Return a callback that shows the state of the sweep: runs and failures."""
    return lambda done, of: beat(done, of, f"{sweep.failed:,} failed" if sweep.failed else "")


def _count(design: Design, replications: int, options: argparse.Namespace) -> None:
    """Tell how many runs there are where to check all would take long."""
    runs = design.runs(replications)
    document = {"points": design.combinations, "replications": replications, "runs": runs}
    if options.json:
        print_json(document | {"missing": None, "estimated_s": None})
        return
    print(f"{number(document['points'])} points, {number(runs)} runs")
    print("vary: " + (", ".join(design.varied) or "nothing"))
    print(f"counted, not checked: more than {number(_MOST_CHECKED)} runs")


def _dry_run(sweep: Sweep, options: argparse.Namespace) -> None:
    seconds = estimate(sweep, options.workers)
    document = {
        "points": sweep.runs // sweep.replications,
        "replications": sweep.replications,
        "runs": sweep.runs,
        "missing": sweep.missing,
        "estimated_s": seconds,
    }
    if options.json:
        print_json(document)
        return
    there = sweep.runs - sweep.missing
    reused = f", {number(there)} of them there" if there else ""
    print(f"{number(document['points'])} points, {number(sweep.runs)} runs{reused}")
    print("vary: " + (", ".join(sweep.design.varied) or "nothing"))
    if sweep.missing:
        print(f"estimated time: {duration(seconds)}, from a few runs cut short")


def _axes(options: argparse.Namespace, found: dict[str, Any]) -> list[str]:
    """Return x, y and perhaps by of the picture."""
    if options.plot is None and options.report is None:
        return []
    plot = found.get("plot", {})
    axes = [plot[name] for name in ("x", "y", "by") if name in plot]
    if options.axes is not None:
        axes = _names("--axes", options.axes, "X,Y or X,Y,BY", 2, 3)
    if (options.plot is None or options.heat is not None) and not axes:
        return []  # a report chooses
    if len(axes) < 2:
        raise SledsimError(
            "--plot: needs --axes X,Y or X,Y,BY, or --heat X,Y,Z, or a table [plot] with x and y in"
            " the file"
        )
    return axes


def _names(option: str, given: str, wanted: str, *counts: int) -> list[str]:
    """Return the names that an option lists."""
    names = [word.strip() for word in given.split(",")]
    if len(names) not in counts or not all(names):
        raise SledsimError(f"{option} {given}: must be {wanted}")
    return names


def _document(sweep: Sweep, study: Study) -> dict[str, Any]:
    rows = study.read()
    columns = {name: rows.column(name) or [] for name in rows.names()}
    return {
        "runs": sweep.runs,
        "run_now": sweep.run_now,
        "failed": sum(error is not None for error in columns["error"]),
        "output": None if sweep.store.is_temporary else str(study.folder),
        "rows": [
            {name: cells[row] for name, cells in columns.items() if cells[row] is not None}
            for row in range(len(rows))
        ],
    }


def _shown(study: Study, options: argparse.Namespace) -> list[str]:
    """Return the results that ``--show`` names."""
    from sledsim.show import studies  # a dry run does without

    wanted = options.show.split(",") if options.show else []
    known = studies.results_of(study.means_table()) if wanted else []
    for name in wanted:
        if name not in known:
            raise SledsimError(f"--show {name}: must be one of {near(name, known)}")
    return wanted


def _report(sweep: Sweep, study: Study, shown: list[str], options: argparse.Namespace) -> list[str]:
    from sledsim.show import studies, text  # a dry run does without

    parts = list(text.paragraphs(studies.sheet(study, shown, _MOST_LINES)))
    reused = sweep.runs - sweep.run_now
    told = f"{number(sweep.run_now)} runs made, {number(reused)} were there"
    failed = sum(error is not None for error in study.table.column("error"))
    parts.append(told + (f", {number(failed)} with an error" if failed else ""))
    if not sweep.store.is_temporary:
        parts.append(f"written: {study.folder}")
    parts += [
        f"written: {file}"
        for file in (options.plot, options.report, options.table)
        if file is not None
    ]
    return parts
