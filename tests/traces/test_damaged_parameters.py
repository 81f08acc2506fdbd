"""Damaged parameter and seek files give a device, or an error that names the file."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim import SledsimError, disksim

from tests.disksim_files import disk, mems, system
from tests.mutations import changed_text

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"
CHANGES = 1500
SEEKS = "Seek distances measured: 4\n1, 0.9\n2, 1.2\n50, 3.5\n99, 5.25\n"


def small(folder: Path) -> list[tuple[Path, Path]]:
    """Write small drives; return each file that may be changed, and the file to import."""
    wired = folder / "wired.parv"
    (folder / "small.seek").write_text(SEEKS)
    seeks = {"Full seek curve": "small.seek"}
    wired.write_text(disk(mechanics=seeks) + system([("disk0", "disksim_disk", "SMALL")]))
    alone, sled = folder / "alone.parv", folder / "sled.parv"
    alone.write_text(disk())
    sled.write_text(mems())
    files = [(path, path) for path in (*[alone] * 5, sled, wired)]
    return [*files, (folder / "small.seek", wired)]


def reference(folder: Path) -> list[tuple[Path, Path]]:
    """Copy the reference files, if there are any; as `small`."""
    if not DRIVES.is_dir():
        return []
    endings = {".parv", ".diskspecs", ".model", ".seek"}
    files = [path for path in sorted(DRIVES.iterdir()) if path.suffix in endings]
    copies = [Path(shutil.copy(path, folder)) for path in files]
    whole = {path.stem: path for path in copies if path.suffix == ".parv"}
    return [(path, whole[path.stem.removesuffix("_validate")]) for path in copies]


def changes(folder: Path) -> Iterator[tuple[Path, Path, bool]]:
    """Yield files to change, the drives they belong to, and whether to import all of these.

    A reference drive takes ten times as long as a small one: it is one of 50, and one of its files
    alone one of 9.
    """
    few, all_ = small(folder), reference(folder)
    for index in range(CHANGES):
        if all_ and index % 50 == 0:
            yield *all_[index // 50 % len(all_)], True
        elif all_ and index % 9 == 0:
            yield *all_[index // 9 % len(all_)], False
        else:
            yield *few[index % len(few)], True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder in memory where there is one: most of the time goes into small files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def test_damaged_parameters_are_imported_or_refused(folder: Path) -> None:
    rng = random.Random(15)
    imported, said = 0, []
    for changed, whole, is_all in changes(folder):
        good = changed.read_text(encoding="utf-8")
        changed.write_text(changed_text(good, rng), encoding="utf-8")
        try:
            if is_all:
                ss.disksim.import_device(whole)
            elif changed.suffix == ".seek":
                disksim.read_seek_curve(changed)
            else:
                disksim.read(changed)
            imported += 1
        except SledsimError as error:
            said.append(str(error))
        changed.write_text(good, encoding="utf-8")
    assert [text for text in said if str(folder) not in text] == []
    assert imported + len(said) == CHANGES
    assert min(imported, len(said)) > CHANGES // 20
