"""Generated workloads from Python and the command line; their distributions are tested in Rust."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sledsim", "run", "--device", "g2", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def settings(*pairs: str) -> list[str]:
    return [word for pair in pairs for word in ("--set", pair)]


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
    with pytest.raises(ss.SledsimError, match=r"argument part: unknown key 'part\.a\.rates'"):
        ss.workload("mix", part={"a": {"rates": 5}})
    with pytest.raises(ss.SledsimError, match=r"argument part\.a\.rate: must be a number"):
        ss.workload("mix", part={"a": {"rate": {5}}})
    with pytest.raises(ss.SledsimError, match="argument part: key 3: must be a string"):
        ss.workload("mix", part={3: {}})  # type: ignore[dict-item]
    inside: dict[str, object] = {}
    inside["a"] = inside
    with pytest.raises(ss.SledsimError, match="must not lie inside itself"):
        ss.workload("mix", part=inside)


def test_mix_from_a_file_is_what_the_options_make_of_it(tmp_path: Path) -> None:
    keys = ["part.hot.kind=zipf", "part.hot.rate=300", "part.log.read_fraction=0", "requests=700"]
    said = run("--workload", "mix", "--json", *settings(*keys))
    assert said.returncode == 0, said.stderr
    file = tmp_path / "mix.toml"
    hot, log = '[workload.part.hot]\nkind = "zipf"\nrate = 100\n', "[workload.part.log]\n"
    mix = '[workload]\nkind = "mix"\nrequests = 700\n'
    file.write_text(f"{mix}{hot}{log}read_fraction = 0\n", encoding="utf-8")
    filed = run(str(file), "--json", *settings("part.hot.rate=300"))
    assert filed.returncode == 0, filed.stderr
    assert json.loads(said.stdout) == json.loads(filed.stdout)


def test_the_mix_of_the_guide_has_the_shares_it_claims(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "reference" / "workload-files.md"
    text, *_ = re.findall(r"```toml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    file, rows = tmp_path / "guide.toml", tmp_path / "rows.parquet"
    file.write_text(text, encoding="utf-8")
    done = run(str(file), "--rows", str(rows))
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(rows).sort("id")
    for stream, op, share in ((0, "read", 0.25), (1, "write", 0.1)):
        part = table.filter(pl.col("stream") == stream)
        assert part["op"].cast(pl.String).unique().to_list() == [op]
        follows = part["lbn"] == (part["lbn"] + part["blocks"]).shift(1)
        bound = 5 * (share * (1 - share) / len(part)) ** 0.5
        assert follows.mean() == pytest.approx(share, abs=bound)
    first = table.filter(pl.col("stream") < 2)
    writes = (first["op"].cast(pl.String) == "write").mean()
    assert writes == pytest.approx(0.57, abs=0.06)  # bursts make it vary


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("zipf", "zipf_exponent=0.9"), ["zipf with exponent 0.9, sizes geometric", "seed 1"]),
        (("hot_cold", "hot_share=0.7"), ["hot_cold with 70.0% of the requests in 20.0%"]),
        (("sequential", "streams=3"), ["sequential to 100.0%, streams 3"]),
        (("postmark", "files=400"), ["postmark with 400 files and 500 transactions"]),
        (("random", "rate=90", "on_ms=5", "off_ms=9"), ["90 per s in bursts of 5 ms, 9 ms apart"]),
        (("random", "rate=90", "arrivals=constant"), ["90 per s at constant gaps"]),
        (("random", "think_ms=3", "think=exponential"), ["each 3 ms on average after"]),
        (
            ("mix", "part.a.rate=9", "part.b.kind=zipf"),
            [
                "mix, seed 1",
                "random, sizes geometric",
                "zipf with exponent 1",
                "open, 9",
            ],
        ),
    ],
)
def test_the_report_states_the_settings(words: tuple[str, ...], told: list[str]) -> None:
    done = run("--workload", words[0], *settings("requests=200", *words[1:]))
    assert done.returncode == 0, done.stderr
    for part in told:
        assert part in done.stdout


def test_postmark_ends_with_its_requests_or_its_program() -> None:
    cases: list[dict[str, Any]] = [{"requests": 7}, {}, {"requests": 10**9}]
    counts = [
        ss.simulate(ss.workload("postmark", **keys), "g2", rows=False).summary["requests"]
        for keys in cases
    ]
    assert counts[0] == 7
    assert counts[1] == counts[2] > 3000


def test_mistakes_are_named() -> None:
    for words, told in (
        (["--workload", "hotcold"], "unknown workload 'hotcold'; did you mean 'hot_cold'?"),
        (settings("part.a.kind=zipf"), "workload.part: must come with the workload mix only"),
        (["--workload", "mix"], "part: missing; must be tables, one for each workload"),
        (["--workload", "mix", *settings("part.a.kind=zip")], "did you mean 'zipf'?"),
    ):
        done = run(*words)
        assert done.returncode == 2
        assert told in done.stderr
