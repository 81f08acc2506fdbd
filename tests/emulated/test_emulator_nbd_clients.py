"""The NBD server against common clients: libnbd, qemu and fio."""

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import sledsim as ss

from tests.waiting import eventually

if sys.platform != "linux":
    pytest.skip("the emulator needs Linux", allow_module_level=True)

MIB = 1 << 20
SIZE = 64 * MIB


def memory(blocks: int = SIZE // 512, latency_ms: float = 0.0) -> ss.Device:
    """Make a device that takes no time, or so long for every request, one at a time."""
    return ss.device("memory", blocks=blocks, latency_ms=latency_ms, ms_per_block=0.0)


def run(*command: str | Path, ok: bool = True) -> str:
    """Run a client, which must be installed and succeed; return its output."""
    program = str(command[0])
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ss.emulator.Server]:
    """Serve a backing file at a socket file and at a port."""
    addresses = [f"unix:{tmp_path / 'nbd.sock'}", "127.0.0.1:0"]
    export = ss.emulator.Export(device=memory(), name="sled", file=tmp_path / "sled.img")
    small = ss.emulator.Export(device=memory(blocks=2048), name="small")
    with ss.serve([export, small], nbd=addresses) as server:
        yield server


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """Make a file as large as the device."""
    return noise_and_holes(tmp_path / "content.img")


def noise_and_holes(path: Path) -> Path:
    """Write a file of SIZE: data, a long hole, data that is zero, data."""
    noise = random.Random(1)
    with path.open("wb") as file:
        file.write(noise.randbytes(10 * MIB))
        file.seek(40 * MIB)
        file.write(bytes(3 * MIB) + noise.randbytes(5 * MIB))
        file.truncate(SIZE)
    return path


def troubles(server: ss.emulator.Server) -> dict[str, int]:
    """Count the errors of clients, by kind."""
    kinds = [front["troubles"] for front in server.status()["front_ends"]]
    return {kind: sum(each[kind]["count"] for each in kinds) for kind in kinds[0]}


def test_nbdinfo_tells_what_is_served(server: ss.emulator.Server) -> None:
    for uri in server.uris:
        told = json.loads(run("nbdinfo", "--json", uri))
        assert told["protocol"] == "newstyle-fixed"
        assert told["structured"]
        (export,) = told["exports"]
        assert export["export-size"] == SIZE
        assert export["contexts"] == ["base:allocation"]
        sizes = [export[f"block_size_{name}"] for name in ("minimum", "preferred", "maximum")]
        assert sizes == [512, 4096, 32 * MIB]
        abilities = ["cache", "df", "fast_zero", "flush", "fua", "multi_conn", "trim", "zero"]
        assert all(export[f"can_{what}"] for what in abilities)
        assert not export["is_read_only"]
        listed = json.loads(run("nbdinfo", "--list", "--json", uri))["exports"]
        assert {each["export-name"]: each["export-size"] for each in listed} == {
            "sled": SIZE,
            "small": MIB,
        }
    unix, tcp = server.uris
    assert run("nbdinfo", "--size", unix.replace("///", "///small")) == f"{MIB}\n"
    assert "for export: other" in run("nbdinfo", f"{tcp}/other", ok=False)
    assert sum(troubles(server).values()) == 0


def test_nbdcopy_there_and_back(server: ss.emulator.Server, content: Path, tmp_path: Path) -> None:
    for uri in server.uris:
        # Written anew: all of it, and zeroes where there was data before.
        run("nbdcopy", "--connections=4", "--requests=32", "--flush", content, uri)
        back = tmp_path / "back.img"
        run("nbdcopy", "--connections=3", uri, back)
        assert back.read_bytes() == content.read_bytes()
    assert (tmp_path / "sled.img").read_bytes() == content.read_bytes()
    extents = json.loads(run("nbdinfo", "--map", "--json", server.uris[0]))
    assert sum(extent["length"] for extent in extents) == SIZE
    data = content.read_bytes()
    for extent in extents:
        if extent["type"] & 2:
            there = data[extent["offset"] : extent["offset"] + extent["length"]]
            assert not any(there)
    holes = sum(extent["length"] for extent in extents if extent["type"] == 3)
    assert holes >= 46 * MIB  # blocks beyond the file
    assert sum(troubles(server).values()) == 0


def test_qemu_img_copies_and_compares(
    server: ss.emulator.Server, content: Path, tmp_path: Path
) -> None:
    uri = server.uris[1]
    run("qemu-img", "convert", "-n", "-W", "-m", "8", "-f", "raw", "-O", "raw", content, uri)
    assert "identical" in run("qemu-img", "compare", "-f", "raw", "-F", "raw", content, uri)
    assert (tmp_path / "sled.img").read_bytes() == content.read_bytes()
    copy = tmp_path / "copy.qcow2"
    run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", uri, copy)
    assert "identical" in run("qemu-img", "compare", "-F", "raw", copy, uri)
    with content.open("r+b") as file:
        file.seek(45 * MIB)
        file.write(b"different")
    told = run("qemu-img", "compare", "-f", "raw", "-F", "raw", content, uri, ok=False)
    assert f"offset {45 * MIB}" in told
    assert sum(troubles(server).values()) == 0


def test_qemu_io_writes_discards_and_reads(server: ss.emulator.Server, tmp_path: Path) -> None:
    steps = [
        "write -P 7 0 1M",
        "read -P 7 0 1M",
        "write -f -P 8 4096 4096",
        "discard 64k 64k",
        "read -P 0 64k 64k",
        "write -z 128k 64k",
        "write -z -u 256k 64k",
        "aio_write -P 10 512k 4k",
        "aio_read -P 8 4096 4096",
        "aio_flush",
        "flush",
        "read -P 7 0 4k",
        "read -P 0 128k 64k",
        "read -P 0 256k 64k",
        "read -P 10 512k 4k",
    ]
    words = [word for step in steps for word in ("-c", step)]
    told = run("qemu-io", "-f", "raw", *words, server.uris[0])
    assert "verification failed" not in told.lower()
    assert told.count("wrote 65536/65536") == 2
    image = (tmp_path / "sled.img").read_bytes()
    assert image[:4096] == bytes([7]) * 4096
    assert image[4096:8192] == bytes([8]) * 4096
    assert image[64 << 10 : 192 << 10] == bytes(128 << 10)
    assert image[512 << 10 : 516 << 10] == bytes([10]) * 4096
    assert sum(troubles(server).values()) == 0


def test_fio_verifies_what_it_wrote(server: ss.emulator.Server) -> None:
    _fio_verifies(server)


def test_fio_verifies_what_it_wrote_to_a_server_that_polls(tmp_path: Path) -> None:
    # In memory: replies are sent together.
    addresses = [f"unix:{tmp_path / 'nbd.sock'}", "127.0.0.1:0"]
    exports = [ss.emulator.Export(device=memory(), name=name) for name in ("sled", "other")]
    with ss.serve(exports, nbd=addresses, busy_poll_us=20) as server:
        _fio_verifies(server)


def _fio_verifies(server: ss.emulator.Server) -> None:
    if "nbd" not in run("fio", "--enghelp"):
        pytest.skip("fio has no engine for NBD")
    common = ["--ioengine=nbd", "--verify=crc32c", "--verify_fatal=1", "--output-format=json"]
    common += ["--verify_state_save=0"]  # it would be written to the current folder
    jobs: list[str] = []
    for at, (pattern, size) in enumerate([("randwrite", "4k"), ("write", "64k"), ("rw", "512")]):
        jobs += [
            f"--name=job{at}",
            f"--rw={pattern}",
            f"--bs={size}",
            f"--offset={at * 16}m",
            "--size=4m" if size != "512" else "--size=1m",
            "--iodepth=32",
            f"--uri={server.uris[at % 2]}",
        ]
    told = json.loads(re.sub(r"^[^{]*", "", run("fio", *common, *jobs)))
    assert [job["error"] for job in told["jobs"]] == [0, 0, 0]
    assert told["jobs"][0]["read"]["io_bytes"] == 4 * MIB  # read again and compared
    (sled, _) = server.status()["exports"]
    assert sled["outstanding"] == 0
    assert sum(troubles(server).values()) == 0


@pytest.mark.parametrize("depth", [1, 4])
def test_fio_sees_the_time_of_the_device(tmp_path: Path, depth: int) -> None:
    """The client measures the time of the model, the lateness and the path; so no less."""
    if "nbd" not in run("fio", "--enghelp"):
        pytest.skip("fio has no engine for NBD")
    recording = tmp_path / "r.parquet"
    export = ss.emulator.Export(device=memory(latency_ms=2.0), record=recording)
    with ss.serve(export, nbd=f"unix:{tmp_path / 's.sock'}") as server:
        job = ["--name=a", "--ioengine=nbd", "--rw=randread", "--bs=4k", "--output-format=json"]
        size = ["--number_ios=200", f"--iodepth={depth}", f"--uri={server.uris[0]}"]
        told = json.loads(re.sub(r"^[^{]*", "", run("fio", *job, *size, f"--size={SIZE}")))
    seen = told["jobs"][0]["read"]["clat_ns"]
    rows = pl.read_parquet(recording)
    rows = rows.filter(pl.col("blocks") == 8)
    assert len(rows) == seen["N"] == 200
    model_ns = rows["completion_ns"] - rows["arrival_ns"]
    assert model_ns.min() >= 2_000_000  # type: ignore[operator]
    # One at a time: the others wait for their turn.
    assert (rows["queue_ns"].max() > 0) == (depth > 1)  # type: ignore[operator]
    late = model_ns + rows["lateness_ns"]
    assert seen["mean"] >= late.mean()
    # Percentiles of fio are in steps of 2%.
    for share in (0.5, 0.9, 0.99):
        found = seen["percentile"][f"{100 * share:.6f}"]
        assert found >= 0.98 * late.quantile(share, "lower")  # type: ignore[operator]


def test_a_read_only_export_stays_as_it_is(content: Path, tmp_path: Path) -> None:
    before = content.read_bytes()
    export = ss.emulator.Export(device=memory(), file=content, read_only=True)
    with ss.serve(export, nbd=f"unix:{tmp_path / 's.sock'}") as server:
        (uri,) = server.uris
        assert json.loads(run("nbdinfo", "--json", uri))["exports"][0]["is_read_only"]
        run("nbdcopy", tmp_path / "content.img", uri, ok=False)
        run("nbdcopy", uri, tmp_path / "back.img")
    assert (tmp_path / "back.img").read_bytes() == before
    assert content.read_bytes() == before


def certificates(folder: Path) -> None:
    """Make a certificate authority, and certificates of a server and a client."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]

    def openssl(name: str, out: str, *more: str) -> None:
        files: list[str | Path] = [
            "-keyout",
            folder / f"{out}-key.pem",
            "-out",
            folder / f"{out}-cert.pem",
        ]
        run("openssl", "req", "-x509", *key, "-subj", f"/CN={name}", *files, *more)

    openssl("authority", "ca")
    signed = ["-CA", str(folder / "ca-cert.pem"), "-CAkey", str(folder / "ca-key.pem")]
    signed += ["-addext", "basicConstraints=critical,CA:false"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    openssl("localhost", "server", *signed, *names)
    openssl("client", "client", *signed)


def test_tls_with_certificates_on_both_sides(content: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pki"
    folder.mkdir()
    certificates(folder)
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    shutil.copy(folder / "ca-cert.pem", stranger)
    with ss.serve(memory(), nbd="localhost:0", tls=folder) as server:
        (uri,) = server.uris
        assert uri.startswith("nbds://")
        port = uri.rsplit(":", 1)[1]
        secure = f"{uri}/?tls-certificates={folder}"
        told = json.loads(run("nbdinfo", "--json", secure))
        assert told["TLS"]
        run("nbdcopy", "--connections=2", content, secure)
        run("nbdcopy", secure, tmp_path / "back.img")
        assert (tmp_path / "back.img").read_bytes() == content.read_bytes()
        assert sum(troubles(server).values()) == 0
        run("nbdinfo", f"nbd://localhost:{port}", ok=False)
        assert troubles(server)["tls_failures"] == 0
        run("nbdinfo", f"nbds://localhost:{port}/?tls-certificates={stranger}", ok=False)
        # The client leaves before the server knows that it has failed.
        eventually(lambda: troubles(server)["tls_failures"] == 1)
