"""The report: one page with every item, its figure, its values, their verdicts and its code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._core import VERSION
from sledsim.papers import nearness, page_text
from sledsim.papers.judge import MEANINGS
from sledsim.papers.page_code import highlighted_python, highlighted_toml
from sledsim.papers.page_notes import Notes
from sledsim.papers.page_text import MARKS
from sledsim.papers.page_values import table
from sledsim.papers.values import NONE
from sledsim.results import cautions
from sledsim.show.pages.writer import render, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sledsim.papers.engine import Result
    from sledsim.papers.model import Paper

_NO_RESULTS = ("input", "repeat")
"""Verdicts of parameters, and of what is judged elsewhere."""


def page(
    papers: Sequence[Paper], results: Sequence[Result], command: Sequence[str] | None = None
) -> str:
    """Return a report as self-contained HTML, the same for the same results.

    Parameters
    ----------
    papers
        The papers, in order.
    results
        The results of their items, or of some of them.
    command
        The words of the command line behind ``sledsim``, to be shown.

    Raises
    ------
    ValueError
        For a result of another paper.
    """
    by_paper = {paper.name: _of(paper, results) for paper in papers}
    if strange := {result.item.paper for result in results} - by_paper.keys():
        raise ValueError(f"results of papers that are not given: {', '.join(sorted(strange))}")
    near = {
        name: nearness.together_cells(result.document["nearness"] for result in own)
        for name, own in by_paper.items()
    }
    tallies = {name: _tally(own) for name, own in by_paper.items()}
    total = sum(tallies.values(), Counter())
    return render(
        "papers.html",
        title="sledsim: published against simulated",
        command=shown(command),
        lead=_lead(results, total),
        what=_what(results),
        papers=[
            {
                "paper": paper,
                "tally": tallies[paper.name],
                "near": near[paper.name],
                "causes": list(_causes(paper, by_paper[paper.name])),
                "items": [_item(result) for result in by_paper[paper.name]],
                "readings": list(_readings(paper, by_paper[paper.name])),
                "left_out": _left_out(paper, by_paper[paper.name]),
            }
            for paper in papers
        ],
        total=total,
        near_head=nearness.HEAD,
        marks=list(MARKS),
        meanings=MEANINGS,
        none_text=NONE,
        colour=_colour,
        verdict=_marked(page_text.verdict_html),
        prose=_marked(page_text.prose),
        paragraphs=_marked(page_text.paragraphs),
        words=_marked(page_text.words),
    )


def _marked(write: Callable[..., str]) -> Callable[..., Markup]:
    """Return a function that escapes what it is given, as one whose result is markup."""
    return lambda *given: Markup(write(*given))


def _colour(verdict: str) -> str:
    own = verdict in {
        "reproduced",
        "conditional",
        "calibrated",
        "erratum",
        "contradiction",
        "missed",
    }
    return f"var(--{verdict}-text)" if own else "var(--rule)"


def _of(paper: Paper, results: Sequence[Result]) -> list[Result]:
    """Return the results of a paper in its order."""
    order = [item.name for item in paper.items]
    own = [result for result in results if result.item.paper == paper.name]
    return sorted(own, key=lambda result: order.index(result.item.name))


def _tally(results: Iterable[Result]) -> Counter[str]:
    return Counter(value["verdict"] for result in results for value in result.document["values"])


def _lead(results: Sequence[Result], total: Counter[str]) -> str:
    judged = total.total() - sum(total[verdict] for verdict in _NO_RESULTS)
    if not judged:
        return "No published value was judged."
    near, best = (
        nearness.together(result.document["nearness"][under] for result in results)
        for under in ("stated", "best")
    )
    limit = nearness.NEAR
    within, under = (own["within"][str(limit)] for own in (near, best))
    return (
        f"Of {near['numbers']:,} published numbers, {within:,} are within {limit} % of what is"
        f" published, and {under:,} under the best single reading of each item. By the printed"
        f" digits {total['missed']:,} of {judged:,} values are missed."
    )


def _what(results: Sequence[Result]) -> str:
    quick = any(result.document["quick"] for result in results)
    run = "quick run, with fewer requests than a full one" if quick else "full run"
    return (
        "What papers on MEMS-based storage state in their tables, figures and text, and what"
        f" sledsim {VERSION} comes to under the same conditions ({run})."
        " Every published value has a verdict; tolerances, arguments, data and code are shown"
        " with it."
    )


def _left_out(paper: Paper, results: Sequence[Result]) -> list[tuple[str, Markup]]:
    ran = {result.item.name for result in results}
    left = [(part.place, part.because) for part in paper.left_out]
    left += [(item.place, "Not part of this run.") for item in paper.items if item.name not in ran]
    return [(f"{place}.", Markup(page_text.prose(why))) for place, why in left]


def _readings(paper: Paper, results: Sequence[Result]) -> Iterable[tuple[Markup, Markup]]:
    """Yield the readings of a paper, and in how many items each holds for all values."""
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
        values, of = sum(agree.count(True) for agree in own), sum(map(len, own))
        yield (
            Markup("{}:").format(Markup(page_text.words(reading.name))),
            Markup(
                '{} <span class="quiet">{} of {} items hold whole under it, {} of {} values are as'
                " published.</span>"
            ).format(Markup(page_text.prose(reading.what)), whole, len(own), values, of),
        )


def _causes(paper: Paper, results: Sequence[Result]) -> Iterable[tuple[str, Markup]]:
    """Yield the causes of misses of a paper, and how many values miss by each."""
    missed = Counter(
        value["cause"]
        for result in results
        for value in result.document["values"]
        if value["verdict"] == "missed"
    )
    known = {**paper.causes, "": "No common cause is named."}
    for cause, count in sorted(missed.items(), key=lambda entry: -entry[1]):
        yield (
            f"{count}, {cause.replace('_', ' ') or 'other'}:",
            Markup(page_text.prose(known[cause])),
        )


def _item(result: Result) -> dict[str, Any]:
    """Return what the page shows of an item."""
    item, document = result.item, result.document
    notes = Notes(document)
    count = len(document["values"])
    numbers = "the value" if count == 1 else f"the {count} values"
    return {
        "item": item,
        "verdict": result.verdict,
        "line": document["line"],
        "near": nearness.cells(document["nearness"]),
        "tally": _tally([result]),
        "cautions": "; ".join(cautions.lines({"": result.cautions})),
        # A table that may have to be scrolled, also by keyboard.
        "many": len(document["readings"]) > 2,
        "svg": result.svg.encode(),
        "alt": f"{item.place}, {item.title}: figure. The table has {numbers} judged.",
        "table": Markup(table(document, notes)),
        "notes": Markup(notes.html()),
        "file": f"{item.folder}/{item.name}",
        "code": Markup(highlighted_python(item.code)),
        "data": Markup(highlighted_toml(item.data)),
    }
