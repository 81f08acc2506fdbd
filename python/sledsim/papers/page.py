"""The report: one page with every item, its figure, its values, their verdicts and its code."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import sledsim
from sledsim import cautions
from sledsim.papers.judge import MEANINGS
from sledsim.papers.page_embed import (
    CSS,
    VARIABLES,
    highlighted_python,
    highlighted_toml,
    inline_svg,
)
from sledsim.papers.page_notes import Notes
from sledsim.papers.page_text import MARKS, paragraphs, prose, verdict_html, words
from sledsim.papers.page_values import table
from sledsim.papers.values import NONE
from sledsim.plots.style import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledsim.papers.engine import Result
    from sledsim.papers.model import Paper


def page(papers: Sequence[Paper], results: Sequence[Result]) -> str:
    """Return a report as self-contained HTML, the same for the same results.

    Parameters
    ----------
    papers
        The papers, in order.
    results
        The results of their items, or of some of them.

    Raises
    ------
    ValueError
        For a result of another paper.
    """
    by_paper = {paper.name: _of(paper, results) for paper in papers}
    if strange := {result.item.paper for result in results} - by_paper.keys():
        msg = f"results of papers that are not given: {', '.join(sorted(strange))}"
        raise ValueError(msg)
    template = Path(__file__).with_name("page_template.html").read_text("utf-8")
    shown = [(paper, by_paper[paper.name]) for paper in papers]
    return Template(template).substitute(
        colours=_declared((name, colour) for colour, (name, _) in VARIABLES.items()),
        dark=_declared(VARIABLES.values()),
        what=_what(results),
        honest=_honest(shown),
        meanings="\n".join(
            f"<dt>{verdict_html(verdict)}</dt><dd>{escape(MEANINGS[verdict])}</dd>"
            for verdict in MARKS
        ),
        overview="\n".join(_overview(paper, own) for paper, own in shown),
        papers="\n".join(_paper(paper, own) for paper, own in shown),
    )


def _of(paper: Paper, results: Sequence[Result]) -> list[Result]:
    """Return the results of a paper in its order."""
    order = [item.name for item in paper.items]
    own = [result for result in results if result.item.paper == paper.name]
    return sorted(own, key=lambda result: order.index(result.item.name))


def _declared(variables: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"--{name}: {value}" for name, value in variables)


# The overview


def _what(results: Sequence[Result]) -> str:
    quick = any(result.document["quick"] for result in results)
    run = "quick run, with fewer requests than a full one" if quick else "full run"
    return (
        "What papers on MEMS-based storage state in their tables, figures and text, and what"
        f" sledsim {escape(sledsim.__version__)} comes to under the same conditions ({run})."
        " Every published value has a verdict; tolerances, arguments, data and code are shown"
        " with it."
    )


def _honest(papers: Sequence[tuple[Paper, Sequence[Result]]]) -> str:
    """Return the numbers of values by verdict and paper, and what they say of each paper."""
    tallies = [_tally(result.document["values"] for result in own) for _, own in papers]
    rows = "\n".join(
        f'<tr><th scope="row"><a href="#{escape(paper.name)}">{escape(paper.published)}</a></th>'
        f"{_cells(tally)}</tr>"
        for (paper, _), tally in zip(papers, tallies, strict=True)
    )
    total = sum(tallies, Counter())
    heads = "".join(
        f'<th scope="col" class="number">{verdict_html(verdict)}</th>' for verdict in MARKS
    )
    widths = "".join(
        f'<span style="flex: {total[verdict]}; background: {CSS[VERDICTS[verdict]]}"></span>'
        for verdict in MARKS
        if total[verdict]
    )
    told = "\n".join(
        f"<p><b>{escape(paper.published)}.</b> {prose(paper.summary)}</p>" for paper, _ in papers
    )
    return (
        '<div class="scroll"><table class="overview honest">\n'
        '<thead><tr><th scope="col">Values of</th>'
        f'{heads}<th scope="col" class="number">all</th></tr></thead>\n<tbody>\n{rows}\n'
        f'<tr><th scope="row">all</th>{_cells(total)}</tr>\n</tbody>\n</table></div>\n'
        f'<div class="bar" aria-hidden="true">{widths}</div>\n{told}'
    )


def _cells(tally: Counter[str]) -> str:
    """Return the cells of a row: a number for each verdict, and of all."""
    numbers = [(words(verdict), tally[verdict]) for verdict in MARKS] + [("all", tally.total())]
    return "".join(
        f'<td class="number" data-label="{label}">{number or NONE}</td>'
        for label, number in numbers
    )


def _tally(documents: Iterable[Sequence[Mapping[str, Any]]]) -> Counter[str]:
    return Counter(value["verdict"] for values in documents for value in values)


def _overview(paper: Paper, results: Sequence[Result]) -> str:
    rows = "\n".join(_overview_row(result) for result in results)
    heads = "".join(
        f'<th scope="col"{" class=" + chr(34) + kind + chr(34) if kind else ""}>{text}</th>'
        for text, kind in (
            ("Item", ""),
            ("Where", ""),
            ("Verdict", ""),
            *((words(verdict), "number") for verdict in MARKS),
            ("all", "number"),
        )
    )
    name = escape(paper.name)
    return (
        f'<h3 class="of-paper"><a href="#{name}">{escape(paper.title)}</a></h3>\n'
        f'<p class="quiet">{escape(paper.published)}</p>\n'
        f'<div class="scroll"><table class="overview">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _overview_row(result: Result) -> str:
    item = result.item
    return (
        f'<tr><th scope="row"><a href="#{escape(item.id)}">{prose(item.title)}</a></th>'
        f'<td class="place">{escape(item.place)}</td>'
        f'<td class="verdict-of">{verdict_html(result.verdict)}</td>'
        f"{_cells(_tally([result.document['values']]))}</tr>"
    )


# A paper and its items


def _paper(paper: Paper, results: Sequence[Result]) -> str:
    ran = {result.item.name for result in results}
    left = [(part.place, part.because) for part in paper.left_out]
    left += [(item.place, "Not part of this run.") for item in paper.items if item.name not in ran]
    lines = "\n".join(f"<li><b>{escape(place)}.</b> {prose(why)}</li>" for place, why in left)
    left_out = f'\n<div class="left-out">Left out:\n<ul>\n{lines}\n</ul></div>' if left else ""
    name = escape(paper.name)
    items = "\n".join(_item(result) for result in results)
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(paper.title)}</h2>\n'
        f'<p class="quiet">{escape(paper.authors)}. {escape(paper.published)}.</p>\n'
        f"<h3>Set-up of all items</h3>\n{paragraphs(paper.how)}\n"
        f"{_readings(paper, results)}{left_out}\n"
        f"{items}\n</section>"
    )


def _readings(paper: Paper, results: Sequence[Result]) -> str:
    """Return the readings of a paper, and in how many items each holds for all values."""
    lines = []
    for reading in paper.readings:
        own = [
            [
                value["readings"][reading.name]["agrees"]
                for value in result.document["values"]
                if value["class"] in {None, "calibrated"}
            ]
            for result in results
            if reading.name in result.document["readings"]
        ]
        whole = sum(False not in agree for agree in own)
        values = sum(agree.count(True) for agree in own)
        of = sum(map(len, own))
        lines.append(
            f"<li><b>{words(reading.name)}:</b> {prose(reading.what)}"
            f' <span class="quiet">{whole} of {len(own)} items hold whole under it, {values} of'
            f" {of} values are as published.</span></li>"
        )
    if not lines:
        return ""
    return "<h3>Readings of what it leaves open</h3>\n<ul>\n" + "\n".join(lines) + "\n</ul>\n"


def _item(result: Result) -> str:
    item, document = result.item, result.document
    name = escape(item.id)
    file = escape(f"{item.folder}/{item.name}")
    notes = Notes(document)
    many, reach = "", ""
    if len(document["readings"]) > 2:  # a table that may have to be scrolled, also by keyboard
        many = " many"
        reach = f' tabindex="0" role="region" aria-label="Values of {escape(item.place)}"'
    return (
        f'<article id="{name}">\n<header><h3>{prose(item.title)}</h3>'
        f"<span>{escape(item.place)}</span>{verdict_html(result.verdict)}"
        f'<a class="quiet small up" href="#overview">overview</a></header>\n'
        f"{paragraphs(item.how)}\n"
        f"{_cautions(result)}"
        f'<div class="both{many}">\n{_figure(result)}\n'
        f'<div class="scroll"{reach}>\n{table(document, notes)}\n</div>\n</div>\n'
        f"{notes.html()}"
        f"<details><summary>Code: <code>{file}.py</code></summary>\n"
        f"<pre><code>{highlighted_python(item.code)}</code></pre></details>\n"
        f"<details><summary>Data: <code>{file}.toml</code></summary>\n"
        f"<pre><code>{highlighted_toml(item.data)}</code></pre></details>\n</article>"
    )


def _cautions(result: Result) -> str:
    """Return the cautions of the runs of an item."""
    notes = cautions.lines({"": result.cautions})
    if not notes:
        return ""
    return f'<p class="quiet small">Cautions: {escape("; ".join(notes))}.</p>\n'


def _figure(result: Result) -> str:
    item, count = result.item, len(result.document["values"])
    numbers = "the value" if count == 1 else f"the {count} values"
    text = f"{item.place}, {item.title}: figure. The table has {numbers} judged."
    return f"<figure>\n{inline_svg(result.svg, f'{item.id}:', text)}\n</figure>"
