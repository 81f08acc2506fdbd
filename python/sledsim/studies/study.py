"""The result of a sweep: a table of all runs, means over replications, a picture."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledsim import _above
from sledsim._above import Shown, Tabled, saved
from sledsim._core import SledsimError
from sledsim.results.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path
    from typing import Unpack

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from sledsim import _core
    from sledsim._core import StudyTable
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture
    from sledsim.studies.store import Store

_KEYS = ("key", "digest", "version")


class StudyRows(Rows):
    """The rows of a study, read when they are asked for; made by :attr:`Study.table`.

    It has the Arrow PyCapsule interface: ``polars.DataFrame(study.table)``,
    ``pyarrow.table(study.table)``; DuckDB reads the latter. :meth:`lazy` is a lazy frame of Polars.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    def __repr__(self) -> str:
        return f"<sledsim rows of {self._study!r}>"

    @cached_property
    def _core(self) -> _core.Rows:  # type: ignore[override]  # (read when it is asked for)
        return self._study.read().rows()

    @property
    def files(self) -> list[str]:
        """The Parquet files; they may hold rows of other points, too."""
        return [str(part) for part in self._study.store.parts()]

    def lazy(self) -> pl.LazyFrame:
        """Return the rows as a lazy frame of Polars, which reads the columns that it needs.

        Raises
        ------
        SledsimError
            If Polars is missing.
        """
        try:
            import polars as pl  # optional
        except ImportError:
            raise SledsimError("lazy() needs Polars: pip install 'sledsim[tables]'") from None
        order = pl.LazyFrame({"key": self._study.keys, "place": range(len(self._study.keys))})
        scanned = pl.scan_parquet(self.files, missing_columns="insert", extra_columns="ignore")
        rows = scanned.unique("key", keep="any").join(order, on="key")
        return rows.sort("place").drop("place")

    def column(self, name: str) -> list[Any]:
        """Return a column as a list; no other is read.

        Raises
        ------
        SledsimError
            For an unknown name.
        """
        found = self._study.read([name]).column(name)
        return super().column(name) if found is None else found


class Study(Tabled, Shown):
    """The result of a sweep; made by :func:`sledsim.sweep`."""

    _kind = "study"

    def __init__(
        self,
        store: Store,
        parameters: Sequence[str],
        varied: Sequence[str],
        columns: Sequence[str],
        keys: Sequence[str],
        *,
        run: int,
    ) -> None:
        self.store = store
        self.parameters = list(parameters)
        """The keys that the points have."""
        self.varied = list(varied)
        """Those of them that differ between points."""
        self.keys = keys
        """What identifies each run, in the order of the points, replications side by side."""
        self.run = run
        """How many runs this call has made; the others were there."""
        self._columns = list(columns)

    def __repr__(self) -> str:
        varied = ", ".join(self.varied) or "nothing"
        return f"<sledsim study: {len(self.keys)} runs, varied: {varied}>"

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def folder(self) -> Path:
        """Where the rows are."""
        return self.store.folder

    def read(self, columns: Sequence[str] | None = None) -> StudyTable:
        """Return the rows of this study's points, in their order."""
        wanted = None if columns is None else ["key", *columns]
        rows = self.store.read(wanted).select("key", list(self.keys))
        return rows.arranged(self._columns)

    @property
    def table(self) -> StudyRows:
        """One row for each point and replication: keys, digest, results, seconds, error."""
        return StudyRows(self)

    @property
    def means(self) -> Rows:
        """One row for each point: means over the replications, with 95 % intervals.

        ``rows`` is the number of replications; of each number ``NAME`` there are ``NAME.low`` and
        ``NAME.high`` beside the mean, the limits of its interval by Student's t; they are empty of
        one replication. A replication without a value, such as one that failed, does not count:
        ``error`` and ``caution`` tell of those.
        """
        return Rows(self.means_table().rows())

    def to_pandas(self) -> pd.DataFrame:
        """Return :attr:`table` as a data frame of pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`table` as a data frame of Polars."""
        return self.table.to_polars()

    def to_arrow(self) -> pa.Table:
        """Return :attr:`table` as a table of pyarrow."""
        return self.table.to_arrow()

    def means_table(self) -> StudyTable:
        """Return :attr:`means` as a table of the core."""
        left_out = [*_KEYS, "replication", "seed_used"]
        return self.read().means(self.parameters, left_out)

    def results(self) -> dict[str, list[str]]:
        """Return the names of the results that can be drawn, by group.

        ``"response_time_ms"`` has ``"response_time_ms.mean"``, ``"response_time_ms.p99"``, ...;
        the group ``""`` has those without one, such as ``"throughput_iops"``.
        """
        names = self.means_table().names()
        known = set(names)
        groups: dict[str, list[str]] = {}
        for name in names:
            if f"{name}.low" in known:
                group = name.partition(".")[0] if "." in name else ""
                groups.setdefault(group, []).append(name)
        return groups

    @property
    def errors(self) -> list[str]:
        """The distinct errors of runs that failed."""
        return list(dict.fromkeys(text for text in self.table.column("error") if text))

    def check(self) -> Study:
        """Return the study itself if no run failed.

        Raises
        ------
        SledsimError
            For the errors of runs that failed.
        """
        failed = sum(text is not None for text in self.table.column("error"))
        if failed:
            raise SledsimError(f"{failed} of {len(self)} runs failed: {'; '.join(self.errors[:3])}")
        return self

    def report(
        self,
        path: str | PathLike[str],
        *,
        axes: Sequence[str] = (),
        title: str | None = None,
        further: Sequence[object] = (),
    ) -> None:
        """Write a page with the results, a picture and the table; the page on reports has more.

        Parameters
        ----------
        path
            The file: a name that ends in ``.html``. It needs no other file.
        axes
            Key, result, and perhaps key for lines of the picture, as :meth:`plot` takes them; by
            default the first that fit.
        title
            The title of the page; by default it names result and keys.
        further
            What else stands on it: results, or pairs of a caption and a figure of matplotlib.

        Raises
        ------
        SledsimError
            For another ending, an unknown name, a missing library, or a file that cannot be
            written.
        """
        _above.shown().write_page(self, path, title=title, axes=axes, further=further)

    def plot(
        self,
        x: str,
        y: str,
        by: str | None = None,
        path: str | PathLike[str] | None = None,
        *,
        col: str | None = None,
        row: str | None = None,
        **how: Unpack[How],
    ) -> Picture:
        """Draw a result over a key: a line for each value of another key.

        Parameters
        ----------
        x, y, by, col, row
            As for :func:`sledsim.plots.study`, which this is: keys that vary, and a result.
        path
            A file to write, too: ``.png``, ``.svg`` or ``.pdf``.
        **how
            As for :func:`sledsim.plots.study`.

        Raises
        ------
        SledsimError
            For an unknown name, more lines in a panel than can be told apart, a missing library, or
            a file that cannot be written.
        """
        return saved(_above.plots().study(self, x, y, by, col=col, row=row, **how), path)

    def heat(
        self,
        x: str,
        y: str,
        z: str,
        path: str | PathLike[str] | None = None,
        *,
        col: str | None = None,
        row: str | None = None,
        **how: Unpack[How],
    ) -> Picture:
        """Draw a result by two keys as a map: a cell for each pair of values.

        Parameters
        ----------
        x, y, z, col, row
            As for :func:`sledsim.plots.heat`, which this is: keys that vary, and a result.
        path
            A file to write, too: ``.png``, ``.svg`` or ``.pdf``.
        **how
            As for :func:`sledsim.plots.heat`.

        Raises
        ------
        SledsimError
            For an unknown name, a further key that varies, a missing library, or a file that cannot
            be written.
        """
        return saved(_above.plots().heat(self, x, y, z, col=col, row=row, **how), path)
