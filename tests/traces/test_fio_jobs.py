"""Job files of fio as loads, against the manual of fio, its parser and its log of requests."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.fio_jobs import options
from sledsim.fio_jobs.job_file import _ALIASES

BLOCKS = 8 * 25_607
"""Of the device, in blocks of 512 bytes: no multiple of any size that is tried but 4 KiB."""
CLIENTS = "size=32k\nbs=8k\nnumjobs=3\nrw=write"
ZIPF = "rw=randread\nbs=8k\nrandom_distribution=zipf:0.9\n"
DIRECT = "direct=1\nfilename=/dev/x\nioengine=libaio\n"

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def job_file(folder: Path, text: str, name: str = "job.fio") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def made(folder: Path, text: str, **keys: object) -> ss.FioJob:
    """Make the load of jobs, or of one with these options beside the usual ones."""
    whole = text if "[" in text else f"[a]\n{DIRECT}{text}\n"
    return ss.fio_job(job_file(folder, whole), device=ss.device("memory", blocks=BLOCKS), **keys)


def keys_of(job: ss.FioJob) -> dict[str, Any]:
    return tomllib.loads(job.load.to_toml())


def rows_of(load: ss.Load) -> list[tuple[str, int, int]]:
    """Run a load; return operation, first byte and length of each request, as they arrived."""
    run = ss.simulate(load, ss.device("memory", blocks=BLOCKS), rows=True)
    rows = pl.DataFrame(run.rows).sort("arrival_ns", "id")
    columns = rows["op"], rows["lbn"] * 512, rows["blocks"] * 512
    return list(zip(*(column.to_list() for column in columns), strict=True))


def fio_sends(folder: Path, text: str) -> list[tuple[str, int, int]]:
    """Run fio on a file with holes, as large as the device; return the requests that it logs."""
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(BLOCKS * 512)
    path = job_file(folder, f"[a]\nfilename={image}\nallow_file_create=0\n{text}\n", "real.fio")
    log = folder / "log"
    log.unlink(missing_ok=True)  # fio writes on at its end
    command = ["fio", str(path), f"--write_iolog={log}", "--output-format=terse"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [
        (line[-3], int(line[-2]), int(line[-1]))
        for line in lines
        if len(line) >= 4 and line[-3] in {"read", "write"}
    ]


# What fio's own log says: sequential jobs must be the same request by request.


@needs_fio
@pytest.mark.parametrize(
    "text",
    [
        "size=1m",
        "rw=write\nsize=2m\nbs=64k",
        "size=64k\nbs=512",
        "size=10001k",  # a part of a block is a whole one
        "size=1m\nbs=6k",
        "size=1m\nio_size=300k",
        "size=1m\nio_size=5000",
        "size=256k\nio_size=700k",  # from the end on at the beginning
        "size=1m\nio_size=33%",
        "size=1m\nloops=3",
        "size=1m\nnumber_ios=100",
        "size=1m\nnumber_ios=1000",  # no more than the size
        "offset=3%\nsize=3%",  # the offset is rounded up to a block, the size down
        "offset=3%\nsize=3%\nbs=64k",
        "offset=10m\nsize=50%",
        "offset=90%\nsize=95%",
        "offset=99m",
        "offset=99m\nsize=0x10000",
        "size=64K\nkb_base=1024",
        "size=64kb\nkb_base=1000\nbs=512",
        "size=1m\nbs=8k,16k",
        "rw=write\nsize=1m\nbs=8k,16k",
        "rw=write\nsize=1m\nbs=8k,",
        "size=1m\nbs=,8k",
        "size=1m\nblocksize=8k\nreadwrite=read",
        "size=1m\nbs=4k\nbs=16k",
        "size=1m\nbs=4k ; a comment\n# another",
        "  size  =1m  \n\tnumber_ios = 20",
        f"offset=1m\noffset_increment=64k\n{CLIENTS}",
        f"offset=1m\noffset_increment=1%\n{CLIENTS}",
        f"offset=12k\noffset_increment=1%\n{CLIENTS}",
        f"offset=3%\noffset_increment=12k\n{CLIENTS}",
        f"offset=3%\noffset_increment=7%\n{CLIENTS}",
    ],
)
def test_a_sequential_job_is_that_of_fio(tmp_path: Path, text: str) -> None:
    ours, theirs = rows_of(made(tmp_path, text).load), fio_sends(tmp_path, text)
    if "numjobs" in text:  # clients take turns as they will
        assert len(ours) == 12
        ours, theirs = sorted(ours), sorted(theirs)
    assert ours == theirs


@needs_fio
@pytest.mark.parametrize(
    "text",
    [
        "rw=randread\nsize=1m",
        "rw=randwrite\nsize=1m\nbs=6k",
        "rw=randread\nsize=1m\nbs=6k\nnorandommap",
        "rw=randread\noffset=48k\nsize=2m\nbs=16k\nio_size=8m\nnorandommap",
        "rw=randread\nsize=4m\nloops=2\nnorandommap",
        "rw=randread\nsize=2m\nba=512\nnorandommap\nio_size=16m",
        "rw=randread\nsize=8m\nbsrange=1k-4k\nbs=16k\nnorandommap",  # the range counts
        "rw=randread\nsize=32m\nbsrange=16k-4k\nnorandommap",
        "rw=randwrite\nsize=32m\nbssplit=4k/10:64k/50:32k/40\nnorandommap",
        "rw=randread\nsize=32m\nbssplit=4k/50:1k/:32k/\nnorandommap\nio_size=64m",
        "rw=randrw\nrwmixread=70\nsize=16m\nnorandommap",
        "rw=randrw\nrwmixread=70\nrwmixwrite=80\nsize=16m\nnorandommap",
        "rw=randrw\nrwmixwrite=80\nrwmixread=70\nsize=16m\nnorandommap",
        "rw=randrw\nrwmixwrite=80\nrwmixread=70\nrwmixwrite=60\nsize=16m\nnorandommap",
        "rw=randrw\nsize=16m\nnorandommap",
    ],
)
def test_a_random_job_has_the_sizes_shares_and_places_of_fio(tmp_path: Path, text: str) -> None:
    ours, theirs = rows_of(made(tmp_path, text).load), fio_sends(tmp_path, text)
    mixed_sizes = len({size for _, _, size in theirs}) > 1
    many = len(theirs)
    # With one size the counts are equal; else both end after as many bytes, in the mean.
    assert abs(len(ours) - many) <= (5 * many**0.5 if mixed_sizes else 0)
    for column in (0, 2):
        found = [{row[column] for row in rows} for rows in (ours, theirs)]
        if column == 2 and mixed_sizes:
            # fio cuts the last request to what is left
            found[1] = {size for size in found[1] if sum(r[2] == size for r in theirs) > 1}
        assert found[0] == found[1]
        for value in found[0]:
            shares = [
                sum(row[column] == value for row in rows) / len(rows) for rows in (ours, theirs)
            ]
            assert abs(shares[0] - shares[1]) < 5 * (0.25 / len(ours) + 0.25 / many) ** 0.5
    places = [[first for _, first, _ in rows] for rows in (ours, theirs)]
    ends = [max(first + size for _, first, size in rows) for rows in (ours, theirs)]
    length = ends[1] - min(places[1])
    assert abs(min(places[0]) - min(places[1])) < 30 * length / many
    assert abs(ends[0] - ends[1]) < 30 * length / many
    # All are aligned alike.
    for power in range(9, 17):
        aligned = [all(first % (1 << power) == 0 for first in each) for each in places]
        assert aligned[0] == aligned[1], 1 << power
    # Means of uniform places: the standard deviation of one is length / 12^0.5.
    means = [sum(each) / len(each) for each in places]
    assert abs(means[0] - means[1]) < 5 * length * (1 / 12 / len(ours) + 1 / 12 / many) ** 0.5


def counts_of(folder: Path, distribution: str) -> list[list[int]]:
    """Count the reads of each block of 16,384, most first: of 65,536 reads here, and of fio."""
    text = f"rw=randread\nsize=64m\nio_size=256m\nrandom_distribution={distribution}\n"
    found = []
    for rows in (rows_of(made(folder, text).load), fio_sends(folder, text)):
        assert len(rows) == 65_536
        found.append(sorted(Counter(first for _, first, _ in rows).values(), reverse=True))
    return found


@needs_fio
def test_zipf_is_as_steep_as_that_of_fio(tmp_path: Path) -> None:
    """Fio draws from an approximation (Gray et al. 1994), whose first ranks are the exact ones."""
    ours, theirs = counts_of(tmp_path, "zipf:1.2")
    harmonic = sum(rank**-1.2 for rank in range(1, 16_385))
    for rank in (1, 2):
        expected = 65_536 / harmonic * rank**-1.2
        for found in (ours, theirs):
            assert abs(found[rank - 1] - expected) < 5 * expected**0.5
    assert abs(len(ours) / len(theirs) - 1) < 0.05
    assert abs(sum(ours[:164]) / sum(theirs[:164]) - 1) < 0.03


@needs_fio
def test_pareto_gives_a_share_the_rest_as_in_fio(tmp_path: Path) -> None:
    """Of 16,384 blocks the first fifth by rank has four fifths of the reads, in turn."""
    for counts in counts_of(tmp_path, "pareto:0.2"):
        for turns in (1, 2, 3):
            hot = sum(counts[: round(16_384 * 0.2**turns)]) / 65_536
            # The ranks by counts are not those of the law: they have a little more.
            assert 0.8**turns - 0.01 < hot < 0.8**turns + 0.05


@needs_fio
def test_fio_repeats_no_block_where_the_caution_says_so(tmp_path: Path) -> None:
    text = "rw=randread\nsize=4m"
    job = made(tmp_path, text)
    (caution,) = job.cautions
    told = int(caution.partition("about ")[2].split()[0].replace(",", ""))
    theirs, ours = fio_sends(tmp_path, text), rows_of(job.load)
    assert len({first for _, first, _ in theirs}) == len(theirs) == 1024
    repeated = len(ours) - len({first for _, first, _ in ours})
    assert abs(repeated - told) < 5 * (1024 * 0.0973) ** 0.5  # variance: (e^-1 - 2 e^-2) n
    text += "\nnorandommap"
    assert made(tmp_path, text).cautions == []
    assert len({first for _, first, _ in fio_sends(tmp_path, text)}) < 1024


@needs_fio
def test_all_options_of_fio_are_known_and_no_others() -> None:
    told = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True)
    known = {line.split()[0].rstrip(":") for line in told.stdout.splitlines() if line.strip()}
    tables = [options.TAKEN, options.IGNORED, options.REFUSED.keys()]
    for at, table in enumerate(tables):
        for other in tables[at + 1 :]:
            assert not set(table) & set(other)
    of_engines = {"fixedbufs", "hipri", "nonvectored", "registerfiles", "sqthread_poll", "uri"}
    of_engines |= {"sqthread_poll_cpu", "userspace_reap"}
    aliases = {"disable_bw", "iomem", "iomem_align", "mem_align"}
    named = {name for table in tables for name in table}
    assert named - known - of_engines - aliases <= {"include", "softrandommap"}
    for alias, name in [*_ALIASES.items(), *zip(aliases, aliases, strict=True)]:
        told = subprocess.run(
            ["fio", f"--cmdhelp={alias}"], capture_output=True, text=True, check=True
        )
        assert f"alias: {alias}" in told.stdout or told.stdout.strip().startswith(f"{name}:")


# What jobs mean, option by option.

OPEN, MAP = "arrivals are open", "line 1: [a] norandommap is missing"
JOBS: list[tuple[str, dict[str, Any], *tuple[str, ...]]] = [
    ("", {"kind": "sequential", "read_fraction": 1, "size": "fixed", "mean_size_kib": 4}),
    ("", {"first_lbn": 0, "last_lbn": BLOCKS - 1, "requests": BLOCKS // 8}),
    ("rw=write\nsize=1m", {"kind": "sequential", "read_fraction": 0, "requests": 256}),
    ("rw=randread\nsize=1m", {"kind": "random", "blocking": 8, "last_lbn": 2047}, MAP),
    ("rw=randrw\nsize=1m", {"kind": "random", "read_fraction": 0.5}, MAP),
    ("rw=randrw\nrwmixread=70\nsize=1m", {"read_fraction": 0.7}, MAP),
    ("rw=randrw\nrwmixwrite=70\nsize=1m", {"read_fraction": 0.3}, MAP),
    ("rw=randread\nsize=1m\nnumber_ios=1", {"requests": 1}),
    ("rw=randread\nsize=1m\nbsrange=4k-8k", {"kind": "random"}, "cuts requests"),
    ("iodepth=16\nsize=1m", {"queue_depth": 16}),
    (
        "iodepth=16\nioengine=psync",
        {"queue_depth": 1},
        "line 5: [a] iodepth=16: is 1, as in fio: the",
    ),
    ("thinktime=1500\nsize=1m", {"queue_depth": 1, "think_ms": 1.5}),
    ("thinktime=2ms\nthinktime_blocks=1\nsize=1m", {"think_ms": 2}),
    (
        "thinktime=2ms\niodepth=8",
        {"queue_depth": 1},
        "line 6: [a] iodepth=8: is 1, as in fio: with",
    ),
    ("rate_iops=200", {"rate": 200, "arrivals": "constant"}, f"line 5: [a] rate_iops=200: {OPEN}"),
    ("rate_iops=200\nrate_process=poisson\nsize=1m", {"arrivals": "poisson"}, OPEN),
    ("rate_iops=1k,500\nsize=1m", {"rate": 1024}, OPEN),
    ("rw=write\nrate_iops=,500\nsize=1m", {"rate": 500}, OPEN),
    ("rate_iops=200\nruntime=30\ntime_based", {"rate": 200, "requests": 6000}, OPEN),
    ("rate_iops=200\nruntime=1500ms\nsize=8m", {"requests": 300}, OPEN),
    ("rate_iops=200\nruntime=1h\nsize=1m", {"requests": 256}, OPEN),
    ("size=1m\nruntime=10", {"requests": 256}, "line 6: [a] runtime: fio ends the job then"),
    ("offset=1m\nsize=2m", {"first_lbn": 2048, "last_lbn": 6143}),
    (f"{ZIPF}size=1m", {"kind": "zipf", "zipf_exponent": 0.9, "unit_blocks": 16}),
    ("rw=randread\nrandom_distribution=random\nsize=1m", {"kind": "random"}, MAP),
    ("rw=randread\nrandom_distribution=pareto:0.2\nsize=1m", {"pareto_h": 0.2}),
    ("random_distribution=zipf:0.9\nsize=1m", {"kind": "sequential"}),
    ("bssplit=4k/75:8k\nsize=1m", {"sizes_kib": [4, 8], "size_shares": [75, 25]}),
    ("bssplit=16k/0:4k/50:8k/:12k/\nsize=1m", {"sizes_kib": [4, 8, 12]}),
    ("size=1m\nfsync=0\nstonewall=0\nsync=none\nverify=0\nzonemode=none", {"requests": 256}),
    ("filename=/dev/y\nbuffered=0", {"requests": BLOCKS // 8}),
    ("[a]\nfilename=/dev/x", {}, "line 1: [a] direct=1 is missing"),
    ("[a]\nfilename=/dev/x\nsize=1m\ndirect=0", {}, "line 4: [a] direct=1 is missing"),
    ("[a]\nfilename=/dev/x\nbuffered=0", {}),
    ("[a]\nioengine=nbd\nuri=nbd+unix:///?socket=x\nsize=1m", {}),
    ("[a]\ndirect=1", {}, "filename is missing"),
    (
        "[a]\ndirect=1\nfilename=/dev/x\niodepth=4",
        {},
        "line 4: [a] iodepth=4: is 1, as in fio: the engine psync, which is fio",
    ),
]
"""Options, keys of their load, and words of the cautions about what fio does otherwise."""


@pytest.mark.parametrize("row", JOBS, ids=lambda row: row[0])
def test_an_option_is_a_key_or_is_cautioned(tmp_path: Path, row: tuple[Any, ...]) -> None:
    text, keys, *words = row
    job = made(tmp_path, text)
    found = keys_of(job)
    assert {key: found.get(key) for key in keys} == keys
    assert len(job.cautions) == len(words)
    for caution, word in zip(job.cautions, words, strict=True):
        assert word in caution.partition("job.fio: ")[2]


def test_options_without_effect_are_listed(tmp_path: Path) -> None:
    assert made(tmp_path, "size=1m\ngroup_reporting\nname=b").ignored == ["group_reporting", "name"]


def test_jobs_and_their_clients_are_streams(tmp_path: Path) -> None:
    second = "[second job!]\nrw=write\nbs=8k\noffset=1m\noffset_increment=2m\nnumjobs=3"
    text = f"[global]\n{DIRECT}size=1m\n[first]\nrw=randread\n{second}\n"
    job = made(tmp_path, f"{text}[global]\nsize=64k\n[third]\noffset=8m")
    keys = keys_of(job)
    assert (keys["kind"], keys["requests"]) == ("mix", 256 + 3 * 128 + 16)
    first = {name: part["first_lbn"] for name, part in keys["part"].items()}
    names = ["first", "second_job_", "second_job__1", "second_job__2", "third"]
    assert list(first.items()) == list(zip(names, [0, 2048, 6144, 10240, 16384], strict=True))
    run = ss.simulate(job.load, ss.device("memory", blocks=BLOCKS), rows=True)
    for stream, (low, op) in enumerate([(0, "read"), *((n, "write") for n in (2048, 6144, 10240))]):
        of = pl.DataFrame(run.rows).filter(pl.col("stream") == stream)
        assert set(of["op"]) == {op}
        assert of["lbn"].min() >= low  # type: ignore[operator]
        assert (of["lbn"] + of["blocks"]).max() <= low + 2048  # type: ignore[operator]
    (_, caution) = job.cautions
    assert "first 256, second_job_ 128" in caution
    assert job.cautions[0].startswith(f"{tmp_path}/job.fio: line 6: [first] norandommap is missing")


def test_requests_are_given_where_the_clock_ends_a_job(tmp_path: Path) -> None:
    text = "rw=randread\nsize=1m\ntime_based\nruntime=10\nnorandommap"
    assert keys_of(made(tmp_path, text, requests=500, seed=7))["requests"] == 500


UNKNOWN = ("foo=1", "bs", "bs=", "BS=4k", "iodepth=0", "size=(4k*", "rwmixread=101")
UNFIT = ("time_based=no", "random_distribution=zipf:1.0", "bsrange=4k", 'rw="read"', "rw= read")


@needs_fio
@pytest.mark.parametrize("text", [*UNKNOWN, *UNFIT])
def test_what_fio_does_not_parse_is_refused(tmp_path: Path, text: str) -> None:
    path = job_file(tmp_path, f"[a]\n{text}\n" + ("" if "rw=" in text else "rw=randrw\n"))
    done = subprocess.run(["fio", "--parse-only", str(path)], capture_output=True, check=False)
    assert done.returncode != 0
    with pytest.raises(ss.SpecError):
        ss.fio_job(path, device="g2")


@needs_fio
def test_globals_hold_for_the_jobs_behind_them(tmp_path: Path) -> None:
    """``--showcmd`` prints what fio has read; as a file it makes the same load."""
    text = (
        "[global]\nsize=1m\nbs=8k\n[a]\nrw=randread\n[b]\nrw=write\n[global]\nsize=2m\n[c]\nbs=4k\n"
    )
    path = job_file(tmp_path, text)
    command = ["fio", "--showcmd", str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1:]
    lines = [
        re.sub("^--(name=(.*))?", lambda m: f"[{m[2]}]" if m[1] else "", word) for word in told
    ]
    # The second [global] stands behind the name of the job before it.
    lines.insert(lines.index("size=2m"), "[global]")
    again = job_file(tmp_path, "\n".join(["[global]", *lines, ""]), "again.fio")
    loads = [ss.fio_job(each, device="g2").load for each in (path, again)]
    assert loads[0] == loads[1]
    assert keys_of(ss.fio_job(path, device="g2"))["requests"] == 128 + 128 + 512


# The same on all ways in.


def test_a_job_file_is_a_load_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = job_file(tmp_path, "[a]\ndirect=1\nfilename=/dev/x\nrw=randread\nsize=1m\n")

    def said(line: str) -> str:
        assert main(line.split()) == 0
        out, err = capsys.readouterr()
        assert err.startswith(f"sledsim: caution: {path}: line 1: [a] norandommap is missing")
        return out

    job = ss.fio_job(path, requests=100)
    assert job.load.name == str(path)
    expected = ss.simulate(job.load, "g2").summary
    for load in (
        lambda: ss.workload(str(path), requests=100),
        lambda: {"base": path, "requests": 100},
    ):
        with pytest.warns(UserWarning, match="norandommap is missing"):
            assert ss.simulate(load(), "g2").summary == expected
    first = said(f"run {path} --device g2 --set requests=100")
    assert "100 reads" in first
    assert said(f"run --workload {path} --device g2 --set requests=100") == first
    said(f"compare --devices g2,g1 --workload {path} --set requests=100")
    said(f"trace generate --workload {path} --device g2 -o {tmp_path / 't.csv'}")
    assert ss.Load.from_toml(said(f"workloads show {path}")) == ss.fio_job(path).load
    for words, error in (
        (["--device", "g2", "--workload", "zipf"], "is a load; give no other beside it"),
        ([], "--device"),
    ):
        assert main(["run", str(path), *words]) == 2
        assert error in capsys.readouterr().err


def test_shares_are_of_the_device_as_it_is_set(text: Callable[[str], str]) -> None:
    job_file(Path(), "[a]\ndirect=1\nfilename=/dev/x\noffset=50%\nsize=50%\nbs=1m\n")
    text(f"run job.fio --device memory --set device.blocks={1 << 16} --rows rows.csv")
    assert pl.read_csv("rows.csv")["lbn"].to_list() == list(range(1 << 15, 1 << 16, 2048))


def test_a_run_of_another_load_reads_no_job_file() -> None:
    code = (
        "import sledsim as ss, sys; ss.workload('random'); print('sledsim.fio_jobs' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_shells_complete_job_files() -> None:
    pytest.importorskip("shtab")
    from sledsim.cli.completion import completion

    (line,) = [each for each in completion("bash").splitlines() if "mcd-hplajw-like" in each]
    assert "'.toml .fio'" in line
