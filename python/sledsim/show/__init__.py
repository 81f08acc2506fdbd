"""What is shown of each result: one description, for the command line, notebooks and pages.

- ``loads``, ``runs``, ``comparisons``, ``validations``, ``crashes``: the facts and tables of each
  kind, with digits and units.
- ``text_tables``: tables as text. ``notebook``: tables as HTML. ``pages``: whole pages.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from typing import Any


def text(result: Any) -> str:
    """Return a result as the command line prints it."""
    from sledsim.show import comparisons, crashes, runs, validations

    match type(result).__name__:
        case "Comparison":
            found = comparisons.paragraphs(result)
        case "CrashReport":
            found = crashes.paragraphs(result.to_dict())
        case "Validation":
            found = validations.paragraphs(result.to_dict())
        case _:
            found = runs.paragraphs(result.to_dict())
    return "\n\n".join(found)


def html(result: Any) -> str:
    """Return a result as a table in HTML."""
    from sledsim.show import notebook as tables

    name = {"VolumesRun": "run", "Sled": "device", "Disk": "device", "Composite": "device"}
    kind = type(result).__name__
    return str(getattr(tables, name.get(kind, kind.lower()))(result))
