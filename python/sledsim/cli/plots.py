"""Options that draw: ``--plot``, ``--size``, ``--title``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError
from sledsim._input_files import name_problem

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from sledsim.cli.parser import Parser


def add(parser: Parser, what: str) -> None:
    """Take ``--plot`` and what belongs to it.

    Parameters
    ----------
    parser
        Of the command.
    what
        What the picture shows, for the help.
    """
    parser.add_argument("--plot", metavar="FILE", help=f"draw {what} (.png, .svg or .pdf)")
    parser.add_argument(
        "--size",
        metavar="SIZE",
        help="of the picture: column or page, the widths in a paper, or WxH in inches, as 7x3",
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="of the picture, in place of load and device; '' for none"
    )


def check(options: argparse.Namespace, *others: str | None) -> None:
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
        for name in ("size", "title"):
            if getattr(options, name) is not None:
                _refuse(f"--{name} {getattr(options, name)}: must come with --plot FILE")
        return
    from sledsim.plots import files, frame  # only pictures need them

    file, formats = Path(path), files.FORMATS
    if file.suffix.lower() not in formats:
        _refuse(f"--plot {path}: must end in {', '.join(formats[:-1])} or {formats[-1]}")
    if problem := name_problem(file):
        _refuse(f"--plot {path}: {problem}")
    if file.is_dir():
        _refuse(f"--plot {path}: is a folder; a file name is needed")
    if not file.parent.is_dir():
        _refuse(f"--plot {path}: its folder does not exist")
    for other in others:
        if other is not None and Path(other).absolute() == file.absolute():
            _refuse(f"--plot {path}: is another file to be written")
    frame.require("--plot needs matplotlib: pip install matplotlib")
    frame.size_in(options.size, 1.0, "--size")


def write(options: argparse.Namespace, draw: Callable[..., Figure]) -> None:
    """Write the picture, if one is asked for.

    Parameters
    ----------
    options
        Those of the command line.
    draw
        Draws it, with keywords ``size`` and ``title``.
    """
    if options.plot is not None:
        from sledsim.plots.files import save  # only pictures need it

        save(draw(size=options.size, title=options.title), options.plot)


def _refuse(problem: str) -> None:
    raise SledsimError(problem)
