"""Reports: their content, their markup, and how a browser shows them."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim import programs
from sledsim.cli import main
from sledsim.show import pages as reports
from sledsim.show.pages import glossary
from sledsim.show.pages import writer as pages
from sledsim.show.pages.colours import DARK_PAPER, PAPER, contrast, dark
from sledsim.show.pages.parts import Report, Section
from sledsim.show.sheet import Table

from tests.shown_page import Shown

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
HOSTILE = "<script>alert('x')</script>\"&`"
KINDS = ("run", "overloaded", "comparison", "study", "validation", "crash", "applications")


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a device file with a name that would be markup; a name has no slash."""
    file = tmp_path_factory.mktemp("devices") / "<script>&'\".toml"
    file.write_text('base = "g2"\nspring_factor = 0.5\n', encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def results(hostile_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a result of each kind."""
    measured = tmp_path_factory.mktemp("measured") / "drive.validate"
    lines = [
        f"{'W' if i % 4 == 0 else 'R'} Hit {i * i * 7919 % 6_000_000} {1 + i % 30} 900.0 800"
        for i in range(200)
    ]
    measured.write_text("\n".join(lines) + "\n", encoding="utf-8")
    load = ss.workload("random", rate=300, requests=4000)
    device = ss.device(hostile_file)
    return {
        "run": ss.simulate(load, device, rows=False),
        "overloaded": ss.simulate(load, "atlas10k", rows=False),
        "comparison": ss.compare(load, ["g2", device, "atlas10k"]),
        "study": ss.sweep(
            base={"device": str(hostile_file), "requests": 300},
            grid={"rate": [100, 500], "scheduler": ["fcfs", "sptf"]},
            replications=2,
        ),
        "validation": ss.validate(measured, device),
        "crash": ss.crash_test(
            ss.workload(last_lbn=500, queue_depth=8, requests=500), device, points=40
        ),
        "applications": programs.replay("sample:postmark", ["g2", device]),
    }


@pytest.fixture(scope="module")
def texts(results: dict[str, Any]) -> dict[str, str]:
    return {kind: reports.page(result) for kind, result in results.items()}


@pytest.fixture(params=KINDS)
def text(request: pytest.FixtureRequest, texts: dict[str, str]) -> str:
    return texts[request.param]


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs before the first heading of the second level."""
    return [plain(found) for found in re.findall(r"<p.*?</p>", text.partition("<h2")[0], re.DOTALL)]


# Markup


def test_a_page_is_sound_and_needs_no_other_file(text: str) -> None:
    shown = Shown(text)
    names = [tag for tag, _ in shown.tags]
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    for name in ("title", "main", "h1", "style"):
        assert names.count(name) == 1
    for tag, attributes in shown.tags:
        assert tag not in {"script", "link", "iframe", "object", "img", "base", "embed"}
        assert not [name for name in attributes if name.startswith("on")]
        for name in {"src", "srcset", "href", "xlink:href", "data", "action"} & attributes.keys():
            assert re.match(r"#|data:image/png;base64,", attributes[name]), (tag, name)
        if tag == "th":
            assert attributes.get("scope") in {"col", "row", "rowgroup"}
        if tag == "svg" and "aria-hidden" not in attributes:
            assert attributes["aria-label"]
        if tag == "button":
            assert attributes["aria-label"]
    assert re.findall(r"url\((?!#)|@import|https?:", text) == []
    assert re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text) == []
    assert str(ROOT) not in text


def test_every_figure_says_what_it_shows_and_can_be_enlarged(text: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert figures
    for figure in figures:
        assert len(plain(re.findall(r"<figcaption>(.*?)</figcaption>", figure, re.DOTALL)[0])) > 20
        (alt,) = re.findall(r'role="img" aria-label="(.*?)"', figure)
        assert len(alt) > 20
        (drawing,) = re.findall(r'class="picture" id="(.*?)"', figure)
        assert f'<use href="#{drawing}"/>' in figure
        opens, closes = re.findall(r'popovertarget="(.*?)"', figure)
        assert opens == closes
        assert f'id="{opens}"' in figure


def test_references_find_one_thing_each(text: str) -> None:
    tags = Shown(text).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = {a["href"][1:] for _, a in tags if a.get("href", "").startswith("#")}
    wanted |= {a["popovertarget"] for _, a in tags if "popovertarget" in a}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", text))
    assert wanted <= set(ids)
    assert set(re.findall(r"var\(--(c[0-9a-f]{6}|ink|paper)\)", text)) <= set(
        re.findall(r"--([\w-]+): #", text)
    )


@pytest.mark.parametrize("kind", ["run", "comparison", "study", "validation", "crash"])
def test_names_are_text(texts: dict[str, str], kind: str) -> None:
    """The name of the device would be a script, which the parser would see."""
    assert "<script" not in texts[kind]
    assert html.escape("<script>&'\"", quote=False) in html.unescape(texts[kind]).replace(
        "<script>&'\"", html.escape("<script>&'\"", quote=False)
    )
    assert "&lt;script&gt;&amp;" in texts[kind]


def test_all_that_is_given_is_escaped() -> None:
    table = Table([HOSTILE, HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE)
    report = Report(
        HOSTILE, [HOSTILE], [HOSTILE], [Section(HOSTILE, [table])], [(HOSTILE, HOSTILE)]
    )
    text = pages.html(report, ["run", HOSTILE])
    assert "<script" not in text
    assert "script" not in [tag for tag, _ in Shown(text).tags]


@pytest.mark.parametrize("kind", ["overloaded", "applications"])
def test_the_same_result_gives_the_same_page(
    results: dict[str, Any], texts: dict[str, str], kind: str
) -> None:
    """Those of the other kinds are written again below."""
    assert reports.page(results[kind]) == texts[kind]


# What it says


def test_a_run_is_told_in_a_sentence(results: dict[str, Any], texts: dict[str, str]) -> None:
    (lead, more) = paragraphs(texts["run"])
    summary = results["run"].summary
    mean = summary["response_time_ms"]["mean"]
    (said,) = re.findall(r"takes ([\d.]+) ms", lead)
    assert float(said) == pytest.approx(mean, rel=0.005)
    low, high = re.findall(r"95 % interval ([\d.]+) to ([\d.]+) ms", lead)[0]
    interval = summary["confidence"]["response_time_ms"]
    assert [float(low), float(high)] == pytest.approx(
        [interval["low"], interval["high"]], rel=0.005
    )
    causes = {
        name: summary[f"{name}_ms"]["mean"]
        for name in ("queue", "seek", "transfer", "bus", "overhead")
    }
    assert max(causes, key=lambda name: causes[name]) == "seek"
    assert f"seeking: {100 * causes['seek'] / mean:.0f} %" in more


def test_overload_is_said_first(results: dict[str, Any], texts: dict[str, str]) -> None:
    assert "overloaded" in [caution["code"] for caution in results["overloaded"].cautions]
    (warning, *_) = paragraphs(texts["overloaded"])
    assert warning.startswith("atlas10k cannot keep up with this load (overloaded)")
    assert results["overloaded"].cautions[0]["text"] in warning
    (warning, *rest) = paragraphs(texts["comparison"])
    assert warning.startswith("atlas10k cannot keep up")
    assert not [sentence for sentence in rest if "atlas10k" in sentence]


def test_a_comparison_names_the_fastest(results: dict[str, Any], texts: dict[str, str]) -> None:
    lines = [line for line in results["comparison"].table.to_dicts() if line["label"] != "atlas10k"]
    fast, slow = sorted(lines, key=lambda line: line["mean_ms"])
    sentence = paragraphs(texts["comparison"])[1]
    assert sentence.startswith(fast["label"])
    if fast["mean_high_ms"] < slow["mean_low_ms"]:
        ratio = re.findall(r"is ([\d.]+) times \(([\d.]+) to ([\d.]+)\) as long", sentence)
        (middle, low, high) = map(float, ratio[0])
        assert low < middle < high
        assert middle == pytest.approx(slow["mean_ms"] / fast["mean_ms"], rel=0.01)
    else:
        assert "cannot be told apart" in sentence


def test_equal_devices_cannot_be_told_apart(hostile_file: Path) -> None:
    same = hostile_file.with_name("same.toml")
    same.write_text('base = "g2"\n', encoding="utf-8")
    load = ss.workload("random", rate=300, requests=4000)
    found = paragraphs(reports.page(ss.compare(load, ["g2", same])))
    assert "cannot be told apart" in found[0]


def test_a_study_names_its_ends(results: dict[str, Any], texts: dict[str, str]) -> None:
    (lead, *_) = paragraphs(texts["study"])
    means = results["study"].means_table()
    values = means.column("response_time_ms.mean")
    rates = means.column("rate")
    least = min(range(len(values)), key=lambda row: values[row])
    assert f"at rate = {rates[least]:g}" in lead
    assert lead.startswith("Over 4 points the mean response time goes from")


@pytest.mark.parametrize("replications", [1, 3])
@pytest.mark.parametrize("result", ["response_time_ms.mean", "queue_ms.mean", "queue_ms.p99"])
def test_a_study_has_its_intervals_or_no_column_of_them(replications: int, result: str) -> None:
    study = ss.sweep(
        {"device": "g2", "requests": 2000},
        grid={"rate": [300, 500]},
        replications=replications,
    )
    text = reports.page(study, axes=["rate", result])
    (points,) = re.findall(r"<caption><span>2 points</span>.*?</table>", text, re.DOTALL)
    heads, *rows = (
        [plain(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr.*?</tr>", points, re.DOTALL)
    )
    single_tail = replications == 1 and result.endswith("p99")  # a run tells those of means alone
    assert heads == ["rate", result, *([] if single_tail else ["95 %"])]
    means = study.means
    for at, (_, mean, *half) in enumerate(rows):
        assert float(mean) == pytest.approx(means[result][at], rel=0.05)
        if half:
            told = "confidence.queue_ms" if "queue" in result else "confidence.response_time_ms"
            of = told if replications == 1 else result
            width = means[f"{of}.high"][at] - means[f"{of}.low"][at]
            assert float(half[0].removeprefix("± ")) == pytest.approx(width / 2, rel=0.05)


def test_a_validation_and_a_crash_test_are_told(
    results: dict[str, Any], texts: dict[str, str]
) -> None:
    found = " ".join(paragraphs(texts["validation"]))
    share = results["validation"].demerit_percent["all"]
    assert f"{float(f'{share:.2g}'):g} % of the measured mean" in found
    assert "kept its promise in all of 40 power failures" in paragraphs(texts["crash"])[0]
    way = results["crash"].to_dict()["under_way"]
    assert f"{way['lost']} of them were lost" in paragraphs(texts["crash"])[1]


def test_lost_data_are_said_first() -> None:
    load = ss.workload(last_lbn=500, queue_depth=8, requests=2000)
    test = ss.crash_test(load, "atlas10k", points=300, promise="completion")
    assert not test.passed
    (warning, *_) = paragraphs(reports.page(test))
    count = test.to_dict()["violations"]
    assert warning.startswith(f"atlas10k broke the asked-for promise {count:,} times: ")
    assert test.violations[0]["text"] in warning


def test_differences_from_the_base_are_listed(texts: dict[str, str], hostile_file: Path) -> None:
    for kind in ("run", "validation", "crash"):
        rows = [plain(row) for row in re.findall(r"<tr>.*?</tr>", texts[kind], re.DOTALL)]
        assert f"spring_factor0.750.5{hostile_file}:2" in rows
    rows = [plain(row) for row in re.findall(r"<tr>.*?</tr>", texts["comparison"], re.DOTALL)]
    assert "spring_factor0.750.5-" in rows


def test_digests_are_those_of_device_and_load(
    results: dict[str, Any], texts: dict[str, str], hostile_file: Path
) -> None:
    load = ss.workload("random", rate=300, requests=4000)
    for digest in (ss.device(hostile_file).digest, load.digest):
        assert f"<code>{digest}</code>" in texts["run"]
        assert digest in texts["comparison"]
    assert results["run"].made_from() == [
        ("device", ss.device(hostile_file).digest),
        ("load", load.digest),
    ]


def test_meanings_are_those_of_the_docs() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (.+)\n(.+)$", page, re.MULTILINE))
    for term, meaning in glossary.terms().items():
        told = re.sub(r"[;.]? [Ss]ee \[.*$", "", entries[term])
        told = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", told)
        assert meaning == told.rstrip(".") + ".", term


def test_words_that_are_used_are_explained(text: str) -> None:
    used = set(re.findall(r'href="#(term-[\w-]+)"', text))
    assert used == set(re.findall(r'<div id="(term-[\w-]+)">', text))
    if "response time" in plain(text):
        assert used


# The command line


def test_the_command_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("a device & 'more'.toml")
    own.write_text('base = "g2"\n', encoding="utf-8")
    words = ["run", "--device", str(own), "--set", "rate=300", "--set", "requests=500"]
    assert main([*words, "--report", "a b.html"]) == 0
    assert "written: a b.html" in capsys.readouterr().out
    text = Path("a b.html").read_text(encoding="utf-8")
    (command,) = re.findall(r'<code id="command">(.*?)</code>', text)
    program, *again = shlex.split(html.unescape(command))
    assert program == "sledsim"
    assert again == [*words, "--report", "a b.html"]
    capsys.readouterr()
    assert main([*again, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] == first["summary"]
    assert Path("a b.html").read_text(encoding="utf-8").replace(" --json", "") == text


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("page.txt", "must end in .html"),
        ("none/page.html", "its folder does not exist"),
        ("folder.html", "is a folder"),
        ("plot.html", "is another file"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "run --device g2 --set requests=999999999 --rows plot.html",
        "compare --devices g2,g3 --set requests=999999999 --trace plot.html",
        "validate --device g2 --trace plot.html",
        "crash --device g2 --trace plot.html",
        "sweep --device g2 --vary rate=1,2 --trace plot.html",
        "bench-app postmark --replay --plot plot.html",
    ],
)
def test_a_wrong_file_is_refused_before_the_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    name: str,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.html").mkdir()
    words = command.split()
    if name != "plot.html":  # an option of its own is refused first
        words = [word for word in words if word not in {"--rows", "--plot", "plot.html"}]
        words = [word for word in words if word != "--trace"]
        if words[0] == "validate":
            words += ["--trace", "none.validate"]
    elif words[0] in {"run", "bench-app"}:
        pytest.skip("the other option refuses the name itself")
    assert main([*words, "--report", name]) == 2
    assert problem in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_NEEDED", {"no_such_library": "Jinja"})
    with pytest.raises(ss.SledsimError, match=r"need Jinja: pip install 'sledsim\[reports\]'"):
        reports.check(str(tmp_path / "a.html"))


def test_python_writes_the_same_page(
    results: dict[str, Any], texts: dict[str, str], tmp_path: Path
) -> None:
    for kind in ("run", "comparison", "study", "validation", "crash"):
        results[kind].report(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == texts[kind]
        assert "Made in Python" in texts[kind]
    with pytest.raises(ss.SledsimError, match="must end in"):
        results["run"].report(tmp_path / "page.pdf")
    with pytest.raises(ss.SledsimError, match="must be a run"):
        reports.write(5, tmp_path / "page.html")
    results["run"].report(tmp_path / "page.html", title="Mine")
    assert "<h1>Mine</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


# Colours, and a browser


@pytest.mark.parametrize("colour", ["#0072b2", "#6c0004", "#11188d", "#fbda1a", "#1f77b4"])
def test_colours_stand_out_on_dark_paper(colour: str) -> None:
    assert contrast(dark(colour), DARK_PAPER) >= min(max(contrast(colour, PAPER), 3), 4.5)


def test_greys_keep_their_contrast() -> None:
    for grey in ("#56606b", "#d3d7dc", "#8b949e", "#000000"):
        wanted = min(contrast(grey, PAPER), contrast(PAPER, DARK_PAPER))
        assert contrast(dark(grey), DARK_PAPER) == pytest.approx(wanted, rel=0.05)


MEASURE = """<!DOCTYPE html><html><body style="margin: 0">{frames}<script>
onload = () => {{
  for (const frame of document.querySelectorAll("iframe")) {{
    const own = frame.contentDocument, root = own.documentElement
    for (const folded of own.querySelectorAll("details")) folded.open = true
    let small = 100
    for (const text of own.querySelectorAll("svg.picture text")) {{
      const at = text.getScreenCTM(), size = parseFloat(getComputedStyle(text).fontSize)
        * Math.hypot(at.a, at.b)
      small = Math.min(small, size)
    }}
    const inks = new Set([...own.querySelectorAll("svg.picture text, p, td, th, dd, a, figcaption")]
      .map(one => getComputedStyle(one)[one.localName === "text" ? "fill" : "color"]))
    const large = own.querySelector(".large"), button = own.querySelector("button")
    button.click()
    const open = large.matches(":popover-open"), wide = large.querySelector("svg").clientWidth
    large.querySelector("button").click()
    document.body.append("|" + [frame.width, root.clientWidth, root.scrollWidth, small.toFixed(2),
      open, wide, large.matches(":popover-open"), getComputedStyle(own.body).backgroundColor,
      [...inks].join(";")].join("!") + "|")
  }}
  document.body.append("done")
}}
</script></body></html>
"""


@pytest.fixture
def measured(tmp_path: Path) -> Callable[[str, bool], list[list[str]]]:
    """Return what a browser measures on a page at several widths."""

    def measure(text: str, dark: bool) -> list[list[str]]:
        assert CHROMIUM is not None
        source = html.escape(text)
        frames = "".join(
            f'<iframe width="{width}" height="800" srcdoc="{source}"></iframe>'
            for width in (360, 1200)
        )
        file = tmp_path / "frames.html"
        file.write_text(MEASURE.format(frames=frames), "utf-8")
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]
        switches += ["--disable-background-networking", "--disable-sync", "--hide-scrollbars"]
        switches += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000"]
        switches += [f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
        done = subprocess.run(
            [CHROMIUM, *switches, file.as_uri()],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        said = done.stdout.rpartition("</script>")[2]
        assert "done" in said
        return [line.split("!") for line in re.findall(r"\|(\d+!.*?)\|", said)]

    return measure


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_it_on_a_phone_and_in_the_dark(
    texts: dict[str, str],
    measured: Callable[[str, bool], list[list[str]]],
    kind: str,
    dark: bool,
) -> None:
    found = measured(texts[kind], dark)
    assert [line[0] for line in found] == ["360", "1200"]
    for width, client, scrolled, small, opened, wide, still, paper, inks in found:
        assert int(scrolled) <= int(client), f"at {width} px it scrolls sideways"
        assert float(small) >= 7.5, "text of a figure"
        assert [opened, still] == ["true", "false"], "a picture opens and closes"
        assert int(wide) > 600, "it is large then"
        behind = _hex(paper)
        assert behind == (DARK_PAPER if dark else PAPER)
        for ink in inks.split(";"):
            assert contrast(_hex(ink), behind) >= 3, ink


def _hex(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])
