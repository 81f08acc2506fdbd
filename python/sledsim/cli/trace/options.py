"""Options and parts of reports that subcommands of ``sledsim trace`` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from sledsim._core import SledsimError
from sledsim._number_text import number
from sledsim.cli import load_options
from sledsim.show.text import table

if TYPE_CHECKING:
    import argparse

    from sledsim.cli.parser import Parser

_LISTED = 20  # devices, in text; --json has all


def add_reading(parser: Parser) -> None:
    """Take the options of reading a trace."""
    parser.add_argument(
        "--format", metavar="NAME", help="format, if its content does not determine it"
    )
    parser.add_argument(
        "--columns", metavar="MAP", help="columns as FIELD=COLUMN, for formats without fixed ones"
    )
    parser.add_argument(
        "--sort",
        metavar="MS",
        type=float,
        help="put requests in order that are late by up to so many ms",
    )
    load_options.add_repairs(parser)


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of these options as arguments of `sledsim.trace_info`."""
    return {
        "format": options.format,
        "columns": options.columns,
        "time_unit": options.time_unit,
        "place_unit": options.place_unit,
        "length_unit": options.length_unit,
        "sort_ms": options.sort,
        "blk_action": options.blk_action,
        "drop_glitches": options.drop_glitches,
    }


def add_output(parser: Parser) -> None:
    """Take the file to write and its format."""
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")
    parser.add_argument("--to", metavar="FORMAT", help="its format (default: by its ending)")


def lost(report: dict[str, Any]) -> list[list[str]]:
    """Describe the fields that the format cannot hold; no line if nothing is lost."""
    fields = report["lost_fields"]
    lost = ", ".join(f"{name} of {number(count)} requests" for name, count in fields.items())
    return [["lost", f"{lost} (the format has no place for it)"]] if lost else []


def devices_table(rows: list[list[str]], columns: str) -> str:
    """Write the first of the devices, below their head, as a table."""
    text = table(rows[: 1 + _LISTED], columns)
    more = len(rows) - 1 - _LISTED
    return f"{text}\n... and {number(more)} more devices (--json lists them)" if more > 0 else text


def check_whole(flag: str, value: int | None, least: int) -> None:
    """Refuse a number out of range."""
    if value is not None and not least <= value < 1 << 63:
        refuse(f"{flag} {value}: must be from {least} to 2^63 - 1")


def refuse(problem: str) -> NoReturn:
    """Refuse options."""
    raise SledsimError(problem)
