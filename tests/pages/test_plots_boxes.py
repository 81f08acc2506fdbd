"""Pictures can be read: no text overlaps or is cut off, colours stand out, fonts print."""

import io
from collections.abc import Callable
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
import sledsim as ss
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from sledsim import plots
from sledsim.plots import style

from tests import picture_inputs
from tests.picture_checks import Seen, contrast, fonts, lab, nearest
from tests.picture_inputs import drawings

SIZES = ("column", "page")


# Inputs


def _load(requests: int, **keys: Any) -> ss.Load:
    return ss.workload("random", requests=requests, **keys)


@cache
def seven_decades() -> ss.Comparison:
    """Return times from 0.1 us to 10 s: memory, and a disk with far too much to do."""
    memory = ss.device("memory", latency_ms=0.0001)
    return ss.compare(_load(1500, rate=2000), [memory, "g2", "nearline20t"])


@cache
def twelve_devices() -> ss.Comparison:
    left_out = ("memory", "g2-buffered")  # the pictures are older than the latter
    names = [name for name in ss.devices() if name not in left_out][:12]
    assert len(names) == 12
    return ss.compare(_load(300, rate=40), names)


one_request = cache(lambda: ss.compare(_load(1), ["g2", "atlas10k"]))
a_caution = cache(lambda: ss.compare(_load(40, rate=200), ["g2", "g3"]))
saturated = cache(lambda: ss.compare(_load(3000, rate=1200, max_queue=300), ["g2", "atlas10k"]))


@cache
def long_names() -> dict[str, ss.Run]:
    return {picture_inputs.LONG.format(n): run for n, run in enumerate(seven_decades().runs)}


COMPARISONS: dict[str, Callable[[], ss.Comparison]] = {
    "one request": one_request,
    "seven decades": seven_decades,
    "twelve devices": twelve_devices,
    "a caution": a_caution,
    "saturated": saturated,
}
COMPARED = ("run", "comparison", "cdf", "causes")
"""Kinds of which pictures of all comparisons are drawn."""
KINDS: dict[str, dict[str, Callable[..., Figure]]] = {
    "run": {
        name: lambda size, make=make: plots.run(make().runs[-1], size=size)
        for name, make in COMPARISONS.items()
    },
    "comparison": drawings(
        plots.comparison,
        COMPARISONS
        | {
            f"paired, {kind}": partial(picture_inputs.paired, kind)
            for kind in ("seven decades", "saturated")
        },
    ),
    "cdf": drawings(plots.cdf, COMPARISONS | {"long names": long_names}),
    "causes": drawings(plots.causes, COMPARISONS | {"long names": long_names}),
    **picture_inputs.KINDS,
}
"""The kinds of pictures, and of each the pictures of extreme inputs, drawn in a size."""


@cache
def first(kind: str) -> Figure:
    """Return the first picture of a kind, in a column."""
    return next(iter(KINDS[kind].values()))("column")


IN_A_COLUMN = {"one request", "saturated"}
"""Comparisons whose texts are no longer than those of others: a column has the least room."""
CASES = [
    pytest.param(
        draw if (name, size) != (next(iter(cases)), "column") else lambda _, kind=kind: first(kind),
        size,
        id=f"{kind}-{name}-{size}".replace(" ", "_"),
    )
    for kind, cases in KINDS.items()
    for (name, draw), size in product(cases.items(), SIZES)
    if size == "column" or kind not in COMPARED or name not in IN_A_COLUMN
]


def test_inputs_are_extreme() -> None:
    times = [run.cdf() for run in seven_decades().runs]
    longest, shortest = max(t[-1][0] for t in times), min(t[0][0] for t in times)
    assert longest > 1e7 * shortest > 0
    assert all(len(name) >= 60 for name in long_names())
    assert all(run.cautions for run in a_caution().runs)
    assert saturated().runs[1].summary["saturated"]


def test_every_kind_of_picture_is_looked_at() -> None:
    assert {name for name in plots.__all__ if name not in {"animate", "save"}} == set(KINDS)


@pytest.mark.parametrize(("draw", "size"), CASES)
def test_a_picture_can_be_read(draw: Callable[..., Figure], size: str) -> None:
    figure = draw(size)
    seen = Seen(figure)
    assert [text.get_text() for text in seen.texts if text.get_parse_math()] == []
    assert [*seen.problems(style.COLOURS), *seen.pale_lines()] == []
    assert [text.get_text() for text in seen.texts if float(text.get_fontsize()) < 7] == []
    assert "sledsim 0." in figure.caption  # type: ignore[attr-defined]
    for axes in figure.axes:
        box = axes.get_position()
        height_in = box.height * figure.get_figheight()
        assert height_in >= 0.59 or not axes.axison, "axes are not squashed"
    if size == "column":
        rows = {axes.get_subplotspec().rowspan.start for axes in _panels(figure)}
        assert figure.get_figheight() <= 2.6 * len(rows) + 1e-9


def _panels(figure: Figure) -> list[Any]:
    """Return the axes of panels: not those of a legend for all, nor of bars of colours."""
    return [axes for axes in figure.axes if axes.get_subplotspec() and axes.get_label() != "key"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_fonts_that_printers_take(kind: str) -> None:
    pdf = plots.files.encoded(first(kind), "pdf")
    assert b"/Type3" not in pdf
    assert fonts(pdf) <= {"Type0", "CIDFontType2", "TrueType"}
    assert fonts(pdf), "there is text"


# The checks themselves


def test_the_checks_find_what_is_wrong() -> None:
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    axes.set_xticks([0.5, 0.52], ["long label", "another label"])
    axes.set_yticks([])
    axes.text(0.5, 0.5, "pale", color="#dddd00")
    axes.text(0.9, 0.8, "beyond the edge")
    axes.plot([0, 1], [0, 1], color="#ffff00")
    seen = Seen(figure)
    assert seen.overlaps() == [("long label", "another label")]
    assert seen.cut_off() == ["beyond the edge"]
    assert [text for text, _ in seen.pale_texts()] == ["pale"]
    assert len(seen.pale_lines()) == 1
    content = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 3}):
        figure.savefig(content, format="pdf")
    assert "Type3" in fonts(content.getvalue())


def test_black_on_white_has_the_contrast_of_the_standard() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    assert contrast((0.4667, 0.4667, 0.4667), (1, 1, 1)) == pytest.approx(4.48, abs=0.01)
    assert lab("#ffffff") == pytest.approx([100, 0, 0], abs=0.01)
    assert lab("#ff0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)


# Colours


# Repeats look like parameters: neither is a result.
VERDICTS = {colour for name, colour in style.VERDICTS.items() if name != "not_modelled"}
APART = {
    # Measured: 15.7, BLUE and GREEN for tritan eyes; 19.9, for tritan eyes; 43.5; 31.8; 19.5, where
    # each has a mark of its own, too.
    "lines": (tuple(style.COLOURS), 12),
    "causes": (tuple(style.CAUSES.values()), 15),
    "operations": (tuple(style.OPS.values()), 30),
    "run times": (tuple(style.RUN_TIMES.values()), 25),
    "verdicts": (tuple(VERDICTS), 15),
}


@pytest.mark.parametrize("kind", APART)
def test_colours_are_apart_for_all_eyes(kind: str) -> None:
    colours, least = APART[kind]
    distance, one, other, eye = nearest(colours)
    assert distance >= least, (one, other, eye)


def test_no_colour_has_two_meanings() -> None:
    kinds = [set(colours) - {style.QUIET, style.FAINT} for colours, _ in APART.values()]
    for one, other in combinations(kinds, 2):
        # Measured: 15.6 at the least, the pale operation and SLATE.
        apart = min(float(abs(lab(a) - lab(b)).max()) for a in one for b in other)
        assert apart >= 8
    for colours in kinds:
        assert not colours & {style.INK, style.FAINT, style.QUIET, "#ffffff"}


def test_the_same_device_has_the_same_colour() -> None:
    """Other devices, the scheduler and the spelling do not change it; no two look alike."""
    names = ss.devices()
    alone = {name: style.looks([name])[name].color for name in (*names, "sptf")}
    for first in names:
        looks = style.looks([first, *(name for name in names if name != first)])
        assert {name: look.color for name, look in looks.items()} | {"sptf": alone["sptf"]} == alone
        assert len({(look.color, str(look.dash)) for look in looks.values()}) == len(names)
    both = style.looks(["g2, fcfs", "g2, sptf", "g3, fcfs", "g3, sptf"])
    assert both["g2, fcfs"].color == both["g2, sptf"].color == alone["g2"]
    assert both["g2, fcfs"].dash != both["g2, sptf"].dash
    assert style.looks(["g2, fcfs", "g2, sptf"])["g2, sptf"].color == alone["sptf"]
    assert len({look.color for look in style.looks(["fcfs", "sptf", "c_look"]).values()}) == 3
    assert style.looks(["Atlas 10K"])["Atlas 10K"] == style.looks(["atlas10k"])["atlas10k"]
    many = style.looks([f"device {n}" for n in range(12)])
    assert len({(look.color, str(look.dash)) for look in many.values()}) == 12


# References: drawn anew by `python -m tests.pages.test_plots_boxes`, to be looked at before they
# are kept

IMAGES = Path(__file__).parents[1] / "images"
DRAWN_WITH = (IMAGES / "matplotlib.txt").read_text("utf-8").strip() if IMAGES.is_dir() else ""
MOST_APART = 4.0
"""Root mean square of the differences, of 255: fonts are hinted a little otherwise elsewhere."""
REFERENCES: dict[str, Callable[[], Figure]] = {
    "run": lambda: plots.run(saturated().runs[0], size="page"),
    "comparison": lambda: plots.comparison(seven_decades(), size="page"),
    "causes": lambda: plots.causes(a_caution(), size="column"),
    "cdf": lambda: plots.cdf(twelve_devices(), size="column"),
    "causes_of_twelve": lambda: plots.causes(twelve_devices(), size="column"),
}


def _write(figure: Figure, file: Path) -> None:
    from PIL import Image  # comes with matplotlib

    figure.savefig(file, dpi=100)
    Image.open(file).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).convert("RGB").save(
        file, optimize=True
    )


@pytest.mark.skipif(
    mpl.__version__ != DRAWN_WITH, reason=f"references were drawn with matplotlib {DRAWN_WITH}"
)
@pytest.mark.parametrize("name", REFERENCES)
def test_pictures_are_as_before(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.png"
    _write(REFERENCES[name](), file)
    assert compare_images(str(IMAGES / f"{name}.png"), str(file), MOST_APART) is None


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for each, draw in REFERENCES.items():
        _write(draw(), IMAGES / f"{each}.png")
    (IMAGES / "matplotlib.txt").write_text(f"{mpl.__version__}\n", "utf-8")
