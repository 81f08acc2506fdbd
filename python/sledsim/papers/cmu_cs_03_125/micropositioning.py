"""Section 5.2.7: the gain of micropositioning for capsules."""

from sledsim.papers import Found
from sledsim.papers.cmu_cs_03_125 import sample

WIDTHS = {"a1": 8, "a2": 68}
"""Sixty records have one page of a1 and nine of a2."""
REACH = 5
"""Cylinders, as in section 2.2."""
SCANS = {"all": ("a1", "a2"), "a1": ("a1",)}


def simulate(*, quick: bool) -> Found:
    """Scan a table of capsules of ten blocks, and count the blocks that tips can choose from."""
    count = 400_000 if quick else 4_000_000
    data = sample.records(count, WIDTHS)
    plain = sample.scans(data, "capsule", SCANS)
    reaching = sample.scans(data, "capsule", SCANS, micropositioning_cylinders=REACH)
    device, wider = sample.memstore(), sample.memstore(micropositioning_cylinders=REACH)
    middle = device.blocks // 2
    choices = len(wider.equivalent(middle)) / len(device.equivalent(middle))
    return Found(
        {
            "tenth": plain["a1"][0] / plain["all"][0],
            "unchanged": reaching["a1"][0] / plain["a1"][0],
            "more_choices": choices - 1,
        }
    )
