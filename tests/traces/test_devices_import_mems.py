"""The import of MEMS devices of DiskSim reports ignored parameters, and refuses rounding."""

import tomllib
from pathlib import Path

import pytest
import sledsim as ss

from tests import disksim_files as files

NAMES = ("Number of buffer segments", "Segment size (in blks)", "Prefetch depth")


def imported(folder: Path, *values: int) -> ss.disksim.Imported:
    """Import G2 with a buffer of so many segments, their blocks, and the blocks read ahead."""
    path = folder / "g2.specs"
    path.write_text(files.mems(dict(zip(NAMES, values, strict=True))), encoding="utf-8")
    return ss.disksim.import_device(path)


@pytest.mark.parametrize("values", [(0, 128, 7), (10, 0, 7)])
def test_read_ahead_without_a_buffer_is_reported(tmp_path: Path, values: tuple[int, ...]) -> None:
    told = imported(tmp_path, *values)
    assert "buffer" not in tomllib.loads(told.toml)
    assert NAMES[2] in told.report["without_effect"]
    assert "#   Prefetch depth = 7" in told.toml.splitlines()


def test_half_a_kib_of_buffer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ss.SledsimError, match=r"is 3: must make 5 segments come to whole KiB"
    ) as no:
        imported(tmp_path, 5, 3, 0)
    lines = (tmp_path / "g2.specs").read_text(encoding="utf-8").splitlines()
    place = 1 + next(at for at, line in enumerate(lines) if line.strip().startswith(NAMES[1]))
    assert str(no.value).startswith(f"{tmp_path / 'g2.specs'}:{place}: ")
