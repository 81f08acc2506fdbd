"""What is shown of a validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledsim._number_text import measured, number, percent
from sledsim.show import loads
from sledsim.show.sheet import Sentence, Sheet, Table, Word
from sledsim.show.sheet import facts as facts_table
from sledsim.show.words import listed, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.validation import Validation


def sheet(validation: Validation) -> Sheet:
    """Describe a validation."""
    document = validation.to_dict()
    what = {
        "closed": "measured service and simulated response time",
        "open": "response time",
    }[document["replay"]]
    parts = (document["parts"] or {}).items()
    about = "The model, the measurements, and what was compared"
    return Sheet(
        title=f"{document['device']} against {Path(document['workload']['path']).name}",
        lead=list(_lead(document)),
        facts=facts_table(list(_facts(document)), about, cautioned=True),
        tables=[
            _figures(what, document),
            *(_figures(f"{name} time", part) for name, part in parts),
            _classes(document),
        ],
        cautions={document["device"]: validation.cautions},
        warnings=[_cancelling(document)] if document["demerits_disagree"] else [],
    )


def _cancelling(document: Mapping[str, Any]) -> Sentence:
    return Sentence(
        "Errors of reads and writes cancel in the figure of all requests ({} ms): the {}, {} ms,"
        " is the one to go by.",
        number(document["demerit_ms"]["all"], 3),
        Word("class-weighted figure", "Class-weighted demerit"),
        number(document["class_weighted_ms"], 3),
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Sentence | str]:
    count, device = document["requests"]["all"], document["device"]
    figure, share = document["demerit_ms"]["all"], document["demerit_percent"]["all"]
    if figure is None:
        yield f"No request of the trace could be compared with {device}."
        return
    of_mean = "" if share is None else f", {percent(share / 100)} of the measured mean"
    yield Sentence(
        "The model {} is {} ms off{}: so large is the {} over {} requests.",
        device,
        number(figure, 3),
        of_mean,
        Word("demerit figure", "Demerit figure"),
        number(count),
    )
    measured, simulated = (document[f"{side}_ms"]["all"] for side in ("measured", "simulated"))
    kinds = [
        f"{number(document['demerit_ms'][kind], 3)} ms for {kind}s"
        for kind in ("read", "write")
        if document["demerit_ms"][kind] is not None
    ]
    yield Sentence(
        "A request took {} ms in the mean where it was measured and {} ms in the simulation; 99 of"
        " 100 took at most {} ms and {} ms. Taken apart, the figure is {}.",
        number(measured["mean"], 4),
        number(simulated["mean"], 4),
        number(measured["p99"], 4),
        number(simulated["p99"], 4),
        listed(kinds),
    )


def _facts(document: dict[str, Any]) -> Iterator[list[str]]:
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


_STATISTICS = tuple(map(percentile, ("mean", "p50", "p90", "p95", "p99", "max")))


def _figures(what: str, figures: dict[str, Any]) -> Table:
    rows = []
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
    head = [f"{what}, ms", "requests", *_STATISTICS, Word("demerit", "Demerit figure"), ""]
    head.append(Word("each", "Each (validation)"))
    about = f"{what[:1].upper()}{what[1:]}, measured and simulated, in ms"
    return Table(head, rows, about, after=list(_after(figures)))


def _after(figures: Mapping[str, Any]) -> Iterator[str]:
    """Tell the class-weighted demerit, whether that of all disagrees, and where both are apart."""
    figure, share = figures["class_weighted_ms"], figures["class_weighted_percent"]
    if figure is not None:
        percentage = "" if share is None else f" ({percent(share / 100)})"
        text = f"  class-weighted demerit: {measured(figure)}{percentage}"
        if figures["demerits_disagree"]:
            text += (
                f", that of all is {measured(figures['demerit_ms']['all'])}: they DISAGREE, as"
                " errors of reads and writes cancel in that of all"
            )
        yield text
    largest = figures["largest"]["all"]
    if largest is not None and largest["share_of_squares"] is not None:
        yield (
            f"  farthest apart at {largest['share_of_requests']:.2%} of all: "
            f"{measured(largest['measured_ms'])} measured, "
            f"{measured(largest['simulated_ms'])} simulated; the slowest 1 % make up "
            f"{percent(largest['slowest_hundredth_share_of_squares'])} of the squared figure"
        )


def _classes(document: Mapping[str, Any]) -> Table:
    keys = ("measured_mean_ms", "simulated_mean_ms", "demerit_ms", "paired_rms_ms")
    rows = []
    for line in document["classes"]:
        after = "" if line["after"] is None else f"after a {line['after']}"
        rows.append(
            [
                f"  {line['op']} {after}".rstrip(),
                line["place"],
                number(line["requests"]),
                *(measured(line[key]) for key in keys),
            ]
        )
    head = ["by the request before", "", "requests", "measured", "simulated"]
    head += [Word("demerit", "Demerit figure"), Word("each", "Each (validation)")]
    note = (
        f"  means in ms; near: less than {document['near_blocks']} blocks apart; each: root mean"
        " square difference of each request"
    )
    about = "Mean times in ms by operation, and by the request before"
    return Table(head, rows, about, left=frozenset({0, 1}), after=[note])
