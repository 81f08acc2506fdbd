"""Wrong input of every shape and size gives one line and exit code 2, and leaves no file.

Tables of other wrong input are in ``tests/refusals``.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import itertools
import json
import os
import re
import resource
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.studies import study_files
from sledsim.studies.runner import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PRESETS = Path(__file__).parents[2] / "crates" / "sledsim-core" / "data" / "devices"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder."""
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.fixture
def refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that is refused; return the text after ``sledsim: error:``."""

    def run(*words: object) -> str:
        before = sorted(folder.rglob("*"))
        assert main([*map(str, words)]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert said.err.startswith("sledsim: error: ")
        first, *more = said.err.splitlines()
        assert all(line.startswith("  ") for line in more), "one line and what is missing"
        assert sorted(folder.rglob("*")) == before
        return first.removeprefix("sledsim: error: ").strip()

    return run


TRACE_CSV = "time_s,lbn,blocks,op\n0.001,5,8,read\n0.002,50,8,write\n"
OVERWRITING = [
    "trace convert t.csv -o {}",
    "trace convert other.csv t.csv -o {}",
    "run --device g2 --trace t.csv --rows {}",
    "run --device g2 --trace t.csv --series {}",
    "validate --device g2 --trace t.csv --rows {}",
]


@pytest.mark.parametrize("line", OVERWRITING)
def test_no_output_takes_the_place_of_an_input(
    line: str, folder: Path, refused: Callable[..., str]
) -> None:
    """Not under its name, nor by a detour, a symbolic link or a hard link."""
    for name in ("t.csv", "other.csv"):
        (folder / name).write_text(TRACE_CSV, encoding="utf-8")
    (folder / "sub").mkdir()
    (folder / "link.csv").symlink_to("t.csv")
    os.link("t.csv", "hard.csv")
    for name in ("t.csv", "sub/../t.csv", str(folder / "t.csv"), "link.csv", "hard.csv"):
        said = refused(*line.format(name).split())
        assert "is read by the same command" in said
        assert (folder / "t.csv").read_text(encoding="utf-8") == TRACE_CSV


def test_rows_as_csv_are_those_of_parquet() -> None:
    for name in ("rows.csv", "rows.parquet"):
        ss.simulate(ss.workload("random", requests=500, seed=7), "g2", rows=name)
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    table = pq.read_table("rows.parquet")
    assert head == table.column_names
    assert lines == [
        ["" if v is None else str(v) for v in row.values()] for row in table.to_pylist()
    ]
    assert len(lines) == 500


def test_every_key_of_a_device_is_needed(refused: Callable[..., str]) -> None:
    lines = (PRESETS / "g2.toml").read_text().splitlines(keepends=True)
    keys = {line.split()[0] for line in lines if line[:1].isalpha()} - {"title"}
    assert len(keys) > 30
    for key in keys:
        Path("bad.toml").write_text("".join(line for line in lines if line.split()[:1] != [key]))
        said = refused("devices", "show", "bad.toml")
        assert said.startswith("bad.toml: ")
        assert f"'{key}'" in said


GOOD = b"0.5 0 100 8 1\n1.25 0 200 8 0\n"
TRACES = {
    "zero blocks": (GOOD + b"2 0 300 0 1\n", 3, "blocks"),
    "time going backwards": (GOOD + b"1.249999 0 300 8 1\n", 3, "before 1.250000 ms"),
    "too few fields": (GOOD + b"2 0 300 8\n", 3, "4 fields"),
    "too many fields": (GOOD + b"2 0 300 8 1 7\n", 3, "6 fields"),
    "negative": (GOOD + b"2 0 -300 8 1\n", 3, "-300"),
    "not a number": (b"# comment\n\n" + GOOD + b"2 0 3x0 8 1\n", 5, "3x0"),
    "words": (b"time device block blocks flags\n", 1, "time"),
    "garbage": (bytes(range(1, 10)) + bytes(range(14, 256)) * 300, 1, ""),
    "zeros": (bytes(100_000), 1, ""),
    "two devices": (GOOD + b"2 7 300 8 1\n", 3, "trace_device"),
    "past the end": (GOOD + b"2 0 6749996 8 1\n", 3, "6750000"),
    "far past the end": (GOOD + b"2 0 9007199254740992 8 1\n", 3, "address"),
    "cut off": (GOOD + b"2 0 30", 3, "fields"),
    "gzip cut off": (gzip.compress(GOOD * 1)[:-4], None, "gzip"),
    "gzip damaged": (gzip.compress(os.urandom(4000))[:-9] + b"12345", None, ""),
    "empty": (b"", 0, "no requests"),
    "nothing but comments": (b"# nothing\n\n# here\n", 0, "no requests"),
    "gzip of nothing": (gzip.compress(b""), 0, "no requests"),
}
ONLY_RUN = {"two devices", "time going backwards", "past the end", "far past the end"}
"""Fine in themselves, but not to be replayed as they are."""
RUN = ["run", "--device", "g2", "--rows", "out.parquet", "--trace"]


@pytest.mark.parametrize("name", TRACES)
def test_wrong_traces(name: str, refused: Callable[..., str]) -> None:
    text, line, named = TRACES[name]
    Path("bad.trace").write_bytes(text)
    run = [*RUN, "bad.trace"]
    changed = [[*run, "--set", "address=scale"], [*run, "--set", "queue_depth=2"]]
    changed += [["trace", "info", "bad.trace"]]
    for words in [run] if name in ONLY_RUN else [run, *changed]:
        said = refused(*words)
        assert named in said
        place = {None: "bad.trace:", 0: "bad.trace: "}.get(line, f"bad.trace:{line}: ")
        assert said.startswith(place)


def test_a_trace_that_ends_in_the_middle_is_refused_wherever_it_is_cut(
    refused: Callable[..., str],
) -> None:
    whole = gzip.compress(b"".join(b"%d.5 0 %d 8 1\n" % (i, i * 37 % 90000) for i in range(3000)))
    for end in (len(whole) // 7, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        Path("cut.trace.gz").write_bytes(whole[:end])
        said = refused(*RUN, "cut.trace.gz")
        found = re.match(r"cut\.trace\.gz:(\d+): .*cut off", said)
        assert found, said
        assert 1 <= int(found[1]) <= 3001


def test_a_file_that_was_there_stays_as_it_was(refused: Callable[..., str]) -> None:
    Path("out.parquet").write_bytes(b"precious")
    Path("bad.trace").write_bytes(GOOD * 2)  # the second half is in the past
    refused(*RUN, "bad.trace")
    assert Path("out.parquet").read_bytes() == b"precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written() -> None:
    closed = Path("closed")
    closed.mkdir(mode=0o500)
    for option in ("--rows", "--plot"):
        assert main(["run", "--device", "g2", option, "closed/out.png"]) == 2
    assert list(closed.iterdir()) == []


def test_an_exception_in_progress_comes_out_and_leaves_no_file(folder: Path) -> None:
    def progress(_done: int, _of: int | None) -> None:
        raise ZeroDivisionError

    load = ss.workload("random", requests=1_000_000_000)
    with pytest.raises(ZeroDivisionError):
        ss.simulate(load, ss.device("g2"), rows=folder / "out.parquet", progress=progress)
    assert list(folder.iterdir()) == []


# Numbers, shapes and files of any kind and size

LONG, DIGITS, BRACKETS = "k" * 20_000, "9" * 5000, "[" * 3000 + "]" * 3000
SHAPES = {
    "an integer": "7",
    "a huge integer": DIGITS,
    "beyond 64 bits": "9" * 400,
    "nan": "nan",
    "inf": "-inf",
    "a truth": "true",
    "a date": "2026-11-26",
    "text": "'x y'",
    "long text": f"'{LONG}'",
    "no text": "''",
    "a list": "[1, 'a']",
    "no list": "[]",
    "nested lists": BRACKETS,
    "some nested lists": "[" * 50 + "]" * 50,
    "a table": "{x = 1}",
    "a list of tables": "[{x = 1}]",
}
"""Values in TOML; hardly any key takes more than one of them."""
OF_NO_KEY = {"a huge integer", "beyond 64 bits", "nested lists", "some nested lists"}
"""What may be refused as TOML."""
OF_STUDIES = [*study_files.KEYS, "plot.x", "grid.rate", "zip.rate", "other"]
OF_POINTS = ["device", "workload", "trace", "load", "scenario", "scheduler", "layout", "background"]
OF_POINTS += ["precision", "device.tips", "device.base", "scheduler.name", "layout.name", "seed"]
OF_POINTS += ["crash.points", "crash.promise", "cache.policy", "requests", "rate", "other"]
OF_SCENARIOS = ["device", "workload", "scheduler", "layout", "background", "other", "device.base"]
OF_SCENARIOS += [f"device.{key}" for key in ss.device("g2").parameters]
OF_SCENARIOS += [f"workload.{key}" for key in ("kind", "file", "rate", "requests", "sizes_kib")]
OF_SCENARIOS += ["scheduler.name", "layout.name", "layout.regions", "scheduler.x"]


def _read(file: Path, door: str) -> object:
    if door == "scenario":
        return ss.scenario(file)
    found = study_files.read(file)
    chosen = found.get("experiment", door.replace("base", "simulate"))
    often = found.get("replications", 1)
    return Sweep(study_files.design(found, file.parent), replications=often, experiment=chosen)


@pytest.mark.parametrize("door", ["simulate", "crash_test", "hit_ratios", "base", "scenario"])
def test_every_key_takes_its_shape_or_is_named(door: str, folder: Path) -> None:
    file, taken, refused = folder / "x.toml", set(), 0
    keys = {"scenario": OF_SCENARIOS, "simulate": OF_STUDIES}.get(door, OF_POINTS)
    for key, (shape, value) in itertools.product(keys, SHAPES.items()):
        device = "" if key.startswith("device") else "device = {base = 'g2'}\n"
        text = f'[base]\n{device}"{key}" = {value}\n'
        if door == "scenario":
            text = f"{device}{key} = {value}\n"
        elif door == "simulate":
            text = f"{key} = {value}\n" + "[base]\ndevice = 'g2'\n" * (key != "base")
        file.write_text(text, encoding="utf-8")
        try:
            _read(file, door)
            taken.add((key, shape))
        except ss.SledsimError as error:
            said = str(error)
            refused += 1
            assert len(said) < 1000, said
            assert "\n" not in said
            parts = [*key.split("."), *(["x"] if "table" in shape else [])]
            parts += ["device"] if key == "base" else []  # which it lacks
            named = re.search(rf"\b({'|'.join(parts)})\b", said.replace(str(file), ""))
            assert named or (shape in OF_NO_KEY and said.startswith(f"{file}:")), (key, shape, said)
    assert refused > 0.8 * len(keys) * len(SHAPES)
    assert [each for each in taken if each[1] in {*OF_NO_KEY, "a date"}] == []


MODULE = [sys.executable, "-m", "sledsim"]
run = functools.partial(subprocess.run, capture_output=True, text=True, check=False, timeout=60)


def within_limits(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that may take 3 GB and a minute."""
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (3 << 30, 3 << 30))
    return run([*MODULE, *words], preexec_fn=limit)


@pytest.mark.parametrize(
    ("rate", "named"),
    [
        ("from = 0, to = 9e18, step = 1", "at most 1,000,000 values"),
        ("from = 0, to = 1, step = 1e-300", "at most 1,000,000 values"),
        ("from = 1, to = 1_000_001, step = 1", "at most 1,000,000 values"),
        ("from = 0, to = 1, step = 5e-324", "finite numbers"),
        ("from = 0, to = nan, step = 1", "finite numbers"),
        ("from = -inf, to = 1, step = 1", "finite numbers"),
        ("from = 0, to = 1, step = inf", "finite numbers"),
        ("from = 0, to = 1, step = -1", "step above 0"),
        (f"from = 0, to = {'9' * 400}, step = 1", "finite numbers"),
        (
            "from = 1, to = 30000, step = 1",
            "30,000 of rate times 30,000 of seed: 900,000,000 runs;",
        ),
    ],
)
def test_ranges_are_counted_before_they_are_built(rate: str, named: str) -> None:
    keys = f"rate = {{{rate}}}\nseed = {{from = 1, to = 30000, step = 1}}"
    Path("x.toml").write_text(f"[base]\ndevice = 'g2'\n[grid]\n{keys}\n", encoding="utf-8")
    done = within_limits("sweep", "x.toml", "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sledsim: error: ")
    assert named in done.stderr


def test_a_large_dry_run_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A million runs are allowed. Where they are checked, the wrong rates are found."""
    ranges = "rate = {from = -999, to = 0, step = 1}\nseed = {from = 1, to = 1000, step = 1}"
    Path("x.toml").write_text(f"[base]\ndevice = 'g2'\n[grid]\n{ranges}\n", encoding="utf-8")
    assert main(["sweep", "x.toml", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["points"], told["runs"], told["missing"]) == (1_000_000, 1_000_000, None)
    assert main(["sweep", "x.toml", "--dry-run", "--replications", "2"]) == 2
    assert "times 2 replications: 2,000,000 runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("ss.sweep({'device': 'g2'}, grid={'rate': range(10**30)})", "rate: has more than"),
        ("ss.sweep({'device': 'g2'}, grid={'rate': itertools.count(1)})", "rate: has more than"),
        ("ss.sweep({'device': 'g2'}, rows=({'rate': 1} for _ in itertools.count()))", "rows: has"),
        ("ss.hit_ratios(ss.workload(), sizes_mib=range(10**12))", "sizes_mib: has more than"),
        ("ss.disksim.read('a\\0b')", "embedded null byte"),
        ("ss.sweep({'device': 'g2'}, output='a\\0b')", "embedded null byte"),
        ("x = {}; [x := {'a': x} for _ in range(3000)]; ss.device('g2', **x)", "nested at most 30"),
    ],
)
def test_python_refuses_what_has_no_end(code: str, named: str) -> None:
    text = "import itertools, sledsim as ss\n"
    text += f"try:\n    {code}\nexcept ss.SledsimError as error:\n    print(ascii(str(error)))"
    done = run([sys.executable, "-c", text])
    assert done.stderr == ""
    assert ascii(named)[1:-1] in done.stdout
    assert len(done.stdout) < 1000


G2, NAME = "run --device g2", "n" * 300
BEFORE = ["", "run --device", f"{G2} --set", f"{G2} --scheduler", "sweep", "power-cut", "ledger"]
BEFORE += ["serve --device g2 --faults", "sweep --device g2 --set requests=50 --show"]
ECHOES = [f"{words} {LONG}" for words in BEFORE]
ECHOES += [f"{G2} {each}" for each in (f"--rows {NAME}.parquet", f"--plot {NAME}.png")]
ECHOES += [f"{G2} --report {NAME}.html", f"{G2} --trace t.csv --by-volume --folder {NAME}"]
ECHOES += [f"{G2} --trace {'a/' * 3000}x", f"{G2} --trace '{'a b ' * 3000}'", f"run --{LONG}"]
ECHOES += [f"{G2} --set {LONG}=5", f"{G2} --replications {DIGITS}"]
ECHOES += [
    f"sweep --device g2 {each}"
    for each in (
        *(f"--vary {LONG}=1,2", f"--vary rate={DIGITS}", f"--set rate={BRACKETS}"),
        *(f"--output {NAME}", f"--workers threads:{DIGITS}"),
    )
]
ECHOES += [f"devices import {name}.parv" for name in ("long", "nested", "chain0")]
ECHOES += ["devices show long.toml", "devices show nested.toml", "run long.toml"]


@pytest.mark.parametrize("line", ECHOES, ids=lambda line: line[:60])
def test_what_is_repeated_is_cut(line: str, folder: Path, refused: Callable[..., str]) -> None:
    texts = {
        "t.csv": TRACE_CSV,
        "long.toml": f"base = 'g2'\n[{LONG}]\n{LONG} = '{LONG}'\n",
        "long.parv": f"{LONG} {LONG} = 5\n",
        "nested.toml": f"base = 'g2'\ntips = {BRACKETS}\n",
        "nested.parv": f"b B {{ x = {BRACKETS} }}\n",
        **{f"chain{n}.parv": f"source chain{n + 1}.parv\n" for n in range(1200)},
    }
    for name, text in texts.items() if "." in line else ():
        (folder / name).write_text(text, encoding="utf-8")
    said = refused(*shlex.split(line))
    assert len(said) < 1000
    assert max(map(len, said.split())) <= 204
    assert ("n" * 60 in said) == ("n" * 60 in line), "it names the file"
    for word in (LONG, DIGITS, "a b " * 3000, NAME):
        assert word[:20] not in said or word not in line or "..." in said


READING = ["sweep x.toml --dry-run", "run x.toml", "run --device x.toml", "devices import x.toml"]
READING += ["run --device g2 --workload x.toml", "serve --device g2 --faults x.toml"]


@pytest.mark.parametrize("line", READING)
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_input_that_is_no_regular_file_is_refused(line: str, kind: str, folder: Path) -> None:
    """Opening it would wait, or reading it would not end."""
    with socket.socket(socket.AF_UNIX) as bound:
        if kind == "pipe":
            os.mkfifo("x.toml")
        elif kind == "socket":
            bound.bind("x.toml")
        else:
            Path("x.toml").symlink_to("/dev/zero")
        done = within_limits(*line.split())
    says = "x.toml.*must be a regular file, not a pipe, a socket or a device"
    assert done.returncode == 2
    assert re.search(says, done.stderr)
    assert [path.name for path in folder.iterdir()] == ["x.toml"]
