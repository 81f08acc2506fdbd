"""The picture of a run."""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from sledsim._core import SledsimError

if TYPE_CHECKING:
    from sledsim._core import Rows
    from sledsim.simulation import Run

_FORMATS = (".png", ".svg", ".pdf")
_CAUSES = (
    "queue",
    "overhead",
    "seek",
    "rotation",
    "head_switch",
    "transfer",
    "bus",
    "retry",
    "other",
)
_POINTS = 2000  # of a curve; more do not show


def check(path: str, requests: str | None) -> None:
    """Refuse what could not be drawn or written in the end, before a long run.

    Raises
    ------
    SledsimError
        For a name that is no picture's, a place that cannot be written, or a missing library.
    """
    file = Path(path)
    if file.suffix.lower() not in _FORMATS:
        _refuse(f"--plot {path}: must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    if file.is_dir():
        _refuse(f"--plot {path}: is a folder; a file name is needed")
    if not file.parent.is_dir():
        _refuse(f"--plot {path}: its folder does not exist")
    if requests is not None:
        rows = Path(requests)
        if rows.exists() and not (rows.is_file() or rows.is_dir()):
            _refuse(f"--requests {requests}: must be a regular file if --plot is to read it")
        if rows.absolute() == file.absolute():
            _refuse(f"--plot {path}: is the file of --requests")
    for library in ("matplotlib", "polars"):
        try:
            importlib.import_module(library)
        except ImportError:
            _refuse(f"--plot needs {library}: pip install 'sledsim[plots]'")


def draw(run: Run, rows: Rows | str, path: str) -> bytes:
    """Draw the distribution of the response times and where their mean went.

    Parameters
    ----------
    run
        The run.
    rows
        Its rows, or the Parquet file that holds them.
    path
        Name of the picture, for its format.
    """
    import polars as pl  # noqa: PLC0415 (an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.ticker import LogLocator  # noqa: PLC0415

    lazy = pl.scan_parquet(rows) if isinstance(rows, str) else pl.DataFrame(rows).lazy()
    frame = (
        lazy.filter(pl.col("device").cast(pl.String) == run.document["device"])
        .select("op", ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6)
        .collect()
    )

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    document = run.document
    figure.suptitle(
        f"{document['device']}, {document['scheduler']}, {document['workload']['workload']}"
    )
    for name, times in (
        ("all", frame["ms"]),
        ("reads", frame.filter(pl.col("op") == "read")["ms"]),
        ("writes", frame.filter(pl.col("op") == "write")["ms"]),
    ):
        if count := len(times):
            ranks = range(0, count, max(1, count // _POINTS))
            ordered = times.sort()
            xs = [*ordered.gather(list(ranks)), ordered[-1]]
            left.plot(xs, [*((rank + 1) / count for rank in ranks), 1.0], label=name)
    left.set(xlabel="response time, ms", ylabel="share of requests", ylim=(0, 1))
    least, most = frame["ms"].min(), frame["ms"].max()
    if isinstance(least, float) and isinstance(most, float) and most > 10 * least:
        left.set(xscale="log")
        left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
        left.xaxis.set_major_formatter("{x:g}")
        left.minorticks_off()
    left.grid(alpha=0.3)
    if left.lines:
        left.legend()

    causes = [cause for cause in _CAUSES if run.summary[f"{cause}_ms"]["mean"]]
    means = [run.summary[f"{cause}_ms"]["mean"] for cause in causes]
    bars = right.barh([cause.replace("_", " ") for cause in causes], means)
    right.bar_label(bars, fmt="{:.3f}", padding=2)
    right.invert_yaxis()
    right.margins(x=0.15)
    right.set(xlabel="mean response time by cause, ms")

    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=150)
    return picture.getvalue()


def _refuse(problem: str) -> None:
    raise SledsimError(problem)
