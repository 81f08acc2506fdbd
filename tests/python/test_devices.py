"""The classes of devices: their attributes, and the class of each preset."""

from __future__ import annotations

from typing import get_args

import pytest
import sledsim as ss
from sledsim._name_types import CompositeName, DiskName, SledName

CLASSES = {
    **dict.fromkeys(get_args(SledName), ss.Sled),
    **dict.fromkeys(get_args(DiskName), ss.Disk),
    **dict.fromkeys(get_args(CompositeName), ss.Composite),
}
OF_SLEDS = [name for name in vars(ss.Sled) if not name.startswith("_")]


def test_type_checkers_know_what_the_core_makes_of_every_preset() -> None:
    made = {name: type(ss.device(name)) for name in ss.devices()}
    assert made == dict.fromkeys(ss.devices(), ss.Device) | CLASSES


@pytest.mark.parametrize("name", OF_SLEDS)
@pytest.mark.parametrize("device", ["atlas10k", "memory", "mcd"])
def test_methods_of_sleds_are_refused_on_other_devices(device: str, name: str) -> None:
    made = ss.device(device)
    if name in vars(type(made)):  # disks have places and seeks of their own
        return
    with pytest.raises(ss.SledsimError) as refused:
        getattr(made, name)
    says = f"device '{device}' has no sled of its own: must be of kind \"mems\""
    assert str(refused.value) == says


def test_other_names_are_attribute_errors() -> None:
    for name in ("g2", "memory", "mcd"):
        with pytest.raises(AttributeError, match="has no attribute 'zones'") as refused:
            ss.device(name).zones()  # type: ignore[attr-defined]
        assert (refused.value.name, type(refused.value.obj)) == (
            "zones",
            CLASSES.get(name, ss.Device),
        )


def test_a_cache_before_a_sled_makes_a_composite() -> None:
    cached = ss.device("g2", controller_cache={"cache_mib": 8})
    assert type(cached).__name__ == "Composite"
