"""Experiments: what is run at each point of a study, and the columns of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sledsim._core import SledsimError
from sledsim.caches import hit_ratios
from sledsim.failures.crashes import crash_test
from sledsim.results import cautions
from sledsim.simulation import simulate
from sledsim.studies.columns import SUMMARY

if TYPE_CHECKING:
    from sledsim._progress import Beat
    from sledsim.simulation import Outputs
    from sledsim.studies.design import Kind
    from sledsim.studies.points import Job


class Experiment(NamedTuple):
    """What is run at each point."""

    run: Callable[[Job, int, Outputs, Beat | None], dict[str, Any]]
    """Runs a job with the seed of a replication, and writes its rows if they are to be; returns the
    scalars of the result by their dotted names."""
    columns: Mapping[str, Kind]
    """Those that a result may have, and their kinds."""
    keys: tuple[str, ...] = ()
    """Its own keys, without their prefix."""


def flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the scalars inside a document by their dotted names; lists are left out."""
    scalars: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            scalars.update(flat(value, f"{prefix}{key}."))
        elif not isinstance(value, list):
            scalars[prefix + key] = value
    return scalars


def _simulate(
    job: Job, replication: int, outputs: Outputs, progress: Beat | None
) -> dict[str, Any]:
    assert job.device is not None  # of hit ratios alone
    run = simulate(
        job.replicated(replication),
        job.device,
        job.scheduler,
        background=job.background,
        rows=outputs.rows,
        parts=outputs.parts,
        precision=job.precision,
        progress=progress,
    )
    return {"caution": ", ".join(cautions.codes(run.cautions)), **flat(run.summary)}


def _crash_test(
    job: Job, replication: int, outputs: Outputs, progress: Beat | None
) -> dict[str, Any]:
    _refuse_extras(job, outputs, "crash_test")
    assert job.device is not None
    keys = {"seed": 1, **job.own}
    keys["seed"] += replication
    load = job.replicated(replication)
    return flat(crash_test(load, job.device, job.scheduler, progress=progress, **keys).to_dict())


def _hit_ratios(
    job: Job, replication: int, outputs: Outputs, progress: Beat | None
) -> dict[str, Any]:
    _refuse_extras(job, outputs, "hit_ratios")
    keys = dict(job.own)
    policies, sizes = [keys.pop("policy", "lru")], [keys.pop("size_mib", 1)]
    load = job.replicated(replication)
    (row,) = hit_ratios(
        load, sizes_mib=sizes, policies=policies, device=job.device, progress=progress, **keys
    )
    return row


def _refuse_extras(job: Job, outputs: Outputs, experiment: str) -> None:
    for name, given in (
        ("background", job.background),
        ("precision", job.precision),
        ("run_rows", outputs.rows),
    ):
        if given:
            raise SledsimError(f"{name}: is of the experiment simulate, not of {experiment}")


_CRASH_TEST: dict[str, Kind] = {
    "promise": "text",
    "passed": "truth",
    **dict.fromkeys(
        (
            "points",
            "in_recovery",
            "rounds",
            "requests",
            "reads",
            "writes",
            "blocks_checked",
            "read_blocks_checked",
            "under_way.writes",
            "under_way.lost",
            "under_way.torn",
            "under_way.kept",
            "recovery_ms.mean",
            "recovery_ms.p50",
            "recovery_ms.p90",
            "recovery_ms.p99",
            "recovery_ms.max",
            "violations",
        ),
        "number",
    ),
}
_HIT_RATIOS: dict[str, Kind] = dict.fromkeys(
    ("requests", "accesses", "hits", "hit_ratio", "read_hit_ratio", "write_hit_ratio"), "number"
)

EXPERIMENTS = {
    "simulate": Experiment(_simulate, {"caution": "text", **SUMMARY}),
    "crash_test": Experiment(
        _crash_test,
        _CRASH_TEST,
        ("points", "seed", "promise", "requests_between", "fua", "flush", "in_recovery"),
    ),
    "hit_ratios": Experiment(
        _hit_ratios, _HIT_RATIOS, ("policy", "size_mib", "segment_kib", "device_blocks")
    ),
}
"""What a study can run, by name."""
