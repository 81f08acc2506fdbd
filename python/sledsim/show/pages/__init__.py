"""Reports: a result as one page that needs no other file.

The page says the result in a sentence, shows it, lists the numbers, and says how it was made. It
needs the extra ``reports``: Jinja and Matplotlib.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import path_text
from sledsim._core import SledsimError
from sledsim._input_files import check_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from sledsim.show.pages.parts import Figure, Report

_NEEDED = {"jinja2": "Jinja", "matplotlib": "Matplotlib"}


def write(
    result: Any,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    command: Sequence[str] | None = None,
    axes: Sequence[str] = (),
    further: Sequence[object] = (),
) -> None:
    """Write the report of a result; the file appears when it is complete.

    Parameters
    ----------
    result
        A run, a comparison, a study, a validation, a crash test, or a sequence of outcomes of
        applications.
    path
        The file: a name that ends in ``.html``.
    title
        The title of the page; by default it names load and device.
    command
        The words of the command line behind ``sledsim``, to be shown.
    axes
        For a study: key, result, and perhaps key for lines, as :meth:`Study.plot` takes them.
    further
        What else stands on it: results, or pairs of a caption and a figure of matplotlib.

    Raises
    ------
    SledsimError
        For another result, another ending, a missing library, or a file that cannot be written.
    """
    file = path_text("path", path)
    check(file)
    text = page(result, title=title, command=command, axes=axes, further=further)
    _core.write_atomically(file, text.encode())


def page(
    result: Any,
    *,
    title: str | None = None,
    command: Sequence[str] | None = None,
    axes: Sequence[str] = (),
    further: Sequence[object] = (),
) -> str:
    """Return the report of a result as HTML, with the arguments of :func:`write`."""
    from sledsim.show.pages import sheets  # an extra
    from sledsim.show.pages import writer as pages

    return pages.html(sheets.joined(_report(result, axes), map(_further, further)), command, title)


def _further(given: Any) -> Report | Figure:
    match given:
        case (str() as caption, figure):
            from sledsim.plots.files import encoded
            from sledsim.show.pages.parts import Figure

            return Figure(encoded(figure, "svg"), caption, caption)
    return _report(given, ())


def _report(result: Any, axes: Sequence[str]) -> Report:
    if hasattr(result, "_page"):  # of a room above
        own: Report = result._page()
        return own
    from sledsim.show.pages import comparisons, crashes, runs, studies, validations

    match getattr(result, "_kind", ""):
        case "run":
            return runs.report(result)
        case "comparison":
            return comparisons.report(result)
        case "study":
            return studies.report(result, axes)
        case "validation":
            return validations.report(result)
        case "crash":
            return crashes.report(result)
    raise SledsimError(
        f"result = {result!r}: must be a run, a comparison, a study, a validation or a crash test"
    )


def check(path: str, *others: str | None, option: str = "") -> None:
    """As :func:`check_page`; also refuse to write a page without the libraries for it."""
    check_page(path, *others, option=option)
    require()


def require() -> None:
    """Refuse to write a page without the libraries for it."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        names = " and ".join(_NEEDED[each] for each in missing)
        raise SledsimError(f"reports need {names}: pip install 'sledsim[reports]'")
