"""The report: one page with every item, its figure, its values, their verdicts and its code."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import sledsim
from sledsim import cautions
from sledsim.papers.page_embed import (
    CSS,
    VARIABLES,
    highlighted_python,
    highlighted_toml,
    inline_svg,
)
from sledsim.papers.page_text import MARKS, MEANINGS, NONE, paragraphs, prose, verdict_html
from sledsim.papers.page_values import Notes, table
from sledsim.papers.pictures import VERDICTS

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
        counts=_counts(results),
        meanings="\n".join(
            f"<dt>{verdict_html(verdict)}</dt><dd>{text}</dd>" for verdict, text in MEANINGS.items()
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


def _counts(results: Sequence[Result]) -> str:
    """Return the numbers of values and items by verdict."""
    values = _tally(result.document["values"] for result in results)
    items: Counter[str] = Counter(result.verdict for result in results)
    total = sum(values.values())
    parts = ", ".join(f"{values[verdict]:,} {verdict_html(verdict)}" for verdict in MARKS)
    of_items = ", ".join(f"{items[verdict]} {verdict}" for verdict in MARKS)
    widths = "".join(
        f'<span style="flex: {values[verdict]}; background: {CSS[VERDICTS[verdict]]}"></span>'
        for verdict in MARKS
        if values[verdict]
    )
    return (
        f"<p><b>{total:,} values:</b> {parts}.<br>\n"
        f'<span class="quiet">{len(results)} items: {of_items}. An item has the worst verdict of'
        " its values.</span></p>\n"
        f'<div class="bar" aria-hidden="true">{widths}</div>'
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
            *((verdict, "number") for verdict in MARKS),
        )
    )
    name = escape(paper.name)
    return (
        f'<h3 class="of-paper"><a href="#{name}">{escape(paper.title)}</a></h3>\n'
        f'<p class="quiet">{escape(paper.published)}</p>\n'
        f'<table class="overview">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n'
        "</table>"
    )


def _overview_row(result: Result) -> str:
    item, tally = result.item, _tally([result.document["values"]])
    counts = "".join(
        f'<td class="number" data-label="{verdict}">{tally[verdict] or NONE}</td>'
        for verdict in MARKS
    )
    return (
        f'<tr><th scope="row"><a href="#{escape(item.id)}">{prose(item.title)}</a></th>'
        f'<td class="place">{escape(item.place)}</td>'
        f'<td class="verdict-of">{verdict_html(result.verdict)}</td>{counts}</tr>'
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
        f'<p class="quiet">{escape(paper.authors)}. {escape(paper.published)}.</p>{left_out}\n'
        f"{items}\n</section>"
    )


def _item(result: Result) -> str:
    item, document = result.item, result.document
    name, values = escape(item.id), document["values"]
    file = escape(f"{item.folder}/{item.name}")
    notes = Notes(item.id, values)
    many, reach = "", ""
    if len(document["hypotheses"]) > 2:  # a table that may have to be scrolled, also by keyboard
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
        f"{notes.html(document['hypotheses'])}"
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
