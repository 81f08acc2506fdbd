"""Units of axes: those in which values are handy numbers."""

from __future__ import annotations


def of_time(seconds: float) -> tuple[float, str]:
    """Return the unit for a duration: its length in s, and its name."""
    for length, name in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= 3 * length:
            return length, name
    return (1e-3, "ms") if seconds >= 3e-3 else (1e-6, "\u00b5s")


def of_bytes(count: float) -> tuple[float, str]:
    """Return the unit for a number of bytes: how many they are, and its name."""
    for power, name in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 2 * 1000.0**power:
            return 1000.0**power, name
    return 1.0, "B"


def binary(count: float) -> str:
    """Write a number of bytes in binary units: ``64 KiB``."""
    for power, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << power:
            return f"{count / (1 << power):,.4g} {name}"
    return f"{count:g} B"
