"""Mechanics: rotation and seeks of ``dm_mech_g1``."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING

from sledsim import _core
from sledsim._input_files import is_file
from sledsim.disksim.parameter_coverage import Risen, place_of
from sledsim.disksim.seeks import read_seek_curve
from sledsim.disksim.toml_writer import Table
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Sheet
    from sledsim.disksim.tree import Block, Place

_TYPE = "Seek type"
_SINGLE, _AVERAGE, _FULL = (
    "Single cylinder seek time",
    "Average seek time",
    "Full strobe seek time",
)


def block_of(model: Block) -> Block:
    """Return the mechanics of a ``dm_disk``."""
    mechanics = model.block("Mechanical Model")
    if mechanics.type != "dm_mech_g1":
        raise error(
            mechanics.place, f"'Mechanical Model' is a {mechanics.type}: must be a dm_mech_g1"
        )
    return mechanics


def write_rotation(mechanics: Block, top: Table) -> float:
    """Add the speed; return the time of a revolution in ms."""
    name = "Rotation speed (in rpms)"
    speed = mechanics.number(name, at_least=1, at_most=1e6)
    top.add("rpm", speed, name, place_of(mechanics, name))
    return 6e4 / speed


def write_seeks(mechanics: Block, cylinders: int, top: Table, account: Account) -> None:
    """Add the seek curve."""
    access = mechanics.text("Access time type")
    if access != "trackSwitchPlusRotation":
        raise error(
            place_of(mechanics, "Access time type"),
            f"'Access time type' is '{access}': must be 'trackSwitchPlusRotation', as seeks and"
            " rotation are simulated",
        )
    kinds: dict[str, Callable[[Block, int, Table, Account], None]] = {
        "extracted": _write_extracted,
        "hpl": _write_hpl,
        "hplplus10": _write_hpl,
        "curve": _write_curve,
        "linear": _write_linear,
        "constant": _write_constant,
    }
    kind = mechanics.text(_TYPE)
    if kind not in kinds:
        allowed = ", ".join(f"'{name}'" for name in kinds)
        raise error(place_of(mechanics, _TYPE), f"'{_TYPE}' is '{kind}': must be one of {allowed}")
    kinds[kind](mechanics, cylinders, top, account)


def _write_extracted(mechanics: Block, _cylinders: int, top: Table, account: Account) -> None:
    name = "Full seek curve"
    place = place_of(mechanics, name)
    path = mechanics.file(name)
    if not is_file(path):
        raise error(place, f"'{name}' is '{mechanics.item(name)}': there is no file {path}")
    points = read_seek_curve(path)
    account.files.append(path)
    top.add("seek", "table", f"{_TYPE} = extracted", place_of(mechanics, _TYPE))
    _write_falls([(point.cylinders, point.time_ms, point.place) for point in points], top, account)
    items = [((point.cylinders, point.time_ms), point.place) for point in points]
    top.add_list("seek_table_ms", items, f"{name}: {path.name}", place)


def _write_hpl(mechanics: Block, cylinders: int, top: Table, account: Account) -> None:
    kind = mechanics.text(_TYPE)
    name = "HPL seek equation values"
    knee, a, b, c, d, one = mechanics.numbers(name, length=6)
    place = place_of(mechanics, name)
    if not (knee.is_integer() and 0 <= knee <= 1 << 22):
        raise error(place, f"'{name}' begins with {knee:g}: must be a whole number of cylinders")
    if kind == "hplplus10":
        first_name = "First ten seek times"
        items = tuple(mechanics.list(first_name))
        times = mechanics.numbers(first_name, length=10)
        first = [(time, item.place) for time, item in zip(times, items, strict=True)]
        source, first_place = first_name, place_of(mechanics, first_name)
    else:
        # A sixth value below 0 means that the curve holds for one cylinder as well.
        first = [(one, place)] if one >= 0 else []
        source, first_place = f"{name}, the sixth", place
    top.add("seek", "hpl", f"{_TYPE} = {kind}", place_of(mechanics, _TYPE))
    curve = []
    for distance in range(1, cylinders):
        if distance <= len(first):
            curve.append((distance, *first[distance - 1]))
        elif distance < knee:
            curve.append((distance, a + b * math.sqrt(distance), place))
        else:
            curve.append((distance, c + d * distance, place))
    _write_falls(curve, top, account)
    top.add("seek_knee_cylinders", knee, f"{name}, the first", place)
    top.add_list("seek_short_ms", [(a, place), (b, place)], f"{name}, second and third", place)
    top.add_list("seek_long_ms", [(c, place), (d, place)], f"{name}, fourth and fifth", place)
    top.add_list("seek_first_ms", first, source, first_place)


def _write_falls(curve: list[tuple[int, float, Place]], top: Table, account: Account) -> None:
    """Have a curve smoothed that falls here and there, and note the points that this moves.

    Every measured curve falls somewhere; one that falls as a whole is a mistake.
    """
    times = [time for _, time, _ in curve]
    steps = list(itertools.pairwise(times))
    falls = [index for index, (before, after) in enumerate(steps, 1) if after < before]
    if not falls:
        return
    if times[-1] < times[0] or 2 * len(falls) > len(steps):
        distance, time, place = curve[falls[0]]
        raise error(
            place,
            f"{time:g} ms for {distance} cylinders: seek times must rise with the distance but for"
            f" scatter, and {len(falls)} of {len(steps)} steps fall, from {times[0]:g} to"
            f" {times[-1]:g} ms in all",
        )
    top.add("seek_falls", "smooth", "times fall: the nearest curve that rises", curve[0][2])
    for (distance, time, place), risen in zip(curve, _core.rising(times), strict=True):
        if risen != time:
            account.risen.append(Risen(distance, time, risen, place))


def _write_curve(mechanics: Block, cylinders: int, top: Table, _account: Account) -> None:
    single, average, full = _three(mechanics)
    top.add("seek", "datasheet", f"{_TYPE} = curve", place_of(mechanics, _TYPE))
    top.add("seek_min_ms", single, _SINGLE, place_of(mechanics, _SINGLE))
    if cylinders > 2:
        top.add("seek_average_ms", average, _AVERAGE, place_of(mechanics, _AVERAGE))
    top.add("seek_full_ms", full, _FULL, place_of(mechanics, _FULL))


def _write_linear(mechanics: Block, cylinders: int, top: Table, _account: Account) -> None:
    single, average, full = _three(mechanics)
    top.add("seek", "table", f"{_TYPE} = linear", place_of(mechanics, _TYPE))
    points = {
        round(cylinders / 3): (average, _AVERAGE),
        cylinders - 1: (full, _FULL),
        1: (single, _SINGLE),
    }
    items = [
        ((distance, time), place_of(mechanics, name))
        for distance, (time, name) in sorted(points.items())
        if distance > 0
    ]
    source = f"{_SINGLE}; {_AVERAGE}, at a third of the cylinders; {_FULL}"
    top.add_list("seek_table_ms", items, source, place_of(mechanics, _SINGLE))


def _write_constant(mechanics: Block, cylinders: int, top: Table, _account: Account) -> None:
    name = "Constant seek time"
    time, place = mechanics.number(name, at_least=0), place_of(mechanics, name)
    top.add("seek", "table", f"{_TYPE} = constant", place_of(mechanics, _TYPE))
    items = [((distance, time), place) for distance in sorted({1, max(1, cylinders - 1)})]
    top.add_list("seek_table_ms", items, name, place)


def limit_staying(sheet: Sheet, skews_ms: list[tuple[float, Place]], at: int) -> None:
    """Keep an access that stays on its cylinder within what the layout covers.

    Where no time is given for it, the core takes what is left of the seek curve at distance 0. A
    layout covers a head switch: the next track of a cylinder is skewed by at least what it takes to
    find it, which is an access that stays, too. If the curve leaves more than the least skew, that
    is written as the time. Skews of 0 say nothing.

    Parameters
    ----------
    sheet
        The sheet, all but complete.
    skews_ms
        The skew between two tracks of a cylinder and where it stands, by zone.
    at
        The time is written behind so many keys.
    """
    skews_ms = [skew for skew in skews_ms if skew[0] > 0]
    if not skews_ms or any(line.key == "seek_zero_ms" for line in sheet.top.lines):
        return
    covered_ms, place = min(skews_ms, key=lambda skew: skew[0])
    left_ms = json.loads(sheet.resolved().show())["derived"]["seek_zero_ms"]
    if left_ms > covered_ms:
        limit = Table(None)
        source = f"Skew for track switch; the seek curve leaves {left_ms:.6g}"
        limit.add("seek_zero_ms", float(f"{covered_ms:.6g}"), source, place)
        sheet.top.lines[at:at] = limit.lines


def _three(mechanics: Block) -> tuple[float, float, float]:
    single, average, full = (
        mechanics.number(name, at_least=0) for name in (_SINGLE, _AVERAGE, _FULL)
    )
    if not single <= average <= full:
        raise error(
            place_of(mechanics, _AVERAGE),
            f"'{_AVERAGE}' is {average:g}: must be from {single:g}, a single cylinder's, to"
            f" {full:g}, the full strobe's",
        )
    return single, average, full
