"""Layout: zones, spares, slips and defects of ``dm_layout_g1``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim.disksim import unmapped_parameters
from sledsim.disksim.parameter_coverage import enumerated, place_of
from sledsim.disksim.tree import error

if TYPE_CHECKING:
    from sledsim.disksim.parameter_coverage import Account
    from sledsim.disksim.toml_writer import Sheet, Table
    from sledsim.disksim.tree import Block, Place

_MAPPINGS = {0: "ascending", 1: "serpentine_zone", 2: "serpentine_drive"}
_SPARINGS = dict(
    enumerate(
        (
            "none",
            "zone_end_tracks",
            "cylinder_end",
            "track_end",
            "cylinder_end_no_slips",
            "cylinder_front",
            "cylinder_front_no_slips",
            "disk_end",
            "range_end",
            "zone_end",
            "zone_end_no_slips",
        )
    )
)
_NO_SPARES, _TRACKS, _DISK_END, _CYLINDERS = 0, 3, 7, 8
_RANGES = {2, 3, 4, 5, 6, 8}
"""Schemes with spares in every track, cylinder or range of cylinders."""
_SLIPS_LEAVE_SPARES = {4, 6}
_FIRST, _LAST = "First cylinder number", "Last cylinder number"
_RESERVED_WIDTH = 1
"""A drive may keep a cylinder between two zones for itself: the Cheetahs and the IBM 18ES do, never
more than one. A wider gap is taken as a mistake."""


def layout_model(model: Block) -> Block:
    """Return the layout of a disk."""
    layout = model.block("Layout Model")
    if layout.type != "dm_layout_g1":
        raise error(layout.place, f"'Layout Model' is a {layout.type}: must be a dm_layout_g1")
    return layout


def write(
    model: Block, surfaces: int, cylinders: int, sheet: Sheet, account: Account
) -> list[tuple[float, Place]]:
    """Add the layout to a sheet.

    Returns
    -------
    list
        The skew between two tracks of a cylinder, in revolutions, and where it stands, by zone.

    Raises
    ------
    SledsimError
        For zones with gaps, overlaps or out of order, and lists that do not fit their zone.
    """
    layout = account.open(layout_model(model), unmapped_parameters.LAYOUT)
    name = "LBN-to-PBN mapping scheme"
    mapping = enumerated(layout, name, _MAPPINGS)
    top = sheet.top
    top.add("mapping", mapping, f"{name} = {layout.integer(name)}", place_of(layout, name))
    name = "Sparing scheme used"
    sparing = enumerated(layout, name, _SPARINGS)
    scheme = layout.integer(name)
    top.add("sparing", sparing, f"{name} = {scheme}", place_of(layout, name))
    per_range = surfaces
    if scheme == _CYLINDERS:
        name = "Rangesize for sparing"
        size = layout.integer(name, at_least=1, at_most=1 << 22)
        top.add("sparing_range_cylinders", size, name, place_of(layout, name))
        per_range = size * surfaces
    elif scheme == _TRACKS:
        per_range = 1

    blocks = [account.open(zone, unmapped_parameters.ZONE) for zone in layout.blocks("Zones")]
    if not blocks:
        raise error(place_of(layout, "Zones"), "'Zones' is empty: must list at least one zone")
    _write_unused(blocks, cylinders, top, account)
    in_revolutions = _in_revolutions(layout, default=False)
    skews = []
    for number, zone in enumerate(blocks):
        table = sheet.table("[[zone]]", f"Zone {number}")
        _write_zone(zone, table, account, scheme=scheme, per_range=per_range)
        units = _in_revolutions(zone, default=in_revolutions)
        skews.append(_write_angles(zone, table, in_revolutions=units))
    return skews


def _in_revolutions(block: Block, *, default: bool) -> bool:
    name = "Skew units"
    if name not in block:
        return default
    units = block.text(name)
    if units not in {"sectors", "revolutions"}:
        raise error(
            place_of(block, name), f"'{name}' is '{units}': must be 'sectors' or 'revolutions'"
        )
    return units == "revolutions"


def _write_unused(zones: list[Block], cylinders: int, top: Table, account: Account) -> None:
    """Check the order of the zones and list the cylinders between them."""
    unused: list[tuple[int, Place]] = []

    def skip(start: int, end: int, place: Place) -> None:
        if end - start > _RESERVED_WIDTH:
            raise error(place, f"cylinders {start} to {end - 1} are in no zone")
        unused.extend((cylinder, place) for cylinder in range(start, end))

    end, before = 0, None
    for zone in zones:
        first = zone.integer(_FIRST, at_least=0)
        last = zone.integer(_LAST, at_least=0)
        at_first, at_last = place_of(zone, _FIRST), place_of(zone, _LAST)
        if last < first:
            raise error(at_last, f"'{_LAST}' is {last}: must be at least the first, {first}")
        if last >= cylinders:
            raise error(
                at_last,
                f"'{_LAST}' is {last}: must be below the 'Number of cylinders', {cylinders}",
            )
        if first < end and before is not None:
            how = "overlaps" if last >= before.integer(_FIRST) else "is before"
            raise error(
                at_first,
                f"'{_FIRST}' is {first}: must be at least {end}, as the zone {how} the zone at"
                f" {before.place}",
            )
        skip(end, first, at_first)
        end, before = last + 1, zone
    skip(end, cylinders, place_of(zones[-1], _LAST))
    if unused:
        top.add_list("unused_cylinders", list(unused), "in no zone", zones[0].place)
        account.unused_cylinders = [cylinder for cylinder, _ in unused]


def _write_zone(
    zone: Block, table: Table, account: Account, *, scheme: int, per_range: int
) -> None:
    sectors = zone.integer("Blocks per track", at_least=1, at_most=100_000)
    for key, name in (
        ("first_cylinder", _FIRST),
        ("last_cylinder", _LAST),
        ("blocks_per_track", "Blocks per track"),
    ):
        table.add(key, zone.integer(name), name, place_of(zone, name))

    name = "Number of spares"
    spares = zone.integer(name, at_least=0)
    place = place_of(zone, name)
    if scheme in {_NO_SPARES, _DISK_END}:
        if spares:
            why = (
                "there are no spares under sparing scheme 0"
                if scheme == _NO_SPARES
                else "the spares at the end of the disk are what 'Block count' leaves there"
            )
            account.ignore(name, spares, f"nothing: {why}", place)
        spares = 0
    table.add("spares", spares, name, place)
    slips = zone.integers("slips", at_least=0)
    _write_reserved(zone, table, slips, spares, scheme=scheme, span=per_range * sectors)
    items = list(zip(slips, (item.place for item in zone.list("slips")), strict=True))
    table.add_list("slips", items, "slips", place_of(zone, "slips"))
    _write_defects(zone, table, account, set(slips))


def _write_reserved(
    zone: Block, table: Table, slips: tuple[int, ...], spares: int, *, scheme: int, span: int
) -> None:
    """Add the reserved space at the front of the zone.

    Where every track, cylinder or range has spares of its own, DiskSim counts the reserved sectors
    without them; the device file counts them all. (The DEC RZ26 shows it: only so its one zone, of
    2599 cylinders with a spare on each track and 23142 sectors reserved, holds just the 2050860
    blocks that it states, and its data begin with a cylinder.)
    """
    name = "Empty space at zone front"
    empty = zone.integer(name, at_least=0, at_most=1 << 50)
    place, source = place_of(zone, name), name
    if empty and spares and scheme in _RANGES:
        if spares >= span:
            must = f"must be below {span}, the sectors that they are kept among"
            raise error(
                place_of(zone, "Number of spares"), f"'Number of spares' is {spares}: {must}"
            )
        source = f"{name} = {empty}, and the spares between"
        empty = _place_of_usable(empty, slips, spares, scheme=scheme, span=span)
    table.add("reserved_blocks", empty, source, place)


def _place_of_usable(
    number: int, slips: tuple[int, ...], spares: int, *, scheme: int, span: int
) -> int:
    """Return where in the zone the usable sector of a number is, for ranges of ``span`` sectors.

    Within a range it is the place from which on the core finds as many usable sectors as DiskSim.
    """

    def lost(slipped: int) -> int:
        return slipped + spares if scheme in _SLIPS_LEAVE_SPARES else max(slipped, spares)

    slips_in: dict[int, list[int]] = {}
    for slip in sorted(slips):
        slips_in.setdefault(slip // span, []).append(slip % span)
    at = 0  # the range
    for slipped, inside in slips_in.items():
        ahead = min(slipped - at, number // (span - spares))
        at, number = at + ahead, number - ahead * (span - spares)
        usable = max(span - lost(len(inside)), 0)
        if at < slipped or number < usable:
            break
        at, number = at + 1, number - usable
    else:
        at, number = at + number // (span - spares), number % (span - spares)
    inside = slips_in.get(at, [])
    within, before = number, -1
    while number and within != before:
        before = within
        behind = sum(slip >= within for slip in inside)
        within = number + lost(len(inside)) - lost(behind)
    return at * span + within


def _write_defects(zone: Block, table: Table, account: Account, slips: set[int]) -> None:
    name = "defects"
    numbers = zone.integers(name, at_least=0)
    places = [item.place for item in zone.list(name)]
    if len(numbers) % 2:
        raise error(
            place_of(zone, name),
            f"'{name}' has {len(numbers)} values: must be pairs of a bad place and its spare",
        )
    bad_at: dict[int, Place] = {}
    spare_at: dict[int, Place] = {}
    items = []
    for bad, spare, place in zip(numbers[::2], numbers[1::2], places[::2], strict=True):
        if bad == spare:
            account.ignore(name, f"{bad}, {spare}", "nothing: it replaces itself", place)
            continue
        if bad in slips:
            raise error(place, f"the defect {bad} is among the slips of its zone as well")
        for number, seen, what in ((bad, bad_at, "bad place"), (spare, spare_at, "spare")):
            if number in seen:
                raise error(place, f"the {what} {number} is in a defect before, at {seen[number]}")
            seen[number] = place
        items.append(((bad, spare), place))
    both = bad_at.keys() & spare_at.keys()
    if both:
        number = min(both)
        raise error(spare_at[number], f"the spare {number} is bad itself, at {bad_at[number]}")
    table.add_list(name, items, name, place_of(zone, name))


def _write_angles(zone: Block, table: Table, *, in_revolutions: bool) -> tuple[float, Place]:
    """Add skews and offset; whole revolutions in them are left out. Return the track skew."""
    track_skew = 0.0
    unit = "revolutions" if in_revolutions else "sectors"
    turn = 1 if in_revolutions else zone.integer("Blocks per track")
    for key, name in (
        ("offset", "Offset of first block"),
        ("track_skew", "Skew for track switch"),
        ("cylinder_skew", "Skew for cylinder switch"),
    ):
        angle = zone.number(name, at_least=0, default=0)
        source = name
        if angle >= turn:
            source = f"{name} = {angle:g}, less whole revolutions"
            angle %= turn
        table.add(f"{key}_{unit}", angle, source, place_of(zone, name))
        if key == "track_skew":
            track_skew = angle / turn
    return track_skew, place_of(zone, "Skew for track switch")
