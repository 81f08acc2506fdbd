"""What is written of each kind of result as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim import _core
from sledsim._number_text import mean, measured, number, part, response_decimals
from sledsim.results import cautions
from sledsim.results.rows import rows_of
from sledsim.show import grids, loads, sheet_of
from sledsim.show.words import cell, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sledsim.comparison import Comparison
    from sledsim.published import Published
    from sledsim.results.rows import Kind, Rows
    from sledsim.show.grids import Source
    from sledsim.show.sheet import Sheet
    from sledsim.simulation import Run
    from sledsim.studies.study import Study
    from sledsim.validation import Validation

_BOTH = ("measured", "simulated")


def rows_with_all_digits(result: Any) -> Rows:
    """Return the table of a result with all digits."""
    match result._kind:
        case "run":
            return _times(result)
        case "study":
            means: Rows = result.means
            return means
        case "validation":
            return _figures(result)
        case "rows":
            rows: Rows = result
            return rows
    table: Rows = result.table
    return table


def source_of(result: Any) -> Source:
    """Return the table of a result, and how it is written on a page."""
    match result._kind:
        case "run":
            return _run(result)
        case "comparison":
            return _comparison(result)
        case "study":
            return _study(result)
        case "validation":
            return _validation(result)
        case "published":
            return _published(result)
    from sledsim.show import rows

    means = rows.are_means(result)
    return grids.Source(
        result,
        rows.first_columns(result),
        digits=mean if means else _as_shown,
        own_digits=dict.fromkeys(rows.keys_of(result) if means else (), _as_shown),
        marks=dict.fromkeys(
            [*rows.unreliable(result), *rows.doubtful_intervals(result)] if means else (),
            cautions.UNRELIABLE,
        ),
        caption=f"{_version({})}.",
    )


def _as_shown(value: float) -> str:
    return cell(value)


def _run(run: Run) -> Source:
    from sledsim.show.runs import shown_times

    document, sheet, kinds = run.to_dict(), sheet_of(run), shown_times(run.summary)
    rows = _times(run, [key for key, _, _ in kinds])
    decimals = response_decimals(document["summary"])
    return grids.Source(
        rows,
        ["time", *(f"{name}_ms" for name in ("mean", "p50", "p99", "max", "sd", "p90"))],
        own_digits={"mean_ms": lambda value: part(value, decimals)},
        instead={("time", at): "  " * depth + name for at, (_, depth, name) in enumerate(kinds)},
        notes=cautions.lines(sheet.cautions),
        caption=_told(
            f"Times of the requests of {sheet.title}",
            f"scheduler {document['scheduler']}",
            *_load(document),
            f"{number(run.requests)} requests",
            f"{measured(run.summary['throughput_iops'])} requests/s",
            document=document,
        ),
    )


def _times(run: Run, names: Sequence[str] = ()) -> Rows:
    """Return a row for each kind of time, by default all, with the intervals that are known."""
    every = [name for name, each in run.summary.items() if isinstance(each, dict) and "p50" in each]
    told = {"caution": ", ".join(cautions.codes(run.cautions))}
    records = [
        _time(run.summary, name) | told
        for name in names or (each.removesuffix("_ms") for each in every)
    ]
    return rows_of(records, {"time": "text", "caution": "text"})


def _time(summary: Mapping[str, Any], name: str) -> dict[str, Any]:
    told, times = summary["confidence"].get(f"{name}_ms") or {}, summary[f"{name}_ms"]
    return {
        "time": name,
        "mean_ms": times["mean"],
        "mean_low_ms": told.get("low"),
        "mean_high_ms": told.get("high"),
        **{f"{key}_ms": times[key] for key in times if key not in {"mean", "scv"}},
    }


def _comparison(comparison: Comparison) -> Source:
    document, rows, sheet = comparison.to_dict(), comparison.table, sheet_of(comparison)
    counts = sorted({run.requests for run in comparison.runs})
    requests = " to ".join(number(count) for count in dict.fromkeys((counts[0], counts[-1])))
    first = document["runs"][0]
    drawn = first["workload"]["workload"] != "trace"
    marks = (cautions.mark(found) for found in comparison.cautions.values())
    return grids.Source(
        rows,
        [
            *("label", "mean_ms"),
            *(("faster_share", "difference_p50_ms") if comparison.has_pairs else ()),
            *("p99_ms", "speed_up", "trace_ratio", "throughput_iops", "energy_mj_per_request"),
        ],
        own_digits={
            "speed_up": lambda value: f"{value:.2f}",
            "trace_ratio": lambda value: number(value, 3),
            **dict.fromkeys(("energy_j", "energy_mj_per_request"), number),
        },
        instead={("mean_ms", at): "saturated" for at, over in enumerate(rows["saturated"]) if over},
        marks=dict(enumerate(marks)),
        notes=cautions.lines(comparison.cautions),
        caption=_told(
            sheet.title,
            "means and percentiles are of response times",
            *_load(first),
            *[f"LBNs {document['lbns']}"] * drawn,
            f"{requests} requests{' each' * (len(comparison.runs) > 1)}",
            document=document,
        ),
    )


def _study(study: Study) -> Source:
    from sledsim.show import rows as shown

    sheet, means = sheet_of(study), study.means
    doubts = shown.doubtful_intervals(means)
    codes = dict.fromkeys(doubts.values())
    seeds = [seed for seed in study.table.column("seed_used") if seed is not None]
    runs = len(study) // max(len(means), 1)
    keys = study.varied or study.parameters[:1]
    own = [f"{runs} runs of each"] if runs > 1 else []
    if seeds:
        ends = dict.fromkeys((min(seeds), max(seeds)))
        own.append(f"seed{'s' * (len(ends) > 1)} {' to '.join(f'{seed:.0f}' for seed in ends)}")
    return grids.Source(
        means,
        [*keys, *shown.main_results(means)],
        len(keys),
        mean,
        own_digits=dict.fromkeys(study.parameters, _as_shown),
        marks=dict.fromkeys([*shown.unreliable(means), *doubts], cautions.UNRELIABLE),
        notes=[
            *(f"{cautions.UNRELIABLE} {text}" for text in sheet.warnings),
            *(f"{cautions.UNRELIABLE} the interval is not to be relied on: {c}" for c in codes),
        ],
        caption=_told(f"Results over {listed(keys)}", *_facts(sheet), *own, document={}),
    )


def _validation(validation: Validation) -> Source:
    document, rows, sheet = validation.to_dict(), _figures(validation), sheet_of(validation)
    several = ["time"] if len(set(rows["time"])) > 1 else []
    means, tails = ([f"{side}_{name}_ms" for side in _BOTH] for name in ("mean", "p99"))
    return grids.Source(
        rows,
        [*several, "op", *means, "demerit_ms", "demerit_percent", *tails, "requests"],
        len(several) + 1,
        own_digits={"demerit_percent": grids.percent},
        notes=[*cautions.lines(sheet.cautions), *map(str, sheet.warnings)],
        caption=_told(
            f"Measured and simulated times, {sheet.title}",
            f"scheduler {document['scheduler']}",
            *_load(document),
            document=document,
        ),
    )


def _figures(validation: Validation) -> Rows:
    """Return a row for each kind of time and operation, and the class-weighted figure."""
    document = validation.to_dict()
    parts = {"response": document, **(document["parts"] or {})}
    records = (record for name, figures in parts.items() for record in _of_part(name, figures))
    told = {"caution": ", ".join(cautions.codes(validation.cautions))}
    kinds: dict[str, Kind] = dict.fromkeys(("time", "op", "caution"), "text")
    return rows_of([record | told for record in records], kinds | {"requests": "whole"})


def _of_part(name: str, figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    statistics = [(side, key) for key in figures["measured_ms"]["all"] for side in _BOTH]
    for op in ("read", "write", "all"):
        yield {
            "time": name,
            "op": op,
            "requests": figures["requests"][op],
            **{f"{side}_{key}_ms": figures[f"{side}_ms"][op][key] for side, key in statistics},
            **{key: figures[key][op] for key in ("demerit_ms", "demerit_percent", "paired_rms_ms")},
        }
    yield {
        "time": name,
        "op": "class-weighted",
        "requests": figures["requests"]["all"],
        **dict.fromkeys(f"{side}_{key}_ms" for side, key in statistics),
        "demerit_ms": figures["class_weighted_ms"],
        "demerit_percent": figures["class_weighted_percent"],
        "paired_rms_ms": None,
    }


def _published(published: Published) -> Source:
    return grids.Source(
        published.table,
        ["what", "unit", "measured", "simulated", "distance", "role", "goal", "met"],
        digits=number,
        own_digits={"distance": lambda value: f"{value:.1f}"},
        caption=_told(
            f"Published and simulated numbers, {sheet_of(published).title}",
            document=published.to_dict(),
        ),
    )


def _load(document: dict[str, Any]) -> list[str]:
    """Return the facts of a load, one each."""
    return _joined(loads.facts(document))


def _facts(sheet: Sheet) -> list[str]:
    rows = sheet.facts.rows if sheet.facts else ()
    return _joined([str(name), str(text)] for name, text in rows)


def _joined(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return names with their texts; one without a name goes on with the one before."""
    told: list[str] = []
    for name, text in rows:
        if name.strip() or not told:
            told.append(f"{name.strip()} {text}".lstrip())
        else:
            told[-1] += f", {text}"
    return told


def _told(title: str, *facts: str, document: Mapping[str, Any]) -> str:
    """Return a caption: what it is, how it was made, and the version."""
    made = "; ".join(facts)
    sentences = [title, f"{made[:1].upper()}{made[1:]}", _version(document)]
    return " ".join(f"{each.removesuffix('.')}." for each in sentences if each)


def _version(document: Mapping[str, Any]) -> str:
    return f"sledsim {document.get('sledsim', _core.VERSION)}"
