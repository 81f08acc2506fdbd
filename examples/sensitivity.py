"""Sensitivity of the mean service time of a sled to each of its parameters.

Run it as ``python examples/sensitivity.py [--device g2] [--share 0.2] [--output FILE]``. SIGMETRICS
2000, section 3.3, varies data rate, settling and springs. This varies all parameters, under the
paper's random load (67 % reads, 4 KiB in the mean, uniform, one request after the other): every
number in the device file goes down and up by a share (0 and inf: as far as a MEMS preset goes),
every choice takes its other values. All devices see the same seeds, so that most of what differs
from seed to seed is subtracted.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import sledsim as ss
from matplotlib.figure import Figure
from shared import INK, picture_path, write_results
from sledsim.plots.style import BLUE, FAINT, GREEN, VERMILION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

NOT_PARAMETERS = {
    "title": "a name",
    "base": "where the other values are from",
    "kind": "another kind has other parameters",
}
DOWN, UP, OTHER, BAND = BLUE, VERMILION, GREEN, FAINT


@dataclass(frozen=True)
class Setting:
    """A device with one parameter at another value."""

    parameter: str
    value: object
    device: ss.Device


@dataclass
class Plan:
    """The settings to measure, and the parameters left out, with reasons."""

    name: str
    share: float
    settings: list[Setting] = field(default_factory=list)
    refused: list[dict[str, object]] = field(default_factory=list)
    not_varied: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Go through all keys of the device."""
        self.base = ss.device(self.name)
        self.parameters = self.base.parameters
        if (kind := self.parameters["kind"]) != "mems":
            raise ss.SledsimError(f'--device {self.name}: kind = "{kind}": must be "mems"')
        for key, value in self.parameters.items():
            if reason := NOT_PARAMETERS.get(key):
                self.leave_out(key, reason)
                continue
            choice = isinstance(value, bool) or (isinstance(value, str) and value != "inf")
            found = list(self.others(key) if choice else self.shares(key, value))
            self.settings += found
            if not found and not any(entry["parameter"] == key for entry in self.not_varied):
                self.leave_out(key, "every value tried is refused, see there")

    def leave_out(self, key: str, reason: str) -> None:
        """Record why a parameter is not varied."""
        entry = {"parameter": key, "value": self.parameters[key], "reason": reason}
        self.not_varied.append(entry)

    def attempt(self, key: str, value: object) -> Setting | str:
        """Return the device with another value, or why there is none."""
        changed: dict[str, Any] = {key: value}
        try:
            return Setting(key, value, ss.device(self.name, **changed))
        except ss.SledsimError as error:
            return str(error)

    def others(self, key: str) -> Iterator[Setting]:
        """Yield every other value of a choice: the error for a wrong one lists them."""
        allowed = str(self.attempt(key, "?")).partition("must be")[2]
        for word in re.findall(r'\b(?:true|false)\b|(?<=")\w+(?=")', allowed):
            value = {"true": True, "false": False}.get(word, word)
            if value != self.parameters[key]:
                yield from self.accepted(key, value, ())

    def shares(self, key: str, value: float | str) -> Iterator[Setting]:
        """Yield a number a share lower and higher; 0 and inf as far as a MEMS preset goes."""
        if value in {0, "inf"}:
            presets = [ss.device(name).parameters for name in ss.devices()]
            known = {preset.get(key, value) for preset in presets if preset["kind"] == "mems"}
            if known := known - {value, "inf"}:
                yield from self.accepted(key, max(known) if value == 0 else min(known), ())
            else:
                self.leave_out(key, f"a share of {value} says nothing, and all presets have it")
            return
        for factor in (1 - self.share, 1 + self.share):
            target = float(f"{float(value) * factor:.12g}")  # 0.9, not 0.8999999999999999
            nearest: list[int] = []
            if isinstance(value, int):
                side = range(1, value) if factor < 1 else range(value + 1, 2 * value + 1)
                nearest = sorted(side, key=lambda whole: abs(whole - target))
            yield from self.accepted(key, int(target) if target.is_integer() else target, nearest)

    def accepted(self, key: str, value: object, instead: Sequence[int]) -> Iterator[Setting]:
        """Yield the setting, or the first that is accepted instead; keep what is refused."""
        reasons, taken = [], None
        for candidate in (value, *instead):
            found = self.attempt(key, candidate)
            if isinstance(found, Setting):
                taken = candidate
                yield found
                break
            reasons.append(found)
        if reasons:
            reason = "; ".join(reasons[:2]) if taken is None else reasons[0]
            entry = {"parameter": key, "value": value, "reason": reason, "instead": taken}
            self.refused.append(entry)


def measure(plan: Plan, requests: int, seeds: int) -> list[list[list[float]]]:
    """Return mean service and response times in ms: by device, kind of time and seed."""
    changed = [{"base": plan.name, each.parameter: each.value} for each in plan.settings]
    table = (
        ss.sweep(
            {"workload": "random", "requests": requests},
            grid={"device": [plan.name, *changed]},
            replications=seeds,
        )
        .check()
        .table
    )
    kinds = [table.column(f"{kind}_time_ms.mean") for kind in ("service", "response")]
    firsts = range(0, len(table), seeds)
    return [[times[first : first + seeds] for times in kinds] for first in firsts]


def explore(name: str, share: float, requests: int, seeds: int) -> dict[str, Any]:
    """Measure everything. The result is printed, drawn and written."""
    plan = Plan(name, share)
    devices = [plan.base, *(setting.device for setting in plan.settings)]
    base, *others = measure(plan, requests, seeds)
    gb = [device.spec["derived"]["capacity_bytes"] / 1e9 for device in devices]
    rows: dict[str, dict[str, Any]] = {}
    for setting, times, capacity_gb in zip(plan.settings, others, gb[1:], strict=True):
        service, response = (
            [other - own for other, own in zip(*pair, strict=True)]
            for pair in zip(times, base, strict=True)
        )
        key, value = setting.parameter, plan.parameters[setting.parameter]
        row = rows.setdefault(key, {"parameter": key, "value": value, "variants": []})
        row["variants"].append(
            {
                "value": setting.value,
                "service_change_ms": fmean(service),
                "service_change_range_ms": [min(service), max(service)],
                "response_change_ms": fmean(response),
                "capacity_gb": capacity_gb,
            }
        )
    for row in rows.values():
        ends = [0.0, *(variant["service_change_ms"] for variant in row["variants"])]
        row["swing_ms"] = max(ends) - min(ends)
    by_swing = sorted(rows.values(), key=lambda row: -row["swing_ms"])
    choices = [row for row in by_swing if isinstance(row["variants"][0]["value"], str | bool)]
    return {
        "device": plan.base.name,
        "share": share,
        "requests": requests,
        "seeds": seeds,
        "service_ms": fmean(base[0]),
        "service_range_ms": [min(base[0]), max(base[0])],
        "response_ms": fmean(base[1]),
        "capacity_gb": gb[0],
        "parameters": [row for row in by_swing if row not in choices],
        "choices": choices,
        "refused": plan.refused,
        "not_varied": plan.not_varied,
    }


# The tables and the picture -------------------------------------------------------------------


def plain(value: object) -> str:
    """Write a value as a device file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def tables(result: dict[str, Any]) -> str:
    """Return everything as text."""
    lines = [("parameter", "is", "set to", "service ms", "over the seeds", "%", "response ms", "")]
    for row in result["parameters"] + result["choices"]:
        names = [(row["parameter"], plain(row["value"]))] + [("", "")] * len(row["variants"])
        for name, variant in zip(names, row["variants"], strict=False):
            change, ends = variant["service_change_ms"], variant["service_change_range_ms"]
            percent = f"{100 * change / result['service_ms']:+.2f}"
            times = (f"{change:+.4f}", "{:+.4f} to {:+.4f}".format(*ends), percent)
            capacity = variant["capacity_gb"]
            gb = "" if capacity == result["capacity_gb"] else f"{capacity:.2f} GB"
            response = f"{variant['response_change_ms']:+.4f}"
            lines.append((*name, plain(variant["value"]), *times, response, gb))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    page = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    for title, entries in (("Refused", result["refused"]), ("Not varied", result["not_varied"])):
        page += ["", f"{title}:"] if entries else []
        for entry in entries:
            instead = entry.get("instead")
            after = "" if instead is None else f"; {plain(instead)} instead"
            page.append(
                f"  {entry['parameter']} = {plain(entry['value'])}: {entry['reason']}{after}"
            )
    return "\n".join(page)


def noise(result: dict[str, Any]) -> str:
    """Describe the accuracy of the numbers."""
    rows = result["parameters"] + result["choices"]
    ends = [variant["service_change_range_ms"] for row in rows for variant in row["variants"]]
    low, high = result["service_range_ms"]
    confidence = 100 * (1 - 0.5 ** (result["seeds"] - 1))
    return (
        f"{result['device']}: mean service time {result['service_ms']:.4f} ms, {low:.4f} to"
        f" {high:.4f} over {result['seeds']} seeds of {result['requests']:,} requests.\n"
        "Changes are taken seed by seed: over the seeds they differ by at most"
        f" {max(last - first for first, last in ends):.4f} ms.\n"
        f"Such a range holds the median of all seeds with {confidence:.1f} % confidence.\n"
        f"Numbers go {100 * result['share']:g} % down and up; 0 and inf, as far as a MEMS preset."
    )


def draw_rows(ax: Axes, result: dict[str, Any], rows: list[tuple[str, list[Any]]]) -> None:
    """Draw the changes as bars, row by row; of two, the one for the lower value is on top."""
    percent = 100 / result["service_ms"]
    ax.axvspan(*(end * percent - 100 for end in result["service_range_ms"]), color=BAND)
    for y, (_, bars) in enumerate(rows):
        for bar, (colour, variant) in enumerate(bars):
            place = y + 0.4 * (bar - (len(bars) - 1) / 2)
            change = percent * variant["service_change_ms"]
            ends = [percent * end for end in variant["service_change_range_ms"]]
            ax.barh(place, change, 0.4, color=colour)
            ax.plot(ends, [place] * 2, color=INK, linewidth=1, marker="|", markersize=4)
        note = " / ".join(f"{percent * v['service_change_ms']:+.2f}" for _, v in bars)
        if any(v["capacity_gb"] != result["capacity_gb"] for _, v in bars):
            note += " *"
        elif all(v["service_change_range_ms"] == [0, 0] for _, v in bars):
            note = "response only"
        side = ax.get_yaxis_transform()
        ax.text(1.01, y, note.replace("-", "\u2212"), transform=side, va="center", fontsize="small")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(rows)), [label for label, _ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)


def has_effect(result: dict[str, Any], variant: dict[str, Any]) -> bool:
    """Whether a variant changes any time, or the capacity."""
    times = (*variant["service_change_range_ms"], variant["response_change_ms"])
    return any(times) or variant["capacity_gb"] != result["capacity_gb"]


def picture(result: dict[str, Any]) -> Figure:
    """Draw the tornado of the numbers, and the choices under it."""
    numbers, choices = [], []
    for row in result["parameters"]:
        value = math.inf if row["value"] == "inf" else row["value"]
        bars = [(DOWN if v["value"] < value else UP, v) for v in row["variants"]]
        below, above = ([plain(v["value"]) for c, v in bars if c == way] for way in (DOWN, UP))
        label = " → ".join([*below, plain(row["value"]), *above])
        numbers.append((f"{row['parameter']}   {label}", bars))
    for row in result["choices"]:
        for variant in row["variants"]:
            label = f"{row['parameter']}   {plain(row['value'])} → {plain(variant['value'])}"
            choices.append((label, [(OTHER, variant)]))
    rows = len(numbers) + len(choices)
    numbers, choices = (
        [(label, bars) for label, bars in part if any(has_effect(result, v) for _, v in bars)]
        for part in (numbers, choices)
    )
    left_out = rows - len(numbers) - len(choices)
    heights = [max(len(numbers), 1), 0.8 * max(len(choices), 1)]
    figure = Figure(figsize=(9, 1.8 + 0.29 * sum(heights)))
    top, bottom = figure.subplots(2, sharex=True, height_ratios=heights)
    draw_rows(top, result, numbers)
    draw_rows(bottom, result, choices)
    bottom.set_xlabel(
        f"change of the mean service time (% of {result['service_ms']:.3f} ms)"
        f"      * the capacity changes, too\n{left_out} rows are left out: they have no effect"
    )
    figure.suptitle(
        f"{result['device']}: every number {100 * result['share']:g} % lower and higher, or the"
        " nearest that is allowed\n(0 and inf: as far as a MEMS preset goes); every other choice"
    )
    handles = [
        mpl.patches.Patch(color=DOWN, label="lower value"),
        mpl.patches.Patch(color=UP, label="higher value"),
        mpl.patches.Patch(color=OTHER, label="other choice"),
        mpl.lines.Line2D([], [], color=INK, marker="|", label="the change, over all seeds"),
        mpl.patches.Patch(color=BAND, label="unchanged, over all seeds"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description="Sensitivity of the service time of a sled")
    parser.add_argument("--device", default="sigmetrics2000", help="preset or file (%(default)s)")
    parser.add_argument("--share", type=float, default=0.2, help="how far to go (%(default)s)")
    parser.add_argument("--requests", type=int, help="requests of a run (50000, quick: 2000)")
    parser.add_argument("--seeds", type=int, help="runs of each device, 2 or more (6, quick: 3)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the numbers")
    parser.add_argument("--output", type=picture_path, help="the picture: .png, .svg or .pdf")
    options = parser.parse_args(arguments)
    requests, seeds = options.requests, options.seeds
    requests = (2_000 if options.quick else 50_000) if requests is None else requests
    seeds = (3 if options.quick else 6) if seeds is None else seeds
    if not 0 < options.share < 1:
        parser.error(f"--share {options.share}: must be above 0 and below 1")
    if seeds < 2:
        parser.error(
            f"--seeds {seeds}: must be 2 or more, as one does not tell how far they differ"
        )
    try:
        result = explore(options.device, options.share, requests, seeds)
        print(tables(result), noise(result), sep="\n\n")
        write_results(options, result, picture)
    except (ss.SledsimError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
