"""Tables of results for LaTeX, Markdown and CSV: what these formats are, and hand-made cases."""

import csv
import io
import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sledsim import Rows
from sledsim.cli import main
from sledsim.results.rows import rows_of
from sledsim.show import sheet_of

ENDINGS = ("tex", "csv", "md")
HOSTILE = r"a_b %&#$ {x} ~^ \end <y> |z| [1] * -- `c`"
MEASURED = "\n".join(
    f"{'W' if i % 4 == 0 else 'R'} Hit {i * i * 7919 % 6_000_000} {1 + i % 30} 900.0 800"
    for i in range(200)
)
SMALL = {"device": "g2", "workload": "random", "requests": 600}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a result of each kind that is written as a table."""
    trace = tmp_path_factory.mktemp("measured") / "dri_ve #1.validate"
    trace.write_text(MEASURED + "\n", encoding="utf-8")
    load = ss.workload("random", rate=300, requests=2000)
    grid = {"rate": [300, 900], "scheduler": ["fcfs", "sptf"], "device.spring_factor": [0, 0.75]}
    return {
        "run": ss.simulate(load, "g2"),
        "comparison": ss.compare(load, ["g2", "g3"]),
        "overloaded": ss.compare(load, ["g2", "atlas10k"]),
        "pairs": ss.compare("sample:sqlite", ["g2", "g3"], paired=True),
        "study": ss.sweep(SMALL, grid=grid, replications=3),
        "single": ss.sweep(SMALL, grid={"rate": [300, 3000]}),
        "validation": ss.validate(trace, "atlas10k"),
        "published": ss.validate_published("barracuda2t"),
        "rows": ss.simulate(load, "g2", rows=True).rows[:9],
    }


KINDS = (
    *("run", "comparison", "overloaded", "pairs", "study", "single", "validation", "published"),
    "rows",
)


# LaTeX, read as a reader of its source reads it


def kinds_of(preamble: str) -> list[str]:
    """Return the columns of the preamble of a tabular."""
    bare = re.sub(r"[@>]\{(?:[^{}]|\{[^{}]*\})*\}", "", preamble)
    return re.findall(r"l|S\[table-format=[^\]]*\]|p\{[^}]*\}", bare)


def cells_of(line: str) -> list[str]:
    """Split a row at each ``&`` that is not escaped and stands in no braces."""
    cells, depth = [""], 0
    for token in re.findall(r"\\[a-zA-Z]+|\\.|.", line):
        depth += (token == "{") - (token == "}")
        assert depth >= 0, line
        if token == "&" and depth == 0:
            cells.append("")
        else:
            cells[-1] += token
    assert depth == 0, line
    return [cell.strip() for cell in cells]


def tabular(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the types of the columns and the rows, the first of heads."""
    (begin,) = re.findall(r"^ *\\begin\{tabular\}\{(.*)\}$", text, re.MULTILINE)
    body = text[text.index("\\toprule") : text.index("\\bottomrule")]
    lines = [line.strip() for line in body.splitlines()[1:] if line.strip() != "\\midrule"]
    assert all(line.endswith(r" \\") for line in lines if line)
    return kinds_of(begin), [cells_of(line.removesuffix(r"\\")) for line in lines if line]


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_has_a_cell_for_each_column(results: dict[str, Any], kind: str) -> None:
    text = results[kind].to_latex(label="tab:one")
    kinds, (heads, *rows) = tabular(text)
    assert len(kinds) > 2
    assert rows
    for row in (heads, *rows):
        assert len(row) == len(kinds), row
    for of, *cells in zip(kinds, *rows, strict=True):
        for cell in cells if of.startswith("S") else ():
            assert fits(of, cell), (of, cell)
    for word in (r"\begin{table}", r"\end{table}", r"\caption{", r"\label{tab:one}", r"\midrule"):
        assert text.count(word) == 1, word
    bare = re.sub(r"\\\\|\\[{}%&#$_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert all(line.count("%") == 0 for line in bare.splitlines()[1:]), "no comment"


def fits(of: str, cell: str) -> bool:
    """Tell whether a column of numbers has room for a cell; a text stands in braces."""
    if cell.startswith("{"):
        return cell.endswith("}")
    room = re.fullmatch(r"S\[table-format=(-?)(\d+)\.(\d+)(?:\((\d+)\))?(?:e-(\d+))?\]", of)
    number = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?(?:\((\d+)\))?(?:e-?(\d+))?", cell)
    assert room is not None, of
    assert number is not None, cell
    most = [int(each or 0) for each in room.groups()[1:]]
    has = [len(each or "") for each in number.groups()[1:]]
    return len(number[1]) <= len(room[1]) and all(h <= m for h, m in zip(has, most, strict=True))


def of_one(value: float, low: float | None, high: float | None) -> Rows:
    """Return a table of one number with its interval."""
    record = {"name": "one", "x_ms": value, "x_low_ms": low, "x_high_ms": high}
    return rows_of([record], {"name": "text"})


def written(value: float, half: float) -> str:
    """Return how LaTeX has a mean with half its interval."""
    rows = of_one(value, value - half, value + half)
    _, (_, (cell,)) = tabular(rows.to_latex(columns=["x_ms"]))
    return cell


def test_an_interval_has_two_digits_and_its_mean_as_many_decimals() -> None:
    cases = {
        (12.345, 0.0678): "12.345(68)",
        (12.34, 0.56): "12.34(56)",
        (5591.4, 1230.0): "5600(1200)",
        (1234.6, 12.0): "1235(12)",
        (143.18, 9.96): "143(10)",
        (1.0, 0.0996): "1.00(10)",
        (0.4, 3.0): "0.4(30)",
        (-0.2118, 0.0341): "-0.212(34)",
        (1.2341e-7, 3.4e-9): "0.0000001234(34)",
        (98765432.1, 4321.0): "98765400(4300)",
    }
    assert {(value, half): written(value, half) for value, half in cases} == cases


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e5))
@example(10.0, 0.0995)
def test_rounding_is_that_of_the_decimal_module(value: float, half: float) -> None:
    low, high = value - half, value + half
    width = (high - low) / 2
    if not width:
        return
    rows = of_one(value, low, high)
    _, (_, (cell,)) = tabular(rows.to_latex(columns=["x_ms"]))
    found = re.fullmatch(r"(-?[\d.]+)\((\d+)\)", cell)
    assert found is not None
    two = Decimal(f"{Decimal(width):.1e}")  # two digits of the exact value of the float
    unit = Decimal(1).scaleb(two.as_tuple().exponent)  # type: ignore[arg-type]
    mean = Decimal(value).quantize(unit, ROUND_HALF_EVEN)
    decimals = len(found[1].partition(".")[2])
    assert int(found[2]) * Decimal(1).scaleb(-decimals) == two
    assert Decimal(found[1]) == mean
    assert f"{found[1]} ± {two:f}" in rows.to_markdown()


def test_half_the_width_of_an_interval_is_written() -> None:
    """Also of one that is longer to one side."""
    assert tabular(of_one(2.0, 1.5, 2.8).to_latex(columns=["x_ms"]))[1][1] == ["2.00(65)"]
    assert "2.0 ± 1.1" in of_one(2.0, 1.2, 3.4).to_markdown(columns=["x_ms"])


def test_numbers_have_the_digits_of_the_sheet(results: dict[str, Any]) -> None:
    columns = ["label", "p99_ms", "p50_ms", "energy_mj_per_request", "mean_ms"]
    heads, _, *rows = lines_of(results["comparison"].to_markdown(columns=columns))
    assert heads == ["", "p99 (ms)", "p50 (ms)", "energy each (mJ)", "mean (ms)"]
    sheet = sheet_of(results["comparison"]).tables[0]
    shown = {str(row[0]): set(map(str, row)) for row in sheet.rows}
    for (label, *numbers, mean), run in zip(rows, results["comparison"].runs, strict=True):
        assert set(numbers) < shown[label]
        share = run.summary["confidence"]["response_time_ms"]["half_width_share"]
        wanted = run.summary["response_time_ms"]["mean"]
        told, half = map(float, mean.split(" ± "))
        assert told == pytest.approx(wanted, abs=half / 20)
        assert half == pytest.approx(share * wanted, rel=0.05)


def test_characters_that_latex_takes_for_commands_are_escaped() -> None:
    rows = rows_of([{"na_me": HOSTILE, "x": 1.5}], {"na_me": "text"})
    text = rows.to_latex(caption=HOSTILE)
    wanted = (
        r"a\_b \%\&\#\$ \{x\} \textasciitilde{}\textasciicircum{} \textbackslash{}end"
        r" \textless{}y\textgreater{} \textbar{}z\textbar{} {[}1{]} {*} -{}- `c`"
    )
    assert rf"\caption{{{wanted}}}" in text
    kinds, (heads, row) = tabular(text)
    assert kinds[0].startswith("p{")
    assert row == [wanted, "1.5"]
    assert heads[0] == "{na me}"


def test_a_line_of_its_own_cannot_be_added_to_latex_or_markdown() -> None:
    rows = rows_of([{"name": "a\n\\\\ b\r\n| c", "x": 1.0}], {"name": "text"})
    _, (_, row) = tabular(rows.to_latex())
    assert row == [r"a \textbackslash{}\textbackslash{} b \textbar{} c", "1"]
    *_, line = rows.to_markdown().splitlines()
    assert line == r"| a \\\\ b \| c | 1 |"


def test_long_texts_are_wrapped_between_words() -> None:
    names = ["mcd(back.base=barracuda2t), fcfs", "g2, fcfs"]
    rows = rows_of([{"name": name, "x": 1.5} for name in names], {"name": "text"})
    kinds, (_, *cells) = tabular(rows.to_latex())
    assert [row[0] for row in cells] == names
    assert kinds[0] == "p{13.5em}", "27 characters of half an em are the longest word"
    assert tabular(rows[1:].to_latex())[0][0] == "l"


# Markdown


def lines_of(text: str) -> list[list[str]]:
    """Return the cells of the rows of a table, split at bars that are not escaped."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[c.strip() for c in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_the_cells_of_latex(results: dict[str, Any], kind: str) -> None:
    heads, rule, *rows = lines_of(results[kind].to_markdown())
    kinds, (_, *others) = tabular(results[kind].to_latex())
    assert len(heads) == len(kinds)
    assert [cell.startswith("-") for cell in rule] == [each.startswith("S") for each in kinds]
    assert len(rows) == len(others)
    for row, other in zip(rows, others, strict=True):
        assert len(row) == len(heads)
        for ours, theirs, of in zip(row, other, kinds, strict=True):
            if of.startswith("S") and not theirs.startswith("{"):
                mean, _, half = theirs.rstrip(")").partition("(")
                assert ours.split(" ± ")[0] == mean
                assert ("±" in ours) == bool(half)


# CSV


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("kind", "table"),
    [("comparison", "table"), ("study", "means"), ("published", "table"), ("rows", None)],
)
def test_csv_has_the_same_numbers(results: dict[str, Any], kind: str, table: str | None) -> None:
    of = results[kind]
    wanted = (of if table is None else getattr(of, table)).to_dicts()
    found = read(of.to_csv())
    assert len(found) == len(wanted)
    for line, other in zip(found, wanted, strict=True):
        assert list(line) == list(other)
        for name, value in other.items():
            if value is None:
                assert line[name] == ""
            elif isinstance(value, int | float) and not isinstance(value, bool):
                assert float(line[name]) == value, name
            else:
                assert line[name] == str(value)


def test_csv_of_a_run_and_a_validation_is_that_of_their_documents(results: dict[str, Any]) -> None:
    summary = results["run"].summary
    for line in read(results["run"].to_csv()):
        times = summary[f"{line['time']}_ms"]
        assert float(line["mean_ms"]) == times["mean"]
        assert float(line["p99_9_ms"]) == times["p99_9"]
    document = results["validation"].to_dict()
    lines = {line["op"]: line for line in read(results["validation"].to_csv())}
    for op in ("read", "write", "all"):
        assert float(lines[op]["demerit_ms"]) == document["demerit_ms"][op]
        assert float(lines[op]["measured_mean_ms"]) == document["measured_ms"][op]["mean"]
        assert int(lines[op]["requests"]) == document["requests"][op]
    assert float(lines["class-weighted"]["demerit_ms"]) == document["class_weighted_ms"]


def test_csv_has_the_codes_of_cautions(results: dict[str, Any]) -> None:
    over = results["overloaded"].runs[1]
    assert {line["caution"] for line in read(over.to_csv())} == {"overloaded"}
    assert {line["caution"] for line in read(results["run"].to_csv())} == {""}
    codes = [one["code"] for one in results["validation"].cautions]
    assert read(results["validation"].to_csv())[0]["caution"] == ", ".join(codes)


def test_a_named_column_has_its_interval(results: dict[str, Any]) -> None:
    mean = "response_time_ms.mean"
    (first, *_) = read(results["study"].to_csv(columns=["rate", mean]))
    assert list(first) == ["rate", mean, f"{mean}.low", f"{mean}.high"]
    (first, *_) = read(results["single"].to_csv(columns=[mean]))
    told = "confidence.response_time_ms"
    assert list(first) == [mean, f"{told}.low", f"{told}.high"], "that of the run itself"
    (first, *_) = read(results["comparison"].to_csv(columns=["speed_up", "speed_up_low"]))
    assert list(first) == ["speed_up", "speed_up_low", "speed_up_high"]


# What is told


def test_a_caption_says_how_the_numbers_were_made(results: dict[str, Any]) -> None:
    told = {
        "comparison": "g2 and g3|random, 300 requests/s|seed 1|2,000 requests each|95 %",
        "study": "Device g2|requests 600|3 runs of each|seeds 1 to 3|95 %",
        "pairs": "trace sample:sqlite",
        "validation": "dri_ve #1.validate",
        "published": "BarraCuda ST2000DM006",
    }
    for kind in KINDS:
        caption = results[kind].to_markdown().splitlines()[0]
        for words in (f"sledsim {ss.__version__}.", *told.get(kind, "").split("|")):
            assert words in caption
        assert r"\caption" not in results[kind].to_latex(caption="")
        assert results[kind].to_markdown(caption="").startswith("| ")


def test_what_is_not_to_be_relied_on_is_marked(results: dict[str, Any]) -> None:
    text = results["overloaded"].to_latex()
    assert r"{atlas10k\textsuperscript{!}}" in text
    assert r"\raggedright ! atlas10k: requests arrived faster" in text
    _, (_, *rows) = tabular(results["single"].to_latex())
    assert [row[0] for row in rows] == ["300", r"{3000\textsuperscript{!}}"]
    assert "| 3000 ! |" in results["single"].to_markdown()
    assert "| 3000 ! |" in results["single"].means.to_markdown()
    assert "cannot keep up with the load at 1 of 2 points" in results["single"].to_markdown()
    assert "!" not in results["comparison"].to_latex()


def test_an_interval_of_too_few_requests_is_marked_unless_replications_give_another() -> None:
    few: dict[str, Any] = {"device": "g2", "requests": 60}
    alone = ss.sweep(few, grid={"rate": [100, 200]})
    assert alone.table["caution"] == ["too_few_requests"] * 2
    for text in (alone.to_markdown(), alone.means.to_markdown()):
        assert "| 100 ! |" in text
    assert "! the interval is not to be relied on: too few requests" in alone.to_markdown()
    assert "!" not in ss.sweep(few, grid={"rate": [100, 200]}, replications=2).to_markdown()


def test_a_device_that_was_given_up_has_no_mean() -> None:
    load = ss.workload("random", rate=1500, requests=20_000, max_queue=500)
    comparison = ss.compare(load, ["g3", "g1"])
    assert comparison.table["saturated"] == [False, True]
    assert "| saturated |" in comparison.to_markdown(columns=["label", "mean_ms"])


def test_shares_are_in_percent(results: dict[str, Any]) -> None:
    heads, _, first, *_ = lines_of(results["comparison"].to_markdown(columns=["utilisation"]))
    assert heads == ["busy (%)"]
    share = results["comparison"].table["utilisation"][0]
    assert float(first[0]) == pytest.approx(100 * share, 0.03)


def test_a_table_fits_a_column_of_text_and_keeps_its_keys(results: dict[str, Any]) -> None:
    _, (heads, *_) = tabular(results["study"].to_latex())
    plain = [re.sub(r"\\begin.*@\{\}\}| \\\\|\\end.*|[{}]", "", head) for head in heads]
    keys = ["rate (requests/s)", "scheduler", "spring factor"]
    assert plain[:4] == [*keys, "mean response time (ms)"]
    # 55 digits of small print with their gaps are a column of a page of two.
    for kind in ("run", "comparison", "pairs", "validation"):
        _, (_, *rows) = tabular(results[kind].to_latex())
        assert max(sum(map(len, row)) for row in rows) < 70


def test_a_table_of_many_keys_has_a_result() -> None:
    grid: dict[str, Any] = {"rate": [100, 200], "read_fraction": [0.5, 1], "mean_size_kib": [4, 8]}
    grid |= {"scheduler": ["fcfs", "sptf"], "device.resonance_hz": [700, 739]}
    study = ss.sweep(SMALL, grid=grid)
    heads, *_ = lines_of(study.to_markdown())
    assert heads[-1] == "mean response time (ms)"
    assert len(heads) == len(study.varied) + 1


# Refusals, and files


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_what_is_returned(results: dict[str, Any], tmp_path: Path, ending: str) -> None:
    of = results["comparison"]
    write = {"tex": of.to_latex, "csv": of.to_csv, "md": of.to_markdown}[ending]
    file = tmp_path / f"table.{ending}"
    assert write(file) is None
    assert file.read_text(encoding="utf-8") == write()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


COMMANDS = {
    "run": ["run", "--device", "g2", "--set", "requests=300"],
    "compare": ["compare", "--devices", "g2,g3", "--set", "requests=300"],
    "sweep": ["sweep", "--device", "g2", "--vary", "rate=300,600", "--set", "requests=300"],
    "published": ["validate", "--published", "barracuda2t"],
    "windows": ["run", "--device", "g2", "--trace", "sample:postmark", "--by-window", "5"],
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_write_tables_beside_what_they_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, ending: str
) -> None:
    file = tmp_path / f"table.{ending}"
    assert main([*COMMANDS[name], "--table", str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"written: {file}" in printed
    assert len(printed.splitlines()) > 5
    text = file.read_text(encoding="utf-8")
    rows: Any = {"tex": lambda of: tabular(of)[1], "md": lines_of, "csv": read}
    assert rows[ending](text)


def test_a_command_writes_what_it_shows(tmp_path: Path) -> None:
    trace, file = tmp_path / "drive.validate", tmp_path / "table.csv"
    trace.write_text(MEASURED + "\n", encoding="utf-8")
    validate = ["validate", "--device", "atlas10k", "--trace", str(trace)]
    assert main([*validate, "--table", str(file)]) == 0
    assert file.read_text(encoding="utf-8") == ss.validate(trace, "atlas10k").to_csv()
    shown = ["--show", "queue_ms.p99", "--replications", "2", "--table", str(file)]
    assert main([*COMMANDS["sweep"], *shown]) == 0
    (first, _) = read(file.read_text(encoding="utf-8"))
    assert list(first) == ["rate", "queue_ms.p99", "queue_ms.p99.low", "queue_ms.p99.high"]


# Names that are asked for


def test_means_print_the_keys_that_vary_and_the_main_results(results: dict[str, Any]) -> None:
    head, first, *_ = str(results["study"].means).splitlines()
    assert head.startswith("rate  scheduler  device.spring_factor  response_time_ms.mean")
    assert " ± " in first
    assert max(map(len, str(results["study"].means).splitlines())) <= 80
    assert "overloaded" in str(results["single"].means)
    assert repr(results["study"].means).startswith("<sledsim rows: 8 x ")


def test_a_comparison_has_the_percentiles_of_its_runs(results: dict[str, Any]) -> None:
    comparison = results["comparison"]
    found = comparison.percentile(99.9, "service_time")
    assert list(found) == ["g2", "g3"]
    p = [run.summary["service_time_ms"]["p99_9"] for run in comparison.runs]
    assert list(found.values()) == p
