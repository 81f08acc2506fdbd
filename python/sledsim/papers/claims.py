"""The headline claims of the papers, each against the value of an item that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledsim._progress import told
from sledsim.papers import engine, model, values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sledsim._progress import ProgressLike
    from sledsim.papers.engine import Result
    from sledsim.papers.model import Claim

HEAD = ("claim", "published", "DiskSim 4", "sledsim", "distance", "verdict")


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim, and the value of its item."""

    claim: Claim
    value: Mapping[str, Any]
    """As in the document of the item."""
    line: str
    """That of the item."""
    seconds: float | None
    """How long the item took; ``None`` if it was read from an earlier run."""

    @property
    def cells(self) -> list[str]:
        """The columns :data:`HEAD`."""
        value = self.value
        disksim = value["disksim"] and values.simulated(value, value["disksim"]["simulated"])
        return [
            self.claim.claim,
            _with_unit(value, values.stated(value)),
            disksim or values.NONE,
            values.simulated(value, value["simulated"]),
            values.apart(value["distance"]),
            value["verdict"].replace("_", " "),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it for a document."""
        keys = ("published", "unit", "kind", "simulated", "distance", "verdict", "disksim")
        told = {key: self.value[key] for key in keys}
        about = {"claim": self.claim.claim, "value": f"{self.claim.item}.{self.claim.key}"}
        command = {"command": self.claim.command, "seconds": self.seconds}
        return about | told | {"line": self.line} | command


def run(
    folder: Path,
    *,
    workers: int | None = None,
    progress: ProgressLike = None,
) -> list[Checked]:
    """Simulate the items of all claims, and return these in the order of the papers.

    Parameters
    ----------
    folder, workers
        As for :func:`sledsim.papers.run`.
    progress
        ``True`` for a bar on stderr, or what is called with the number of items done and of all.
    """
    claims = [claim for paper in model.papers() for claim in paper.claims]
    done: dict[tuple[bool, str], Result] = {}
    seconds: dict[tuple[bool, str], float] = {}
    total = len({(claim.quick, claim.item) for claim in claims})
    with told(progress, "items") as beat:
        for quick in (False, True):
            names = [claim.item for claim in claims if claim.quick is quick]
            before = len(done)

            def keep(result: Result, took: float, quick: bool = quick) -> None:
                seconds[quick, result.item.id] = took

            def tell(own: int, _of: int | None, before: int = before) -> None:
                if beat is not None:
                    beat(before + own, total)

            results = engine.run(
                _once(names), folder, quick=quick, workers=workers, progress=tell, finished=keep
            )
            done |= {(quick, result.item.id): result for result in results}
    return [_checked(claim, done, seconds) for claim in claims]


def _once(names: Sequence[str]) -> list[model.Item]:
    """Return the items of some names, each once; none without a name."""
    return model.find(names) if names else []


def _checked(
    claim: Claim,
    done: Mapping[tuple[bool, str], Result],
    seconds: Mapping[tuple[bool, str], float],
) -> Checked:
    at = claim.quick, claim.item
    document = done[at].document
    value = next(value for value in document["values"] if value["key"] == claim.key)
    return Checked(claim, value, document["line"], seconds.get(at))


def _with_unit(value: Mapping[str, Any], text: str) -> str:
    numeric = value["kind"] in {"within", "between"}
    return f"{text} {value['unit']}" if numeric and value["unit"] else text
