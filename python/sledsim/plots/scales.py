"""Axes: logarithmic ones with labels that have room, and numbers on them."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Literal

from sledsim.plots import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LOG_FROM = 10
"""From this ratio of the largest to the smallest on, an axis is logarithmic."""
_PLAIN = range(-4, 6)
"""Powers of ten that are written out."""
_RAISED = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
"""Digits and sign of exponents."""
_UNIT = 12
"""Most characters of a unit."""
_LETTER_IN = 0.07
_SHORT = 5
"""Characters of a number that needs no more room than others."""
_NEAR_ZERO = 0.5
"""Decades that the linear part of an axis of both signs takes on each side."""
_EDGE = 0.06
"""What is free at each end of an axis that has labels at its values, as a share."""
_LONG = 6
"""Characters of a label from which on there is no room for those between powers of ten."""
_LABELS_PER_INCH = {"x": 2.5, "y": 3.5}


def fit(axes: Axes, which: Literal["x", "y"], values: Iterable[float], *, from_zero: bool) -> None:
    """Choose a scale for values: logarithmic if they are positive and far apart, else linear.

    Parameters
    ----------
    axes
        The axes, of their final size but for what the layout takes.
    which
        The axis.
    values
        All values that the axis must show.
    from_zero
        Whether a linear axis begins at zero.
    """
    found = [value for value in values if math.isfinite(value)]
    low, high = min(found, default=0.0), max(found, default=0.0)
    if high > LOG_FROM * low > 0:
        logarithmic(axes, which, low, high)
        return
    if from_zero and low >= 0:
        axes.set(**{f"{which}lim": (0, 1.05 * high or 1)})
    linear(axes, which)


def linear(axes: Axes, which: Literal["x", "y"], share: float = 1.0) -> None:
    """Label a linear axis at round numbers, in a share of the room that axes alone would have."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis: Axis = getattr(axes, f"{which}axis")
    room = share * inches_of(axes)[which == "y"] * _LABELS_PER_INCH[which]
    if which == "x":  # names beside the axes take their room, long numbers need more
        names = [name.get_text() for name in axes.get_yticklabels() if name.get_text()]
        beside = max((texts.width_in(name, "medium") for name in names), default=0.0)
        room -= max(0.0, beside - _SHORT * _LETTER_IN) * _LABELS_PER_INCH["x"]
        room *= min(1.0, _SHORT / len(f"{max(axis.get_view_interval()):,.0f}"))
    axis.set_major_locator(MaxNLocator(max(1, min(8, int(room))), steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def signed(axes: Axes, values: Sequence[float]) -> None:
    """Scale the X axis for values of both signs: linear near zero, beyond it logarithmic.

    It is linear throughout where most values lie within a tenth of the farthest.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    sizes = sorted(abs(value) for value in values if value)
    if not sizes or sizes[-1] <= LOG_FROM * sizes[len(sizes) // 2]:
        linear(axes, "x")
        return
    first = math.floor(math.log10(sizes[len(sizes) // 20]))
    axes.set_xscale("symlog", linthresh=10.0**first, linscale=_NEAR_ZERO)
    low = 1.3 * min(*values, 0.0) or -(10.0**first)
    high = 1.3 * max(*values, 0.0) or 10.0**first
    axes.set_xlim(low, high)
    powers = range(first, math.ceil(math.log10(sizes[-1])) + 1)
    decades = sum(_NEAR_ZERO + max(0.0, math.log10(abs(end)) - first) for end in (low, high))
    longest = max(len(plain(-(10.0**power))) for power in powers)
    apart = (longest + 1) * _LETTER_IN * decades / inches_of(axes)[0]
    sides, last = [], 0.0
    for power in powers:
        place = _NEAR_ZERO + power - first
        if place - last >= apart:
            sides.append(10.0**power)
            last = place
    axes.xaxis.set_major_locator(FixedLocator([*(-each for each in sides), 0.0, *sides]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def at_values(
    axes: Axes, values: Sequence[float], written: Callable[[float], str] | None = None
) -> None:
    """Label the X axis at rising values, or at as many of them as have room.

    It is logarithmic if they are more evenly apart there.
    """
    from matplotlib import rcParams  # an extra
    from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, NullFormatter

    write = written or plain
    log = values[0] > 0 and values[-1] > 4 * values[0] and len(values) > 2
    if log:
        steps = [after - before for before, after in itertools.pairwise(values)]
        ratios = [math.log(after / before) for before, after in itertools.pairwise(values)]
        log = max(steps) / min(steps) > max(ratios) / min(ratios)
    ends = [math.log(value) if log else value for value in (values[0], values[-1])]
    edge = _EDGE * (ends[1] - ends[0]) or 0.5
    limits = [ends[0] - edge, ends[1] + edge]
    axes.set_xscale("log" if log else "linear")
    axes.set_xlim(*([math.exp(end) for end in limits] if log else limits))
    size = texts.points(rcParams["xtick.labelsize"])
    needs = [texts.width_in(write(value), size) + 0.06 for value in values]

    class Values(Locator):
        """Finds the ticks when the picture is drawn, as the room is known only then."""

        def __call__(self) -> list[float]:
            places = [(math.log(value) if log else value) - limits[0] for value in values]
            scale = inches_of(axes)[0] / (limits[1] - limits[0])

            def apart(one: int, other: int) -> bool:
                room = (places[other] - places[one]) * scale
                return room >= (needs[one] + needs[other]) / 2

            shown = [0]
            last = len(values) - 1
            for place in range(1, last):
                if apart(shown[-1], place) and apart(place, last):
                    shown.append(place)
            ends = [last] if apart(0, last) else []
            return [values[place] for place in [*shown, *ends]]

    axes.xaxis.set_major_locator(Values())
    axes.xaxis.set_minor_locator(FixedLocator(list(values)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def ends(values: Iterable[float]) -> tuple[float, float]:
    """Return the least and the largest of the values that a logarithmic axis can show."""
    found = [value for value in values if math.isfinite(value) and value > 0]
    return min(found, default=1.0), max(found, default=1.0)


def logarithmic(axes: Axes, which: Literal["x", "y"], low: float, high: float) -> None:
    """Make an axis logarithmic, for values from ``low`` to ``high``, both positive.

    Up to three decades 1, 2 and 5 are labelled, beyond them powers of ten, as many as have room.
    """
    from matplotlib.ticker import (
        FixedLocator,
        FuncFormatter,
        Locator,
        NullFormatter,
    )

    class Decades(Locator):
        """Finds the ticks when the picture is drawn, as the room is known only then."""

        def __call__(self) -> list[float]:
            return log_ticks(low, high, inches_of(axes)[which == "y"] * _LABELS_PER_INCH[which])

    axis: Axis = getattr(axes, f"{which}axis")
    axes.set(**{f"{which}scale": "log"})
    beyond = max(1.1, (high / low) ** 0.03)  # room for marks at the ends
    axes.set(**{f"{which}lim": (low / beyond, high * beyond)})
    first, last = math.floor(math.log10(low / 1.1)), math.ceil(math.log10(high * 1.1))
    powers = [10.0**power for power in range(first, last + 1)]
    axis.set_major_locator(Decades())
    axis.set_minor_locator(FixedLocator([p * step for p in powers for step in range(2, 10)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def log_ticks(low: float, high: float, room: float) -> list[float]:
    """Return the ticks of a logarithmic axis that has room for so many labels."""
    room = max(2.0, room)
    first, last = math.floor(math.log10(low / 1.1)), math.ceil(math.log10(high * 1.1))
    decades = math.log10(high / low)
    powers = [10.0**power for power in range(first, last + 1)]
    if decades > 3:
        every = math.ceil(decades / room)
        inside = [
            power for power in range(first, last + 1) if low / 1.1 <= 10.0**power <= high * 1.1
        ]
        begins = min(range(every), key=lambda begin: -len(inside[begin::every]))
        return [10.0**power for power in inside[begins::every]]
    ticks = [power * step for power in powers for step in (1, 2, 5)]
    shown = [tick for tick in ticks if low / 1.1 <= tick <= high * 1.1]
    if len(shown) > room or any(len(plain(tick)) > _LONG for tick in shown):
        ticks = powers if decades > 1.2 else [p * step for p in powers for step in (1, 5)]
    return ticks


def inches_of(axes: Axes) -> tuple[float, float]:
    """Return the width and height of axes in inches, about: the layout changes them a little."""
    figure, box = axes.get_figure(root=True), axes.get_position()
    assert figure is not None
    width, height = figure.get_size_inches()
    return float(width * box.width), float(height * box.height)


def wrapped(axes: Axes, label: str, which: Literal["x", "y"] = "x") -> str:
    """Break the label of an axis into lines that are not longer than the axis."""
    words, comma, unit = label.rpartition(", ")
    if comma and len(unit) <= _UNIT:
        label = f"{words},\u00a0{unit}"  # not alone on a line
    return texts.wrapped(label, max(1.1, inches_of(axes)[which == "y"]))


def plain(value: float) -> str:
    """Write a number of an axis: 0.001 to 100,000 in full, others as powers of ten."""
    if value == 0:
        return "0"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    if power in _PLAIN:
        return f"{value:,.10g}"
    factor = round(value / 10.0**power, 6)
    ten = f"10{str(power).translate(_RAISED)}"
    return ten if factor == 1 else f"{factor:g}\u00d7{ten}"
