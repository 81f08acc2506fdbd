"""The page of a validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledsim._number_text import number
from sledsim.show.pages import differences, sheets
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.validations import sheet

if TYPE_CHECKING:
    from sledsim.show.pages.parts import Report
    from sledsim.validation import Validation

_PANEL_IN = 3.7
"""Height of a further panel of the picture, with its legend."""


def report(validation: Validation) -> Report:
    """Return the page of a validation."""
    document = validation.to_dict()
    figure = number(document["demerit_ms"]["all"], 3)
    further_in = _PANEL_IN * max(1, len(document["parts"] or ()))
    picture = drawn(
        "validation",
        validation,
        caption="How many requests took no longer than a time, measured and simulated. The"
        " distance between the lines is the error of the model.",
        alt=f"Distributions of measured and simulated times; demerit figure {figure} ms.",
        size=panel({"": validation.cautions}, further_in),
    )
    return sheets.report(
        sheet(validation),
        ("Measured against simulated", [picture]),
        differences.against_base(validation.origin.device) if validation.origin else None,
        made_from=validation.made_from(),
    )
