"""The page on the iSCSI target names the commands and pages that the target has."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.papers.cmu_cs_03_125.scsi_initiator import Initiator

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "iscsi.md").read_text("utf-8")
MOST = 8192


@pytest.fixture(scope="module")
def initiator() -> Iterator[Initiator]:
    """Log in to a sled whose tips may fail: it has all pages."""
    sled = ss.device("cmu2003", faults={"failed_tips": 1})
    with ss.serve(sled, iscsi="127.0.0.1:0") as server, Initiator(server.uris[0]) as session:
        session.end(session.begin(bytes(6)))  # takes the unit attention of a new session
        yield session


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def codes_of(heading: str) -> list[int]:
    """Return the codes of the pages in the table below a heading."""
    return [int(code, 16) for code in re.findall(r"^\| (\w\w)h \|", section(heading), re.MULTILINE)]


def test_the_commands_are_those_that_the_target_reports(initiator: Initiator) -> None:
    said = initiator.command(struct.pack(">BBxxxxIxx", 0xA3, 0x0C, MOST), expected=MOST)
    reported = set()
    for opcode, action, flags in struct.iter_unpack(">BxHxBxx", said[4:]):
        reported.add((opcode, action if flags & 1 else None))
    named = re.findall(r"^\| (\w\w)h(?:/(\w+)h)? \|", section("Commands"), re.MULTILINE)
    assert {(int(code, 16), int(act, 16) if act else None) for code, act in named} == reported
    assert len(named) == len(reported) > 40


def test_the_pages_are_those_that_the_target_lists(initiator: Initiator) -> None:
    inquiry = struct.pack(">BBBHx", 0x12, 1, 0, 255)
    said = initiator.command(inquiry, expected=255)
    named = codes_of("Vital product data")
    assert [code for code in named if code != 0xB9] == list(said[4:])
    with ss.serve("exos2x18", iscsi="127.0.0.1:0") as server, Initiator(server.uris[0]) as two:
        two.end(two.begin(bytes(6)))
        assert named == list(two.command(inquiry, expected=255)[4:])
    said = initiator.command(struct.pack(">BxBxxxxHx", 0x4D, 0x40, 255), expected=255)
    assert codes_of("Log pages") == list(said[4:])
    said = initiator.command(struct.pack(">BBBxxxxHx", 0x5A, 8, 0x3F, 255), expected=255)
    at, found = 8, []
    while at < len(said):
        found.append(said[at])
        at += 2 + said[at + 1]
    assert codes_of("Mode pages") == found


def test_the_parameters_stand_where_the_page_says(initiator: Initiator) -> None:
    said = initiator.command(struct.pack(">BBBxxxxHx", 0x5A, 8, 0x20, 255), expected=255)[8:]
    rows = re.findall(
        r"^\| (\d+) to (\d+) \| (\w+)", section("The parallel interface"), re.MULTILINE
    )
    shape = ss.device("cmu2003").parallelism
    found = {
        name: int.from_bytes(said[int(first) : int(last) + 1], "big")
        for first, last, name in rows
        if name != "0"
    }
    assert found == {name: getattr(shape, name) for name in found}
    assert len(found) == 9
    assert len(said) == 2 + said[1] == 48
