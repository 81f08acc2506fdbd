"""The NBD server against common clients: libnbd, qemu and fio."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.emulator import Export

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
from tests.served import Serve, troubles
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server(serve: Serve, tmp_path: Path) -> Iterator[ss.emulator.Server]:
    """Serve a backing file at a socket file and at a port."""
    addresses = [f"unix:{serve.nbd}", "127.0.0.1:0"]
    export = Export(device=memory(), name="sled", file=tmp_path / "sled.img")
    small = Export(device=memory(blocks=2048), name="small")
    server = serve.at([export, small], nbd=addresses)
    yield server
    assert sum(troubles(server).values()) == 0


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """Make a file as large as the device."""
    return noise_and_holes(tmp_path / "content.img")


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
        sizes_of = {each["export-name"]: each["export-size"] for each in listed}
        assert sizes_of == {"sled": SIZE, "small": MIB}
    unix, tcp = server.uris
    assert run("nbdinfo", "--size", unix.replace("///", "///small")) == f"{MIB}\n"
    assert "for export: other" in run("nbdinfo", f"{tcp}/other", ok=False)


def test_nbdcopy_there_and_back(server: ss.emulator.Server, content: Path, tmp_path: Path) -> None:
    for uri in server.uris:
        # Written anew: all of it, and zeroes where there was data before.
        run("nbdcopy", "--connections=4", "--requests=32", "--flush", content, uri)
        back = tmp_path / "back.img"
        run("nbdcopy", "--connections=3", uri, back)
        assert back.read_bytes() == content.read_bytes()
    assert (tmp_path / "sled.img").read_bytes() == content.read_bytes()
    extents = json.loads(run("nbdinfo", "--map", "--json", server.uris[0]))
    maps_holes(
        [(each["offset"], each["length"], each["type"] & 2, each["type"] == 3) for each in extents],
        content,
    )


def test_qemu_img_copies_and_compares(
    server: ss.emulator.Server, content: Path, tmp_path: Path
) -> None:
    copied_and_compared(content, server.uris[1], tmp_path / "sled.img")


def test_qemu_io_writes_discards_and_reads(server: ss.emulator.Server, tmp_path: Path) -> None:
    written_and_discarded(server.uris[0], tmp_path / "sled.img")


@pytest.mark.parametrize("polls", [False, True])
def test_fio_verifies_what_it_wrote(serve: Serve, tmp_path: Path, polls: bool) -> None:
    """In memory and with polls, replies are sent together."""
    if "nbd" not in run("fio", "--enghelp"):
        pytest.skip("fio has no engine for NBD")
    addresses = [f"unix:{serve.nbd}", "127.0.0.1:0"]
    file = None if polls else tmp_path / "sled.img"
    exports = [Export(device=memory(), name="sled", file=file), Export(device="g2")]
    server = serve.at(exports, nbd=addresses, busy_poll_us=20 * polls)
    words = ["--verify=crc32c", "--verify_fatal=1"]
    words += ["--verify_state_save=0"]  # it would be written to the current folder
    kinds = [("randwrite", "4k", "4m"), ("write", "64k", "4m"), ("rw", "512", "1m")]
    for at, (pattern, block, size) in enumerate(kinds):
        words += [f"--name=job{at}", f"--rw={pattern}", f"--bs={block}", f"--offset={at * 16}m"]
        words += [f"--size={size}", "--iodepth=32", f"--uri={server.uris[at % 2]}"]
    told = run("fio", "--ioengine=nbd", "--output-format=json", *words)
    jobs = json.loads(re.sub(r"^[^{]*", "", told))["jobs"]
    assert [job["error"] for job in jobs] == [0, 0, 0]
    assert jobs[0]["read"]["io_bytes"] == 4 * MIB  # read again and compared
    assert server.status()["exports"][0]["outstanding"] == 0
    assert sum(troubles(server).values()) == 0


def test_a_read_only_export_stays_as_it_is(serve: Serve, content: Path, tmp_path: Path) -> None:
    before = content.read_bytes()
    server = serve.at(memory(), file=content, read_only=True, nbd=f"unix:{serve.nbd}")
    (uri,) = server.uris
    assert json.loads(run("nbdinfo", "--json", uri))["exports"][0]["is_read_only"]
    run("nbdcopy", content, uri, ok=False)
    run("nbdcopy", uri, tmp_path / "back.img")
    server.stop()
    assert (tmp_path / "back.img").read_bytes() == content.read_bytes() == before


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
    folder, stranger = tmp_path / "pki", tmp_path / "stranger"
    folder.mkdir()
    stranger.mkdir()
    certificates(folder)
    shutil.copy(folder / "ca-cert.pem", stranger)
    with ss.serve(memory(), nbd="localhost:0", tls=folder) as server:
        (uri,) = server.uris
        assert uri.startswith("nbds://")
        secure = f"{uri}/?tls-certificates={folder}"
        assert json.loads(run("nbdinfo", "--json", secure))["TLS"]
        run("nbdcopy", "--connections=2", content, secure)
        run("nbdcopy", secure, tmp_path / "back.img")
        assert (tmp_path / "back.img").read_bytes() == content.read_bytes()
        assert sum(troubles(server).values()) == 0
        run("nbdinfo", uri.replace("nbds", "nbd"), ok=False)
        assert troubles(server)["tls_failures"] == 0
        run("nbdinfo", f"{uri}/?tls-certificates={stranger}", ok=False)
        # The client leaves before the server knows that it has failed.
        eventually(lambda: troubles(server)["tls_failures"] == 1)
