"""Traces for Perfetto of rows in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._arguments import path_text
from sledsim._progress import told
from sledsim.traces.files import trace_path

if TYPE_CHECKING:
    from os import PathLike

    from sledsim._progress import ProgressLike


def rows_to_perfetto(
    rows: str | PathLike[str],
    path: str | PathLike[str],
    *,
    progress: ProgressLike = None,
) -> int:
    """Write the rows of a file as a trace for https://ui.perfetto.dev.

    The trace is that of :meth:`Run.to_perfetto() <sledsim.Run.to_perfetto()>`, without power.

    Parameters
    ----------
    rows
        A Parquet file of a run (``rows=`` of :func:`sledsim.simulate`) or a recording
        (``sledsim serve --record``), or ``"sample:NAME"``.
    path
        The file to write, ``.pftrace`` or ``.perfetto-trace``.
    progress
        ``True`` for a bar on stderr, or what is called now and then with the number of rows written
        and of all.

    Returns
    -------
    int
        How many rows were written.

    Raises
    ------
    SledsimError
        For a file that has other content, a row whose causes do not add up, another ending, or an
        output that is the input or cannot be written. Nothing is left behind then.
    """
    with told(progress, "rows") as beat:
        return _core.perfetto_of_file(trace_path(rows), path_text("path", path), beat)
