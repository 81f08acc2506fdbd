"""``sledsim papers``: every table and figure of the papers, published against simulated."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim import _core, cautions
from sledsim.cli.parser import command, print_json
from sledsim.cli.progress import work
from sledsim.cli.text_tables import number, table

if TYPE_CHECKING:
    from sledsim.cli.parser import Commands, Parser
    from sledsim.papers import Item, Result

_ABOUT = """\
Redraw every table and figure of the papers and compare with the published values.

  sledsim papers list
  sledsim papers run sigmetrics2000/table2
  sledsim papers run sigmetrics2000 --quick
  sledsim papers report

The verdict on an item is "reproduced" if all its values are as published, within tolerances that
are stated; "explained" if some are not, but come out as an argument says they must, or as published
if something is assumed that the paper leaves open; else "missed".
"""

_RUN = """\
Simulate items of papers; exit with 1 if a published value is missed.

Writes a JSON, a PNG and an SVG file for each item. What an earlier run of the same version has
left there is taken from there.
"""

_REPORT = """\
Simulate what is missing and write one page with all items: FOLDER/report.html.

The page needs no other file. The same version writes the same page, byte for byte. Exits with 1 if
a published value is missed.
"""

FOLDER = Path("out/papers")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "papers", _list, _ABOUT)
    parser.set_defaults(names=[])
    actions = parser.add_commands()
    command(actions, "list", _list, "List papers and items (the default).")
    run = command(actions, "run", _run, _RUN)
    run.add_argument("names", metavar="ID", nargs="*", help="a paper or paper/item (all of them)")
    _add_running(run)
    _add_running(command(actions, "report", _report, _REPORT))


def _add_running(parser: Parser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="simulate fewer requests; files go to FOLDER/quick"
    )
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
        msg = f"{text}: must be a whole number from 1 to 1000"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _list(options: argparse.Namespace) -> None:
    from sledsim import papers  # noqa: PLC0415 (no other command needs them)

    if options.json:
        print_json(
            {
                "items": [
                    {
                        "id": item.id,
                        "place": item.place,
                        "title": item.title,
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
        for part in paper.left_out:
            print(f"\n  not here: {part.place}. {part.because}")


def _run(options: argparse.Namespace) -> bool:
    from sledsim import papers  # noqa: PLC0415 (no other command needs them)

    results = _results(papers.find(options.names), options)
    passed = all(result.verdict != "missed" for result in results)
    if options.json:
        documents = [
            {key: part for key, part in result.document.items() if key != "series"}
            for result in results
        ]
        print_json({"quick": options.quick, "items": documents})
        return passed
    rows = [["item", "", "verdict", "values", "reproduced", "explained", "missed"]]
    for result in results:
        verdicts = Counter(value["verdict"] for value in result.document["values"])
        counts = [verdicts[verdict] for verdict in ("reproduced", "explained", "missed")]
        numbers = [number(count) if count else "" for count in (sum(counts), *counts)]
        mark = cautions.mark(result.cautions)
        rows.append([result.item.id, mark, result.verdict, *numbers])
    print(table(rows, "<<<>>>>"))
    print(*cautions.lines({r.item.id: r.cautions for r in results}), sep="\n")
    for result in results:
        _differences(result)
    print(f"\nwritten: {_folder(options)}")
    return passed


def _results(items: list[Item], options: argparse.Namespace) -> list[Result]:
    from sledsim import papers  # noqa: PLC0415 (no other command needs them)

    return work(
        lambda beat: papers.run(
            items,
            options.output,
            quick=options.quick,
            workers=options.workers,
            progress=beat,
        )
    )


def _folder(options: argparse.Namespace) -> Path:
    output: Path = options.output
    return output / "quick" if options.quick else output


def _differences(result: Result) -> None:
    """Print the values that did not come out as published."""
    from sledsim.papers import values  # noqa: PLC0415 (no other command needs them)

    others = [value for value in result.document["values"] if value["verdict"] != "reproduced"]
    if not others:
        return
    rows = [[f"\n{result.item.id}", "published", "simulated", "unit", "verdict"]]
    for value in others:
        published = values.stated(value, value["published"])
        simulated = values.simulated(value, value["simulated"])
        rows.append([f"  {value['what']}", published, simulated, value["unit"], value["verdict"]])
    print(table(rows, "<>><<"))


def _report(options: argparse.Namespace) -> bool:
    from sledsim import papers  # noqa: PLC0415 (no other command needs them)
    from sledsim.papers.page import page  # noqa: PLC0415 (it needs an extra)

    results = _results(papers.find([]), options)
    file = _folder(options) / "report.html"
    _core.write_atomically(file, page(papers.papers(), results).encode())
    verdicts = Counter(result.verdict for result in results)
    if options.json:
        print_json({"report": str(file), "items": len(results), "verdicts": dict(verdicts)})
    else:
        counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in verdicts)
        print(f"{len(results)} items: {counts}\nwritten: {file}")
    return not verdicts["missed"]
