"""``sledsim papers``: every table and figure of the papers, published against simulated."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections import Counter
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._number_text import number
from sledsim._progress import duration
from sledsim.cli import outputs
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.results import cautions
from sledsim.show.text import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledsim.cli.parser import Commands, Parser
    from sledsim.papers import Item, Result

_ABOUT = """\
Redraw every table and figure of the papers and compare with the published values.

  sledsim papers list
  sledsim papers run sigmetrics2000/table2
  sledsim papers run msst2005/figure6c --reading cleaning
  sledsim papers run sigmetrics2000 --quick
  sledsim papers search sigmetrics2000/table2
  sledsim papers claims
  sledsim papers report

Each number has a distance from the published one, and each item a line: it agrees (at least 80 %
of its numbers are within 10 %, and its orders are right), it agrees in order and shape only, it
contradicts itself, or it is open. Each value also has a verdict by the printed digits:
"reproduced", "conditional" (under one reading of what the paper leaves open, which must hold for
all values of the item), "calibrated", "input", "repeat", "erratum", "contradiction",
"not_modelled" or "missed". The docs define them. A miss is a result and no error.
"""

_RUN = """\
Simulate items of papers; exit with 1 if a verdict is not as recorded.

Writes a JSON, a PNG and an SVG file for each item. What an earlier run of the same version has
left there is taken from there. Each item that is done is a line of progress; into a file or a
pipe, of stderr.
"""

_CLAIMS = """\
Check the headline claims of the papers, those of their abstracts and conclusions, in some minutes.

Each claim rests on a value of an item, which is simulated; with fewer requests where the command
below it says --quick. Items that an earlier run of the same version has left are read, and have no
seconds.
"""

_SEARCH = """\
Simulate an item under each of its readings, and under their pairs and triples; the best first.

It explores, and changes no verdict: a combination that comes near must be declared as a reading of
the whole item, and says then that it was found by search. Readings that set the same key are not
combined. Tells whether a combination gives numbers that are said to contradict each other; exits
with 1 if one does.
"""

_REPORT = """\
Simulate what is missing and write one page with all items: FOLDER/report.html.

The page needs no other file. The same version writes the same page, byte for byte. Exits with 1 if
a verdict is not as recorded.
"""

FOLDER = Path("out/papers")
_BRACKETS = (
    "1 %: numbers within 1 % of the published ones; in brackets under the best single reading"
)
_CELL = 24
"""Of what is published and simulated, in the table of claims."""
_WIDTH = 48
"""Of the descriptions of values."""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "papers", _list, _ABOUT)
    parser.set_defaults(names=[])
    actions = parser.add_commands()
    command(actions, "list", _list, "List papers and items (the default).")
    run = command(actions, "run", _run, _RUN)
    run.add_argument("names", metavar="ID", nargs="*", help="a paper or paper/item (all of them)")
    run.add_argument(
        "--reading",
        metavar="NAME",
        default="",
        help="simulate the items that have this reading under it alone; files go to"
        " FOLDER/readings/NAME",
    )
    outputs.add_report(run)
    _add_running(run)
    _add_output(command(actions, "claims", _claims, _CLAIMS))
    search = command(actions, "search", _search, _SEARCH)
    search.add_argument("name", metavar="ID", help="an item, as paper/item")
    search.add_argument(
        "--full", action="store_true", help="simulate as many requests as a full run does"
    )
    _add_output(search)
    _add_running(command(actions, "report", _report, _REPORT))


def _add_running(parser: Parser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="simulate fewer requests; files go to FOLDER/quick"
    )
    _add_output(parser)


def _add_output(parser: Parser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        default=FOLDER,
        help=f"where files go ({FOLDER})",
    )
    parser.add_argument(
        "--workers", metavar="N", type=_workers, help="how many processes (one for each core)"
    )


def _workers(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text}: must be a whole number from 1 to 1000")
    return int(text)


def _list(options: argparse.Namespace) -> None:
    from sledsim import papers  # no other command needs them

    if options.json:
        print_json(
            {
                "items": [
                    {
                        "id": item.id,
                        "place": item.place,
                        "title": item.title,
                        "readings": [reading.name for reading in item.readings],
                        "values": [asdict(value) for value in item.values],
                    }
                    for item in papers.find([])
                ]
            }
        )
        return
    for paper in papers.papers():
        print(f"{paper.name}: {paper.authors}: {paper.title}. {paper.published}\n")
        rows = [["", "item", "place", "values", "title"]]
        rows += [
            ["", item.id, item.place, number(len(item.values)), item.title] for item in paper.items
        ]
        print(table(rows, "<<<><"))
        for reading in paper.readings:
            own = ", ".join(item.name for item in paper.items if reading in item.readings)
            print(f"\n  reading {reading.name}: {reading.what} ({own})")
        for part in paper.left_out:
            print(f"\n  not here: {part.place}. {part.because}")


def _run(options: argparse.Namespace) -> bool:
    from sledsim import papers  # no other command needs them

    outputs.check_report(options)
    items = papers.find(options.names)
    if options.reading:  # of a paper, those that have it; the engine refuses items without
        items = [item for item in items if item.id in options.names or _has(item, options.reading)]
        if not items:
            raise _core.SledsimError(
                f"--reading {options.reading}: no item of these has it: sledsim papers list"
            )
    results = _results(items, options, options.reading)
    changed = [] if options.reading else _changed(results, options)
    if options.report is not None:
        _write_page(options.report, results, options)
    if options.json:
        documents = [
            {key: part for key, part in result.document.items() if key != "series"}
            for result in results
        ]
        print_json({"quick": options.quick, "changed": changed, "items": documents})
        return not changed
    print(*_counts(results), *_near(results), sep="\n")
    print(*cautions.lines({r.item.id: r.cautions for r in results}), sep="\n")
    for result in results:
        _values(result, options.reading)
    _print_changed(changed)
    folder = _folder(options)
    print(f"\nwritten: {folder / 'readings' / options.reading if options.reading else folder}")
    if options.report is not None:
        print(f"written: {options.report}")
    return not changed


def _claims(options: argparse.Namespace) -> None:
    from sledsim.papers import claims  # no other command needs it

    found = work(
        lambda beat: claims.run(options.output, workers=options.workers, progress=beat), "items"
    )
    if options.json:
        print_json({"claims": [one.to_dict() for one in found]})
        return
    rows = [[*claims.HEAD, "s"]]
    for one in found:
        claim, *cells = one.cells
        cells.append("" if one.seconds is None else duration(one.seconds))
        columns = [
            [*textwrap.wrap(claim, _WIDTH), f"  {one.claim.command}"],
            *(textwrap.wrap(cell, _CELL) for cell in cells),
        ]
        rows += [list(row) for row in zip_longest(*columns, fillvalue="")]
    print(table(rows, "<>>>><>"))


def _search(options: argparse.Namespace) -> bool:
    from sledsim import papers  # no other command needs them
    from sledsim.papers import nearness, search

    if "/" not in options.name:
        raise _core.SledsimError(
            f"{options.name}: must be an item, as paper/item: sledsim papers list"
        )
    (item,) = papers.find([options.name])
    rows = work(
        lambda beat: search.run(
            item,
            options.output,
            quick=not options.full,
            workers=options.workers,
            progress=beat,
        ),
        "combinations",
    )
    given = [row for row in rows if row.given]
    if options.json:
        print_json(
            {"id": item.id, "quick": not options.full, "tried": [asdict(row) for row in rows]}
        )
        return not given
    lines = [["readings", "settings", *nearness.HEAD]]
    lines += [
        [
            ", ".join(row.readings) or "(as stated)",
            number(row.settings),
            *nearness.columns(row.nearness),
        ]
        for row in rows
    ]
    print(table(lines, "<>>>>>>>>"))
    for value in item.values:
        if value.contradiction:
            by = next((row for row in given if value.key in row.given), None)
            told = f"is given by {', '.join(by.readings) or 'the set-up'}" if by else "holds"
            print(f"\ncontradiction of {value.key}: {told}; {len(rows)} combinations")
    return not given


def _has(item: Item, reading: str) -> bool:
    return reading in {own.name for own in item.readings}


def _results(items: list[Item], options: argparse.Namespace, reading: str = "") -> list[Result]:
    from sledsim import papers  # no other command needs them

    wide = max((len(item.id) for item in items), default=0)
    last = ""

    def run(beat: Callable[..., None]) -> list[Result]:
        def finished(result: Result, seconds: float) -> None:
            nonlocal last
            last = _line(result, seconds, wide)
            if not sys.stderr.isatty():
                print(last, file=sys.stderr, flush=True)

        return papers.run(
            items,
            options.output,
            quick=options.quick,
            reading=reading,
            workers=options.workers,
            progress=lambda done, of: beat(done, of, " ".join(last.split())),
            finished=finished,
        )

    return work(run, "items")


def _line(result: Result, seconds: float, wide: int) -> str:
    """Return the line about an item that is done: its values by verdict, and how long it took."""
    tally = _tally([result])
    verdicts = _told(tally) or "no values"
    return f"{result.item.id:<{wide}}  {tally.total():>4} values: {verdicts}  {duration(seconds)}"


def _changed(results: list[Result], options: argparse.Namespace) -> list[str]:
    from sledsim.papers import recorded  # no other command needs it

    return recorded.changes(results, quick=options.quick)


def _print_changed(changed: list[str]) -> None:
    if changed:
        print("\nverdicts that are not as recorded:", *changed, sep="\n  ")


def _folder(options: argparse.Namespace) -> Path:
    output: Path = options.output
    return output / "quick" if options.quick else output


def _counts(results: list[Result]) -> list[str]:
    """Return the numbers of values by verdict: a row for each item, and one for all."""
    of = {result.item.id: _tally([result]) for result in results}
    rows = [["item", "", "values", "verdicts"]]
    for result in results:
        tally = of[result.item.id]
        mark = cautions.mark(result.cautions)
        rows.append([result.item.id, mark, number(tally.total()), _told(tally)])
    if len(results) > 1:
        total = _tally(results)
        rows.append(["all", "", number(total.total()), _told(total)])
    return [table(rows, "<<><")]


def _near(results: list[Result]) -> list[str]:
    """Return how near the items come: a row for each with a value that could fail."""
    from sledsim.papers import nearness  # no other command needs it

    rows = [
        [result.item.id, *nearness.cells(result.document["nearness"]), result.document["line"]]
        for result in results
        if result.document["line"]
    ]
    if not rows:
        return []
    total = ["all", *nearness.together_cells(result.document["nearness"] for result in results), ""]
    rows += [total] if len(rows) > 1 else []
    return ["", table([["how near", *nearness.HEAD, ""], *rows], "<>>>>>>><"), _BRACKETS]


def _tally(results: list[Result]) -> Counter[str]:
    return Counter(value["verdict"] for result in results for value in result.document["values"])


def _told(tally: Counter[str]) -> str:
    from sledsim.papers.judge import MEANINGS  # no other command needs it

    return ", ".join(
        f"{tally[verdict]} {verdict.replace('_', ' ')}" for verdict in MEANINGS if tally[verdict]
    )


def _values(result: Result, reading: str) -> None:
    """Print the values under a reading, or those that are not reproduced."""
    from sledsim.papers import values  # no other command needs them

    shown = [
        value
        for value in result.document["values"]
        if reading or value["verdict"] not in {"reproduced", "input"}
    ]
    if not shown:
        return
    last = "as published" if reading else "verdict"
    by_disksim = ["DiskSim 4"] if shown[0]["disksim"] else []
    rows = [
        [f"\n{result.item.id}", "published", "simulated", "distance", *by_disksim, "unit", last]
    ]
    for value in shown:
        verdict = value["verdict"].replace("_", " ")
        about = value["reading"] or (value["cause"] if value["verdict"] == "missed" else "")
        verdict += f": {about}" if about else ""
        agrees = {True: "yes", False: "no", None: values.NONE}[value["agrees"]]
        simulated = values.simulated(value, value["simulated"])
        first, *others = textwrap.wrap(value["what"], _WIDTH)
        own = [values.stated(value), simulated, values.apart(value["distance"])]
        if by_disksim:
            own.append(values.simulated(value, value["disksim"]["simulated"]))
        own += [value["unit"], agrees if reading else verdict]
        rows.append([f"  {first}", *own])
        rows += [[f"    {line}", *[""] * len(own)] for line in others]
    print(table(rows, f"<>>>{'>' * len(by_disksim)}<<"))


def _write_page(file: Path | str, results: list[Result], options: argparse.Namespace) -> None:
    from sledsim import papers  # no other command needs them
    from sledsim.papers.page import page  # it needs an extra

    _core.write_atomically(file, page(papers.papers(), results, options.words).encode())


def _report(options: argparse.Namespace) -> bool:
    from sledsim import papers  # no other command needs them
    from sledsim.show import pages as reports  # no other command needs them

    reports.require()
    results = _results(papers.find([]), options)
    changed = _changed(results, options)
    file = _folder(options) / "report.html"
    _write_page(file, results, options)
    by_paper = {
        paper.name: _tally([result for result in results if result.item.paper == paper.name])
        for paper in papers.papers()
    }
    if options.json:
        near = {result.item.id: result.document["nearness"] for result in results}
        print_json(
            {
                "report": str(file),
                "items": len(results),
                "values": by_paper,
                "nearness": near,
                "changed": changed,
            }
        )
    else:
        rows = [["paper", "values", "verdicts"]]
        rows += [
            [name, number(tally.total()), _told(tally)]
            for name, tally in (*by_paper.items(), ("all", _tally(results)))
        ]
        print(table(rows, "<><"), *_near(results), sep="\n")
        _print_changed(changed)
        print(f"\nwritten: {file}")
    return not changed
