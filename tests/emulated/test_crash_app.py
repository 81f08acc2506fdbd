"""Failures of power under real programs: good set-ups are found good, bad ones bad."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sledsim as ss
from sledsim.cli import main
from sledsim.programs.crashes import GOOD, Setup
from sledsim.programs.crashes.presets import PRESETS

from tests.crash_scripts import script, scripts
from tests.mounted import needs_postgres, needs_root, small_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ran = Callable[..., dict[str, Any]]

MOST_CUTS = 300
"""How many instants are tried until one shows what is looked for."""


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str], clean: None) -> Ran:
    """Run the command, whose exit code must tell of bad cuts; return its document."""
    del clean

    def run(*words: object) -> dict[str, Any]:
        patience = [] if "--patience" in str(words) else ["--patience=600"]
        code = main(["crash-app", "--json", *patience, *map(str, words)])
        out, errors = capsys.readouterr()
        assert code in {0, 1}, errors
        document: dict[str, Any] = json.loads(out)
        cuts = document.get("each", [document])
        bad = any(cut["outcome"] not in GOOD or cut["file_system_damage"] for cut in cuts)
        broken = any(cut["device"]["promised_lost"] for cut in cuts)
        assert code == int(bad or broken), errors
        return document

    return run


def sums(document: dict[str, Any]) -> None:
    """See that a document agrees with itself, counted from each cut anew."""
    each = document["each"]
    assert [cut["number"] for cut in each] == list(range(1, document["cuts"] + 1))
    assert Counter(document["outcomes"]) == Counter(cut["outcome"] for cut in each)
    first: dict[tuple[str, int], int] = {}
    for cut in each:
        key = (cut["device"]["digest"], cut["acknowledged"])
        same = first.setdefault(key, cut["number"])
        assert cut["same_as"] == (None if same == cut["number"] else same)
    assert document["tried"] == len(first)
    share = document["shares"]["acknowledged_unflushed"]
    met = sum(cut["device"]["acknowledged_unflushed"] > 0 for cut in each)
    assert share == pytest.approx(met / len(each))


def experiments(ran: Ran, cuts: int, *words: object) -> Iterator[dict[str, Any]]:
    """Run it again, at other instants each time, until the caller has found what it looks for."""
    document: dict[str, Any] = {}
    for seed in range(1, MOST_CUTS // cuts + 1):
        document = ran(*words, "--cuts", cuts, "--seed", seed)
        sums(document)
        yield document
    pytest.fail(f"not found by {MOST_CUTS} cuts")


def found(ran: Ran, outcomes: set[str], cuts: int, *words: object) -> dict[str, Any]:
    """Return the first experiment with a cut that ended in one of these outcomes."""
    return next(
        document
        for document in experiments(ran, cuts, *words)
        if any(document["outcomes"][name] for name in outcomes)
    )


@needs_root
def test_sqlite_loses_nothing_on_a_sled_with_a_volatile_buffer(ran: Ran) -> None:
    # Power is held up until a pass ends: a torn block could not be read until written again.
    words = ("sqlite", "--set", "transactions=40", "--set", "device.hold_up_us=130", "--fsck")
    kinds: set[str] = set()
    held: set[tuple[int, int]] = set()
    for document in experiments(ran, 20, *words):
        assert document["bad"] == 0, document["each"]
        assert document["file_systems_damaged"] == 0
        assert document["promises_broken_by_the_device"] == 0
        assert document["run"]["transactions"] == 40
        assert document["run"]["promise"] == "flush"
        kinds |= set(document["outcomes_by_stratum"])
        held |= {(cut["acknowledged"], cut["transactions"]) for cut in document["each"]}
        assert all(held - acknowledged in (0, 1) for acknowledged, held in held)
        shows_much = document["shares"]["acknowledged_unflushed"] > 0.2
        shows_much &= not document["shows_little"]
        if shows_much and len(held) > 5 and kinds >= {"data", "log", "flush", "idle"}:
            break
    times = document["back_in_service_ms"]
    assert times["startup"]["max"] > 0
    assert 0 < times["file_system"]["p50"] <= times["file_system"]["max"]
    assert 0 < times["database"]["p50"] <= times["database"]["max"]


@needs_root
@pytest.mark.parametrize(
    ("program", "preset", "outcomes"),
    [
        ("sqlite", "full", {"lost_acknowledged"}),
        ("sqlite", "unsynced", {"lost_acknowledged"}),
        ("sqlite", "no-journal", {"corrupt_silent", "corrupt_detected"}),
        pytest.param("postgres", "late-commits", {"lost_acknowledged"}, marks=needs_postgres),
    ],
)
def test_bad_set_ups_are_found_bad(program: str, preset: str, outcomes: set[str], ran: Ran) -> None:
    cuts, count = (25, 40) if program == "sqlite" else (10, 30)
    document = found(
        ran, outcomes, cuts, program, "--preset", preset, f"--set=transactions={count}"
    )
    assert document["promises_broken_by_the_device"] == 0


@needs_root
def test_a_bad_cut_is_kept_and_repeated(
    ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    picture, page = tmp_path / "a.png", tmp_path / "a.html"

    def run(*words: object) -> dict[str, Any]:
        shutil.rmtree(kept, ignore_errors=True)
        return ran(*words, "--folder", kept, "--plot", picture, "--report", page)

    words = ("sqlite", "--preset", "unsynced", "--set", "transactions=30")
    document = found(run, {"lost_acknowledged"}, 12, *words)
    assert json.loads((kept / "result.json").read_text("utf-8")) == document
    bad = [cut for cut in document["each"] if cut["outcome"] not in GOOD]
    assert bad
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "lost acknowledged" in page.read_text("utf-8")
    numbers = [f"{cut['number']:04}" for cut in bad]
    assert sorted(path.stem for path in (kept / "bad").glob("*.json")) == numbers
    for cut, number in ((bad[0], numbers[0]), (bad[-1], numbers[-1])):
        about = json.loads((kept / "bad" / f"{number}.json").read_text("utf-8"))
        image = kept / "bad" / about["image"]
        assert image.stat().st_size == 512 * ss.device("g2-buffered").blocks
        again = ran("sqlite", "--replay", cut["number"], "--folder", kept)
        same = ("at_ns", "acknowledged", "outcome", "transactions", "device")
        assert {key: again[key] for key in same} == {key: cut[key] for key in same}
    repeat = ["crash-app", "sqlite", f"--replay={bad[0]['number']}", f"--folder={kept}"]
    assert main(repeat) == 1
    assert main([*repeat, "--exit-zero"]) == 0
    assert "lost acknowledged" in capsys.readouterr().out
    for line, part in (
        ("sqlite --replay 1 --device g2", "device = g2"),
        ("postgres --replay 1", "program = postgres"),
        ("sqlite --replay 13", "cuts 1 to 12"),
    ):
        assert main(["crash-app", *line.split(), f"--folder={kept}"]) == 2
        assert part in capsys.readouterr().err
    number = numbers[0]
    for name in ("experiment.json", "acknowledged.txt", f"bad/{number}.json", f"bad/{number}.img"):
        with (kept / name).open("r+b") as file:
            byte = os.pread(file.fileno(), 1, 100)[0]
            os.pwrite(file.fileno(), bytes([byte ^ 4]), 100)
            assert main(repeat) == 2
            assert f"{kept / name}: is damaged" in capsys.readouterr().err
            os.pwrite(file.fileno(), bytes([byte]), 100)
    shutil.rmtree(kept / "recording")
    assert main(["crash-app", "sqlite", "--replay", "1", f"--folder={kept}"]) == 2
    assert str(kept) in capsys.readouterr().err


@needs_root
@pytest.mark.parametrize("where", ["ext4", "raw"])
def test_scripts_are_judged_on_files_and_on_the_raw_device(
    where: str, ran: Ran, tmp_path: Path
) -> None:
    words = (*scripts(tmp_path), "--set", "device.hold_up_us=130")
    document = ran(*words, "--file-system", where, "--cuts", 15)
    sums(document)
    assert document["bad"] == 0, document["each"]
    assert document["run"]["transactions"] == 60
    words = (*scripts(tmp_path, sync="pass"), "--file-system", where)
    found(ran, {"lost_acknowledged"}, 15, *words)


def test_the_raw_device_needs_no_root(everyones: Path) -> None:
    """As another user, who may read Python wherever it is."""
    if os.geteuid() != 0 or not Path("/dev/fuse").exists() or not shutil.which("setpriv"):
        pytest.skip("needs root to become another user, setpriv and /dev/fuse")
    if Path("/dev/fuse").stat().st_mode & 0o006 != 0o006:
        pytest.skip("/dev/fuse is not for everyone here")
    runtime = everyones / "runtime"
    runtime.mkdir()
    os.chown(runtime, 65534, 65534)
    code = "from sledsim.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
    become = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    rights = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    words = (*scripts(everyones), "--json", "--file-system", "raw", "--cuts", "5")
    package = str(Path(ss.__file__).parents[1])
    done = subprocess.run(
        [*become, *rights, sys.executable, "-c", code, "crash-app", *words],
        env=os.environ | {"PYTHONPATH": package, "XDG_RUNTIME_DIR": str(runtime)},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    sums(document)
    assert document["bad"] == 0
    assert list(runtime.glob("sledsim/*")) == []


@needs_root
def test_a_checker_that_hangs_is_counted(ran: Ran, tmp_path: Path) -> None:
    program, load, _ = scripts(tmp_path)
    check = script(tmp_path / "hangs", "sleep 600")
    words = (f"--check={check}", "--file-system=raw", "--patience=0.2", "--cuts=3")
    document = ran(program, load, *words)
    assert document["outcomes"]["check_hung"] == document["bad"] == 3


@needs_root
@pytest.mark.usefixtures("clean")
def test_a_load_that_fails_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, _, check = scripts(tmp_path)
    load = script(tmp_path / "fails", "echo no luck; exit 3")
    kept = tmp_path / "kept"
    words = [program, f"--load={load}", check, f"--folder={kept}"]
    for where in ("ext4", "raw"):
        assert main(["crash-app", *words, f"--file-system={where}"]) == 2
        assert "ended with 3: no luck" in capsys.readouterr().err
        assert list(kept.iterdir()) == []


@needs_root
@needs_postgres
def test_postgres_loses_nothing_on_a_sled_that_ends_its_passes(ran: Ran) -> None:
    held_up = ("--set", "device.hold_up_us=130")
    document = ran("postgres", "--cuts", 6, "--set", "transactions=30", *held_up)
    sums(document)
    assert document["bad"] == 0, document["each"]
    assert document["shares"]["recovery_program"] > 0


# Refusals that need root; the others are in tests/refusals.


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run a command that is refused; return its last line, the error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()

    def run(*words: object) -> str:
        before = sorted(tmp_path.rglob("*"))
        assert main(["crash-app", *map(str, words)]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        *steps, error = said.err.splitlines()
        assert not any("Traceback" in line for line in steps)
        assert error.startswith("sledsim: error: ")
        assert sorted(tmp_path.rglob("*")) == before
        return error.removeprefix("sledsim: error: ")

    return run


@needs_root
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--device g9", "g9"),
        ("--scheduler fast", "fast"),
        ("--set device.taps=3", "taps"),
        ("--folder used", "--folder used: must be empty"),
    ],
)
def test_wrong_devices_and_folders_are_refused(
    line: str, says: str, refused: Callable[..., str]
) -> None:
    assert says in refused("sqlite", *line.split())


@needs_root
def test_a_missing_postgres_is_named(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres = "sledsim.programs.crashes.postgres.Postgres"
    monkeypatch.setattr(f"{postgres}.folders", ("no/such/*",))
    monkeypatch.setattr(f"{postgres}.packages", {"postgres-0": "the sun"})
    assert refused("postgres") == "postgres: postgres-0 is missing: install the sun"


@needs_root
@pytest.mark.usefixtures("clean")
def test_a_full_folder_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "2m") as small:
        assert refused("sqlite", "--folder", small).startswith(f"{small}: has 2 MiB of room")


@pytest.mark.parametrize("program", PRESETS)
def test_keys_and_presets_are_listed_and_taken(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crash-app", program, "--keys"]) == 0
    text = capsys.readouterr().out
    assert main(["crash-app", program, "--keys", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert all(name in text for name in [*document["keys"], *document["presets"]])
    assert {*document["presets"]} == {*PRESETS[program]}
    for name, each in PRESETS[program].items():
        setup = Setup(program, "g2", each.keys, **each.file_system)
        assert setup == Setup.of(json.loads(json.dumps(setup.to_dict())))
        setup.made_file_system(setup.made_program())
        assert main(["crash-app", program, "--preset", name, "--patience", "0"]) == 2
        assert "patience" in capsys.readouterr().err
