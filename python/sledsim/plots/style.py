"""The style of all pictures: fonts, colours, line styles.

No colour has two meanings: devices, causes, operations and verdicts have colours of their own. The
colours of each kind remain apart for readers who see two of the three basic colours only, and
those of lines and text have a contrast of 3 to 1 at least against white; the tests measure both.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim.results.causes import CAUSES as CAUSE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

INK, QUIET, FAINT = "#1b1f24", "#56606b", "#d3d7dc"
"""Of text and axes; of what stands back; of grids."""

BLUE, VERMILION, GREEN, VIOLET, RED, SLATE, INDIGO, PLUM = COLOURS = (
    "#0072b2",
    "#d55e00",
    "#149a70",
    "#8527fc",
    "#6c0004",
    "#8b91ad",
    "#11188d",
    "#541744",
)
"""Of lines: devices, schedulers, and other things that a picture compares."""

_OF_NAMES = {
    "sigmetrics2000": VERMILION,
    "osdi2000": PLUM,
    "g1": VIOLET,
    "g2": BLUE,
    "g3": GREEN,
    "cmu2003": INDIGO,
    "msst2005": GREEN,
    "mems": GREEN,
    "atlas10k": RED,
    "atlas10k50mbps": VERMILION,
    "nearline20t": PLUM,
    "exos2x18": GREEN,
    "superdisk": INDIGO,
    "flash": SLATE,
    "memory": PLUM,
    "disk": VERMILION,
    "mcd": VIOLET,
    "mwb": INDIGO,
    "diskram": RED,
    "fcfs": SLATE,
    "clook": VERMILION,
    "sstflbn": VIOLET,
    "sptf": BLUE,
    "agedsptf": INDIGO,
    "zonesptf": GREEN,
}
"""Of devices and schedulers that come with sledsim, by the letters and digits of their names, in
lower case; another has the one that its name leads to."""

DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.6)),
    (0, (1.4, 1.2)),
    (0, (6, 1.6, 1.4, 1.6)),
    (0, (9, 2.4)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (2.6, 2.6)),
    (0, (9, 1.6, 3, 1.6)),
)
MARKERS = "osD^vP*X"

CAUSES = dict(
    zip(
        CAUSE_NAMES,
        (
            "#da959b",
            "#fbda1a",
            "#69bfe2",
            "#ec8964",
            "#bdfeb6",
            "#b0a30b",
            "#9298ff",
            "#75fdf3",
            "#e2f87d",
        ),
        strict=True,
    )
)
"""The fill of each cause; all have an outline."""

RUN_TIMES = {"compute_s": "#5b4636", "stall_device_s": "#b58a5f", "stall_way_s": "#eadccb"}
"""The fill of each part of an application's run time; all have an outline."""

HEAT = "cividis"
"""The colours of maps: dark for little, light for much, and alike for the colour-blind."""

OPS = {"read": "#34495e", "write": "#a9b7c6"}
"""The fill of operations where no device is compared; they have an outline."""
OP_LINES: dict[str, dict[str, Any]] = {
    "all": {"color": INK, "linestyle": "solid", "linewidth": 1.0},
    "read": {"linestyle": "solid"},
    "write": {"linestyle": DASHES[2]},
}
"""The lines of operations on one device, in the colour of the device."""

VERDICTS: dict[str, str] = {
    "reproduced": "#1f6b1a",
    "conditional": "#0e8ca8",
    "calibrated": "#b08800",
    "input": QUIET,
    "repeat": QUIET,
    "contradiction": "#7818d8",
    "erratum": "#b21fc0",
    "not_modelled": FAINT,
    "missed": "#ee4058",
}
"""Of verdicts on published values."""

UNRELIABLE_HATCH = "////"
"""Over a bar whose mean is not to be relied on."""

STYLE: Any = {
    "figure.constrained_layout.use": True,
    "figure.titlesize": "large",
    "figure.titleweight": "bold",
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,  # names are shown as they are: `a$b$`
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "patch.edgecolor": INK,
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.5,
    "hatch.color": INK,
    "hatch.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.7,
    "errorbar.capsize": 3,
}
NARROW: Any = {
    "font.size": 8.5,
    "figure.titlesize": "medium",
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "lines.linewidth": 1.3,
}
"""What differs in pictures of at most :data:`NARROW_IN`."""
NARROW_IN = 4.0
SAVING: Any = {
    "pdf.fonttype": 42,  # TrueType: venues refuse Type 3
    "ps.fonttype": 42,
    "svg.fonttype": "none",  # text stays text: it takes the font of the page
    "svg.hashsalt": "sledsim",
}


def of_user(key: Any) -> bool:
    """Return whether the user set a parameter of matplotlib: it differs from the default."""
    import matplotlib as mpl  # an extra

    return bool(mpl.rcParams[key] != mpl.rcParamsDefault[key])


def applied(width_in: float) -> AbstractContextManager[None]:
    """Return the context of this style for a width: what the user set wins over it."""
    import matplotlib as mpl  # an extra

    ours = STYLE | (NARROW if width_in <= NARROW_IN else {})
    return mpl.rc_context({key: value for key, value in ours.items() if not of_user(key)})


def heat_colours() -> str:
    """Return the name of the colours of maps, the user's own if there are such."""
    import matplotlib as mpl  # an extra

    return str(mpl.rcParams["image.cmap"]) if of_user("image.cmap") else HEAT


def own_colours() -> list[str]:
    """Return the colours of the user's cycle; none if it is that of matplotlib or of this style."""
    import matplotlib as mpl  # an extra

    colours = list(mpl.rcParams["axes.prop_cycle"].by_key().get("color", []))
    return colours if of_user("axes.prop_cycle") and colours != list(COLOURS) else []


class Look(NamedTuple):
    """How a line is drawn."""

    color: str
    dash: Any
    marker: str

    def line(self) -> dict[str, Any]:
        """Return arguments of ``Axes.plot`` for a line without markers."""
        return {"color": self.color, "linestyle": self.dash}


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return the look of each line of a picture: a colour and a line style.

    A device that comes with sledsim has the same colour in every picture. Another label has the
    colour that its name leads to, or the next one that is free. Of labels ``device, scheduler``
    the device decides if there are several, else the scheduler. More labels than colours share
    colours and differ in line style.

    Parameters
    ----------
    labels
        Distinct labels, in the order of the picture.
    """
    names = {label: label.partition(", ")[0] for label in labels}
    if len(labels) > 1 and len(set(names.values())) < 2:  # the schedulers of one device
        names = {label: label.rpartition(", ")[2] for label in labels}
        if len(set(names.values())) < 2:
            names = {label: label for label in labels}
    colours = _colours(list(dict.fromkeys(names.values())))
    taken: dict[str, int] = {}
    found = {}
    for place, (label, name) in enumerate(names.items()):
        color = colours[name]
        # A shared colour takes the next line style; others differ in both.
        number = taken.get(color, place)
        taken[color] = number + 1
        found[label] = Look(color, DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)])
    return found


def in_order(labels: Sequence[str]) -> dict[str, Look]:
    """Return the looks of things that are no devices: the first of each kind, in order.

    Devices and schedulers among them keep their colours.

    Parameters
    ----------
    labels
        Distinct labels, in the order of the picture.
    """
    known = _known(labels)
    free = own_colours() or [colour for colour in COLOURS if colour not in known.values()]
    others = [label for label in labels if label not in known]
    free = free or list(COLOURS)
    colours = known | {label: free[n % len(free)] for n, label in enumerate(others)}
    return {
        label: Look(colours[label], DASHES[n % len(DASHES)], MARKERS[n % len(MARKERS)])
        for n, label in enumerate(labels)
    }


def _key(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _known(names: Sequence[str]) -> dict[str, str]:
    """Return the colours of the names that come with sledsim, unless the user has own colours."""
    if own_colours():
        return {}
    return {name: _OF_NAMES[_key(name)] for name in names if _key(name) in _OF_NAMES}


def _colours(names: Sequence[str]) -> Mapping[str, str]:
    if own := own_colours():
        return {name: own[place % len(own)] for place, name in enumerate(names)}
    known = _known(names)
    found = dict(known)
    for name in names:
        if name not in known:
            first = zlib.crc32(name.encode()) % len(COLOURS)
            turned = COLOURS[first:] + COLOURS[:first]
            free = [colour for colour in turned if colour not in found.values()]
            found[name] = (free or turned)[0]
    return found
