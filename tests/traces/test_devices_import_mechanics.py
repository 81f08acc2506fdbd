"""Capacities, places and seeks of drives from DiskSim parameter files.

Expected capacities are those that drives state, or DiskSim's sums over zones, worked out here;
expected times come from the seek files and from formulas solved by hand.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sledsim import SledsimError
from sledsim.disksim import zones as layouts

from tests import disksim_files as files
from tests.imported_devices import imported, resolved, values

# Capacities and places


@pytest.mark.parametrize(
    "text",
    [files.rz26(), files.c3323a(), files.c2249a(), files.st41601n()],
    ids=["rz26", "c3323a", "c2249a", "st41601n"],
)
def test_zones_that_come_to_exactly_the_block_count(text: str) -> None:
    """The stated capacity of these drives is that of their zones, spares and reserved sectors."""
    assert "unused_end_blocks" not in values(text)


def test_a_drive_with_gaps_and_a_defect_that_replaces_itself() -> None:
    taken = imported(files.cheetah_4lp())
    assert taken.report["unused_cylinders"] == [1344, 2449, 3542, 4407, 5224, 5957]
    assert taken.report["unused_end_blocks"] == 632
    assert tomllib.loads(taken.toml)["sparing_range_cylinders"] == 12
    assert "defects" in taken.report["without_effect"]


SPARINGS = [
    ("none", 0, 1),
    ("zone_end_tracks", 100, 0),
    ("cylinder_end", 100, 0),
    ("track_end", 400, 0),
    ("cylinder_end_no_slips", 100, 1),
    ("cylinder_front", 100, 0),
    ("cylinder_front_no_slips", 100, 1),
    ("disk_end", 0, 1),
    ("range_end", 13, 0),
    ("zone_end", 1, 0),
    ("zone_end_no_slips", 1, 1),
]
"""Names of schemes, and the sectors that a spare and a slip cost DiskSim.

There are 100 cylinders of 4 tracks of 100 sectors. Ranges have 8 cylinders, the last 4.
"""


@pytest.mark.parametrize("scheme", range(11))
@pytest.mark.parametrize(("spares", "empty"), [(0, 0), (3, 0), (3, 1234), (3, 970)])
def test_every_sparing_scheme_leaves_what_disksim_says(
    scheme: int, spares: int, empty: int
) -> None:
    name, of_spare, of_slip = SPARINGS[scheme]
    slip = 17 if scheme == 1 else 20_001
    slips = "[]" if spares == 0 else f"[ {slip} ]"
    only = files.zone(Number_of_spares=spares, Empty_space_at_zone_front=empty, slips=slips)
    expected = 40_000 - empty - spares * of_spare - (of_slip if spares else 0)
    layout = {"Sparing scheme used": scheme, "Rangesize for sparing": 8}
    document = values(files.disk(zones=[only], layout=layout, blocks=expected))
    assert "unused_end_blocks" not in document
    assert document["sparing"] == name
    with pytest.raises(SledsimError, match=rf"'Block count' is {expected + 1}: must be at most"):
        values(files.disk(zones=[only], layout=layout, blocks=expected + 1))


def usable_places(scheme: int, spares: int, slips: set[int], span: int, end: int) -> list[int]:
    """Go through all sectors of a zone whose ranges, of ``span`` sectors, have spares."""
    usable = []
    for start in range(0, end, span):
        good = [place for place in range(start, start + span) if place not in slips]
        free = spares if scheme in {4, 6} else max(spares - (span - len(good)), 0)
        kept = max(len(good) - free, 0)
        usable += good[len(good) - kept :] if scheme in {5, 6} else good[:kept]
    return usable


@given(scheme=st.sampled_from([2, 3, 4, 5, 6, 8]), data=st.data())
def test_reserved_sectors_are_counted_without_spares(scheme: int, data: Any) -> None:
    """The capacity of DiskSim, block by block, is that of the core."""
    tracks, heads, sectors = 6, 2, data.draw(st.integers(2, 7))
    span = sectors * {3: 1, 8: 2 * heads}.get(scheme, heads)
    spares = data.draw(st.integers(1, span - 1))
    end = tracks * heads * sectors
    slips = data.draw(st.sets(st.integers(0, end - 1), max_size=span))
    usable = usable_places(scheme, spares, slips, span, end)
    assume(len(usable) > 1)
    empty = data.draw(st.integers(1, len(usable) - 1))
    zone = files.zone(
        Last_cylinder_number=tracks - 1,
        Blocks_per_track=sectors,
        Number_of_spares=spares,
        Empty_space_at_zone_front=empty,
        Skew_for_track_switch=0,
        Skew_for_cylinder_switch=0,
        slips=f"[ {', '.join(map(str, sorted(slips)))} ]" if slips else "[]",
    )
    layout = {"Sparing scheme used": scheme, "Rangesize for sparing": 2}
    blocks = len(usable) - empty
    text = files.disk(zones=[zone], surfaces=heads, cylinders=tracks, layout=layout, blocks=blocks)
    report = imported(text).report
    assert (report["blocks"], report["unused_end_blocks"]) == (blocks, 0)


@given(scheme=st.sampled_from([2, 3, 4, 8]), span=st.integers(2, 9), data=st.data())
def test_data_begin_behind_the_reserved_sectors(scheme: int, span: int, data: Any) -> None:
    spares = data.draw(st.integers(1, span - 1))
    usable = usable_places(scheme, spares, set(), span, 30 * span)
    number = data.draw(st.integers(1, len(usable) - 1))
    place = layouts._place_of_usable(number, (), spares, scheme=scheme, span=span)
    assert place == usable[number]


def test_units_of_skews() -> None:
    of_first = "Skew for track switch = 0.25, Skew for cylinder switch = 0.5"
    of_second = "First cylinder number = 50, Skew for track switch = 25, Skew for cylinder switch"
    both = [
        files.zone(Last_cylinder_number=49, Skew_units="revolutions", **files.told(of_first)),
        files.zone(**files.told(f"{of_second} = 230")),
    ]
    first, second = values(files.disk(zones=both))["zone"]
    assert (first["track_skew_revolutions"], first["cylinder_skew_revolutions"]) == (0.25, 0.5)
    assert second["track_skew_sectors"] == 25
    assert second["cylinder_skew_sectors"] == 30, "less two revolutions of 100 sectors"
    turned = files.zone(Skew_for_track_switch=0.1, Skew_for_cylinder_switch=0.2)
    (zone,) = values(files.disk(layout={"Skew units": "revolutions"}, zones=[turned]))["zone"]
    assert zone["track_skew_revolutions"] == 0.1
    assert not any(key.endswith("_skew_sectors") for key in zone)


@pytest.mark.parametrize(
    ("scheme", "name"), [(0, "ascending"), (1, "serpentine_zone"), (2, "serpentine_drive")]
)
def test_mappings(scheme: int, name: str) -> None:
    assert values(files.disk(layout={"LBN-to-PBN mapping scheme": scheme}))["mapping"] == name


# Seeks


FIRST = [0.5 + 0.1 * d for d in range(1, 11)]
LINE = [1 + 3 * (d - 1) / 32 if d <= 33 else 4 + 4 * (d - 33) / 66 for d in range(1, 100)]
KNEE = [1 + 0.25 * d**0.5 if d < 49 else 2.695 + 0.001 * d for d in range(1, 100)]
"""From the knee on it is the line that counts: the root is above it there."""
VALUES = "HPL seek equation values"
SEEKS: list[tuple[dict[str, object], list[float]]] = [
    ({}, LINE),
    ({"Seek type": "constant", "Constant seek time": 3.5}, [3.5] * 99),
    ({"Seek type": "hpl", VALUES: "[ 49, 1.0, 0.25, 2.695, 0.001, -1 ]"}, KNEE),
    ({"Seek type": "hpl", VALUES: "[ 49, 1.0, 0.25, 2.695, 0.001, 0.5 ]"}, [0.5, *KNEE[1:]]),
    ({"Seek type": "hplplus10", VALUES: "[ 49, 1.0, 0.25, 2.695, 0.001, -1 ]"}, FIRST + KNEE[10:]),
]
"""Parameters of 100 cylinders, and their times over 1 to 99 cylinders."""


@pytest.mark.parametrize(("mechanics", "curve"), SEEKS)
def test_seeks_by_formulas(mechanics: dict[str, object], curve: list[float]) -> None:
    """The mean is that over all pairs of cylinders, equal ones included.

    What an access takes that does not seek is for the core to say, from 0 to a shortest seek.
    """
    first = {"First ten seek times": f"[ {', '.join(map(str, FIRST))} ]"}
    taken = imported(files.disk(mechanics=mechanics | first))
    times = resolved(taken.toml).spec["derived"]
    assert times["full_seek_ms"] == pytest.approx(curve[-1])
    rest = sum(2 * (100 - distance) * time for distance, time in enumerate(curve, 1)) / 100**2
    assert rest * (1 - 1e-6) <= times["mean_seek_ms"] <= (rest + curve[0] / 100) * (1 + 1e-6)
    document = tomllib.loads(taken.toml)
    assert "seek_falls" not in document
    assert document.get("seek_zero_ms") == (0 if "Constant seek time" in mechanics else None)


def test_three_point_seeks() -> None:
    taken = imported(files.disk(mechanics={"Seek type": "curve"}))
    times = resolved(taken.toml).spec["derived"]
    assert times["full_seek_ms"] == pytest.approx(8)
    # The average is over all moves; a hundredth of the pairs of cylinders is none.
    assert 0.99 * 4 <= times["mean_seek_ms"] <= 0.99 * 4 + 0.01


DISTANCES = "Seek distances measured:"
FALLING = ["1, 1.0", "2, 1.5", "3, 1.25", "4, 1.25", "99, 3.0"]


def test_seeks_that_fall_are_risen(tmp_path: Path) -> None:
    (tmp_path / "a.seek").write_text("\n".join([f"{DISTANCES} 5", *FALLING, ""]))
    text = files.disk(mechanics={"Seek type": "extracted", "Full seek curve": "a.seek"})
    taken = imported(text, tmp_path)
    document = tomllib.loads(taken.toml)
    found = [f"{distance}, {float(time)}" for distance, time in document["seek_table_ms"]]
    assert found == FALLING
    assert document["seek_falls"] == "smooth"
    (point,) = taken.report["risen_seeks"]
    assert (point["cylinders"], point["measured_ms"], point["taken_ms"]) == (2, 1.5, 1.25)
    assert point["place"].endswith("a.seek:3")
    (tmp_path / "a.seek").write_text(f"{DISTANCES} 2\n1, 1.0\n99, 3\n")
    assert "seek_falls" not in tomllib.loads(imported(text, tmp_path).toml)
