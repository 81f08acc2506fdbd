"""The option ``--report``."""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from sledsim.cli.parser import Parser


def add(parser: Parser) -> None:
    """Take ``--report``."""
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write one page with the result, its pictures and numbers, and this command (.html)",
    )


def check(options: argparse.Namespace, *others: str | None) -> None:
    """Refuse a page that cannot be written, before a long run."""
    if options.report is not None:
        from sledsim.show import pages as reports  # few commands write one

        trace, plot = (getattr(options, name, None) for name in ("trace", "plot"))
        reports.check(options.report, trace, plot, *others, option="--report")


def write(options: argparse.Namespace, result: Any, axes: Sequence[str] = ()) -> None:
    """Write the page of a result if it is asked for, with the words of the command."""
    if options.report is not None:
        from sledsim.show import pages as reports  # few commands write one

        reports.write(result, options.report, command=options.words, axes=axes)
