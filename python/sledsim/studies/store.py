"""The folder of a study: Parquet files of rows, and one JSON file about the study.

The files of rows, ``part-DIGEST.parquet``, never change: the name of each has the digest of its
content. They are written aside and renamed, so that a reader sees whole files alone. A process now
and then joins its own small files to larger ones; it removes no file of another process.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._arguments import placed
from sledsim._core import SledsimError, StudyTable
from sledsim._input_files import content, json_object, need_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABOUT = "study.json"
"""The file about the study."""
_PART, _ENDING = "part-", ".parquet"
_DAMAGED = ".damaged"
"""What is put behind the name of a file that cannot be read."""
_MOST_ROWS = 4096
"""Rows that are kept in memory at the most before they are written."""
_MOST_SECONDS = 1.0
"""Seconds after which rows are written at the latest."""
_MOST_SMALL = 32
"""Files of its own that a process joins to one."""
_MOST_JOINED = 2 * _MOST_ROWS
"""Rows of a joined file at the most, so that memory does not grow with the study."""
_ATTEMPTS = 20
"""How often a reader looks again for files that another process has joined meanwhile."""


class Store:
    """The rows of a study in a folder.

    Parameters
    ----------
    folder
        The folder, made if it is missing; ``None`` for a temporary one, which goes with the store.
    """

    def __init__(self, folder: Path | None) -> None:
        self.is_temporary = folder is None
        """Whether the folder goes with the store."""
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="sledsim-study-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self._waiting: list[StudyTable] = []
        self._small: list[tuple[Path, int]] = []
        """Own files that may be joined, with their rows."""
        self._written_at = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            there = any(not file.name.startswith(".") for file in folder.iterdir())
        except (OSError, ValueError) as error:  # ValueError for a zero byte
            problem = getattr(error, "strerror", error)
            raise placed(
                SledsimError,
                f"{folder}: cannot be used as the folder of a study: {problem}",
                file=folder,
            ) from None
        if there and not self.is_temporary and not (folder / ABOUT).is_file():
            raise SledsimError(
                f"{folder}: holds files and no {ABOUT}: it is no folder of a study; give another"
            )

    def about(self) -> dict[str, Any] | None:
        """Return what is written of the study; ``None`` if it is new."""
        file = self.folder / ABOUT
        try:
            return json_object(content(file))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise placed(
                SledsimError, f"{file}: cannot be read: {error.strerror}", file=file
            ) from None
        except ValueError as error:
            raise placed(
                SledsimError,
                f"{file}: cannot be read: {error}; give another folder, or remove it",
                file=file,
            ) from None

    def describe(self, about: dict[str, Any]) -> None:
        """Write what is to be known of the study."""
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        _core.write_atomically(self.folder / ABOUT, text.encode())

    def parts(self) -> list[Path]:
        """Return the files of rows, in the order of their names."""
        return sorted(self.folder.glob(f"{_PART}*{_ENDING}"))

    def known(self) -> Iterator[tuple[str, str]]:
        """Iterate over what identifies each row, with the version of its numbers.

        Every file is checked against its digest. One that is damaged is set aside, with a warning.
        """
        for table in self._tables(["key", "version"], check=True):
            yield from zip(table.column("key") or [], table.column("version") or [], strict=True)

    def read(self, columns: Sequence[str] | None = None) -> StudyTable:
        """Return all rows, in any order; a row may be there twice."""
        return StudyTable.together(list(self._tables(columns)))

    def _tables(
        self, columns: Sequence[str] | None, *, check: bool = False
    ) -> Iterator[StudyTable]:
        seen: set[Path] = set()
        for _ in range(_ATTEMPTS):
            new = [part for part in self.parts() if part not in seen]
            if not new:
                return
            for part in new:
                seen.add(part)
                if not check or self._is_whole(part):
                    try:
                        yield StudyTable.read(part, columns)
                    except SledsimError:
                        if part.exists():
                            raise
                        # Another process has joined it: its rows are in a new file.

    def _is_whole(self, part: Path) -> bool:
        try:
            need_regular(part)
            with part.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except FileNotFoundError:
            return False  # joined meanwhile
        except OSError as error:
            raise placed(
                SledsimError,
                f"{part}: cannot be read: {error.strerror}; remove it, and its points run again",
                file=part,
            ) from None
        if part.name == _name(found):
            return True
        part.rename(part.with_name(part.name + _DAMAGED))
        warnings.warn(
            f"{part}: is damaged; it is set aside, and its points are run again",
            RuntimeWarning,
            stacklevel=2,
        )
        return False

    def add(self, table: StudyTable) -> None:
        """Add rows; they are written at the latest when rows are added a second after."""
        self._waiting.append(table)
        if sum(map(len, self._waiting)) >= _MOST_ROWS:
            self.flush()
        self.tick()

    def tick(self) -> None:
        """Write rows that have waited for a second."""
        if self._waiting and time.monotonic() - self._written_at >= _MOST_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write all rows that wait."""
        if self._waiting:
            self._small.append(self._write(StudyTable.together(self._waiting)))
            self._waiting.clear()
            if len(self._small) >= _MOST_SMALL:
                self._join()
        self._written_at = time.monotonic()

    def close(self) -> None:
        """Write all rows, and join what this store has written to few files."""
        self.flush()
        self._join()

    def _write(self, table: StudyTable) -> tuple[Path, int]:
        content = table.to_parquet()
        part = self.folder / _name(hashlib.sha256(content).hexdigest())
        _core.write_atomically(part, content)
        return part, len(table)

    def _join(self) -> None:
        """Join own small files, a group at a time, and remove them."""
        groups: list[list[tuple[Path, int]]] = [[]]
        for part, rows in self._small:
            if sum(each for _, each in groups[-1]) + rows > _MOST_JOINED:
                groups.append([])
            groups[-1].append((part, rows))
        self._small = []
        for group in groups:
            if len(group) < 2:
                self._small += [each for each in group if each[1] < _MOST_ROWS]
                continue
            tables = [StudyTable.read(part) for part, _ in group]
            joined, rows = self._write(StudyTable.together(tables))
            for part, _ in group:
                if part != joined:
                    part.unlink(missing_ok=True)
            if rows < _MOST_ROWS:
                self._small.append((joined, rows))


def _name(digest: str) -> str:
    return f"{_PART}{digest[:32]}{_ENDING}"
