"""The format of a trace is recognised by its content, or asked for; never guessed silently."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shlex
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim import _core
from sledsim.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARED = Path(__file__).parents[3] / "shared" / "traces"
REFERENCES = {
    "disksim-ascii-100k.trace": "disksim_ascii",
    "postmark-ssd.disksim": "disksim_ascii",
    "tpcc-small.mqsim": "mqsim",
    "websearch-minute.mqsim": "mqsim",
    "hplajw-1992-week.srt": "hp_srt",
}
ENDINGS = sorted({*_core.names("trace_endings"), "bin"})
"""Those of all formats, and one of none."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


Request = tuple[float, int, int, int, bool]
"""Time in s, device, block, blocks, whether it reads."""


def vscsi(rows: list[Request]) -> bytes:
    """Version 1: serial, bytes, segments, opcode, version, LBN, us."""
    return b"".join(
        struct.pack(
            "<IIIHHQQ", i, 512 * blocks, 1, 0x28 if reads else 0x2A, 0x1FF, block, int(1e6 * at)
        )
        for i, (at, _, block, blocks, reads) in enumerate(rows)
    )


def lines(pattern: Callable[..., str], rows: list[Request]) -> bytes:
    return "".join(pattern(*row) + "\n" for row in rows).encode()


CALENDAR_S = 1_500_000_000
WRITTEN: dict[str, Callable[[list[Request]], bytes]] = {
    "disksim_ascii": lambda rows: lines(
        lambda at, dev, lbn, n, r: f"{1e3 * at:.6f} {dev} {lbn} {n} {int(r)}", rows
    ),
    "mqsim": lambda rows: lines(
        lambda at, dev, lbn, n, r: f"{int(1e9 * at)} {dev} {lbn} {n} {int(r)}", rows
    ),
    "disksim_validate": lambda rows: lines(
        lambda at, _, lbn, n, r: f"{'R' if r else 'W'} Miss {lbn} {n} {1e3 * at:.2f} 10", rows
    ),
    "fio_iolog": lambda rows: (
        b"fio version 3 iolog\n"
        + lines(
            lambda at, dev, lbn, n, r: (
                f"{int(1e6 * at)} f{dev} {'read' if r else 'write'} {512 * lbn} {512 * n}"
            ),
            rows,
        )
    ),
    "blkparse": lambda rows: lines(
        lambda at, dev, lbn, n, r: (
            f"8,{dev} 1 7 {at:.9f} 123 Q {'R' if r else 'W'} {lbn} + {n} [fio]"
        ),
        rows,
    ),
    "spc": lambda rows: lines(
        lambda at, dev, lbn, n, r: f"{dev},{lbn},{512 * n},{'R' if r else 'W'},{at:.6f}", rows
    ),
    "msr": lambda rows: lines(
        lambda at, dev, lbn, n, r: (
            f"{int(1e7 * (at + 11644473600 + CALENDAR_S))},usr,{dev},"
            f"{'Read' if r else 'Write'},{512 * lbn},{512 * n},42"
        ),
        rows,
    ),
    "systor": lambda rows: lines(
        lambda at, dev, lbn, n, r: (
            f"{CALENDAR_S + at:.6f},0.01,{'R' if r else 'W'},{dev},{512 * lbn},{512 * n}"
        ),
        rows,
    ),
    "alibaba": lambda rows: lines(
        lambda at, dev, lbn, n, r: (
            f"{dev},{'R' if r else 'W'},{512 * lbn},{512 * n},{int(1e6 * (CALENDAR_S + at))}"
        ),
        rows,
    ),
    "tencent": lambda rows: lines(
        lambda at, dev, lbn, n, r: f"{CALENDAR_S + int(at)},{lbn},{n},{int(not r)},{dev}", rows
    ),
    "vscsi": vscsi,
}
"""Requests as each format has them, written here from their descriptions."""


def test_every_format_is_distinguished_from_the_others() -> None:
    """Here, as it is written by hand, but for those that only the tests of the readers write."""
    others = {"hp_srt", "oracle_general", "csv", "parquet"}
    assert WRITTEN.keys() | others == set(_core.names("trace_formats"))


def load(seed: int, gap_s: float, count: int, start_s: float) -> list[Request]:
    chance = random.Random(seed)
    at, rows = start_s, []
    for _ in range(count):
        at += chance.expovariate(1 / gap_s)
        blocks = chance.choice([1, 8, 16, 64])
        rows.append(
            (at, chance.randrange(3), chance.randrange(1 << 30), blocks, chance.random() < 0.6)
        )
    return rows


def detected(name: str) -> str | set[str]:
    """Return the format, or the formats named by the error."""
    try:
        return str(ss.trace_info(name, quick=True)["format"])
    except ss.SledsimError as error:
        said = str(error)
    if f"{name}: fits several formats" not in said:
        pytest.fail(said)
    return set(re.findall(r"--format (\w+)", said))


SEEDS = st.integers(0, 2**32)
COUNTS = st.integers(2, 300)


@settings(max_examples=60, deadline=None)
@given(
    SEEDS,
    st.sampled_from(sorted(WRITTEN)),
    st.sampled_from(ENDINGS),
    st.floats(-6.0, 1.0),
    COUNTS,
    st.floats(0.0, 1e5),
)
def test_the_ending_of_a_name_does_not_matter(
    seed: int, name: str, ending: str, gap_log: float, count: int, start_s: float
) -> None:
    """A trace of any rate from one in 10 s to a million per s, under the ending of any format."""
    file = f"x.{ending}"
    rows = load(seed, 10**gap_log, count, start_s)
    Path(file).write_bytes(WRITTEN[name](rows))
    found = detected(file)
    if name == "mqsim" and ending in {"disksim", "ascii"}:
        assert found in (name, {"disksim_ascii", "mqsim"}) or _rate_fits_both(rows)
    else:
        assert found in ((name, {"disksim_ascii", "mqsim"}) if name == "mqsim" else (name,))


def _rate_fits_both(rows: list[Request]) -> bool:
    """Return whether the trace would be a common one if its ns were ms."""
    seen = rows[:100]
    return (len(seen) - 1) / (seen[-1][0] - seen[0][0]) / 1e6 >= 0.049


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(["disksim", "mqsim", "trace", "bin"]), st.floats(-3.0, 1.0), COUNTS)
def test_whole_milliseconds_are_told_from_nanoseconds(
    seed: int, ending: str, gap_log: float, count: int
) -> None:
    """DiskSim's times without decimals, the one case that other digits do not decide."""
    rows = load(seed, 10**gap_log, count, 0.0)
    text = "".join(f"{int(1e3 * at)} {dev} {lbn} {n} {int(r)}\n" for at, dev, lbn, n, r in rows)
    Path(f"x.{ending}").write_text(text)
    found = detected(f"x.{ending}")
    times = [int(line.split()[0]) for line in text.splitlines()][:100]  # the part that is examined
    span = times[-1] - times[0]
    if ending == "mqsim" and (not span or (len(times) - 1) / span <= 1e-2):
        # Up to a million per s in ns, or all at once: the ending decides.
        assert found in ("mqsim", {"disksim_ascii", "mqsim"})
    else:
        assert found in ("disksim_ascii", {"disksim_ascii", "mqsim"})


def test_traces_of_sledsim_are_read_back_unchanged() -> None:
    load = ss.workload("random", rate=300, requests=200)
    for name, format_ in (
        ("a.trace", "disksim_ascii"),
        ("a.iolog", "fio_iolog"),
        ("a.csv", "csv"),
        ("a.parquet", "parquet"),
    ):
        ss.generate_trace(load, name, blocks=100_000)
        for ending in ENDINGS:
            other = Path(f"x.{ending}")
            other.write_bytes(Path(name).read_bytes())
            assert detected(str(other)) == format_


def test_the_reference_traces_under_every_ending() -> None:
    if not SHARED.is_dir():
        pytest.skip("needs ../shared/traces")
    for name, format_ in REFERENCES.items():
        whole = (SHARED / name).read_bytes()
        text = whole[: 1 + whole[:200_000].rfind(b"\n")]
        for ending in ENDINGS:
            file = Path(f"x.{ending}")
            file.write_bytes(whole if format_ == "hp_srt" else text)
            expected = [format_, {"disksim_ascii", "mqsim"}] if format_ == "mqsim" else [format_]
            assert detected(str(file)) in expected
    assert detected(str(SHARED / "tpcc-small.mqsim")) == "mqsim"


def test_ambiguous_formats_are_both_named(capsys: pytest.CaptureFixture[str]) -> None:
    """As MQSim's own traces are: their ending is DiskSim's."""
    rows = [(15_001 * i, i % 3, 80 * i, 8, 1) for i in range(200)]
    Path("x.trace").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    for line in (
        "trace info x.trace",
        "trace hits x.trace",
        "trace convert x.trace -o y.csv",
        "run --device g2 --trace x.trace",
        "compare --devices g2,g3 --trace x.trace",
        "validate --device g2 --trace x.trace",
    ):
        assert main(shlex.split(line)) == 2
        assert capsys.readouterr().err == (
            "sledsim: error: x.trace: fits several formats, disksim_ascii (0.07 requests per s) "
            "and mqsim (66662 requests per s): give --format disksim_ascii or --format mqsim "
            "(trace_format)\n"
        )
    for format_, last_s in (("mqsim", 2.985199e-3), ("disksim_ascii", 2_985.199)):
        assert main(shlex.split(f"trace info x.trace --format {format_} --json")) == 0
        assert json.loads(capsys.readouterr().out)["duration_s"] == pytest.approx(last_s)
    Path("x.mqsim").write_bytes(Path("x.trace").read_bytes())
    assert main(["trace", "info", "x.mqsim"]) == 0
    also = "mqsim (by the ending of its name; --format disksim_ascii fits, too)"
    assert also in capsys.readouterr().out
    assert main(shlex.split("run --device g2 --trace x.mqsim --set trace_device=all")) == 0
    assert also in capsys.readouterr().out
    assert main(shlex.split("trace convert x.mqsim -o y.csv")) == 0
    assert also in capsys.readouterr().out


# Records without a request


def events(*actions: str, glitch: int | None = None) -> None:
    """Write a blkparse file with each action for each of 300 requests."""
    out = []
    for i in range(300):
        for k, action in enumerate(actions):
            at = 8_446_744_073.0 if i == glitch else 100 + 0.01 * i + 0.001 * k
            out.append(f"8,0 1 {i} {at:.9f} 7 {action} R {8 * i} + 8 [fio]\n")
    Path("x.blk").write_text("".join(out))


COMMANDS = {
    "run": "run --device g2 --trace x.blk",
    "compare": "compare --devices g2,g3 --trace x.blk",
    "info": "trace info x.blk",
    "hits": "trace hits x.blk --sizes 4 --policies lru",
    "convert": "trace convert x.blk -o y.csv",
}


def requests(name: str, document: dict[str, Any]) -> int:
    if name == "compare":
        document = document["runs"][0]
    part = {"hits": "workload", "convert": "output"}.get(name)
    inner = document.get("summary", document)
    return int((document[part] if part else inner)["requests"])


@pytest.mark.parametrize("name", COMMANDS)
def test_events_of_other_actions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    events("D", "C")
    line = shlex.split(COMMANDS[name])
    assert main(line) == 2
    assert capsys.readouterr().err == (
        "sledsim: error: x.blk: no requests: none of its events is Q, they are 300 C, 300 D; "
        "give --blk-action D or --blk-action C (blk_action)\n"
    )
    for action in "DC":
        assert main([*line, "--blk-action", action, "--json"]) == 0
        assert requests(name, json.loads(capsys.readouterr().out)) == 300
    assert main([*line, "--blk-action", "X"]) == 2
    assert re.search(r"X\W.*must be.*Q.*D.*C", capsys.readouterr().err)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_glitch_of_the_clock(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    events("Q", glitch=200)
    line = shlex.split(COMMANDS[name])
    code = main(line)
    said = capsys.readouterr()
    if name == "info":  # it says how late they are
        assert code == 0
        assert "perhaps a glitch of the clock (x.blk:201: " in said.out
    else:
        assert code == 2
        assert "x.blk:201: time 8446744073000.000000 ms is far above" in said.err
        assert "(--drop-glitches) to drop such requests" in said.err
        assert "no sort_ms (--sort) can help" in said.err
    assert main([*line, "--drop-glitches"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 dropped as glitches of the clock (x.blk:201: time" in shown
    assert main([*line, "--drop-glitches", "--json"]) == 0
    assert requests(name, json.loads(capsys.readouterr().out)) == 299


@pytest.mark.parametrize("name", COMMANDS)
def test_requests_of_size_0(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.blk").write_text("0,8,512,R,0.1\n0,9,0,W,0.2\n0,16,512,W,0.3\n0,7,0,R,0.4\n")
    line = shlex.split(COMMANDS[name])
    assert main(line) == 0
    assert "2 requests of size 0 left out" in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    assert requests(name, json.loads(capsys.readouterr().out)) == 2
    Path("x.blk").write_text("0,9,0,W,0.2\n")
    assert main(line) == 2
    assert "no requests but 1 of size 0" in capsys.readouterr().err


# Written files


def test_a_report_counts_what_is_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{1000 * i} f write {i * 4096} 4000\n{1000 * i + 500} f sync 0 0\n" for i in range(10)]
    Path("x.iolog").write_text("fio version 3 iolog\n0 f add\n0 f open\n" + "".join(rows))
    report = ss.convert_trace("x.iolog", "x.trace")
    written = [line.split() for line in Path("x.trace").read_text().splitlines()]
    output = report["output"]
    assert output["requests"] == len(written) == 10
    assert output["total_bytes"] == 512 * sum(int(line[3]) for line in written)
    assert output["last_time_s"] == pytest.approx(float(written[-1][0]) / 1e3)
    assert [device["requests"] for device in report["devices"]] == [10]
    assert report["inputs"][0]["requests"] == 20
    assert report["lost_fields"]["flushes"] == 10
    everything = ss.convert_trace("x.iolog", "x.csv")["output"]
    assert everything["requests"] == len(Path("x.csv").read_text().splitlines()) - 1 == 20
    # The limit counts the requests taken, as before; the rest is counted as left out.
    assert ss.convert_trace("x.iolog", "x.trace", requests=5)["output"]["requests"] == 3
    assert len(Path("x.trace").read_text().splitlines()) == 3
    Path("x.iolog").write_text("fio version 3 iolog\n0 f add\n0 f open\n5 f sync 0 0\n")
    Path("x.trace").unlink()
    assert main(shlex.split("trace convert x.iolog -o x.trace")) == 2
    assert "cannot hold any of 1 requests" in capsys.readouterr().err
    assert not Path("x.trace").exists()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=2, max_size=40))
def test_the_advice_to_sort_is_enough(times: list[int]) -> None:
    """The advised value sorts the whole file, and no smaller one does."""
    text = "".join(f"{time}.0 0 {8 * i} 8 1\n" for i, time in enumerate(times))
    Path("x.trace").write_text(text)
    late = max(max(times[: i + 1]) - time for i, time in enumerate(times))
    device = ss.device("g2")
    if late == 0:
        ss.simulate(ss.read_trace("x.trace"), device, rows=False)
        return
    for read in (
        lambda sort: ss.simulate(ss.read_trace("x.trace", sort_ms=sort), device, rows=False),
        lambda sort: ss.convert_trace("x.trace", "y.csv", sort_ms=sort),
    ):
        for less in (0.0, late - 0.5):
            with pytest.raises(ss.SledsimError, match=rf"of at least {late}\.000000 to sort"):
                read(less)
        read(float(late))
    for window in (0.0, 0.5):
        info = ss.trace_info("x.trace", sort_ms=window, quick=True)
        if info["arrivals"]["late_requests"]:
            assert info["arrivals"]["late_by_up_to_ms"] == late
        else:
            assert window  # a part was put in order, and the rest of it was
