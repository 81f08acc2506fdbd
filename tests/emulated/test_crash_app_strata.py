"""Instants of power failures, and where files and journals lie."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from sledsim.programs.crashes import journals, placing, strata
from sledsim.programs.crashes.file_systems import CrashFileSystem
from sledsim.programs.spans import Spans

from tests.mounted import needs_root

if TYPE_CHECKING:
    from pathlib import Path


def request(op: str, begin: int, end: int, lbn: int = 0, blocks: int = 8) -> dict[str, Any]:
    return {"op": op, "arrival_ns": begin, "completion_ns": end, "lbn": lbn, "blocks": blocks}


@pytest.mark.parametrize("seed", range(20))
def test_spans_meet_what_a_set_of_bytes_has_in_common_with_them(seed: int) -> None:
    chance = random.Random(seed)
    given = []
    for _ in range(chance.randrange(12)):
        begin = chance.randrange(200)
        given.append((begin, begin + chance.randrange(1, 20)))
    taken = {byte for begin, end in given for byte in range(begin, end)}
    spans = Spans(given)
    for begin in range(0, 230, 3):
        for length in (1, 2, 7, 40):
            met = not taken.isdisjoint(range(begin, begin + length))
            assert spans.meet(begin, begin + length) == met


def test_writes_are_told_apart_by_where_they_go() -> None:
    logs, data = Spans([(4096, 8192)]), Spans([(0, 2048), (16384, 20480)])
    kinds = {
        lbn: strata.kind_of(request("write", 0, 1, lbn, blocks), logs, data)
        for lbn, blocks in (
            (0, 4),
            (3, 6),
            (4, 4),
            (4, 5),
            (8, 1),
            (15, 1),
            (16, 8),
            (32, 8),
            (39, 1),
        )
    }
    # The second entry of 4 replaces the first: its fifth block is the first of the log.
    logs_at = dict.fromkeys((3, 4, 8, 15), "log")
    assert kinds == {0: "data", **logs_at, 16: "metadata", 32: "data", 39: "data"}
    assert strata.kind_of(request("flush", 0, 1), logs, data) == "flush"
    assert strata.kind_of(request("read", 0, 1), logs, data) is None
    assert strata.kind_of(request("write", 0, 1, 8), Spans([]), None) == "data"


def run_of(chance: random.Random) -> tuple[list[dict[str, Any]], list[str | None]]:
    requests, now = [], 0
    for _ in range(60):
        now += chance.choice([0, 0, 5, 30])
        op = chance.choice(["read", "write", "write", "flush"])
        requests.append(request(op, now, now + chance.randrange(1, 25)))
        now += chance.randrange(20)
    kinds = [
        each["op"] if each["op"] == "flush" else None if each["op"] == "read" else "data"
        for each in requests
    ]
    return requests, kinds


@pytest.mark.parametrize("seed", range(10))
def test_instants_lie_in_moments_of_their_stratum(seed: int) -> None:
    requests, kinds = run_of(random.Random(seed))
    window = (100, 700)
    instants = strata.drawn(requests, kinds, window, 90, seed)
    assert instants == strata.drawn(requests, kinds, window, 90, seed)
    assert instants != strata.drawn(requests, kinds, window, 90, seed + 1)
    names = [each.stratum for each in instants]
    assert {name: names.count(name) for name in set(names)} == {"data": 30, "flush": 30, "idle": 30}
    for each in instants:
        assert window[0] <= each.at_ns <= window[1]
        inside = [
            kind
            for one, kind in zip(requests, kinds, strict=True)
            if one["arrival_ns"] <= each.at_ns <= one["completion_ns"]
        ]
        if each.stratum == "idle":
            assert inside == []
        else:
            assert each.stratum in inside


def test_edges_of_requests_are_among_the_instants() -> None:
    requests = [request("write", 1000, 2000)]
    at = [each.at_ns for each in strata.drawn(requests, ["data"], (0, 3000), 400, 7)]
    assert {1000, 1001, 1999, 2000} <= set(at)
    inside = [each for each in at if 1001 < each < 1999]
    assert 90 < len(inside) < 180  # .7 of 200


def test_a_run_without_requests_is_idle() -> None:
    instants = strata.drawn([], [], (5, 50), 20, 1)
    assert {each.stratum for each in instants} == {"idle"}
    assert all(5 <= each.at_ns <= 50 for each in instants)
    whole = strata.drawn([request("write", 0, 90)], ["data"], (5, 50), 20, 1)
    assert {each.stratum for each in whole} == {"data"}


@pytest.fixture(params=["ext4", "xfs"])
def image(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[CrashFileSystem, Path]:
    if shutil.which(f"mkfs.{request.param}") is None:
        pytest.skip(f"mkfs.{request.param} is missing")
    file_system = CrashFileSystem(request.param, mib=64 if request.param == "ext4" else 300)
    file = tmp_path / "image"
    file_system.make(file)
    return file_system, file


def test_the_journal_is_found(image: tuple[CrashFileSystem, Path]) -> None:
    """A journal begins with its magic number; the tools of the file system tell its size."""
    file_system, file = image
    tool, pattern, magic = {
        "ext4": (("dumpe2fs", "-h"), r"Total journal blocks: +(\d+)", "c03b3998"),
        "xfs": (("xfs_info",), r"log +=internal log +bsize=4096 +blocks=(\d+)", "feedbabe"),
    }[file_system.name]
    spans = file_system.journal(file)
    said = subprocess.run([*tool, file], capture_output=True, text=True, check=True).stdout
    found = re.search(pattern, said)
    assert found is not None
    assert sum(end - begin for begin, end in spans) == 4096 * int(found[1])
    assert file.read_bytes()[spans[0][0] :][:4] == bytes.fromhex(magic)


@needs_root
def test_the_places_of_files_hold_their_bytes(
    image: tuple[CrashFileSystem, Path], tmp_path: Path
) -> None:
    file_system, file = image
    folder = tmp_path / "mnt"
    folder.mkdir()
    chance = random.Random(3)
    contents = {f"{n}.bin": chance.randbytes(4096 * chance.randrange(1, 40)) for n in range(12)}
    with file_system.mount_plainly(file, folder):
        with placing.Watch(folder, ["*.bin"]) as watch:
            for name, content in contents.items():
                (folder / name).write_bytes(content)
            subprocess.run(["sync", "-f", folder], check=True)
        spans = {name: placing.extents(folder / name) for name in contents}
    device = file.read_bytes()
    for name, content in contents.items():
        assert b"".join(device[begin:end] for begin, end in spans[name]) == content
    assert set(watch.spans) >= {span for each in spans.values() for span in each}


def test_a_checker_of_the_file_system_sees_damage(image: tuple[CrashFileSystem, Path]) -> None:
    file_system, file = image
    assert file_system.damage(str(file)) == ""
    with file.open("r+b") as opened:
        # The bitmaps of ext4's first group; the free space B-trees of xfs' first group.
        opened.seek(4096 * 2 if file_system.name == "ext4" else 4096)
        opened.write(b"\xff" * 3 * 4096)
    assert file_system.damage(str(file)).startswith(("e2fsck: ", "xfs_repair: "))


@needs_root
def test_a_journal_with_transactions_is_told_from_an_empty_one(tmp_path: Path) -> None:
    """As e2fsck does, which replays the one and finds nothing to do with the other."""
    file_system = CrashFileSystem("ext4", mib=32)
    file, folder, cut = (tmp_path / name for name in ("image", "mnt", "cut"))
    file_system.make(file)
    folder.mkdir()
    journal = file_system.journal(file)
    assert not journals.holds_transactions(file, journal)
    with file_system.mount_plainly(file, folder):
        path = folder / "file"
        path.write_bytes(b"x" * 8192)
        with path.open("rb") as opened:
            os.fsync(opened.fileno())
        shutil.copyfile(file, cut)  # the loop device shares its pages with the file
    assert journals.holds_transactions(cut, journal)
    assert not journals.holds_transactions(file, journal)
    said = subprocess.run(["e2fsck", "-fy", cut], capture_output=True, text=True, check=False)
    assert "recovering journal" in said.stdout + said.stderr
    assert not journals.holds_transactions(cut, journal)
