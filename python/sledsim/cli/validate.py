"""``sledsim validate``: a measured device against its model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledsim import _core, cautions
from sledsim._core import SledsimError
from sledsim.cli import load_options, plots, reports
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.text_tables import table
from sledsim.hardware import wrap
from sledsim.load_values import Load
from sledsim.number_text import measured, number, percent
from sledsim.trace_files import samples_folder, trace_path
from sledsim.validation import validate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sledsim.cli.parser import Commands

_ABOUT = """\
Replay measurements of a real device on its model and compare the times.

  sledsim validate --device my.toml --trace measured.validate --plot cdf.png
  sledsim validate --device my.toml --trace week.srt --set trace_device=0 --set requests=10000
  sledsim validate --device my.toml --trace mine.csv --set queue_depth=1 \\
    --columns 'time=t:us, offset=lba:512B, bytes=n:512B, op=rw, response=service:us'

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
    parser.add_argument(
        "--device", metavar="DEVICE", required=True, help="a preset, or the path of a TOML file"
    )
    parser.add_argument(
        "--trace", metavar="FILE", required=True, help="a trace that has measured times"
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
    plots.add(parser, "the distributions of both")
    reports.add(parser)


def _validate(options: argparse.Namespace) -> bool:
    limit = _limit(options.max_demerit)
    rows = load_options.rows(options)
    plots.check(options, rows)
    reports.check(options, rows)
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
    plots.write(options, validation.plot)
    reports.write(options, validation)
    share = validation.demerit_percent["all"]
    passed = limit is None or (share is not None and share <= limit)
    if options.json:
        print_json(validation.to_dict())
        return passed
    print("\n\n".join(_report(validation.to_dict())))
    for file in (rows, options.plot, options.report):
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


def _report(document: dict[str, Any]) -> Iterator[str]:
    yield "\n".join(
        [table(list(facts(document)), "<<"), *cautions.lines({"": document["caution"]})]
    )
    what = {
        "closed": "measured service and simulated response time",
        "open": "response time",
    }[document["replay"]]
    yield _figures(what, document)
    for name, part in (document["parts"] or {}).items():
        yield _figures(f"{name} time", part)
    yield _classes(document)


def facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe a validation, line by line: a name and a text."""
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    yield from load_options.facts(document)
    left = document["left_out"]
    reasons = [
        f"{number(count)} {reason.replace('_', ' ')}" for reason, count in left.items() if count
    ]
    count = number(document["requests"]["all"])
    yield ["compared", f"{count} requests" + (f"; not {', '.join(reasons)}" if reasons else "")]
    worst = document["worst_request"]
    ways = ("measured", "simulated")
    took = ", ".join(f"{measured(worst[f'{way}_ms'])} ms {way}" for way in ways)
    what = f"{worst['op']} of {number(worst['blocks'])} blocks at LBN {worst['lbn']}"
    yield ["worst request", f"{worst['id']}, {what}: {took}"]


_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "max")


def figures_rows(what: str, figures: dict[str, Any]) -> list[list[str]]:
    """Return the table of measured and simulated times, its head first."""
    rows = [[f"{what}, ms", "requests", *_STATISTICS, "demerit", "", "each"]]
    for kind, name in (("read", "reads"), ("write", "writes"), ("all", "all")):
        count, figure = figures["requests"][kind], figures["demerit_ms"][kind]
        if not count:
            rows.append([f"  {name}", "0"])
            continue
        share = figures["demerit_percent"][kind]
        percentage = "" if share is None else f"({percent(share / 100)})"
        for side in ("measured", "simulated"):
            times = figures[f"{side}_ms"][kind]
            row = [f"  {name}, {side}", number(count) if side == "measured" else ""]
            row += [measured(times[statistic]) for statistic in _STATISTICS]
            if side == "simulated":
                row += [measured(figure), percentage, measured(figures["paired_rms_ms"][kind])]
            rows.append(row)
    return rows


def _figures(what: str, figures: dict[str, Any]) -> str:
    rows = figures_rows(what, figures)
    largest = figures["largest"]["all"]
    text = table(rows, "<" + ">" * (len(rows[0]) - 1)) + _class_weighted(figures)
    if largest is None or largest["share_of_squares"] is None:
        return text
    return (
        f"{text}\n  farthest apart at {largest['share_of_requests']:.2%} of all: "
        f"{measured(largest['measured_ms'])} measured, "
        f"{measured(largest['simulated_ms'])} simulated; the slowest 1 % make up "
        f"{percent(largest['slowest_hundredth_share_of_squares'])} of the squared figure"
    )


def _class_weighted(figures: dict[str, Any]) -> str:
    """Write the class-weighted demerit figure, and whether that of all disagrees with it."""
    figure, share = figures["class_weighted_ms"], figures["class_weighted_percent"]
    if figure is None:
        return ""
    percentage = "" if share is None else f" ({percent(share / 100)})"
    text = f"\n  class-weighted demerit: {measured(figure)}{percentage}"
    if figures["demerits_disagree"]:
        text += (
            f", that of all is {measured(figures['demerit_ms']['all'])}: they DISAGREE, as errors "
            "of reads and writes cancel in that of all"
        )
    return text


def classes_rows(document: dict[str, Any]) -> list[list[str]]:
    """Return the table of times by the request before, its head first."""
    rows = [["by the request before", "", "requests", "measured", "simulated", "demerit", "each"]]
    for line in document["classes"]:
        after = "" if line["after"] is None else f"after a {line['after']}"
        rows.append(
            [
                f"  {line['op']} {after}".rstrip(),
                line["place"],
                number(line["requests"]),
                *(
                    measured(line[key])
                    for key in (
                        "measured_mean_ms",
                        "simulated_mean_ms",
                        "demerit_ms",
                        "paired_rms_ms",
                    )
                ),
            ]
        )
    return rows


def _classes(document: dict[str, Any]) -> str:
    near = document["near_blocks"]
    rows = classes_rows(document)
    return (
        f"{table(rows, '<<' + '>' * 5)}\n  means in ms; near: less than {near} blocks apart; each: "
        "root mean square difference of each request"
    )
