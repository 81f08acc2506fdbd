"""The format of a trace is recognised by its content, or asked for; never guessed silently."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sledsim as ss
from hypothesis import given, settings
from hypothesis import strategies as st
from sledsim import _core

from tests.trace_shapes import DATED, FORMATS, WHOLE, Format, Request

Says: TypeAlias = Callable[[str], str]
Reads: TypeAlias = Callable[[str], Any]
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


def vscsi(rows: list[Request]) -> bytes:
    """Version 1: serial, bytes, segments, opcode, version, LBN, us."""
    code = {"read": 0x28, "write": 0x2A}
    return b"".join(
        struct.pack("<IIIHHQQ", i, size, 1, code[op], 0x1FF, start // 512, at // 1000)
        for i, (at, op, start, size, *_) in enumerate(rows)
    )


VALIDATE = Format(("ms", "512B", "512B"), "{op} Miss {p} {n} {t} 10")
WRITTEN = [*FORMATS, "disksim_validate", "vscsi"]


def written(name: str, rows: list[Request]) -> bytes:
    """Return requests as a format has them, written from its description."""
    if name == "vscsi":
        return vscsi(rows)
    form = FORMATS.get(name, VALIDATE)
    since = 1_500_000_000 + DATED[name] if name in DATED else 0
    return form.text(rows, whole=name in WHOLE, since_s=since).encode()


def test_every_format_is_distinguished_from_the_others() -> None:
    """Here, as it is written by hand, but for those that only the tests of the readers write."""
    others = {"hp_srt", "oracle_general", "csv", "parquet"}
    assert {*WRITTEN, *others} == set(_core.names("trace_formats"))


def load(seed: int, gap_s: float, count: int, start_s: float) -> list[Request]:
    chance = random.Random(seed)
    at, rows = start_s, []
    for _ in range(count):
        at += chance.expovariate(1 / gap_s)
        size, start = 512 * chance.choice([1, 8, 16, 64]), 512 * chance.randrange(1 << 30)
        op = "read" if chance.random() < 0.6 else "write"
        rows.append((int(1e6 * at) * 1000, op, start, size, 10_000_000, chance.randrange(3)))
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
    Path(file).write_bytes(written(name, rows))
    found = detected(file)
    if name == "mqsim" and ending in {"disksim", "ascii"}:
        assert found in (name, {"disksim_ascii", "mqsim"}) or _rate_fits_both(rows)
    else:
        assert found in ((name, {"disksim_ascii", "mqsim"}) if name == "mqsim" else (name,))


def _rate_fits_both(rows: list[Request]) -> bool:
    """Return whether the trace would be a common one if its ns were ms."""
    seen = rows[:100]
    return (len(seen) - 1) / (seen[-1][0] - seen[0][0]) * 1e3 >= 0.049


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(["disksim", "mqsim", "trace", "bin"]), st.floats(-3.0, 1.0), COUNTS)
def test_whole_milliseconds_are_told_from_nanoseconds(
    seed: int, ending: str, gap_log: float, count: int
) -> None:
    """DiskSim's times without decimals, the one case that other digits do not decide."""
    rows = load(seed, 10**gap_log, count, 0.0)
    text = FORMATS["disksim_ascii"].text(rows, whole=True)
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


def test_ambiguous_formats_are_both_named(text: Says, document: Reads, refusal: Says) -> None:
    """As MQSim's own traces are: their ending is DiskSim's."""
    rows = [(15_001 * i, i % 3, 80 * i, 8, 1) for i in range(200)]
    Path("x.trace").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    for line in (*COMMANDS, "validate --device g2 --trace x.blk"):
        assert refusal(line.replace(".blk", ".trace")) == (
            "sledsim: error: x.trace: fits several formats, disksim_ascii (0.07 requests per s) "
            "and mqsim (66662 requests per s): give --format disksim_ascii or --format mqsim "
            "(trace_format)\n"
        )
    for format_, last_s in (("mqsim", 2.985199e-3), ("disksim_ascii", 2_985.199)):
        found = document(f"trace info x.trace --format {format_}")["duration_s"]
        assert found == pytest.approx(last_s)
    Path("x.mqsim").write_bytes(Path("x.trace").read_bytes())
    for line in (
        "trace info x.mqsim",
        "run --device g2 --trace x.mqsim --set trace_device=all",
        "trace convert x.mqsim -o y.csv",
    ):
        assert "mqsim (by the ending of its name; --format disksim_ascii fits, too)" in text(line)


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
    "run --device g2 --trace x.blk": "summary",
    "compare --devices g2,g3 --trace x.blk": "runs",
    "trace info x.blk": "",
    "trace hits x.blk --sizes 4 --policies lru": "workload",
    "trace convert x.blk -o y.csv": "output",
}
"""Commands that read a trace, and the part of their documents that counts its requests."""


def requests(line: str, document: Any) -> int:
    part = COMMANDS[line]
    inner = document[part] if part else document
    return int((inner[0]["summary"] if part == "runs" else inner)["requests"])


@pytest.mark.parametrize("line", COMMANDS)
def test_events_of_other_actions(line: str, document: Reads, refusal: Says) -> None:
    events("D", "C")
    assert refusal(line) == (
        "sledsim: error: x.blk: no requests: none of its events is Q, they are 300 C, 300 D; "
        "give --blk-action D or --blk-action C (blk_action)\n"
    )
    for action in "DC":
        assert requests(line, document(f"{line} --blk-action {action}")) == 300
    assert re.search(r"X\W.*must be.*Q.*D.*C", refusal(f"{line} --blk-action X"))


@pytest.mark.parametrize("line", COMMANDS)
def test_a_glitch_of_the_clock(line: str, text: Says, document: Reads, refusal: Says) -> None:
    events("Q", glitch=200)
    if "info" in line:  # it says how late they are
        assert "perhaps a glitch of the clock (x.blk:201: " in text(line)
    else:
        said = refusal(line)
        assert "x.blk:201: time 8446744073000.000000 ms is far above" in said
        assert "(--drop-glitches) to drop such requests" in said
        assert "no sort_ms (--sort) can help" in said
    shown = " ".join(text(f"{line} --drop-glitches").split())
    assert "1 dropped as glitches of the clock (x.blk:201: time" in shown
    assert requests(line, document(f"{line} --drop-glitches")) == 299


@pytest.mark.parametrize("line", COMMANDS)
def test_requests_of_size_0(line: str, text: Says, document: Reads, refusal: Says) -> None:
    Path("x.blk").write_text("0,8,512,R,0.1\n0,9,0,W,0.2\n0,16,512,W,0.3\n0,7,0,R,0.4\n")
    assert "2 requests of size 0 left out" in text(line)
    assert requests(line, document(line)) == 2
    Path("x.blk").write_text("0,9,0,W,0.2\n")
    assert "no requests but 1 of size 0" in refusal(line)


# Written files


def test_a_report_counts_what_is_in_the_file(refusal: Says) -> None:
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
    assert "cannot hold any of 1 requests" in refusal("trace convert x.iolog -o x.trace")
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
