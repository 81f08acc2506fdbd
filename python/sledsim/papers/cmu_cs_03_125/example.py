"""The three-by-three device of Figures 2 and 3."""

from typing import Any

from sledsim.hardware import Sled, device

SQUARES, AT_ONCE = 9, 3
CELLS = 3
"""Columns and rows of a square."""


def example(**keys: Any) -> Sled:
    """Return a device of nine squares with nine blocks each, three of them read at once."""
    own = device("cmu2003").parameters
    tips, bit_um = own["tips_per_lbn"], own["bit_cell_nm"] / 1000
    row_bits = own["servo_bits"] + own["tip_sector_bits"]
    made: Sled = device(
        "cmu2003",
        tips=SQUARES * tips,
        active_tips=AT_ONCE * tips,
        travel_x_um=CELLS * bit_um,
        travel_y_um=(CELLS * row_bits + own["servo_bits"]) * bit_um,
        **keys,
    )
    return made
