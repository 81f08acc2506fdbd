"""Sections 2.1 and 2.4.5: what sledsim has no model of."""

from matplotlib.figure import Figure

from sledsim.papers import Found


def simulate(*, quick: bool) -> Found:  # nothing is run
    """Return nothing: no value is simulated."""
    return Found({})


def draw(figure: Figure, found: Found) -> None:  # there is nothing to draw
    """Say that there is nothing to draw."""
    figure.set_size_inches(6.4, 0.8)
    figure.text(0.5, 0.5, "not modelled", ha="center", va="center")
