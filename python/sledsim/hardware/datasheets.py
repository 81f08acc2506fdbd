"""Disks and sleds from the few numbers of a data sheet."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim._arguments import optional, placed, real, text, whole
from sledsim._core import SpecError
from sledsim._number_text import number
from sledsim.hardware.disks import Disk
from sledsim.hardware.factory import device
from sledsim.hardware.sleds import Sled

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 512
_SECTOR_BLOCKS = 8
"""Blocks of a sector of 4 KiB, which no track divides."""
_ZONES = 32
_MOST_CYLINDERS = 1 << 22
_ASSUMED = {"write_settle_ms": 0.8, "command_overhead_ms": 0.2}
"""As of nearline20t."""


def disk(
    *,
    capacity_tb: float,
    platters: int,
    rpm: float,
    outer_mb_s: float,
    inner_mb_s: float,
    seek_track_ms: float,
    seek_average_ms: float,
    seek_full_ms: float,
    heads: int | None = None,
    head_switch_ms: float | None = None,
    write_settle_ms: float = _ASSUMED["write_settle_ms"],
    command_overhead_ms: float = _ASSUMED["command_overhead_ms"],
    interface_mb_s: float = 600.0,
    buffer_mib: float = 256.0,
    name: str = "disk",
) -> Disk:
    """Make a disk from the numbers of its data sheet.

    Zones, skews, cylinders and the order of heads follow by rules; :meth:`Device.to_toml` says of
    each value whether it was given, derived (and how) or assumed.

    - Bits lie equally dense on all tracks: the rate falls evenly with the cylinder, here in 32
      zones of as many cylinders.
    - Rates are sustained: a track is read in a revolution, and the next one begins after the skew,
      which hides a head switch, or a seek to the next cylinder, with settling for a write.
    - The cylinders are as many as the capacity takes. The heads of a cylinder are used up and down
      in turn. Sectors of 4 KiB are not divided between tracks.

    Parameters
    ----------
    capacity_tb
        In 10^12 bytes.
    platters
        Each has two surfaces, unless ``heads`` says how many are used.
    rpm
        Revolutions a minute.
    outer_mb_s, inner_mb_s
        Sustained rates at the outermost and innermost tracks, in 10^6 bytes per second.
    seek_track_ms, seek_average_ms, seek_full_ms
        Seeks of a read: to the next track, on average over all pairs of cylinders, and over all.
    heads
        By default two a platter.
    head_switch_ms
        By default as long as a seek to the next track.
    write_settle_ms
        The average seek of a write less that of a read.
    command_overhead_ms, interface_mb_s, buffer_mib
        Electronics: the time of a command, the rate of the interface, the size of the buffer.
    name
        The name of the device.

    Raises
    ------
    SledsimError
        For a value out of range, and values that conflict, with the numbers that do.
    """
    given = {
        "capacity_tb": real("capacity_tb", capacity_tb, 1e-6, 1e3),
        "rpm": real("rpm", rpm, 1, 1e6),
        "outer_mb_s": real("outer_mb_s", outer_mb_s, 1e-3, 1e5),
        "inner_mb_s": real("inner_mb_s", inner_mb_s, 1e-3, 1e5),
        "seek_track_ms": real("seek_track_ms", seek_track_ms, 0, 1e3),
        "seek_average_ms": real("seek_average_ms", seek_average_ms, 0, 1e3),
        "seek_full_ms": real("seek_full_ms", seek_full_ms, 0, 1e3),
        "write_settle_ms": real("write_settle_ms", write_settle_ms, 0, 1e3),
        "command_overhead_ms": real("command_overhead_ms", command_overhead_ms, 0, 1e3),
        "interface_mb_s": real("interface_mb_s", interface_mb_s, 1e-3, 1e6),
        "buffer_mib": real("buffer_mib", buffer_mib, 1, 1e6),
    }
    platters = whole("platters", platters, 1, 500)
    surfaces = optional(whole, "heads", heads, 1, 2 * platters) or 2 * platters
    switch = optional(real, "head_switch_ms", head_switch_ms, 0, 1e3)
    _refuse_falling("inner_mb_s", given, "outer_mb_s")
    _refuse_falling("outer_mb_s", given, "interface_mb_s")
    _refuse_falling("seek_track_ms", given, "seek_average_ms")
    _refuse_falling("seek_average_ms", given, "seek_full_ms")
    plan = _Plan.of(given, surfaces, given["seek_track_ms"] if switch is None else switch)
    lines = plan.lines(given, platters, surfaces, heads is None, switch is None)
    try:
        made = Disk.from_toml("\n".join(lines) + "\n", text("name", name))
    except SpecError as error:
        average, track, full = (given[f"seek_{each}_ms"] for each in ("average", "track", "full"))
        if "seek_average_ms" not in str(error):
            raise
        raise placed(
            SpecError,
            f"seek_average_ms = {average:g} conflicts with seek_track_ms = {track:g} and "
            f"seek_full_ms = {full:g}: it {str(error).rpartition(': ')[2]}",
            key="seek_average_ms",
        ) from None
    assert isinstance(made, Disk)
    return made


def _refuse_falling(low: str, given: dict[str, float], high: str) -> None:
    """Refuse a value that is above the one it must not exceed."""
    if given[low] > given[high]:
        raise placed(
            SpecError,
            f"{low} = {given[low]:g} and {high} = {given[high]:g} conflict: {low} must be at most "
            f"{high}",
            key=low,
        )


@dataclass(frozen=True)
class _Plan:
    """What follows from a data sheet."""

    blocks: int
    tracks: list[int]
    """Blocks on a track, by zone."""
    skews: list[tuple[int, int]]
    """Blocks of the skew from track to track, and from cylinder to cylinder, by zone."""
    cylinders: list[int]
    """Cylinders, by zone."""
    switch_ms: float
    unused: int

    @classmethod
    def of(cls, given: dict[str, float], surfaces: int, switch_ms: float) -> _Plan:
        revolution_ms = 60e3 / given["rpm"]
        settle_ms = given["write_settle_ms"]
        hidden = [switch_ms + settle_ms, max(given["seek_track_ms"], switch_ms) + settle_ms]
        if max(hidden) >= revolution_ms:
            raise placed(
                SpecError,
                f"seek_track_ms = {given['seek_track_ms']:g}, head_switch_ms = {switch_ms:g}, "
                f"write_settle_ms = {settle_ms:g} and rpm = {given['rpm']:g} conflict: a switch "
                f"with settling must take less than a revolution of {revolution_ms:.4g} ms",
                key="rpm",
            )
        outer, inner = given["outer_mb_s"], given["inner_mb_s"]
        rates = [outer + (inner - outer) * zone / (_ZONES - 1) for zone in range(_ZONES)]
        # In MB/s times ms there are 10^3 bytes.
        taken_ms = revolution_ms + hidden[0] / surfaces * (surfaces - 1) + hidden[1] / surfaces
        tracks = [_sectors(rate * taken_ms * 1e3 / BLOCK) for rate in rates]
        skews = [
            tuple(_sectors(math.ceil(track * each / revolution_ms)) for each in hidden)
            for track in tracks
        ]
        blocks = math.floor(given["capacity_tb"] * 1e12 / BLOCK / _SECTOR_BLOCKS) * _SECTOR_BLOCKS
        cylinders = _cylinders(blocks, [surfaces * track for track in tracks])
        if cylinders is None or sum(cylinders) > _MOST_CYLINDERS:
            least, most = (
                number(surfaces * track * BLOCK * count / 1e12)
                for track, count in ((max(tracks), _ZONES), (min(tracks), _MOST_CYLINDERS))
            )
            raise placed(
                SpecError,
                f"capacity_tb = {given['capacity_tb']:g}, rpm = {given['rpm']:g} and outer_mb_s = "
                f"{outer:g} conflict: {surfaces} surfaces of such tracks hold {least} to {most} TB",
                key="capacity_tb",
            )
        held = sum(surfaces * track * count for track, count in zip(tracks, cylinders, strict=True))
        return cls(blocks, tracks, [(a, b) for a, b in skews], cylinders, switch_ms, held - blocks)

    def lines(
        self,
        given: dict[str, float],
        platters: int,
        surfaces: int,
        two_a_platter: bool,
        as_track: bool,
    ) -> Iterator[str]:
        """Yield the device file: each value with what it is from."""
        segment_blocks = 4096
        segments = max(1, round(given["buffer_mib"] * 2**20 / BLOCK / segment_blocks))
        rates = f"{given['outer_mb_s']:g} to {given['inner_mb_s']:g} MB/s, sustained"
        two = f"two for each of {platters} platters"
        yield f"# A disk made from a data sheet: {given['capacity_tb']:g} TB, {rates}."
        yield "# [S] given; [D] derived, by the rule beside it; [A] assumed, as nothing was given."
        yield "# Models and does not model what nearline20t does: see its file."
        yield f'title = "Disk of {given["capacity_tb"]:g} TB from a data sheet"'
        yield 'kind = "disk"'
        yield f"surfaces = {surfaces} # {f'[D] {two}' if two_a_platter else '[S] heads'}"
        yield f"cylinders = {sum(self.cylinders)} # [D] as many as the capacity takes"
        yield f"rpm = {given['rpm']!r} # [S]"
        yield 'mapping = "serpentine_zone" # [A]'
        yield 'sparing = "none" # [A]'
        yield f"blocks = {self.blocks} # [S] capacity_tb, in whole sectors of 4 KiB"
        yield f"unused_end_blocks = {self.unused} # [D] what the zones hold beyond that"
        yield 'seek = "datasheet" # [A] a + b sqrt(distance) + c distance'
        yield f"seek_min_ms = {given['seek_track_ms']!r} # [S] seek_track_ms"
        yield f"seek_average_ms = {given['seek_average_ms']!r} # [S]"
        yield f"seek_full_ms = {given['seek_full_ms']!r} # [S]"
        source = "[D] as a seek to the next track" if as_track else "[S]"
        yield f"head_switch_ms = {self.switch_ms!r} # {source}"
        for key, assumed in _ASSUMED.items():
            source = "[A] as nearline20t" if given[key] == assumed else "[S]"
            yield f"{key} = {given[key]!r} # {source}"
        yield "zero_latency_read = true # [A]"
        yield "zero_latency_write = true # [A]"
        bus_ms = BLOCK / given["interface_mb_s"] / 1e3
        yield f"bus_ms_per_block = {bus_ms!r} # [D] {given['interface_mb_s']:g} MB/s"
        yield "[buffer]"
        yield f"segments = {segments} # [D] {given['buffer_mib']:g} MiB in all"
        yield f"segment_blocks = {segment_blocks} # [A]"
        yield 'read_ahead = "segment" # [A]'
        yield "read_ahead_on_hit = true # [A]"
        yield 'write_back = "all" # [A]'
        yield f"write_segments = {max(1, segments // 4)} # [A]"
        first = 0
        for track, (skew, cylinder_skew), count in zip(
            self.tracks, self.skews, self.cylinders, strict=True
        ):
            yield "[[zone]]"
            yield f"first_cylinder = {first} # [D] zones of as many cylinders"
            yield f"last_cylinder = {first + count - 1} # [D] zones of as many cylinders"
            yield f"blocks_per_track = {track} # [D] bits equally dense on all tracks"
            yield f"track_skew_sectors = {skew} # [D] hides a head switch with settling"
            yield f"cylinder_skew_sectors = {cylinder_skew} # [D] hides a seek with settling"
            first += count


def _sectors(blocks: float) -> int:
    """Return the nearest whole number of sectors, in blocks; at least one."""
    return max(1, round(blocks / _SECTOR_BLOCKS)) * _SECTOR_BLOCKS


def _cylinders(blocks: int, held: list[int]) -> list[int] | None:
    """Return the cylinders of zones of one size, the last smaller, that hold so many blocks.

    If the last would have none, the first zones have one cylinder more than the others. ``None`` if
    a cylinder of each zone is too much.
    """
    size = math.ceil(blocks / sum(held))
    for count in (size, size + 1):
        last = math.ceil((blocks - count * sum(held[:-1])) / held[-1])
        if 1 <= last <= count:
            return [count] * (len(held) - 1) + [last]
    for more in range(1, len(held)) if size > 1 else ():
        cylinders = [size] * more + [size - 1] * (len(held) - more)
        if blocks <= sum(map(operator.mul, cylinders, held)):
            return cylinders
    return None


def sled(
    *,
    travel_um: float,
    tips: int,
    bit_nm: float,
    acceleration_m_s2: float,
    resonance_hz: float,
    name: str = "sled",
    **further: Any,
) -> Sled:
    """Make a sled from its travel, tips, bits, acceleration and resonance; the rest is as of g2.

    Parameters
    ----------
    travel_um
        Full travel in X and Y.
    tips
        How many, a fifth of which are active at once unless ``active_tips`` is among ``further``.
    bit_nm
        Side of a bit cell.
    acceleration_m_s2
        Of the actuators, in X and Y.
    resonance_hz
        Of the sled on its springs; settling takes ``settling_constants`` of its time constants.
    name
        The name of the device.
    **further
        Other keys of a sled: ``tip_rate_kbit_s=1000``.

    Raises
    ------
    SledsimError
        For a value out of range, an unknown key, and values from which no sled can be built.
    """
    travel = real("travel_um", travel_um, 1e-3, 1e6)
    acceleration = real("acceleration_m_s2", acceleration_m_s2, 1e-3, 1e9)
    count = whole("tips", tips, 1)
    sources = {
        "tips": (count, "[S]"),
        "active_tips": (count // 5, "[D] a fifth of the tips, as of g2"),
        "bit_cell_nm": (real("bit_nm", bit_nm, 1e-3, 1e6), "[S] bit_nm"),
        "travel_x_um": (travel, "[S] travel_um"),
        "travel_y_um": (travel, "[S] travel_um"),
        "acceleration_x_m_s2": (acceleration, "[S] acceleration_m_s2"),
        "acceleration_y_m_s2": (acceleration, "[S] acceleration_m_s2"),
        "resonance_hz": (real("resonance_hz", resonance_hz, 1e-3, 1e9), "[S]"),
        "spring_reference_um": (travel / 2, "[D] half the travel"),
        **{key: (value, "[S]") for key, value in further.items()},
    }
    keys = {key: value for key, (value, _) in sources.items()}
    whole_file = device("g2", **{"title": f"Sled of {count:,} tips from a data sheet", **keys})
    lines = [
        f"# A sled made from a data sheet: {count:,} tips, bits of {bit_nm:g} nm.",
        "# [S] given; [D] derived, by the rule beside it; [A] assumed, as nothing was given.",
        "# Models and does not model what g2 does: see its file.",
    ]
    for line in whole_file.to_toml().splitlines():
        stated, _, source = line.partition(" # ")
        key = stated.partition(" ")[0]
        if key in sources:
            lines.append(f"{stated} # {sources[key][1]}")
        elif not line.startswith("#"):
            lines.append(f"{stated} # [A] as g2: {source}" if source else line)
    made = Sled.from_toml("\n".join(lines) + "\n", text("name", name))
    assert isinstance(made, Sled)
    return made
