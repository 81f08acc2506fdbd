"""Pages that explain runs: where every sled and arm is, who waits, and why each is taken.

The core hands out segments of motion in closed form, computed from rows; the page, one file with
plain modules of JavaScript, evaluates them at any instant.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._arguments import path_text, real, refuse, whole
from sledsim._core import SledsimError
from sledsim._input_files import check_page
from sledsim.explore import payload, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from sledsim.comparison import Comparison
    from sledsim.simulation import Run

MOST_REQUESTS = 1_000_000
LATEST_MS = 1e12
TWO = "one of two runs, which a page shows in step: two devices, or two schedulers"
"""What a comparison must be."""

_HEIGHT_PX = 760


class Page:
    """A page that explains a run; made by :meth:`Run.explore` and :meth:`Comparison.explore`.

    A notebook shows it; :meth:`write` writes it as a file.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        """The page as HTML; it needs no other file."""

    def __repr__(self) -> str:
        return f"<sledsim page: {len(self.text) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        # A frame keeps the styles and the keys of the page apart from those of the notebook.
        return (
            f'<iframe title="The run, explained" style="width:100%;height:{_HEIGHT_PX}px;border:0"'
            f' srcdoc="{html.escape(self.text)}"></iframe>'
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page; the file appears when it is complete.

        Parameters
        ----------
        path
            The file: a name that ends in ``.html``.

        Raises
        ------
        SledsimError
            For another ending, or a file that cannot be written.
        """
        file = path_text("path", path)
        check_page(file)
        _core.write_atomically(file, self.text.encode())


def page(of: Run | Comparison, *, start_ms: float, requests: int, at_ms: float | None) -> Page:
    """Return the page of a run, or of two runs in step; see :meth:`Run.explore`."""
    start = real("start_ms", start_ms, 0, LATEST_MS)
    at = start if at_ms is None else real("at_ms", at_ms, 0, LATEST_MS)
    requests = whole("requests", requests, 1, MOST_REQUESTS)
    runs: Sequence[Run] = getattr(of, "runs", [of])
    labels: Sequence[str | None] = getattr(of, "labels", [None])
    if len(runs) > 2:
        refuse("comparison", f"{len(runs)} runs", TWO)
    data = bytearray()
    shown = [
        payload.of_run(run, label, data, start_ms=start, requests=requests, at_ms=at)
        for run, label in zip(runs, labels, strict=True)
    ]
    if not any(one.head["rows"] for one in shown):
        raise SledsimError(f"start_ms = {start:g}: no request arrives from then on")
    return Page(written.page(shown, data, at_ms=at))
