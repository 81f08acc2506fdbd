"""Faults of served devices: the tips of sleds, the errors of disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sledsim._arguments import placed, shown
from sledsim._core import SledsimError, SpecError
from sledsim._input_files import content, is_file, toml
from sledsim._number_text import number
from sledsim.hardware import Device, Disk, Sled, device
from sledsim.hardware.labels import split_list
from sledsim.show.text import table

FORM = "KEY=VALUE,... as in ecc_tips=4,spare_tips=64, or the path of a TOML file"

COUNTS = {
    "tips_failed": "tips lost",
    "tips_replaced": "replaced",
    "spares_left": "spares left",
    "blocks_at_risk": "blocks at risk",
    "blocks_lost": "blocks lost",
    "blocks_given_up": "given up",
}
"""What a status has of each sled with faults, and its title."""

DISK_COUNTS = {
    "passes_retried": "passes retried",
    "retries": "retries",
    "passes_unrecovered": "unrecovered",
    "remapped_accesses": "remapped",
    "passes_delayed": "delayed",
}
"""What the summary counts of each disk with errors, and its title."""


def read(said: str, name: str = "--faults") -> dict[str, Any]:
    """Read the keys of ``[faults]``: ``KEY=VALUE,...``, or a TOML file with them."""
    if said.endswith(".toml") or is_file(said):
        try:
            found = toml(content(said))
        except OSError as error:
            raise SledsimError(f"{name} {said}: {error.strerror}") from None
        except ValueError as error:
            raise SledsimError(f"{name} {said}: {error}") from None
        inside: Any = found.get("faults", found)
        if not isinstance(inside, dict) or set(found) - set(inside) - {"faults"}:
            raise SledsimError(f"{name} {said}: must have the keys of [faults] only")
        return inside
    keys: dict[str, Any] = {}
    for word in split_list(said.removeprefix("(").removesuffix(")")):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not (key and equals and value):
            raise SledsimError(f"{name} {said}: '{word}': must be {FORM}")
        if key in keys:
            raise SledsimError(f"{name} {said}: '{word}': {key} must be given once")
        try:
            keys[key] = toml(f"value = {value}")["value"]
        except ValueError:
            keys[key] = value  # a word, as in out_of_spares=capacity
    return keys


def with_said(base: Device, said: str, name: str = "--faults") -> Device:
    """Return a sled or disk with what `read` reads; errors say where the keys come from."""
    keys = read(said, name)
    try:
        return with_faults(base, keys)
    except SpecError as error:
        argument = (error.key or "").removeprefix("device.")
        problem = str(error).removeprefix("argument ").removeprefix(f"{argument}: ")
        file = said if is_file(said) else None
        raise placed(SpecError, f"{name} {said}: {problem}", file=file, key=error.key) from None


def with_faults(base: Device, faults: Mapping[str, object] | None) -> Device:
    """Return a sled or disk with these keys in ``[faults]``; unchanged if there are none."""
    if faults is None:
        return base
    if not isinstance(faults, Mapping):
        raise placed(
            SpecError,
            f"faults = {shown(faults)}: must be a mapping of the keys of [faults]",
            key="faults",
        )
    if not isinstance(base, Sled | Disk):
        raise placed(
            SpecError,
            f"faults: '{base.name}' is no single sled or disk: how memories and flash fail is "
            "not modelled; the parts of composites have their own tables [faults]",
            key="faults",
        )
    return device(base, faults=dict(faults))


def disks(status: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Give the export, the name and the counts of each disk with errors."""
    for export in status["exports"]:
        for part in export["summary"]["devices"]:
            if set(DISK_COUNTS) <= set(part["counts"]):
                yield export["name"], part["name"], part["counts"]


def faults_table(status: Mapping[str, Any]) -> str | None:
    """Write what has failed of each export with faults; None if there are none."""
    tables = [found for found in (_sleds(status), _disks(status)) if found is not None]
    return "\n\n".join(tables) or None


def _disks(status: Mapping[str, Any]) -> str | None:
    rows = [["", "disk", *DISK_COUNTS.values()]]
    rows += [
        [export, name, *(number(counts[key]) for key in DISK_COUNTS)]
        for export, name, counts in disks(status)
    ]
    return table(rows, "<<" + ">" * len(DISK_COUNTS)) if len(rows) > 1 else None


def _sleds(status: Mapping[str, Any]) -> str | None:
    rows = [["", *COUNTS.values()]]
    rows += [
        [export["name"], *(number(export["faults"][key]) for key in COUNTS)]
        for export in status["exports"]
        if "faults" in export
    ]
    return table(rows, "<" + ">" * len(COUNTS)) if len(rows) > 1 else None
