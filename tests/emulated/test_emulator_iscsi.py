"""The iSCSI target against common initiators: libiscsi with its conformance tests, and qemu."""

from __future__ import annotations

import concurrent.futures
import ctypes.util
import json
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import sledsim as ss
from iscsi_parallel import Initiator, ScsiError
from sledsim.emulator import Export

from tests.example_runs import EXAMPLES, run_twice
from tests.initiators import (
    MIB,
    SIZE,
    copied_and_compared,
    maps_holes,
    memory,
    noise_and_holes,
    run,
    written_and_discarded,
)
from tests.served import BLOCK, Client, Command, Serve, replayed, rows, troubles
from tests.waiting import LONG_S, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

needs_libiscsi = pytest.mark.skipif(
    ctypes.util.find_library("iscsi") is None, reason="libiscsi is not installed"
)
needs_qemu = pytest.mark.skipif(
    not list(Path("/usr/lib").glob("*/qemu/block-iscsi.so")), reason="qemu has no iSCSI here"
)
HOST = "127.0.0.1:0"
NAME = "iqn.2026-11.com.example.sledsim:target"
"""The name of a target that is given none."""


@pytest.fixture
def server(serve: Serve, tmp_path: Path) -> Iterator[ss.emulator.Server]:
    """Serve a backing file and a small memory as logical units 0 and 1."""
    export = Export(device=memory(), name="sled", file=tmp_path / "sled.img")
    small = Export(device=memory(blocks=2048), name="small")
    server = serve.at([export, small], iscsi=HOST)
    yield server
    assert sum(troubles(server).values()) == 0


# The conformance tests of libiscsi.


class Outcome(NamedTuple):
    """What became of one test of iscsi-test-cu."""

    passed: bool
    skipped: set[str]
    """Why it, or a part of it, was skipped."""
    said: str


def parsed(text: str) -> dict[str, dict[str, Outcome]]:
    """Read the output of iscsi-test-cu: what became of the tests of each suite."""
    table: dict[str, dict[str, Outcome]] = {}
    for part in text.split("\nSuite: ")[1:]:
        suite, _, rest = part.partition("\n")
        table[suite] = {}
        for each in rest.split("  Test: ")[1:]:
            name, _, said = each.partition(" ...")
            found = re.search(r"(?<!\[)(passed|FAILED)", said)
            assert found, f"{suite}.{name} did not end: {said}"
            # Behind it is what the tool does between suites.
            skipped = set(re.findall(r"\[SKIPPED\] (.*)", said[: found.start()]))
            table[suite][name] = Outcome(found[0] == "passed", skipped, said)
    return table


@pytest.fixture(scope="module")
def conformance() -> dict[str, dict[str, Outcome]]:
    """Run all tests of libiscsi, its two families at once, each on a target of its own.

    The family ALL has the same tests again. `iSCSIcmdsn` takes six seconds, as the client waits for
    answers that must not come.
    """
    if shutil.which("iscsi-test-cu") is None:
        pytest.skip("iscsi-test-cu is not installed")

    def tested(family: str) -> str:
        with ss.serve(ss.device("memory", blocks=262_144), iscsi=HOST) as server:
            url = f"{server.uris[0]}/0"
            # A part of the tests needs two paths.
            command = ["iscsi-test-cu", "--dataloss", "--verbose", "--test", family, url, url]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=4 * LONG_S, check=False
            )
            return done.stdout

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return parsed("".join(pool.map(tested, ("SCSI", "iSCSI"))))


REQUIRED = (
    *("CompareAndWrite", "GetLBAStatus", "Inquiry", "Mandatory", "ModeSense6", "MultipathIO"),
    *("OrWrite", "Prefetch10", "Prefetch16", "Read6", "Read10", "Read12", "Read16"),
    *("ReadCapacity10", "ReadCapacity16", "StartStopUnit", "TestUnitReady", "Unmap"),
    *("Verify10", "Verify12", "Verify16", "Write10", "Write12", "Write16"),
    *("WriteSame10", "WriteSame16", "WriteVerify10", "WriteVerify12", "WriteVerify16"),
    *("iSCSIcmdsn", "iSCSIdatasn", "iSCSIResiduals", "iSCSITMF"),
)
"""Suites of what the target implements."""


def test_libiscsi_finds_no_failure_in_what_is_implemented(
    conformance: dict[str, dict[str, Outcome]],
) -> None:
    for suite in REQUIRED:
        tests = conformance[suite].values()
        assert all(test.passed for test in tests), conformance[suite]
        assert any(not test.skipped for test in tests), conformance[suite]


SKIPPED = {
    # Persistent reservations and RESERVE are refused: a simulator shares its devices with all.
    "PERSISTENT RESERVE IN is not implemented.",
    "PROUT Not Supported",
    "RESERVE6 is not implemented on target",
    "RESERVE6 is not implemented.",
    # Copies by the target would be requests that no client made.
    "EXTENDEDCOPY is not implemented.",
    "RECEIVECOPYRESULT is not implemented.",
    "RECEIVE_COPY_RESULTS is not implemented.",
    # No device has a list of defects: a sled that loses tips says so in its status.
    "READDEFECTDATA10 is not implemented.",
    "READDEFECTDATA12 is not implemented.",
    # A block can be torn when power fails; nothing larger is atomic.
    "WRITEATOMIC16 is not implemented.",
    # SANITIZE is not implemented either; the tool needs a flag to find out.
    "--allow-sanitize flag is not set. Skipping test.",
    # The medium stays in the device.
    "Logical unit is not removable. Skipping test.",
    "Media is not removable.",
    # A physical block is a logical block.
    "LBPPB < 2. Skipping test",
    # WSNZ: none stands for all blocks up to the end, more than a command may write.
    "WRITESAME10 does not support 0-blocks.",
    "WRITESAME16 does not support 0-blocks.",
    # Tested with a read-only export.
    "Logical unit is not write-protected. Skipping test.",
}
"""Why libiscsi skips tests."""


def test_libiscsi_skips_what_is_refused(conformance: dict[str, dict[str, Outcome]]) -> None:
    tests = [test for suite in conformance.values() for test in suite.values()]
    assert set().union(*(test.skipped for test in tests)) == SKIPPED


def test_libiscsi_fails_at_a_long_command_alone(
    conformance: dict[str, dict[str, Outcome]],
) -> None:
    """The usage data of WRITE SCATTERED (32) have 32 bytes; libiscsi 1.19 has room for 16.

    So says `struct scsi_report_supported_op_codes_one_command` in its `scsi-lowlevel.h`. The test
    below has all of them.
    """
    failed = {
        f"{suite}.{name}": re.findall(r"\[FAILED\] (.*)", test.said)
        for suite, tests in conformance.items()
        for name, test in tests.items()
        if not test.passed
    }
    # A later version may have more room.
    assert failed.keys() <= {"ReportSupportedOpcodes.OneCommand"}
    for said in failed.values():
        assert said == ["CDB[0] Usage Data was 0x00, expected 0x7f for opcode 0x7f"]


@needs_libiscsi
def test_the_usage_data_of_a_long_command_are_complete() -> None:
    """REPORT SUPPORTED OPERATION CODES (SPC-4, 6.35) of 7Fh/0011h, WRITE SCATTERED (32)."""
    with ss.serve(memory(), iscsi=HOST) as server, Initiator.to(server.uris[0]) as initiator:
        cdb = struct.pack(">BBBBHIxx", 0xA3, 0x0C, 2, 0x7F, 0x11, 255)
        data = initiator.command(cdb, expected=255)
    support, size = struct.unpack_from(">xBH", data)
    assert (support, size, len(data)) == (3, 32, 4 + 32)
    usage = data[4:]
    # Operation code, additional length and service action are the values themselves.
    assert (usage[0], usage[7], usage[8:10]) == (0x7F, 0x18, bytes([0, 0x11]))
    # So are the fields with any value: offset, number of ranges, blocks (SBC-4).
    for first, last in ((12, 14), (16, 18), (28, 32)):
        assert set(usage[first:last]) == {255}


def test_libiscsi_finds_a_read_only_export_protected(serve: Serve) -> None:
    url = f"{serve.at(memory(), read_only=True, iscsi=HOST).uris[0]}/0"
    told = run("iscsi-test-cu", "-d", "-v", "-t", "SCSI.ReadOnly", url, url)
    (test,) = parsed(told)["ReadOnly"].values()
    assert test.passed
    assert not test.skipped


# Tools of libiscsi.


def test_tools_of_libiscsi_show_the_exports(server: ss.emulator.Server) -> None:
    (uri,) = server.uris
    portal, _, name = uri.rpartition("/")
    assert name == NAME
    told = run("iscsi-ls", "-s", portal)
    assert f"Target:{NAME} Portal:{portal.removeprefix('iscsi://')},1\n" in told
    # It takes the number of the last block for their number.
    found = re.findall(r"^Lun:(\d) +Type:DIRECT_ACCESS \(Size:(\w+)\)$", told, re.MULTILINE)
    assert found == [("0", "63M"), ("1", "1023k")]
    told = run("iscsi-inq", f"{uri}/0")
    assert "Vendor:SLEDSIM \nProduct:memory          \n" in told
    assert "Removable:0\n" in told
    told = run("iscsi-inq", "-e", "1", "-c", str(0xB0), f"{uri}/0")
    assert "wsnz:1\n" in told
    assert f"maximum transfer length:{32 * MIB // BLOCK}\n" in told
    assert "optimal unmap granularity:1\n" in told
    told = run("iscsi-readcapacity16", f"{uri}/0")
    assert f"RETURNED LOGICAL BLOCK ADDRESS:{SIZE // BLOCK - 1}\n" in told
    assert "LBPME:1 LBPRZ:1\n" in told
    assert run("iscsi-readcapacity16", "-s", f"{uri}/1") == f"{MIB}\n"
    assert "LOGICAL_UNIT_NOT_SUPPORTED" in run("iscsi-inq", f"{uri}/2", ok=False)


# qemu.


@needs_qemu
def test_qemu_img_copies_and_compares(server: ss.emulator.Server, tmp_path: Path) -> None:
    content, small = noise_and_holes(tmp_path / "content.img"), tmp_path / "small.img"
    before = content.read_bytes()
    small.write_bytes(before[:MIB])
    for lun, source in enumerate((content, small)):
        url = f"{server.uris[0]}/{lun}"
        told = json.loads(run("qemu-img", "info", "--output=json", url))
        assert told["virtual-size"] == source.stat().st_size
        copied_and_compared(source, url, None if lun else tmp_path / "sled.img")
    content.write_bytes(before)
    told = run("qemu-img", "map", "--output=json", "-f", "raw", f"{server.uris[0]}/0")
    extents = ((e["start"], e["length"], e["zero"], not e["data"]) for e in json.loads(told))
    maps_holes(extents, content)


@needs_qemu
@pytest.mark.parametrize("lun", [0, 1])
def test_qemu_io_writes_discards_and_reads(
    server: ss.emulator.Server, tmp_path: Path, lun: int
) -> None:
    written_and_discarded(f"{server.uris[0]}/{lun}", None if lun else tmp_path / "sled.img")


# Times.


def access_10(code: int, lbn: int, blocks: int, flags: int = 0) -> bytes:
    """Make the CDB of a command of 10 bytes that accesses blocks."""
    return struct.pack(">BBIBHB", code, flags, lbn, 0, blocks, 0)


READ_10, WRITE_10, SYNCHRONIZE_CACHE_10, WRITE_SAME_10 = 0x28, 0x2A, 0x35, 0x41
FUA, UNMAP = 8, 8


def work(uri: str, seed: int, flags: int) -> None:
    """Read and write at random in a part of its own, four commands at a time."""
    rng = random.Random(seed)
    places = [seed * 1_000_000 + 8 * at for at in rng.sample(range(100_000), 80)]
    with Initiator.to(uri) as initiator:
        for first in range(0, 80, 4):
            data = {lbn: rng.randbytes(8 * BLOCK) for lbn in places[first : first + 4]}
            initiator.commands([(access_10(WRITE_10, lbn, 8, flags), data[lbn], 0) for lbn in data])
            reads = [(access_10(READ_10, lbn, 8), b"", 8 * BLOCK) for lbn in data]
            assert initiator.commands(reads) == list(data.values())
        initiator.command(access_10(SYNCHRONIZE_CACHE_10, 0, 0))
        initiator.command(access_10(WRITE_SAME_10, places[0], 8, UNMAP), bytes(BLOCK))
        read = initiator.command(access_10(READ_10, places[0], 8), expected=8 * BLOCK)
        assert read == bytes(8 * BLOCK)


def work_by_nbd(client: Client) -> None:
    """Read and write at random by NBD."""
    rng = random.Random(0)
    for _ in range(40):
        offset = rng.randrange(4_000_000, 6_000_000) * BLOCK
        data = rng.randbytes(4 * BLOCK)
        client.write(offset, data)
        assert client.read(offset, 4 * BLOCK) == data
    client.flush()


def work_by_qemu(uri: str) -> None:
    """Write, discard and read by qemu, which writes without FUA."""
    steps = ["write -P 3 1M 64k", "discard 1M 64k", "write -z 3M 64k", "flush", "read -P 0 1M 4M"]
    words = [word for step in steps for word in ("-c", step)]
    run("qemu-io", "-t", "writeback", "-f", "raw", *words, f"{uri}/0")


@needs_libiscsi
@needs_qemu
@pytest.mark.parametrize(
    ("device", "scheduler", "speed", "flags", "busy_poll_us"),
    [
        ("cmu2003", "fcfs", 1.0, FUA, 0),
        ("cmu2003", "sptf", 1.0, FUA, 20),
        # A recording does not have the mark FUA, which matters to a disk with a write buffer.
        ("atlas10k", "sptf", 10.0, 0, 0),
    ],
)
def test_times_are_those_of_a_simulation_of_the_arrivals(
    serve: Serve,
    tmp_path: Path,
    device: str,
    scheduler: str,
    speed: float,
    flags: int,
    busy_poll_us: int,
) -> None:
    """Three initiators, qemu and an NBD client share a device; a replay has the same rows."""
    file, recording = tmp_path / "disk.img", tmp_path / "r.parquet"
    keys: dict[str, Any] = {"scheduler": scheduler, "speed": speed, "busy_poll_us": busy_poll_us}
    server, client = serve(device, file=file, record=recording, iscsi=HOST, **keys)
    uri = server.uris[1]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = [pool.submit(work, uri, seed, flags) for seed in (1, 2, 3)]
        jobs += [pool.submit(work_by_nbd, client), pool.submit(work_by_qemu, uri)]
        for job in jobs:
            job.result()
    server.stop()
    recorded = rows(recording)
    assert recorded["stream"].n_unique() == 5
    assert set(recorded["op"]) == {"read", "write", "flush", "trim"}
    # Where a disk is on its track depends on the clock.
    load = ss.read_trace(recording, time_origin="file")
    simulated = rows(ss.simulate(load, ss.device(device), scheduler=scheduler))
    assert simulated.equals(recorded.drop("lateness_ns"))


# Authentication.

USER, SECRET = "sled", "a-secret-of-20-bytes"
TARGET_SECRET = "another-secret-of-it"


def secrets(folder: Path, mode: int = 0o600) -> Path:
    """Write a file of secrets."""
    path = folder / "secrets"
    path.write_text(f"# of tests\ninitiator {USER} {SECRET}\ntarget sledsim {TARGET_SECRET}\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("iscsi-inq",),
        pytest.param(("qemu-io", "-f", "raw", "-c", "read -P 0 0 512"), marks=needs_qemu),
    ],
)
def test_initiators_authenticate(tmp_path: Path, command: tuple[str, ...]) -> None:
    with ss.serve(memory(), iscsi=HOST, iscsi_secrets=secrets(tmp_path)) as server:
        place = f"{server.uris[0]}/0".removeprefix("iscsi://")
        run(*command, f"iscsi://{USER}%{SECRET}@{place}")
        assert sum(troubles(server).values()) == 0
        for who in ("", f"{USER}%{TARGET_SECRET}@", f"other%{SECRET}@"):
            told = run(*command, f"iscsi://{who}{place}", ok=False)
            assert "Authentication failure(513)" in told
        # The last one is counted after its answer.
        eventually(lambda: troubles(server)["refused_handshakes"] == 3)


def test_the_target_authenticates_itself(tmp_path: Path) -> None:
    with ss.serve(memory(), iscsi=HOST, iscsi_secrets=secrets(tmp_path)) as server:
        url = f"{server.uris[0]}/0".replace("//", f"//{USER}%{SECRET}@")
        run("iscsi-inq", f"{url}?target_user=sledsim&target_password={TARGET_SECRET}")
        wrong = f"{url}?target_user=sledsim&target_password={TARGET_SECRET[::-1]}"
        assert "Authentication failed" in run("iscsi-inq", wrong, ok=False)


# The parallel interface.


@needs_libiscsi
@pytest.mark.parametrize(
    ("device", "layout"), [("cmu2003", None), ("cmu2003", "organ_pipe"), ("g2", None)]
)
def test_answers_are_those_of_rpc(serve: Serve, device: str, layout: str | None) -> None:
    server, there = serve.remote(device, layout=layout, iscsi=HOST)
    rng = random.Random(1)
    conflicts: set[bool] = set()
    with Initiator.to(server.uris[0]) as here:
        said = here.parallelism()
        assert said == {name: getattr(there.parallelism, name) for name in said}
        for lbn in (rng.randrange(there.blocks) for _ in range(50)):
            together = there.equivalent(lbn)
            assert here.equivalent(lbn) == together
            assert here.boundaries(lbn) == there.boundaries(lbn)
            assert here.track_end(lbn) == there.boundaries(lbn)[1]
            for other in (*together[::30], rng.randrange(there.blocks)):
                conflicts.add(conflict := here.conflicting(lbn, other))
                assert conflict == there.conflicting(lbn, other)
        for ask in (here.equivalent, here.boundaries, here.track_end):
            with pytest.raises(ScsiError, match="code 0x2100") as caught:
                ask(there.blocks)
            assert caught.value.key == 5  # ILLEGAL REQUEST
    assert conflicts == {False, True}


@needs_libiscsi
def test_a_device_that_is_no_sled_has_no_such_commands() -> None:
    disk = ss.device("atlas10k")
    with ss.serve(disk, iscsi=HOST) as server, Initiator.to(server.uris[0]) as initiator:
        calls = {"parallelism": (), "equivalent": (0,), "conflicting": (0, 1), "boundaries": (0,)}
        for name, lbns in calls.items():
            with pytest.raises(ScsiError, match="code 0x2000") as caught:
                getattr(initiator, name)(*lbns)
            assert caught.value.key == 5
        assert initiator.track_end(7) == disk.blocks - 1


@needs_libiscsi
@pytest.mark.parametrize("layout", [None, "organ_pipe"])
def test_a_batch_of_one_class_takes_one_pass(tmp_path: Path, layout: str | None) -> None:
    recording = tmp_path / "r.parquet"
    export = Export(device="cmu2003", layout=layout, record=recording)
    with ss.serve(export, iscsi=HOST) as server, Initiator.to(server.uris[0]) as initiator:
        first, *others = initiator.equivalent(3_000_000)
        ten = [first]
        for lbn in others:
            if len(ten) < 10 and not any(initiator.conflicting(lbn, other) for other in ten):
                ten.append(lbn)
        data = {lbn: bytes([at]) * BLOCK for at, lbn in enumerate(ten)}
        initiator.write_scattered(data)
        initiator.batch_by_group()
        assert initiator.read_batch(ten) == list(data.values())
        for lbn in ten:
            initiator.command(access_10(WRITE_10, lbn, 1), data[lbn])
    recorded = rows(recording)
    assert recorded["lbn"].to_list() == 3 * ten
    written, read, singly = (recorded[first : first + 10] for first in (0, 10, 20))
    for op, batch in (("write", written), ("read", read)):
        assert set(batch["op"]) == {op}
        for column in ("arrival_ns", "start_ns", "stream", "passes"):
            assert batch[column].n_unique() == 1, column
    assert singly["start_ns"].n_unique() == 10
    # Requests that arrived at one instant are linked in the replay.
    load = replayed(recorded, tmp_path)
    again = rows(ss.simulate(load, ss.device("cmu2003"), layout=layout)).drop("stream")
    assert again.equals(recorded.drop("stream", "lateness_ns"))


@needs_libiscsi
def test_the_example_runs() -> None:
    with ss.serve("cmu2003", iscsi=HOST) as server:
        own, other = run_twice(
            EXAMPLES / "iscsi_parallel.py", lambda number: ["--url", *server.uris][: 2 * number]
        )
    ops = ("write", "read")
    assert own[-2:] == [f"recorded: {op}, 10 commands in 1 pass" for op in ops]
    assert own[:-2] == other
    assert other[-1].endswith("as they were written")


# The command line.


@pytest.mark.usefixtures("runtime")
def test_the_command_line(tmp_path: Path) -> None:
    name = "iqn.2026-11.com.example:two"
    words = [f"--iscsi={HOST}", f"--iscsi={HOST}/{name}", f"--iscsi-secrets={secrets(tmp_path)}"]
    server = Command("--export=a=g2", "--export=b=g3", *words)
    try:
        for uri, target in zip(server.uris("iscsi"), (NAME, name), strict=True):
            assert re.fullmatch(rf"iscsi://127\.0\.0\.1:\d+/{re.escape(target)}", uri)
            for lun, device in enumerate(("g2", "g3")):
                url = f"{uri}/{lun}".replace("//", f"//{USER}%{SECRET}@")
                size = ss.device(device).blocks * BLOCK
                assert run("iscsi-readcapacity16", "-s", url) == f"{size}\n"
    finally:
        server.end()


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o601])
def test_secrets_that_others_may_read_are_refused(tmp_path: Path, mode: int) -> None:
    path = secrets(tmp_path, mode)
    with pytest.raises(ss.SledsimError) as caught:
        ss.serve("g2", iscsi=HOST, iscsi_secrets=path)
    assert str(caught.value).startswith(f"{path}: has mode {mode:04o}: only its owner may")
