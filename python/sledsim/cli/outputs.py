"""Options that draw, report and write tables: ``--plot``, ``--report``, ``--table`` and others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sledsim._arguments import real, whole
from sledsim._core import SledsimError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from sledsim.cli.parser import Parser
    from sledsim.plots.picture import Picture


def add_plot(parser: Parser, what: str, *panels: str) -> None:
    """Take ``--plot`` and what belongs to it.

    Parameters
    ----------
    parser
        Of the command.
    what
        What the picture shows, for the help.
    *panels
        The names of its panels, if it has several.
    """
    parser.set_defaults(panels=panels)
    parser.add_argument("--plot", metavar="FILE", help=f"draw {what} (.png, .svg or .pdf)")
    parser.add_argument(
        "--size",
        metavar="SIZE",
        help="of the picture: column or page, the widths in a paper, or WxH in inches, as 7x3",
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="of the picture, in place of load and device; '' for none"
    )
    parser.add_argument("--panel", metavar="NAME", help=_of_panels(panels))
    parser.add_argument(
        "--no-notes",
        action="store_true",
        help="draw no footnotes, and print a caption that has them",
    )


def _of_panels(panels: tuple[str, ...]) -> str:
    return f"draw only this panel of the picture{': ' if panels else ''}{', '.join(panels)}"


def check_plot(options: argparse.Namespace, *others: str | None) -> None:
    """Refuse pictures that cannot be drawn or written, before a long run.

    Parameters
    ----------
    options
        Those of the command line.
    *others
        Other files that will be written.
    """
    path: str | None = options.plot
    if path is None:
        for name in ("size", "title", "panel"):
            if getattr(options, name) is not None:
                raise SledsimError(f"--{name} {getattr(options, name)}: must come with --plot FILE")
        if options.no_notes:
            raise SledsimError("--no-notes: must come with --plot FILE")
        return
    if options.panels and options.panel not in (None, *options.panels):
        known = ", ".join(options.panels)
        raise SledsimError(f"--panel {options.panel}: must be one of {known}")
    from sledsim._input_files import check_output  # only pictures need these
    from sledsim.plots import files, frame

    check_output(path, files.FORMATS, others, f"--plot {path}")
    frame.require("--plot needs matplotlib: pip install matplotlib")
    frame.size_in(options.size, 1.0, "--size")


def write_plot(options: argparse.Namespace, draw: Callable[..., Picture]) -> None:
    """Write the picture, if one is asked for.

    Parameters
    ----------
    options
        Those of the command line.
    draw
        Draws it, with keywords ``size``, ``title``, ``panel`` and ``notes``.
    """
    if options.plot is not None:
        from sledsim.plots.files import save  # only pictures need it

        how = {"size": options.size, "title": options.title, "panel": options.panel}
        figure = draw(**how, notes=not options.no_notes)
        save(figure, options.plot)
        if options.no_notes:  # beside the results, which may be JSON
            print(figure.caption, file=sys.stderr)


def add_report(parser: Parser) -> None:
    """Take ``--report``."""
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write one page with the result, its pictures and numbers, and this command (.html)",
    )


def check_report(options: argparse.Namespace, *others: str | None) -> None:
    """Refuse a page that cannot be written, before a long run."""
    if options.report is not None:
        from sledsim.show import pages  # few commands write one

        trace, plot = (getattr(options, name, None) for name in ("trace", "plot"))
        pages.check(options.report, trace, plot, *others, option="--report")


def write_report(options: argparse.Namespace, result: Any, axes: Sequence[str] = ()) -> None:
    """Write the page of a result if it is asked for, with the words of the command."""
    if options.report is not None:
        from sledsim.show import pages  # few commands write one

        pages.write(result, options.report, command=options.words, axes=axes)


def add_table(parser: Parser, more: str = "") -> None:
    """Take ``--table``; ``more`` is said behind its help."""
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="write the numbers as a table: for a paper (.tex), with all digits (.csv), or for "
        f"Markdown (.md){more}",
    )


def check_table(options: argparse.Namespace, *others: str | None, more: Sequence[str] = ()) -> None:
    """Refuse a table that cannot be written, before a long run; ``more`` are further endings."""
    if options.table is not None:
        from sledsim._input_files import check_output  # few commands write one
        from sledsim.show.tables import ENDINGS

        named = (getattr(options, name, None) for name in ("trace", "plot", "report", "explore"))
        check_output(
            options.table, (*ENDINGS, *more), (*named, *others), f"--table {options.table}"
        )


def write_table(options: argparse.Namespace, result: Any, columns: Sequence[str] = ()) -> None:
    """Write the table of a result, if it is asked for; ``columns`` are named, or its own."""
    if options.table is not None:
        from pathlib import Path

        ending = Path(options.table).suffix.lower()
        ways = {".tex": result.to_latex, ".csv": result.to_csv, ".md": result.to_markdown}
        ways[ending](options.table, columns=columns or None)


def add_explore(parser: Parser) -> None:
    """Take ``--explore`` and the part of the run that it shows."""
    parser.add_argument(
        "--explore",
        metavar="FILE",
        help="write one page that shows where every sled and arm is at any instant, who waits, and "
        "whom the scheduler takes (.html)",
    )
    parser.add_argument(
        "--explore-from",
        metavar="MS",
        type=float,
        help="show requests that arrive from then on; by default 0",
    )
    parser.add_argument(
        "--explore-requests",
        metavar="N",
        type=int,
        help="show at most so many requests; by default 10,000",
    )


def check_explore(options: argparse.Namespace, *others: str | None) -> None:
    """Refuse a page that cannot be written, before a long run."""
    if options.explore is None:
        for name in ("explore_from", "explore_requests"):
            if (given := getattr(options, name)) is not None:
                option = name.replace("_", "-")
                raise SledsimError(f"--{option} {given}: must come with --explore FILE")
        return
    from sledsim import explore  # few commands write one
    from sledsim._input_files import check_page

    if options.explore_from is not None:
        real("--explore-from", options.explore_from, 0, explore.LATEST_MS)
    if options.explore_requests is not None:
        whole("--explore-requests", options.explore_requests, 1, explore.MOST_REQUESTS)
    named = (getattr(options, name, None) for name in ("trace", "plot", "report"))
    check_page(options.explore, *named, *others, option="--explore")


def write_explore(options: argparse.Namespace, result: Any) -> None:
    """Write the page that explains a result, if it is asked for."""
    if options.explore is not None:
        window = {"start_ms": options.explore_from, "requests": options.explore_requests}
        given = {name: value for name, value in window.items() if value is not None}
        result.explore(options.explore, **given)
