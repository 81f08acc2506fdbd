"""Pictures of validations, traces, caches, studies, devices: what is drawn is what was given."""

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sledsim as ss
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch
from sledsim import plots, programs
from sledsim.cli import main
from sledsim.plots import names, style

SAMPLE = "sample:postmark-ext4"


def curve(axes: Axes, start: str) -> tuple[list[float], list[float], Any]:
    """Return the places and heights of the line whose label is so or begins so, and the line."""
    labels = [str(one.get_label()) for one in axes.lines]
    whole = start if start in labels else next(one for one in labels if one.startswith(start))
    (line,) = [one for one in axes.lines if one.get_label() == whole]
    xs, ys = (np.asarray(part, dtype=float).tolist() for part in line.get_data())
    return xs, ys, line


def plain(text: str) -> str:
    return " ".join(text.split())


def title(figure: Figure) -> str:
    return plain(figure.get_suptitle())


def mesh(axes: Axes) -> QuadMesh:
    (found,) = [one for one in axes.collections if isinstance(one, QuadMesh)]
    return found


# Validations


@pytest.fixture(scope="module")
def validation(tmp_path_factory: pytest.TempPathFactory) -> ss.Validation:
    lines = [
        f"{'RW'[i % 3 == 0]} Hit {i * i * 7919 % 17_000_000} {1 + i % 30} {4000 + 10 * i}.0 800\n"
        for i in range(90)
    ]
    path = tmp_path_factory.mktemp("validation") / "drive.validate"
    path.write_text("".join(lines), encoding="utf-8")
    return ss.validate(path, "atlas10k")


def test_a_validation_shows_every_time(validation: ss.Validation, tmp_path: Path) -> None:
    figure = validation.plot()
    left, right = figure.axes
    for op, count in (("read", 60), ("write", 30)):
        measured, simulated = validation.sorted_ms(op)
        assert len(measured) == count
        xs, shares, theirs = curve(left, f"{count} {op}s, measured")
        assert xs[1:] == measured
        assert shares[1:] == pytest.approx([(rank + 1) / count for rank in range(count)])
        assert to_hex(theirs.get_color()) == style.INK
        xs, _, ours = curve(left, f"{op}s simulated")
        assert xs[1:] == simulated
        assert to_hex(ours.get_color()) == style.looks(["atlas10k"])["atlas10k"].color
        demerit = math.dist(measured, simulated) / math.sqrt(count)
        shown = float(str(ours.get_label()).replace("\u00a0", " ").split()[-2])
        assert shown == pytest.approx(demerit, rel=0.006)
        _, ways, _ = curve(right, f"{op}s")
        assert ways[1:] == pytest.approx(np.subtract(simulated, measured).tolist())
        dotted = ours.get_linestyle() != "-"
        assert dotted == (op == "write")
    assert "measured service" in left.get_xlabel()
    assert left.get_xlabel().endswith("ms")
    assert plain(right.get_ylabel()) == "simulated less measured, ms"
    wanted = "drive.validate, 1 outstanding, against atlas10k (fcfs): demerit"
    assert title(figure).startswith(wanted)
    figure = validation.plot(tmp_path / "a.png", size="column", title="mine")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert title(figure) == "mine"


# Traces


def test_a_trace_shows_all_its_requests() -> None:
    info = ss.trace_info(SAMPLE, picture=True)
    figure = info.plot()
    arrivals, places, sizes, reuse, *_ = figure.axes
    reads = next(one for one in arrivals.patches if isinstance(one, StepPatch))
    rates, edges, _ = reads.get_data()
    assert float(np.dot(rates, np.diff(edges))) == pytest.approx(info["reads"])
    counts = np.asarray(mesh(places).get_array(), dtype=float)
    assert np.nansum(counts) == info["reads"] + info["writes"]
    bars = [bar.get_height() for bar in sizes.patches if isinstance(bar, Rectangle)]
    assert sum(bars) == pytest.approx(100.0)
    heights = np.asarray(reuse.lines[0].get_ydata(), dtype=float)
    assert float(heights[-1]) == pytest.approx(100 * info["lru_curve"][-1][1])
    assert to_hex(reads.get_facecolor()) == style.OPS["read"]
    assert [axes.get_xlabel() for axes in (arrivals, places)] == ["time, s"] * 2
    assert plain(places.get_ylabel()) == "place on device 0, MB"
    assert title(figure) == "postmark-ext4.trace.gz: 44,213 requests, 47% reads"


def test_statistics_for_a_picture_are_asked_for() -> None:
    load = ss.workload("random", rate=300, requests=500)
    figure = ss.loads.load_info(load, device="g2", picture=True).plot()
    assert title(figure).startswith("random, 300 requests/s: 500 requests")


# Caches


def test_hit_ratios_are_drawn_as_counted() -> None:
    rows = ss.hit_ratios(ss.read_trace(SAMPLE), sizes_mib=[16, 1, 256], policies=["lru", "arc"])
    figure = plots.hits(rows)
    (axes,) = figure.axes
    for policy in ("lru", "arc"):
        xs, ys, line = curve(axes, policy)
        assert xs == [2**20, 2**24, 2**28]
        found = {row["size_mib"]: 100 * row["hit_ratio"] for row in rows if row["policy"] == policy}
        assert ys == [found[1], found[16], found[256]]
        assert line.get_marker() != "None"
    ticks = [axes.xaxis.get_major_formatter()(tick) for tick in axes.get_xticks()]
    assert ticks == ["1 MiB", "16 MiB", "256 MiB"]
    assert axes.get_ylabel() == "hit ratio, %"


# Studies


@pytest.fixture(scope="module")
def study() -> ss.Study:
    base = {"device": "g2", "workload": "random", "requests": 3000}
    return ss.sweep(base, grid={"scheduler": ["fcfs", "sptf"], "rate": [200, 400, 2500]})


def test_overloaded_points_are_hollow(study: ss.Study) -> None:
    figure = study.plot("rate", "response_time_ms.p50", by="scheduler")
    (axes,) = figure.axes
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[2500.0]] * 2
    assert (
        plain(figure.get_supxlabel()) == "! hollow points are not to be relied on: overloaded (2)"
    )
    assert plain(axes.get_xlabel()) == "rate, requests/s"
    assert plain(axes.get_ylabel()) == "median response time, ms"
    assert title(figure) == "random on g2: median response time by rate and scheduler"


def test_schedulers_are_categories(study: ss.Study) -> None:
    figure = study.plot("scheduler", "response_time_ms.mean", by="rate", size="page")
    (axes,) = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["fcfs", "sptf"]
    means, firsts = pl.DataFrame(study.means), []
    for rate, text in ((200, "200"), (400, "400"), (2500, "2,500")):
        xs, ys, line = curve(axes, f"{text} requests/s")
        assert [round(x) for x in xs] == [0, 1]
        assert ys == means.filter(pl.col("rate") == rate)["response_time_ms.mean"].to_list()
        assert line.get_linestyle() == "None"
        firsts.append(xs[0])
    assert all(after - before > 0.05 for before, after in itertools.pairwise(sorted(firsts)))


LABELS = {
    "response_time_ms.mean": "mean response time, ms",
    "queue_ms.p99_9": "99.9th percentile of the queue time, ms",
    "response_time_ms.scv": "squared variation of the response time",
    "device.resonance_hz": "resonance, Hz",
    "device.acceleration_x_m_s2": "acceleration x, m/s\u00b2",
    "throughput_mb_s": "throughput, MB/s",
    "energy_j.total": "total energy, J",
    "utilisation": "utilisation",
    "rate": "rate, requests/s",
    "result.requests": "requests",
}


def test_names_are_plain_words_with_units() -> None:
    assert {name: names.label(name) for name in LABELS} == LABELS


# Devices


def test_the_map_of_seeks_is_that_of_single_seeks() -> None:
    g2 = ss.device("g2")
    assert isinstance(g2, ss.Sled)
    figure = g2.plot_seeks((10.0, -20.0))
    axes = figure.axes[0]
    times = np.asarray(mesh(axes).get_array(), dtype=float).reshape(101, 101)
    for column, row in ((0, 0), (50, 50), (100, 3), (60, 10), (60, 35), (60, 90)):
        x, y = ((place - 50) * 1e-6 for place in (column, row))
        found = min(g2.seek((10e-6, -20e-6, "up"), (x, y, way)).seek_s for way in ("up", "down"))
        assert times[row, column] == pytest.approx(1e3 * found)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("X, \u00b5m", "Y, \u00b5m")
    assert axes.get_aspect() == 1.0
    assert title(figure) == "seek time of g2 from (10, \u221220) \u00b5m"


def test_the_curve_of_a_disk_is_its_own() -> None:
    disk = ss.device("atlas10k")
    assert isinstance(disk, ss.Disk)
    (axes,) = plots.seeks(disk).axes
    for op in ("read", "write"):
        xs, ys, _ = curve(axes, f"{op}s")
        assert xs[-1] > 0.99 * len(disk.seek_curve_ms())
        for x, y in list(zip(xs, ys, strict=True))[::500]:
            assert y == disk.seek_ms(int(x), "read" if op == "read" else "write")


def test_the_middle_of_subregions_has_the_first_blocks() -> None:
    grid = ss.layout("g2", "subregioned", regions=5)
    axes = plots.layout(grid).axes[0]
    colours = mesh(axes)
    lbns = np.asarray(colours.get_array(), dtype=float)
    rows, columns = lbns.shape
    assert lbns.min() == lbns[rows // 2 - 4 : rows // 2 + 5, :].min()
    parts = {text.get_text(): text.get_position() for text in axes.texts}
    assert set(parts) == {str(number) for number in range(1, 26)}
    for number, part in enumerate(grid.parts, 1):
        x, y = parts[str(number)]
        across, up = int(x * columns / 2500), int(y * rows / 27)
        assert part.first_lbn <= lbns[up, across] <= part.last_lbn


def test_zones_of_a_disk_are_as_high_as_their_tracks() -> None:
    disk = ss.device("atlas10k")
    assert isinstance(disk, ss.Disk)
    axes = plots.layout(disk).axes[0]
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    used = disk.locate(disk.blocks - 1).cylinder + 1  # those after it hold no blocks
    assert sum(bar.get_width() for bar in bars) == pytest.approx(used, abs=30)
    for zone in disk.zones():
        middle = (zone.first_cylinder + zone.last_cylinder) / 2
        (bar,) = [b for b in bars if b.get_x() <= middle < b.get_x() + b.get_width()]
        assert bar.get_height() == zone.blocks_per_track


# Runs over time


def test_a_timeline_adds_up_to_the_run() -> None:
    load = ss.workload("random", rate=300, requests=2000)
    run = ss.simulate(load, "g2", series=True)
    throughput, _, power = axes = plots.timeline(run).axes
    spent_s = 2000 * run.summary["response_time_ms"]["mean"] / 1e3
    totals = (2000, spent_s, run.summary["energy_j"]["total"])
    for own, total in zip(axes, totals, strict=True):
        heights, edges, _ = own.patches[0].get_data()  # type: ignore[attr-defined]
        assert float(np.dot(heights, np.diff(edges))) == pytest.approx(total, rel=1e-6)
    assert (power.get_xlabel(), power.get_ylabel()) == ("time, s", "power, W")
    assert throughput.get_shared_x_axes().joined(throughput, power)


def test_a_timeline_of_a_run_that_was_given_up() -> None:
    load = ss.workload("random", rate=9000, requests=120_000)
    run = ss.simulate(load, "atlas10k", series=True, rows=False)
    figure = plots.timeline(run)
    assert len(figure.axes) == 2  # its power is not known
    assert "! the load outran the device" in plain(figure.get_supxlabel())
    assert "outstanding are only those that were served" in plain(figure.get_supxlabel())


# Applications


def test_run_times_are_split_as_told() -> None:
    one, other = programs.replay("sample:postmark", ["sigmetrics2000", "atlas10k"])
    told = dataclasses.replace(other, predicted=programs.Prediction(33.0, "sigmetrics2000"))
    outcomes = programs.Outcomes([one, told])
    figure = plots.applications(outcomes)
    (axes,) = figure.axes
    ends = [0.0, 0.0]
    for bar in axes.patches:
        assert isinstance(bar, Rectangle)
        place = round(bar.get_y() + bar.get_height() / 2)
        assert bar.get_x() == pytest.approx(ends[place])
        ends[place] += bar.get_width()
    assert ends == pytest.approx([each.run_s for each in outcomes])
    assert np.asarray(axes.lines[0].get_data()).tolist() == [[33.0], [1.0]]
    assert axes.get_xlabel() == "run time, s"
    assert title(figure) == "PostMark on sigmetrics2000, atlas10k"


# The commands


@pytest.mark.parametrize(
    "line",
    [
        f"trace info {SAMPLE} --quick",
        f"trace hits {SAMPLE} --sizes 1,4 --policies lru",
        "sweep --device g2 --vary rate=100,200 --set requests=200 --axes rate,queue_ms.mean",
        "bench-app postmark --replay --devices g2",
    ],
)
def test_the_commands_take_size_and_title(line: str, tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    assert main([*line.split(), f"--plot={picture}", "--size=5x4", "--title=Mine alone"]) == 0
    drawn = picture.read_text(encoding="utf-8")
    assert "Mine alone" in drawn
    assert 'width="360pt" height="288pt"' in drawn
