"""Pictures of results: what they show, sizes, panels, captions, files, the user's own style."""

import itertools
import re
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.sax.saxutils import escape

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
import sledsim as ss
from cycler import cycler
from matplotlib import pyplot as plt
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.texmanager import TexManager
from PIL import Image
from sledsim import plots
from sledsim.cli import main
from sledsim.plots import scales, texts
from sledsim.plots.files import encoded

from tests.picture_checks import Seen

MEAN = "response_time_ms.mean"
NAMES, SIZES = ("fcfs", "sptf", "c_look"), (64, 256, 1024)


@pytest.fixture(scope="module")
def run() -> ss.Run:
    return ss.simulate(ss.workload("random", rate=60, requests=150, seed=7), "g2")


@pytest.fixture(scope="module")
def overloaded() -> ss.Comparison:
    load = ss.workload("random", rate=1200, requests=3000, max_queue=300)
    return ss.compare(load, ["g2", "atlas10k"])


@pytest.fixture(scope="module")
def study() -> ss.Study:
    grid: dict[str, Any] = {"rate": [200, 600, 1000], "scheduler": list(NAMES)}
    grid["mean_size_kib"] = list(SIZES)
    base = {"device": "g2", "workload": "random", "requests": 300}
    return ss.sweep(base, grid=grid, replications=2)


def said(figure: Figure) -> str:
    """Return all that a figure says, in a line."""
    found = [text.get_text() for text in Seen(figure).texts]
    return " ".join(" ".join(found).split())


# Sizes


@pytest.mark.parametrize(
    ("size", "pixels"),
    [
        ("3.4x2.2", (680, 440)),
        ("7x3.15", (1400, 630)),
        ((5.05, 2.5), (1010, 500)),
        ("column", (680, None)),
        ("page", (1400, None)),
    ],
)
def test_files_have_the_pixels_of_their_size(
    size: Any, pixels: tuple[int, int | None], overloaded: ss.Comparison, tmp_path: Path
) -> None:
    figure = overloaded.plot(tmp_path / "a.png", size=size, panel="cdf")
    height = int(200 * figure.get_figheight() + 1e-6)
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (pixels[0], pixels[1] or height)


def test_a_size_without_room_is_refused_with_one_that_has_it(overloaded: ss.Comparison) -> None:
    with pytest.raises(ss.SpecError, match=r"^size = '2x1.5': must be about .*panel=") as error:
        overloaded.plot(size="2x1.5")
    found = re.search(r"about ([\d.]+x[\d.]+) or larger", str(error.value))
    assert found
    figure = overloaded.plot(size=found[1])
    assert all(box.height > 0 for box in (axes.get_position() for axes in figure.axes))


def test_footnotes_do_not_eat_the_axes(overloaded: ss.Comparison) -> None:
    low = overloaded.plot(size="3.4x2", panel="causes")
    assert "notes: see the caption" in said(low)
    assert "! atlas10k: the load outran the device" in low.caption
    without = overloaded.plot(size="3.4x2", panel="causes", notes=False)
    assert without.get_supxlabel() == ""
    assert without.caption == low.caption
    high = overloaded.plot(size="7x5")
    assert "! atlas10k: the load outran the device" in said(high)


# Panels


def test_one_panel_is_drawn(run: ss.Run, overloaded: ss.Comparison) -> None:
    assert len(run.plot().axes) == 4
    for name, label in (("cdf", "share of requests"), ("cylinder", "cylinder"), ("row", "bound")):
        (axes,) = run.plot(panel=name).axes
        assert axes.get_ylabel().startswith(label)
        assert axes.get_legend() is not None
    mine = Figure().subplots()
    overloaded.plot(ax=mine, panel="causes")
    assert mine.patches
    info = ss.trace_info("sample:postmark-ext4", picture=True)
    for name in ("arrivals", "places", "sizes", "reuse"):
        assert info.plot(panel=name).axes[0].get_xlabel()


# Captions


def test_a_caption_says_how_it_was_made(overloaded: ss.Comparison, run: ss.Run) -> None:
    caption = overloaded.plot().caption
    assert re.fullmatch(
        r"Distribution of the response time; mean response time by cause\. Load: random, 1,200"
        r" requests/s; on g2, atlas10k \(fcfs\)\..* seed 1\. Intervals: 95 % confidence of the"
        r" mean, by batch means\..*! atlas10k: the load outran the device.*"
        rf"Simulated with sledsim {re.escape(ss.__version__)}\.",
        caption,
        re.DOTALL,
    ), caption
    caption = run.plot(panel="causes").caption
    assert "150 requests, seed 7." in caption
    assert "Distribution" not in caption


def test_figures_on_axes_of_the_user_have_captions_too(run: ss.Run) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    plots.cdf(run, ax=left)
    plots.causes(run, ax=right)
    first, second = figure.caption.splitlines()  # type: ignore[attr-defined]
    assert first.startswith("Distribution of the response time. Load: random")
    assert second.startswith("Mean response time by cause. Load: random")


def test_a_caption_of_a_study_says_what_varied(study: ss.Study) -> None:
    caption = study.plot("rate", MEAN, "scheduler", col="mean_size_kib").caption
    for part in (
        "Mean response time by rate, scheduler and mean size. Study of random on g2; rate 200, ",
        "scheduler fcfs, sptf, c_look; mean size 64, 256, 1,024 KiB",
        *("54 runs of 27 points, seeds 1 to 2.", "95 % intervals"),
    ):
        assert part in caption


# Studies


def test_panels_share_axes_and_one_legend(study: ss.Study) -> None:
    figure = study.plot("rate", MEAN, "scheduler", col="mean_size_kib", size="page")
    key, *panels = figure.axes
    legend: Any = key.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(NAMES)
    assert not any(axes.get_legend() for axes in panels)
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels}) == 1
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == [f"mean size = {size} KiB" for size in ("64", "256", "1,024")]
    means = pl.DataFrame(study.means)
    for axes, size in zip(panels, SIZES, strict=True):
        assert list(axes.get_xticks()) == [200, 600, 1000]
        for name in NAMES:
            (line,) = [one for one in axes.lines if one.get_label() == name]
            of = means.filter(pl.col("scheduler") == name, pl.col("mean_size_kib") == size)
            assert np.asarray(line.get_ydata()).tolist() == of[MEAN].to_list()


def test_rows_and_columns_stand_in_a_grid(study: ss.Study) -> None:
    figure = study.plot("rate", MEAN, col="scheduler", row="mean_size_kib", size="page")
    places = [axes.get_subplotspec() for axes in figure.axes]
    assert all(place is not None for place in places)
    rows = {place.rowspan.start for place in places if place}
    assert (len(places), len(rows)) == (9, 3)
    title = figure.axes[5].get_title(loc="left").replace("\n", " ")
    assert title == "mean size = 256 KiB, scheduler = c_look"


@pytest.mark.parametrize("size", ["column", "page"])
def test_ticks_stand_at_the_values(study: ss.Study, size: str) -> None:
    figure = study.plot("mean_size_kib", MEAN, "scheduler", col="rate", size=size)
    for axes in figure.axes[1:]:
        assert axes.get_xscale() == "log"
        assert set(axes.get_xticks()) <= {64, 256, 1024}
        assert {*axes.get_xticks(), *axes.get_xticks(minor=True)} == {64, 256, 1024}
        assert 64 in axes.get_xticks()


def test_bars_of_many_lines_stand_beside_each_other() -> None:
    grid: dict[str, Any] = {"scheduler": ["fcfs", "sptf", "c_look", "sstf_lbn"], "rate": [90, 400]}
    study = ss.sweep({"device": "g2", "requests": 200}, grid=grid, replications=3)
    (axes,) = study.plot("rate", MEAN).axes
    lines = [line for line in axes.lines if line.get_label() in grid["scheduler"]]
    at = sorted(float(line.get_transform().transform((90, 1))[0]) for line in lines)
    assert all(after - before > 2 for before, after in itertools.pairwise(at))


def test_a_map_shows_the_means(study: ss.Study) -> None:
    figure = study.heat("rate", "mean_size_kib", MEAN, col="scheduler", size="page")
    means = pl.DataFrame(study.means)
    for axes, name in zip(figure.axes, NAMES, strict=False):
        (mesh,) = [one for one in axes.collections if isinstance(one, QuadMesh)]
        of = means.filter(pl.col("scheduler") == name).sort("mean_size_kib", "rate")
        drawn = np.ravel(np.asarray(mesh.get_array(), dtype=float))
        assert drawn.tolist() == of[MEAN].to_list()
        for text in axes.texts:
            number = float(text.get_text().rstrip(" !").replace(",", ""))
            assert any(number == pytest.approx(mean, rel=6e-3) for mean in drawn)
        bad = sum("overloaded" in (text or "") for text in of["caution"])
        assert len(axes.patches) == bad
    labels = {axes.get_ylabel().replace("\u00a0", " ") for axes in figure.axes}
    assert labels >= {"mean size, KiB", "mean response time, ms"}


def test_a_study_without_values_says_so() -> None:
    base = {"device": "atlas10k", "requests": 20}
    study = ss.sweep(base, grid={"rate": [90, 400], "scheduler": ["fcfs", "sptf"]})
    for panels in ({}, {"col": "scheduler"}):
        figure = study.plot("rate", "energy_j.total", **panels)  # type: ignore[arg-type]
        assert "none of the 4 runs has a value" in said(figure)


# The user's own style


def test_what_the_user_set_wins(overloaded: ss.Comparison) -> None:
    plain = overloaded.plot(panel="cdf").axes[0]
    own: Any = {"font.family": "serif", "font.size": 12, "lines.linewidth": 3.3}
    own["axes.prop_cycle"] = cycler(color=["#102030", "#405060"])
    with plt.rc_context(own):
        axes = overloaded.plot(panel="cdf").axes[0]
        assert [line.get_color() for line in axes.lines] == ["#102030", "#405060"]
        assert {line.get_linewidth() for line in axes.lines} == {3.3}
        assert axes.xaxis.label.get_fontsize() == 12
        assert axes.xaxis.label.get_fontname() == "DejaVu Serif"
        assert {key: mpl.rcParams[key] for key in own} == {**own, "font.family": ["serif"]}
    assert {line.get_color() for line in plain.lines} & {"#102030", "#405060"} == set()
    with plt.style.context("ggplot"):
        axes = overloaded.plot(panel="cdf").axes[0]
        assert axes.get_facecolor() == mpl.colors.to_rgba("#E5E5E5")
        assert axes.lines[0].get_color() == "#E24A33"


def test_texts_are_as_tex_needs_them(
    overloaded: ss.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where TeX is not installed: its measures are those of plain letters here."""
    measured: set[str] = set()

    def measure(_self: object, tex: str, fontsize: float, renderer: object = None) -> Any:
        assert renderer is None or fontsize > 0
        measured.add(tex)
        return 0.5 * fontsize * len(tex), fontsize, 0.2 * fontsize

    monkeypatch.setattr(TexManager, "get_text_width_height_descent", measure)
    names = {"a_b & 50 % #1": overloaded.runs[0], r"c\d{e} $x$": overloaded.runs[1]}
    with plt.rc_context({"text.usetex": True}):
        plots.cdf(names, size="column")
        plots.causes(names, size="page")
    assert any(r"a\_b \& 50 \% \#1" in tex for tex in measured)
    for tex in measured - {"lp"}:
        assert not re.search(r"(?<!\\)[%#&_]", re.sub(r"\$[^$]*\$", "", tex)), tex
        assert not re.search("[\u00a0\u00b1\u2026\u2212\u00d7\u00b5]", tex), tex


def test_texts_break_where_they_are_full() -> None:
    text = "one two three four five six seven"
    lines = texts.wrapped(text, 1.0).split("\n")
    assert " ".join(lines) == text
    assert max(texts.width_in(line, "medium") for line in lines) <= 1.0
    assert texts.fitted("word " * 50, 1.0, 2).count("\n") == 1
    assert texts.width_in(texts.cut("x" * 99, 1.0), "small") <= 1.0
    figure = Figure(figsize=(9, 3), dpi=72)
    shown = figure.text(0, 0, text, fontsize=texts.points())
    assert texts.width_in(text) == pytest.approx(Seen(figure).box(shown).width / 72, rel=0.05)


# The commands


def test_commands_draw_one_panel_and_print_the_caption(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "--device", "g2", "--set", "requests=90", "--plot", str(tmp_path / "a.svg")]
    assert main([*words, "--panel=causes", "--no-notes", "--json"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("{")
    assert "Mean response time by cause. Load: random" in err
    assert "too few requests" in err
    assert "too few requests" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_sweep_draws_panels_and_maps(tmp_path: Path) -> None:
    words = ["sweep", "--device=g2", "--vary=rate=100,300", "--vary=scheduler=fcfs,sptf"]
    words += ["--vary=mean_size_kib=4,16", "--set=requests=60", f"--plot={tmp_path / 'a.svg'}"]
    for options, text in (
        (["--axes=rate,seek_ms.mean,scheduler", "--col=mean_size_kib"], "mean size = 16 KiB"),
        (["--heat=rate,scheduler,seek_ms.mean", "--row=mean_size_kib"], "mean size = 4 KiB"),
    ):
        assert main([*words, *options]) == 0
        assert text in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def comparison() -> ss.Comparison:
    return ss.compare(ss.workload("random", rate=60, requests=2000), ["g1", "g2", "atlas10k"])


def test_a_curve_is_the_distribution_itself(run: ss.Run) -> None:
    frame = pl.DataFrame(run.rows)
    times = ((frame["completion_ns"] - frame["arrival_ns"]) / 1e6).sort().to_list()
    lines = ss.plots.cdf(run).axes[0].lines
    (line,) = [each for each in lines if str(each.get_label()).startswith("all")]
    data: Any = line.get_data()
    places, shares = (list(map(float, part)) for part in data)
    for place, share in zip(places[1:], shares[1:], strict=True):
        below = sum(time <= place * (1 + 1e-9) for time in times) / len(times)
        least = sum(time <= place / (1 + 2 / 1024) for time in times) / len(times)
        assert least <= share <= below + 1e-12  # a time is at most 1/1024 too high
    assert places[-1] == pytest.approx(times[-1])


def test_bars_add_up_to_the_means(comparison: ss.Comparison) -> None:
    axes = ss.plots.causes(comparison, ax=Figure().subplots()).axes[0]
    widths = {0: 0.0, 1: 0.0, 2: 0.0}
    for bar in axes.patches:
        assert isinstance(bar, Rectangle)
        if bar.get_facecolor() != (0.0, 0.0, 0.0, 0.0):  # not a hatch over a bar
            widths[round(bar.get_y() + bar.get_height() / 2)] += bar.get_width()
    means = [each.summary["response_time_ms"]["mean"] for each in comparison.runs]
    assert list(widths.values()) == pytest.approx(means)


def test_titles_name_load_and_device(run: ss.Run, comparison: ss.Comparison) -> None:
    assert "random, 60 requests/s on g2 (fcfs)" in said(run.plot())
    assert "random, 60 requests/s on g1, g2, atlas10k (fcfs)" in said(comparison.plot())
    assert "my own" in said(run.plot(title="my own"))
    assert "requests/s" not in said(run.plot(title=""))


def test_values_have_the_digits_of_their_intervals(comparison: ss.Comparison) -> None:
    shown = said(comparison.plot())
    for each in comparison.runs:
        found = each.summary["confidence"]["response_time_ms"]
        half, mean = (found["high"] - found["low"]) / 2, each.summary["response_time_ms"]["mean"]
        told = re.findall(r"([\d.]+) \u00b1 ([\d.]+)", shown)
        half_told, *_ = [h for m, h in told if float(m) == pytest.approx(mean, abs=half / 10)]
        assert float(half_told) == pytest.approx(half, rel=0.06)
        assert len(half_told.replace(".", "").lstrip("0")) == 2


def test_it_draws_on_axes_that_are_there(run: ss.Run) -> None:
    figure = Figure(figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    assert run.plot(ax=(left, right)) is figure
    assert left.lines
    assert right.patches
    assert tuple(figure.get_size_inches()) == (9, 4)
    overloaded = ss.simulate(ss.workload("random", rate=300, requests=3000), "atlas10k")
    axes = Figure().subplots()
    ss.plots.cdf(overloaded, ax=axes)
    assert "! requests arrived faster" in axes.get_xlabel().replace("\n   ", " ")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_file(run: ss.Run, kind: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for file in files:
        ss.plots.save(run.plot(), file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.3, 40, "0.5 1 2 5 10 20 0.01 100"),
        (1e-3, 1e4, "0.001 0.1 10 1,000 0.01 1 100 10,000"),
        (2e-9, 3e9, ""),
    ],
)
def test_logarithmic_axes_are_labelled_by_decades(low: float, high: float, labels: str) -> None:
    axes = Figure(figsize=(3.2, 3)).subplots()
    scales.logarithmic(axes, "x", low, high)
    ticks = [tick for tick in axes.get_xticks() if low / 1.1 <= tick <= high * 1.1]
    said = [scales.plain(tick) for tick in ticks]
    assert 2 <= len(said) <= 8
    assert not labels or set(said) <= set(labels.split())
    if high / low > 1e3:
        assert all(scales.plain(tick)[0] in "01$" for tick in ticks)


def test_numbers_on_axes() -> None:
    said = [scales.plain(value) for value in (0, 0.0001, 20_000, 1e6, 2e-7)]
    assert said == ["0", "0.0001", "20,000", "10\u2076", "2\u00d710\u207b\u2077"]


HOSTILE = [r"tr$\foo$", "a_b^c$", "$x$ $y", "<b>&'", "esc\x1b[31m\x07"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_as_they_are(name: str, tmp_path: Path) -> None:
    """Not as formulas, nor as markup, in titles, at axes and in legends."""
    trace, file = tmp_path / f"{name}.trace", tmp_path / f"{name}.toml"
    trace.write_text("".join(f"{n} 0 {n * 999} 8 {n % 2}\n" for n in range(60)))
    file.write_text("base = 'g2'")
    compared = ss.compare(ss.read_trace(trace), [str(file), "g3"])
    study = ss.sweep({"requests": 50}, grid={"device": [str(file), "g3"], "rate": [100, 200]})
    mean = "response_time_ms.mean"
    for figure in (
        ss.simulate(ss.read_trace(trace), str(file)).plot(),
        compared.plot(),
        ss.plots.causes(compared),
        ss.plots.trace(ss.trace_info(trace, picture=True)),
        study.plot("rate", mean, "device", title=name),
        study.plot("device", mean, title=name),
    ):
        shown = minidom.parseString(encoded(figure, "svg")).toxml()
        assert escape(name.replace("\x1b", r"\u{1b}").replace("\x07", r"\u{7}")) in shown
        encoded(figure, "png")
