"""Pictures of runs and comparisons: what they show, their sizes, their files."""

import re
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.sax.saxutils import escape

import polars as pl
import pytest
import sledsim as ss
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sledsim.plots import scales
from sledsim.plots.files import encoded


@pytest.fixture(scope="module")
def run() -> ss.Run:
    return ss.simulate(ss.workload("random", rate=300, requests=2000), "g2", rows=False)


@pytest.fixture(scope="module")
def comparison() -> ss.Comparison:
    return ss.compare(ss.workload("random", rate=60, requests=2000), ["g1", "g2", "atlas10k"])


def words(figure: Figure) -> str:
    """Return all text of a figure."""
    found = re.findall(r"(?s)<text[^>]*>(.*?)</text>", encoded(figure, "svg").decode())
    return " ".join(found)


def test_a_curve_is_the_distribution_itself(run: ss.Run) -> None:
    rows = ss.simulate(ss.workload("random", rate=300, requests=2000), "g2").rows
    frame = pl.DataFrame(rows)
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
    assert "random, 300 requests/s on g2 (fcfs)" in words(run.plot())
    assert "random, 60 requests/s on g1, g2, atlas10k (fcfs)" in words(comparison.plot())
    assert "my own" in words(run.plot(title="my own"))
    assert "requests/s" not in words(run.plot(title=""))


def test_values_have_the_digits_of_their_intervals(comparison: ss.Comparison) -> None:
    said = words(comparison.plot())
    for each in comparison.runs:
        found = each.summary["confidence"]["response_time_ms"]
        half, mean = (found["high"] - found["low"]) / 2, each.summary["response_time_ms"]["mean"]
        told = re.findall(r"([\d.]+) \u00b1 ([\d.]+)", said)
        shown, *_ = [h for m, h in told if float(m) == pytest.approx(mean, abs=half / 10)]
        assert float(shown) == pytest.approx(half, rel=0.06)
        assert len(shown.replace(".", "").lstrip("0")) == 2


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


NAMES = [r"tr$\foo$", "a_b^c$", "$x$ $y", "<b>&'", "esc\x1b[31m\x07"]


@pytest.mark.parametrize("name", NAMES)
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
