"""Tables on a sled: records laid out so that rows, columns or both are read fast."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import as_list, optional, path_text, placed, real, text, whole
from sledsim._core import SpecError
from sledsim.hardware import device_of
from sledsim.results.rows import Rows

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from sledsim.emulator import RemoteDevice
    from sledsim.hardware import DeviceLike

_BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call on a table, with its time and traffic; made by :class:`Table`."""

    data: Rows | None
    """The records, for any library that reads the Arrow PyCapsule interface:
    ``polars.DataFrame(result.data)``, ``pyarrow.table(result.data)``. They were taken out of the
    table's pages. ``None`` of calls that only write."""
    simulated_s: float
    """Seconds of the device from the arrival of the first request to the end of the last."""
    bytes_moved: int
    """Bytes of all blocks that were read or written."""
    blocks: int
    """The same in blocks of 512 bytes."""
    requests: int
    """Requests to the device; one of several extents counts once."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The time and traffic of several calls on a table; made by :meth:`Table.spent`."""

    simulated_s: float = 0.0
    """Seconds of the device in calls; idle time is not in it."""
    blocks: int = 0
    """Blocks of 512 bytes that were read or written."""
    requests: int = 0
    """Requests to the device."""

    @property
    def bytes_moved(self) -> int:
        """Bytes of all blocks that were read or written."""
        return self.blocks * _BLOCK_BYTES


class Table:
    """Records on a device; made by :func:`table`.

    Calls follow one another on the device, which keeps its state: where the sled is, that it coasts
    or is parked. In simulation each request is handed to it when the one before is complete. To a
    served device those of a scan or a write go up to 16 at a time, and its time goes on between
    calls.
    """

    def __init__(self, core: _core.Table, layout: str) -> None:
        self._core = core
        self._layout = layout
        self._spent = Spent()
        self._lock = Lock()  # query engines read from several threads

    def __repr__(self) -> str:
        return f"<sledsim table: {self.records} records, {self.layout}>"

    def __len__(self) -> int:
        return self.records

    @property
    def schema_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._core.names()

    @property
    def records(self) -> int:
        """How many records there are."""
        return self._core.records()

    @property
    def layout(self) -> str:
        """``"normal"``, ``"vertical"`` or ``"capsule"``."""
        return self._layout

    @property
    def facts(self) -> dict[str, Any]:
        """Parameters of the layout, and the space of the table on the device.

        ``layout``, ``records``, ``capacity_records`` (room on the device), ``blocks`` (that hold
        records), ``first_lbn`` and ``last_lbn`` (``None`` of an empty table),
        ``page_header_bytes``, ``page_blocks``, ``wasted_blocks`` (of tracks left empty by
        padding). ``normal``: ``records_per_page``, ``pages``; ``vertical``: the same by column;
        ``capsule``: ``records_per_capsule``, ``capsules``, ``capsule_blocks``, ``split``, and
        ``pages`` of a capsule by column.
        """
        facts: dict[str, Any] = json.loads(self._core.to_json())
        return facts

    @property
    def blocks(self) -> int:
        """Blocks of 512 bytes that hold records."""
        blocks: int = self.facts["blocks"]
        return blocks

    @property
    def bytes(self) -> int:
        """Bytes of the blocks that hold records, headers and unused ends included."""
        return self.blocks * _BLOCK_BYTES

    @property
    def clock_s(self) -> float:
        """Seconds of the device from the loading of the table to the last completion.

        Or to the end of :meth:`idle`, if that was later.
        """
        return self._core.clock_s()

    def idle(self, seconds: float) -> None:
        """Let time of the device pass without a request: in simulation, or by waiting for it.

        Parameters
        ----------
        seconds
            How long: at least 0.

        Raises
        ------
        SledsimError
            For a time that is negative or not finite.
        """
        self._core.idle(real("seconds", seconds, 0, 1e9))

    def place(self, record: int, column: str) -> tuple[int, int]:
        """Return where a value is.

        Returns
        -------
        (int, int)
            The block in which it begins, and the byte in that.

        Raises
        ------
        SledsimError
            For a record or column that the table does not have.
        """
        return self._core.place(whole("record", record), text("column", column))

    def lbns(self, column: str) -> list[tuple[int, int]]:
        """Return the blocks that a scan of a column reads, as (first, last) in their order.

        Raises
        ------
        SledsimError
            For a column that the table does not have.
        """
        return self._core.lbns(text("column", column))

    def scan(
        self, columns: Sequence[str] | None = None, first: int = 0, count: int | None = None
    ) -> Result:
        """Read some columns of records that follow one another.

        Of capsules, columns are streamed in requests of a track each, all columns of as many
        capsules as a track has blocks, then the next; capsules that do not make such a group are
        read in one batch. The other layouts are read from their first page to their last in
        requests of at most a track, ``vertical`` column by column.

        Parameters
        ----------
        columns
            Their names, in the order in which they are wanted; by default all.
        first, count
            The first record and how many; by default all from ``first`` on.

        Raises
        ------
        SledsimError
            For columns or records that the table does not have.
        """
        first, count = whole("first", first), optional(whole, "count", count)
        return self._paid(_result(*self._core.scan(_names(columns), first, count)))

    def record(self, index: int, columns: Sequence[str] | None = None) -> Result:
        """Read one record: :meth:`read` of ``[index]``."""
        return self.read([index], columns)

    def read(self, indices: Iterable[int], columns: Sequence[str] | None = None) -> Result:
        """Read single records, one after the other.

        A record takes one batch of the pages of its columns (``capsule``), one request for its
        page (``normal``), or one request a column (``vertical``).

        Parameters
        ----------
        indices
            Which records, in the order in which they are wanted.
        columns
            As in :meth:`scan`.

        Raises
        ------
        SledsimError
            For columns or records that the table does not have.
        """
        wanted = [whole("index", index) for index in as_list("indices", indices)]
        return self._paid(_result(*self._core.read(wanted, _names(columns))))

    def append(self, data: object) -> Result:
        """Write records at the end.

        A page that holds records already is read before it is written, as its other records must
        stay.

        Parameters
        ----------
        data
            Anything with the Arrow PyCapsule interface, with all columns of the table in any order.

        Raises
        ------
        SledsimError
            For other columns or types, nulls, and more records than the device has room for. The
            table is unchanged then.
        """
        return self._paid(_written(self._core.append(_arrow(data))))

    def update(self, first: int, data: object) -> Result:
        """Write records in place.

        Pages that are not written as a whole are read before.

        Parameters
        ----------
        first
            The record that the first of ``data`` replaces.
        data
            Anything with the Arrow PyCapsule interface, with all columns of the table or some.

        Raises
        ------
        SledsimError
            For other columns or types, nulls, and records that the table does not have. The table
            is unchanged then.
        """
        return self._paid(_written(self._core.update(whole("first", first), _arrow(data))))

    def spent(self) -> Spent:
        """Return the time and traffic of all calls since the last call of this, and reset them.

        It measures queries on :meth:`lazy`.
        """
        with self._lock:
            spent, self._spent = self._spent, Spent()
        return spent

    def lazy(self, row: str | None = "row") -> pl.LazyFrame:
        """Return the table as a Polars lazy frame: queries read only what they need.

        That is the columns of the result and of predicates. What a predicate says of record numbers
        alone chooses the records; those with less than 32 KiB of pages between them are read in one
        go. DuckDB takes the frame too, and from version 2.0 on says what it needs. A frame sees
        what has been appended and updated when it is collected.

        Parameters
        ----------
        row
            Name of the first column, the number of the record; it costs nothing. ``None`` leaves it
            out.

        Raises
        ------
        SledsimError
            If polars is missing, or if the table has a column of the name that ``row`` says.
        """
        from sledsim._tables_polars import lazy  # polars is optional

        return lazy(self, row)

    def _paid(self, result: Result) -> Result:
        with self._lock:
            self._spent = Spent(
                self._spent.simulated_s + result.simulated_s,
                self._spent.blocks + result.blocks,
                self._spent.requests + result.requests,
            )
        return result


def table(
    data: object | str | PathLike[str],
    device: DeviceLike | RemoteDevice,
    layout: str = "capsule",
    *,
    page_header_bytes: int | None = None,
    split: bool = True,
    first_lbn: int = 0,
) -> Table:
    """Lay data out as a table on a sled (CMU-CS-03-125, section 5.2).

    Columns have a fixed width: integers, floats, booleans (a byte), dates, times, timestamps,
    durations, 128-bit decimals and binaries of a fixed size. Of strings the pages hold a code of 4
    bytes, and the strings are kept beside them.

    Parameters
    ----------
    data
        Anything with the Arrow PyCapsule interface (tables of pyarrow and polars, DataFrames), or
        the path of a Parquet file.
    device
        A single sled: a device of kind ``"mems"`` without layout, buffer or background tasks. Or
        one that is served, as :func:`sledsim.connect` has it: there the table is written and read
        over the wire. The old content of its blocks is lost.
    layout
        ``"capsule"``: all pages of some records in one equivalence class; ``"normal"``: whole
        records in pages of 8 KB; ``"vertical"``: each column in pages of its own, in its share of
        the tracks from ``first_lbn`` on.
    page_header_bytes
        Bytes at the head of each page without values; by default 32 of each 512-byte page, 16 of
        each 8 KB page of ``normal``.
    split
        ``capsule``: whether a capsule may lie in two cylinders; otherwise tracks at the end of a
        cylinder that do not make a whole group are left empty.
    first_lbn
        The block at which the table begins; ``vertical`` begins with the next track, ``capsule``
        with the next cylinder, if it is not the first of one.

    Raises
    ------
    SledsimError
        For a device that is no single sled, a type that pages cannot hold, a column wider than a
        page, nulls, a table larger than the device, or a file that cannot be read. Of a served one
        also if it is read-only, or its server ends.
    """
    name, first = text("layout", layout), whole("first_lbn", first_lbn)
    header = optional(whole, "page_header_bytes", page_header_bytes, 0, 2**32 - 1)
    if not split and name != "capsule":
        raise placed(
            SpecError, f"split = False: is for layout = 'capsule', not {name!r}", key="split"
        )
    # Else it is a device, or one that is served.
    if isinstance(device, str) or not hasattr(device, "_core"):
        device = device_of(device)
    core = device._core
    if isinstance(data, str | os.PathLike):
        made = _core.Table(None, path_text("data", data), core, name, header, split, first)
    else:
        made = _core.Table(_arrow(data), None, core, name, header, split, first)
    return Table(made, name)


def _arrow(data: object) -> object:
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    raise placed(
        SpecError,
        f"data of type {type(data).__name__}: must have the Arrow PyCapsule interface (a table "
        "of pyarrow or polars, a DataFrame)",
        key="data",
    )


def _names(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    return [text("columns", name) for name in as_list("columns", columns)]


def _result(data: _core.Rows, cost: tuple[float, int, int]) -> Result:
    simulated_s, blocks, requests = cost
    return Result(Rows(data), simulated_s, blocks * _BLOCK_BYTES, blocks, requests)


def _written(cost: tuple[float, int, int]) -> Result:
    simulated_s, blocks, requests = cost
    return Result(None, simulated_s, blocks * _BLOCK_BYTES, blocks, requests)
