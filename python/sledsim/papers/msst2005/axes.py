"""Axes of the figures of the paper."""

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator


def log_y(axes: Axes) -> None:
    """Make the vertical axis logarithmic, with plain numbers on it."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda _value, _: ""))
