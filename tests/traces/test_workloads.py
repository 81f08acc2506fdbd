"""Generated workloads from Python and the command line; their distributions are tested in Rust."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest
import sledsim as ss

Says: TypeAlias = Callable[[str], str]
Reads: TypeAlias = Callable[[str], Any]


def run(*pairs: str) -> str:
    """Return the command that runs a workload with keys on G2."""
    return " ".join(["run --device g2", *(f"--set {pair}" for pair in pairs)])


def test_parts_of_a_mix_are_dicts_or_dotted_keys() -> None:
    nested = ss.workload(
        "mix", requests=500, part={"a": {}, "b": {"kind": "zipf", "rate": 50, "scatter": False}}
    )
    dotted: dict[str, Any] = {"part.a.kind": "random", "part.b.kind": "zipf", "part.b.rate": 50.0}
    scatter: dict[str, Any] = {"part.b.scatter": False}
    flat = ss.workload("mix", requests=500, **dotted, **scatter)
    first, second = (ss.simulate(load, ss.device("g2")) for load in (nested, flat))
    assert first.to_dict() == second.to_dict()
    assert list(first.to_dict()["workload"]["part"]) == ["a", "b"]
    inside: dict[str, object] = {}
    inside["a"] = inside
    with pytest.raises(ss.SpecError, match="must not lie inside itself"):
        ss.workload("mix", part=inside)


def test_mix_from_a_file_is_what_the_options_make_of_it(document: Reads) -> None:
    keys = ["part.hot.kind=zipf", "part.hot.rate=300", "part.log.read_fraction=0", "requests=700"]
    said = document(f"{run(*keys)} --workload mix")
    hot, log = '[workload.part.hot]\nkind = "zipf"\nrate = 100\n', "[workload.part.log]\n"
    mix = '[workload]\nkind = "mix"\nrequests = 700\n'
    Path("mix.toml").write_text(f"{mix}{hot}{log}read_fraction = 0\n", encoding="utf-8")
    assert document(f"{run('part.hot.rate=300')} mix.toml") == said


def test_the_mix_of_the_guide_has_the_shares_it_claims(text: Says) -> None:
    guide = Path(__file__).parents[2] / "docs" / "reference" / "workload-files.md"
    mix, *_ = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    Path("guide.toml").write_text(mix, encoding="utf-8")
    text("run guide.toml --device g2 --rows rows.parquet")
    table = pl.read_parquet("rows.parquet").sort("id")
    for stream, op, share in ((0, "read", 0.25), (1, "write", 0.1)):
        part = table.filter(pl.col("stream") == stream)
        assert part["op"].cast(pl.String).unique().to_list() == [op]
        follows = part["lbn"] == (part["lbn"] + part["blocks"]).shift(1)
        bound = 5 * (share * (1 - share) / len(part)) ** 0.5
        assert follows.mean() == pytest.approx(share, abs=bound)
    first = table.filter(pl.col("stream") < 2)
    writes = (first["op"].cast(pl.String) == "write").mean()
    assert writes == pytest.approx(0.57, abs=0.06)  # bursts make it vary


TOLD = [
    ("zipf zipf_exponent=0.9", "zipf with exponent 0.9, sizes geometric", "seed 1"),
    ("hot_cold hot_share=0.7", "hot_cold with 70.0% of the requests in 20.0%"),
    ("sequential streams=3", "sequential to 100.0%, streams 3"),
    ("postmark files=400", "postmark with 400 files and 500 transactions"),
    ("random rate=90 on_ms=5 off_ms=9", "90 per s in bursts of 5 ms, 9 ms apart"),
    ("random rate=90 arrivals=constant", "90 per s at constant gaps"),
    ("random think_ms=3 think=exponential", "each 3 ms on average after"),
    ("mix part.a.rate=9 part.b.kind=zipf", "mix, seed 1", "random, sizes geometric", "open, 9"),
    ("mix part.a.rate=9 part.b.kind=zipf", "zipf with exponent 1"),
]


@pytest.mark.parametrize("row", TOLD, ids=lambda row: row[0])
def test_the_report_states_the_settings(row: tuple[str, ...], text: Says) -> None:
    words, *told = row
    kind, *keys = words.split()
    said = text(f"{run('requests=200', *keys)} --workload {kind}")
    assert [part for part in told if part not in said] == []


def test_postmark_ends_with_its_requests_or_its_program() -> None:
    cases: list[dict[str, Any]] = [{"requests": 7}, {}, {"requests": 10**9}]
    counts = [
        ss.simulate(ss.workload("postmark", **keys), "g2", rows=False).summary["requests"]
        for keys in cases
    ]
    assert counts[0] == 7
    assert counts[1] == counts[2] > 3000
