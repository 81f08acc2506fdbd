"""What is shown of a validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledsim._number_text import measured, number, percent
from sledsim.results import cautions
from sledsim.show import loads
from sledsim.show.text_tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator


def paragraphs(document: dict[str, Any]) -> Iterator[str]:
    """Write a validation as text, paragraph by paragraph."""
    yield "\n".join(
        [table(list(facts(document)), "<<"), *cautions.lines({"": document["caution"]})]
    )
    what = {
        "closed": "measured service and simulated response time",
        "open": "response time",
    }[document["replay"]]
    yield _figures(what, document)
    for name, part in (document["parts"] or {}).items():
        yield _figures(f"{name} time", part)
    yield _classes(document)


def facts(document: dict[str, Any]) -> Iterator[list[str]]:
    """Describe a validation, line by line: a name and a text."""
    yield ["device", f"{document['device']}, scheduler {document['scheduler']}"]
    yield from loads.facts(document)
    left = document["left_out"]
    reasons = [
        f"{number(count)} {reason.replace('_', ' ')}" for reason, count in left.items() if count
    ]
    count = number(document["requests"]["all"])
    yield ["compared", f"{count} requests" + (f"; not {', '.join(reasons)}" if reasons else "")]
    worst = document["worst_request"]
    ways = ("measured", "simulated")
    took = ", ".join(f"{measured(worst[f'{way}_ms'])} ms {way}" for way in ways)
    what = f"{worst['op']} of {number(worst['blocks'])} blocks at LBN {worst['lbn']}"
    yield ["worst request", f"{worst['id']}, {what}: {took}"]


_STATISTICS = ("mean", "p50", "p90", "p95", "p99", "max")


def figures_rows(what: str, figures: dict[str, Any]) -> list[list[str]]:
    """Return the table of measured and simulated times, its head first."""
    rows = [[f"{what}, ms", "requests", *_STATISTICS, "demerit", "", "each"]]
    for kind, name in (("read", "reads"), ("write", "writes"), ("all", "all")):
        count, figure = figures["requests"][kind], figures["demerit_ms"][kind]
        if not count:
            rows.append([f"  {name}", "0"])
            continue
        share = figures["demerit_percent"][kind]
        percentage = "" if share is None else f"({percent(share / 100)})"
        for side in ("measured", "simulated"):
            times = figures[f"{side}_ms"][kind]
            row = [f"  {name}, {side}", number(count) if side == "measured" else ""]
            row += [measured(times[statistic]) for statistic in _STATISTICS]
            if side == "simulated":
                row += [measured(figure), percentage, measured(figures["paired_rms_ms"][kind])]
            rows.append(row)
    return rows


def _figures(what: str, figures: dict[str, Any]) -> str:
    rows = figures_rows(what, figures)
    largest = figures["largest"]["all"]
    text = table(rows, "<" + ">" * (len(rows[0]) - 1)) + _class_weighted(figures)
    if largest is None or largest["share_of_squares"] is None:
        return text
    return (
        f"{text}\n  farthest apart at {largest['share_of_requests']:.2%} of all: "
        f"{measured(largest['measured_ms'])} measured, "
        f"{measured(largest['simulated_ms'])} simulated; the slowest 1 % make up "
        f"{percent(largest['slowest_hundredth_share_of_squares'])} of the squared figure"
    )


def _class_weighted(figures: dict[str, Any]) -> str:
    """Write the class-weighted demerit figure, and whether that of all disagrees with it."""
    figure, share = figures["class_weighted_ms"], figures["class_weighted_percent"]
    if figure is None:
        return ""
    percentage = "" if share is None else f" ({percent(share / 100)})"
    text = f"\n  class-weighted demerit: {measured(figure)}{percentage}"
    if figures["demerits_disagree"]:
        text += (
            f", that of all is {measured(figures['demerit_ms']['all'])}: they DISAGREE, as errors "
            "of reads and writes cancel in that of all"
        )
    return text


def classes_rows(document: dict[str, Any]) -> list[list[str]]:
    """Return the table of times by the request before, its head first."""
    rows = [["by the request before", "", "requests", "measured", "simulated", "demerit", "each"]]
    for line in document["classes"]:
        after = "" if line["after"] is None else f"after a {line['after']}"
        rows.append(
            [
                f"  {line['op']} {after}".rstrip(),
                line["place"],
                number(line["requests"]),
                *(
                    measured(line[key])
                    for key in (
                        "measured_mean_ms",
                        "simulated_mean_ms",
                        "demerit_ms",
                        "paired_rms_ms",
                    )
                ),
            ]
        )
    return rows


def _classes(document: dict[str, Any]) -> str:
    near = document["near_blocks"]
    rows = classes_rows(document)
    return (
        f"{table(rows, '<<' + '>' * 5)}\n  means in ms; near: less than {near} blocks apart; each: "
        "root mean square difference of each request"
    )
