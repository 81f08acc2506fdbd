"""The report of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._number_text import measured, number, percent
from sledsim.results import busy_parts
from sledsim.show import runs as shown
from sledsim.show.pages import differences, texts
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Items, Paragraph, Report, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledsim.show.pages.parts import Text
    from sledsim.simulation import Run


def report(run: Run) -> Report:
    """Return the report of a run."""
    document = run.to_dict()
    device, load = document["device"], texts.load_name(document["workload"])
    return Report(
        title=f"{device} under {load}",
        lead=list(_lead(document)),
        warnings=list(warnings({"": run.cautions}, device)),
        sections=list(_sections(run)),
        made_from=run.made_from(),
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Text]:
    summary, device = document["summary"], document["device"]
    if not summary["requests"]:
        yield f"No request was completed on {device}."
        return
    times = summary["response_time_ms"]
    yield Markup(
        "On {}, a request takes {} from its {} to its completion in the mean ({}). Half of the"
        " requests take at most {} ms, 99 of 100 at most {} ms."
    ).format(
        device,
        texts.mean_ms(summary),
        word("arrival", "Response time"),
        texts.interval_ms(summary),
        measured(times["p50"]),
        measured(times["p99"]),
    )
    most = texts.largest_cause(summary)
    if most is not None:
        cause, share = most
        yield Markup("The largest part of that time is {}: {:.0f} %.{}").format(
            texts.cause_link(cause), 100 * share, _busy(summary)
        )


def _busy(summary: Mapping[str, Any]) -> Text:
    busy, part = summary["utilisation"], summary["busiest"]
    if busy is None:
        return ""
    rate = measured(summary["throughput_iops"])
    return Markup(" Its busiest part, {}, is {} {} of the time; it serves {} requests/s.").format(
        part, word("busy", "Utilisation"), percent(busy), rate
    )


def warnings(by_label: Mapping[str, Sequence[Mapping[str, Any]]], device: str) -> Iterator[Text]:
    """Return the cautions that make a mean unreliable, as warnings."""
    for label, found in by_label.items():
        who = label or device
        for one in found:
            if not one["unreliable"]:
                continue
            if one["code"] in {"saturated", "overloaded"}:
                term = str(one["code"]).capitalize()
                yield Markup("<strong>{} cannot keep up with this load</strong> ({}): {}.").format(
                    who, word(term.lower(), term), one["text"]
                )
            else:
                yield texts.warning(one["text"], label)


def notes(by_label: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Section]:
    """Return the section of the other cautions, if there are any."""
    found: dict[str, list[str]] = {}
    for label, each in by_label.items():
        for one in each:
            if not one["unreliable"]:
                found.setdefault(one["text"], []).append(label)
    lines = [
        f"{texts.listed(labels)}: {text}." if any(labels) else f"{text[:1].upper()}{text[1:]}."
        for text, labels in found.items()
    ]
    return [Section("Cautions", [Items(lines)])] if lines else []


def _sections(run: Run) -> Iterator[Section]:
    document, summary = run.to_dict(), run.to_dict()["summary"]
    if summary["requests"]:
        p50, p99 = (measured(summary["response_time_ms"][key]) for key in ("p50", "p99"))
        means = {
            cause: summary[f"{cause}_ms"]["mean"]
            for cause in texts.CAUSES
            if summary[f"{cause}_ms"]["mean"]
        }
        said = ", ".join(f"{k.replace('_', ' ')} {measured(v)} ms" for k, v in means.items())
        yield Section(
            "Where the time goes",
            [
                drawn(
                    "cdf",
                    run,
                    size=panel({"": run.cautions}),
                    caption="How many requests took no longer than a time: the steeper, the more"
                    " alike they are.",
                    alt=f"Distribution of response times: half take at most {p50} ms, 99 % at most"
                    f" {p99} ms.",
                ),
                drawn(
                    "causes",
                    run,
                    size=panel({"": run.cautions}),
                    caption="What the mean response time is made of. The parts add up to it.",
                    alt=f"Mean response time by cause: {said}.",
                ),
            ],
        )
    yield from notes({"": run.cautions})
    yield Section("Numbers", [_times(summary), _mechanisms(summary), *_energy(summary)])
    facts = [[texts.heading(name), text] for name, text in shown.facts(document)]
    yield Section(
        "What was run", [Table(["", ""], facts, "The run and its load", frozenset({0, 1}))]
    )
    if run.origin is not None and (changed := differences.against_base(run.origin.device)):
        yield changed


def _times(summary: Mapping[str, Any]) -> Table:
    heads = ["ms", *texts.headings([name.replace("_", ".") for name in shown.STATISTICS])]
    rows: list[list[Text]] = []
    for label, depth, cells in shown.times_rows(summary):
        name = Markup("{}{}").format("\u2003" * depth, texts.heading(label))
        rows.append([name, *cells])
    return Table(heads, rows, "Times of the requests in ms; indented, what they are made of")


def _mechanisms(summary: Mapping[str, Any]) -> Table:
    heads = texts.headings(busy_parts.HEADS)
    return Table(
        heads, list(busy_parts.rows(summary)), "Shares of the time in which the parts worked"
    )


def _energy(summary: Mapping[str, Any]) -> list[Table | Paragraph]:
    joules = summary["energy_j"]
    if joules is None:
        return [Paragraph(f"Energy {busy_parts.unknown_energy([summary])}.")]
    rows = [[name.replace("_", " "), number(value)] for name, value in joules.items() if value]
    return [Table(["", "J"], rows, "Energy of the whole run by what it was spent on")]
