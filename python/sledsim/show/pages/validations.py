"""The report of a validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sledsim._number_text import number, percent
from sledsim.show import validations as shown
from sledsim.show.pages import differences, texts
from sledsim.show.pages.figures import drawn, panel
from sledsim.show.pages.glossary import word
from sledsim.show.pages.parts import Report, Section, Table
from sledsim.show.pages.runs import notes, warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledsim.show.pages.parts import Text
    from sledsim.validation import Validation

_PANEL_IN = 3.7
"""Height of a further panel of the picture, with its legend."""


def report(validation: Validation) -> Report:
    """Return the report of a validation."""
    document = validation.to_dict()
    device, trace = document["device"], Path(document["workload"]["path"]).name
    said = list(warnings({"": validation.cautions}, device))
    if document["demerits_disagree"]:
        said.append(
            Markup(
                "<strong>Errors of reads and writes cancel in the figure of all requests</strong>"
                " ({} ms). The {}, {} ms, is the one to go by."
            ).format(
                number(document["demerit_ms"]["all"], 3),
                word("class-weighted figure", "Class-weighted demerit"),
                number(document["class_weighted_ms"], 3),
            )
        )
    return Report(
        title=f"{device} against {trace}",
        lead=list(_lead(document)),
        warnings=said,
        sections=list(_sections(validation)),
        made_from=validation.made_from(),
    )


def _lead(document: Mapping[str, Any]) -> Iterator[Text]:
    count, device = document["requests"]["all"], document["device"]
    figure, share = document["demerit_ms"]["all"], document["demerit_percent"]["all"]
    if figure is None:
        yield f"No request of the trace could be compared with {device}."
        return
    of_mean = "" if share is None else f", {percent(share / 100)} of the measured mean"
    yield Markup("The model {} is {} ms off{}: so large is the {} over {} requests.").format(
        device, number(figure, 3), of_mean, word("demerit figure", "Demerit figure"), number(count)
    )
    measured, simulated = (document[f"{side}_ms"]["all"] for side in ("measured", "simulated"))
    kinds = [
        f"{number(document['demerit_ms'][kind], 3)} ms for {kind}s"
        for kind in ("read", "write")
        if document["demerit_ms"][kind] is not None
    ]
    yield Markup(
        "A request took {} ms in the mean where it was measured and {} ms in the simulation; 99 of"
        " 100 took at most {} ms and {} ms. Taken apart, the figure is {}."
    ).format(
        number(measured["mean"], 4),
        number(simulated["mean"], 4),
        number(measured["p99"], 4),
        number(simulated["p99"], 4),
        texts.listed(kinds),
    )


def _sections(validation: Validation) -> Iterator[Section]:
    document = validation.to_dict()
    figure = number(document["demerit_ms"]["all"], 3)
    yield Section(
        "Measured against simulated",
        [
            drawn(
                "validation",
                validation,
                caption="How many requests took no longer than a time, measured and simulated. The"
                " distance between the lines is the error of the model.",
                alt=f"Distributions of measured and simulated times; demerit figure {figure} ms.",
                size=panel(
                    {"": validation.cautions}, _PANEL_IN * max(1, len(document["parts"] or ()))
                ),
            )
        ],
    )
    yield from notes({"": validation.cautions})
    what = "service" if document["replay"] == "closed" else "response"
    parts = {what: document, **(document["parts"] or {})}
    tables = []
    for name, figures in parts.items():
        head, *rows = shown.figures_rows(f"{name} time", figures)
        tables.append(
            Table(["", *texts.headings(head[1:])], rows, f"{name.capitalize()} times in ms")
        )
    head, *rows = shown.classes_rows(document)
    about = "Mean times in ms by operation, and by the request before"
    tables.append(Table(["", *texts.headings(head[1:])], rows, about, frozenset({0, 1})))
    yield Section("Numbers", tables)
    facts = [[texts.heading(name), text] for name, text in shown.facts(document)]
    about = "The model, the measurements, and what was compared"
    yield Section("What was run", [Table(["", ""], facts, about, frozenset({0, 1}))])
    origin = validation.origin
    if origin is not None and (changed := differences.against_base(origin.device)):
        yield changed
