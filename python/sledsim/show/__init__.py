"""What is shown of each result: one sheet, as text, in notebooks and on pages.

- ``sheet``: the description of a result. ``runs``, ``comparisons``, ``studies``, ``validations``,
  ``crashes``, ``devices``, ``loads``, ``rows``, ``traces`` make that of each kind; ``words`` has
  what their sentences share.
- ``text``, ``notebook`` and ``pages``: how a sheet is shown.
- ``grids``: a table of a result with its intervals. ``sources`` makes that of each kind, ``latex``
  and ``markdown`` write it, ``tables`` has the files.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from typing import Any

    from sledsim.show.sheet import Sheet


def sheet_of(result: Any) -> Sheet:
    """Return the description of a result."""
    if hasattr(result, "_sheet"):  # of a room above
        own: Sheet = result._sheet()
        return own
    match getattr(result, "_kind", ""):
        case "run":
            from sledsim.show import runs

            return runs.sheet(result)
        case "comparison":
            from sledsim.show import comparisons

            return comparisons.sheet(result)
        case "study":
            from sledsim.show import studies

            return studies.sheet(result)
        case "validation":
            from sledsim.show import validations

            return validations.sheet(result)
        case "crash":
            from sledsim.show import crashes

            return crashes.sheet(result)
        case "device":
            from sledsim.show import devices

            return devices.sheet(result)
        case "load":
            from sledsim.show import loads

            return loads.sheet(result)
        case "rows":
            from sledsim.show import rows

            return rows.sheet(result)
        case "trace":
            from sledsim.show import traces

            return traces.sheet(result)
    raise TypeError(f"{result!r}: is not shown as a sheet")


def as_text(result: Any) -> str:
    """Return a result as the command line prints it."""
    from sledsim.show import text

    if result._kind == "device":
        from sledsim.show import devices

        return devices.text(result)
    return "\n\n".join(text.paragraphs(sheet_of(result)))


def as_html(result: Any) -> str:
    """Return a result as a notebook shows it."""
    from sledsim.show import notebook

    return notebook.html(sheet_of(result))


def write_page(result: Any, path: Any, **how: Any) -> None:
    """Write the page of a result, with the arguments of :func:`sledsim.show.pages.write`."""
    from sledsim.show import pages

    pages.write(result, path, **how)


def write_table(result: Any, ending: str, path: Any, **how: Any) -> str | None:
    """Return a result as a table, or write it, as :func:`sledsim.show.tables.write` does."""
    from sledsim.show import tables

    return tables.write(result, ending, path, **how)
