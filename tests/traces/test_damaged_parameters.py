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
from sledsim.cli import main

from tests.disksim_files import disk, mems, system
from tests.mutations import changed_text

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVES = Path(__file__).parents[3] / "shared" / "reference" / "drives"
CHANGES = 1500
SEEKS = "Seek distances measured: 4\n1, 0.9\n2, 1.2\n50, 3.5\n99, 5.25\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[ a0 .. a99999999999999999999 ]", "'99999999999999999999': a whole number must lie"),
        ("[ 0 .. 99999999999999999999 ]", "'99999999999999999999': a whole number must lie"),
        ("[ a0..a99999999999999999999 ]", "'99999999999999999999': a whole number must lie"),
        ("[ a99999999999999999999 .. a1 ]", "'99999999999999999999': a whole number must lie"),
        ("[ a0 .. a100000 ]", "'a0 .. a100000': must count up, over at most 100000 names"),
        ("[ a1 .. a0 ]", "'a1 .. a0': must count up"),
        ("9223372036854775808", "'9223372036854775808': a whole number must lie within"),
        ("-99999999999999999999", "'-99999999999999999999': a whole number must lie within"),
        ("9" * 5000, f"'{'9' * 40}...' (5000 characters): a whole number must lie within"),
        (f"0x{'f' * 5000}", f"'0x{'f' * 38}...' (5002 characters): a whole number must lie"),
        ("1e309", "'1e309': a number must lie within"),
        (f"[ a0 .. a{'9' * 5000} ]", f"'{'9' * 40}...' (5000 characters): a whole number"),
    ],
)
def test_numbers_are_bounded_where_they_are_read(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parv"
    path.write_text(f"disksim_bus B {{\n  first = 1,\n  second = {text}\n}}\n", encoding="utf-8")
    with pytest.raises(SledsimError) as refused:
        disksim.read(path)
    assert str(refused.value).startswith(f"{path}:3: {says}")


def test_the_largest_numbers_are_read() -> None:
    least, most = -(2**63 - 1), 2**63 - 1
    block = disksim.parse(f"b B {{ x = {least}, y = {most}, z = 0x7fffffffffffffff }}").blocks["B"]
    assert [block.values[key].value for key in "xyz"] == [least, most, most]  # type: ignore[union-attr]


def test_ranges_are_bounded_together() -> None:
    lists = ",\n".join(f"k{number} = [ a0 .. a99999 ]" for number in range(3))
    with pytest.raises(SledsimError, match=r":3: all ranges together have more than 200000"):
        disksim.parse(f"b B {{ {lists} }}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"Seek distances measured: {'9' * 30}\n1, 1.0\n", ":1: '9999999999"),
        (f"Seek distances measured: 1\n{'9' * 30}, 1.0\n", ":2: '9999999999"),
        (f"Seek distances measured: 1\n1, {'9' * 500}\n", ":2: '9999999999"),
        ("Seek distances measured: 1\n1, 1_0\n", ":2: '1_0': must be a time in ms"),
        ("Seek distances measured: 1\n1, inf\n", ":2: 'inf': must be a time in ms"),
    ],
)
def test_numbers_of_seek_files_are_bounded(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.seek"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SledsimError) as refused:
        disksim.read_seek_curve(path)
    assert str(refused.value).startswith(f"{path}{says}")


def test_the_command_refuses_a_range_without_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.parv"
    path.write_text(f"{disk()}\ninstantiate [ d0 .. d99999999999999999999 ] as SMALL\n")
    line = 1 + disk().count("\n") + 1
    assert main(["devices", "import", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"sledsim: error: {path}:{line}: '9999999999")


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
