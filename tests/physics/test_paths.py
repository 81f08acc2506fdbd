"""Rows say where arms and sleds went, and pictures and films show it."""

from __future__ import annotations

import itertools
import shutil
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import sledsim as ss
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sledsim import plots
from sledsim.cli import main
from sledsim.plots import animations, moves, style

from tests.physics.made import requests, sheet_disk

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

START, QUEUE = 53, (98, 183, 37, 122, 14, 124, 65, 67)
"""The queue of textbooks on operating systems, as cylinders of 200."""
UP = [65, 67, 98, 122, 124, 183]
ORDERS = {
    "fcfs": ([98, 183, 37, 122, 14, 124, 65, 67], 640),
    "sstf_lbn": ([65, 67, 37, 14, 98, 122, 124, 183], 236),
    "c_look": ([*UP, 14, 37], 322),
    "look": ([*UP, 37, 14], 299),
    "look(direction=down)": ([37, 14, *UP], 208),
    "c_scan": ([*UP, 14, 37], 382),
    "scan": ([*UP, 37, 14], 331),
    "scan(direction=down)": ([37, 14, *UP], 236),
    "fscan": ([*UP, 37, 14], 299),
    "deadline": ([*UP, 37, 14], 299),
}
"""In which order each scheduler serves it, and how far the arm goes, in cylinders."""


@cache
def textbook(scheduler: str) -> ss.Run:
    """Return the run that brings the arm to the start, where the queue arrives meanwhile."""
    rates = {"outer_mb_s": 20, "inner_mb_s": 20}
    seeks = {"seek_track_ms": 1, "seek_average_ms": 5, "seek_full_ms": 10}
    made = sheet_disk(capacity_tb=80.2816e-6, platters=1, **rates, **seeks)
    off: dict[str, Any] = {"buffer.read_ahead": "none"}
    disk: Any = ss.device(made, **off)
    assert disk.zones()[-1].last_cylinder == 199
    lbns = [disk.blocks // 200 * cylinder for cylinder in (START, *QUEUE)]
    assert [disk.locate(lbn).cylinder for lbn in lbns] == [START, *QUEUE]
    load = requests((0.0, lbns[0], 1, "R"), *((0.5, lbn, 1, "R") for lbn in lbns[1:]))
    return ss.simulate(load, disk, scheduler)


def moved(run: ss.Run) -> pl.DataFrame:
    """Return the rows with a way, in the order in which they were served."""
    return run.to_polars().filter(pl.col("cylinders").is_not_null()).sort("start_ns")


def places(axes: Axes, label: str = "_way") -> list[float]:
    """Return the places along a line, without those that repeat the one before."""
    (line,) = [one for one in axes.lines if one.get_label() == label]
    heights = np.asarray(line.get_ydata(), dtype=float)
    return [place for place, _ in itertools.groupby(heights[np.isfinite(heights)].tolist())]


# Rows


@pytest.mark.parametrize("scheduler", ORDERS)
def test_the_queue_of_textbooks(scheduler: str) -> None:
    order, total = ORDERS[scheduler]
    first, *rows = moved(textbook(scheduler)).iter_rows(named=True)
    assert first["to_cylinder"] == START
    assert [row["to_cylinder"] for row in rows] == order
    assert sum(row["cylinders"] for row in rows) == total


def load(rate: int = 500, **keys: Any) -> ss.Load:
    return ss.workload("random", **{"requests": 20, "rate": rate, **keys})


@pytest.mark.parametrize("device", ["g2", "atlas10k"])
@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
@pytest.mark.parametrize("rate", [50, 1000])
def test_a_way_begins_where_the_one_before_ended(device: str, scheduler: str, rate: int) -> None:
    rows = moved(ss.simulate(load(rate, requests=400, read_fraction=1.0), device, scheduler))
    assert rows.height == 400
    apart = pl.col("to_cylinder").cast(pl.Int64) - pl.col("from_cylinder").cast(pl.Int64)
    assert rows.select((pl.col("cylinders") >= apart.abs()).all()).item()
    kinds = {"g2": ("cylinder", "row", "direction"), "atlas10k": ("cylinder", "head")}[device]
    for what in ("cylinder", "head", "row", "direction"):
        start, end = rows[f"from_{what}"], rows[f"to_{what}"]
        assert start.null_count() == end.null_count() == (0 if what in kinds else 400)
        assert what == "head" or end[:-1].to_list() == start[1:].to_list()


@pytest.mark.parametrize("device", ["g2", "atlas10k"])
def test_ways_lead_to_the_blocks(device: str) -> None:
    model: Any = ss.device(device)
    keys: dict[str, Any] = {"read_fraction": 1.0, "size": "fixed", "mean_size_kib": 0.5}
    for row in moved(ss.simulate(load(20, requests=200, **keys), model)).iter_rows(named=True):
        place = model.locate(row["lbn"])
        assert row["to_cylinder"] == place.cylinder
        if device == "atlas10k":
            assert row["to_head"] == place.head
        else:
            assert row["to_row"] == place.row + (row["to_direction"] > 0)


# Pictures


def test_a_picture_goes_through_the_cylinders_in_order() -> None:
    runs = {name: textbook(name) for name in ORDERS}
    figure = plots.path(runs)
    _, *panels = figure.axes
    for axes, (name, (order, total)) in zip(panels, ORDERS.items(), strict=True):
        assert places(axes) == [0, START, *order]
        said = axes.get_title(loc="left").replace("\n", " ").replace("\u00a0", " ")
        mean = textbook(name).summary["response_time_ms"]["mean"]
        assert said == (
            f"{name}: 9 requests, {total + START:,} cylinders, mean response {mean:.1f} ms"
        )
    assert len({axes.get_ylim() for axes in panels}) == len({axes.get_xlim() for axes in panels})
    assert len({axes.get_ylim() for axes in panels}) == 1


def test_pieces_have_the_colours_and_lengths_of_their_causes() -> None:
    run = ss.simulate(load(100, requests=50, read_fraction=1.0), "atlas10k")
    rows, drawn = run.to_polars(), set()
    for lines in run.plot_path().axes[1].collections:
        assert isinstance(lines, LineCollection)
        cause = str(lines.get_label())[1:]
        colours: Any = lines.get_color()
        assert to_hex(colours[0]) == style.CAUSES[cause]
        pieces = [np.asarray(piece) for piece in lines.get_segments()]
        length = sum(float(piece[-1][0] - piece[0][0]) for piece in pieces)
        assert length == pytest.approx(int(rows[f"{cause}_ns"].sum()) / 1e6, abs=1e-6)
        assert cause == "seek" or all(piece[0][1] == piece[-1][1] for piece in pieces)
        drawn.add(cause)
    assert {"seek", "rotation", "transfer"} <= drawn


def test_a_sled_has_a_panel_for_each_direction() -> None:
    run = ss.simulate(load(requests=30), "g2", "sptf")
    _, x, y = run.plot_path().axes
    rows = moved(run)
    assert [place for place, _ in itertools.groupby(rows["to_cylinder"])] == places(x)[1:]
    assert set(rows["to_row"]) <= set(places(y))
    assert x.get_xlim() == y.get_xlim()
    x, y = Figure(figsize=(5, 6)).subplots(2, 1)
    assert run.plot_path(ax=(x, y)) is x.get_figure()
    legend = x.get_legend()
    assert legend is not None
    assert legend.get_title().get_text().startswith("g2: 30")
    assert "straight" in x.get_xlabel()


def test_only_some_requests_are_drawn() -> None:
    run = ss.simulate(load(requests=300), "g2")
    note = "drawn are {} of 300 requests"
    assert note.format(200) in str(run.plot_path().get_supxlabel())
    assert note.format(5) in str(run.plot_path(requests=5).get_supxlabel())
    later = run.plot_path(start_ms=100.0, requests=3).axes[1]
    (marks,) = [line for line in later.lines if line.get_label() == "_arrival"]
    arrivals = [ns / 1e6 for ns in run.rows["arrival_ns"] if ns >= 100e6]
    assert np.asarray(marks.get_xdata()).tolist() == pytest.approx(sorted(arrivals)[:3])


def test_a_short_run_shows_its_way(tmp_path: Path) -> None:
    for device, count, axes in (("g2", 30, 4), ("g2", 300, 2), ("memory", 30, 2)):
        assert len(ss.simulate(load(requests=count), device).plot().axes) == axes
    assert len(ss.simulate(load(100), "mcd", parts=True).plot_path().axes) == 4
    comparison = ss.compare(load(100), ["g2"], ["fcfs", "sptf"], rows=True)
    assert len(plots.path(comparison).axes) == 5
    for count, way in ((200, True), (201, False)):
        file = tmp_path / "run.svg"
        command = ["run", "--device", "atlas10k", "--plot", str(file)]
        assert main([*command, "--set", f"requests={count}"]) == 0
        assert (">cylinder<" in file.read_text("utf-8")) == way


# Films


@pytest.mark.parametrize("device", ["g2", "atlas10k"])
def test_a_film_is_the_same_each_time(device: str, tmp_path: Path) -> None:
    """Half of the writes go to a buffer, and have no way."""
    from PIL import Image

    run = ss.simulate(load(200, read_fraction=0.5), device, "sptf")
    files = [tmp_path / f"{name}.gif" for name in "ab"]
    for file in files:
        run.animate(file, seconds=0.3, start_ms=5.0, speed=0.05)
    assert files[0].read_bytes() == files[1].read_bytes()
    with Image.open(files[0]) as film:
        assert getattr(film, "n_frames", 1) == 6
        assert film.info["duration"] == 50
    assert len(list(tmp_path.iterdir())) == 2


def test_a_film_shows_where_the_sled_is() -> None:
    run = ss.simulate(ss.workload("random", requests=20, rate=500), "g2")
    ((label, stamps),) = moves.stamps_of(run).items()
    services = moves.services_of(run, stamps)
    film = animations.Film(run, label, stamps, (0.0, 20.0), None)
    for service in services[:10]:
        now = service.end_ms - 1e-7
        film.show(now)
        above, below = film.figure.axes
        waits, place = above.lines
        row = service.row
        assert np.asarray(place.get_xdata()) == pytest.approx([row["to_cylinder"]])
        assert np.asarray(place.get_ydata()) == pytest.approx([row["to_row"]], abs=1e-2)
        waiting = [o for o in services if o.arrival_ms <= now < o.start_ms]
        assert len(np.asarray(waits.get_xdata())) == len(waiting)
        assert f"transfer, {len(waiting)} waiting" in above.get_title(loc="left")
        cursor = below.lines[-1]
        assert np.asarray(cursor.get_xdata())[0] == pytest.approx(service.end_ms)


def test_a_film_in_mp4_and_one_that_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.animation import PillowWriter

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    run = ss.simulate(load(), "g2")
    file = tmp_path / "a.mp4"
    if shutil.which("ffmpeg"):
        run.animate(file, seconds=0.2)
        assert file.read_bytes()[4:8] == b"ftyp"
        file.unlink()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(PillowWriter, "finish", full)
    for path, said in ((file, r"a \.mp4 needs ffmpeg: apt-get"), (tmp_path / "a.gif", "No space")):
        with pytest.raises(ss.SledsimError, match=said):
            run.animate(path, seconds=0.2)
    assert not list(tmp_path.iterdir())
