"""Damaged Parquet files give a result, or an error that names the file; never a panic."""

from __future__ import annotations

import base64
import json
import random
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss

from tests.mutations import changed_bytes
from tests.waiting import LONG_S

SAMPLES = sorted((Path(ss.__file__).parent / "data" / "traces").glob("*.parquet"))
CHANGES = 2000
MEMORY_MIB = 768
"""Of address space beyond what the program has when it begins; a good sample takes 60."""


def footer_of(good: bytes) -> int:
    """Return where the footer begins."""
    return len(good) - 8 - int(struct.unpack("<I", good[-8:-4])[0])


def schema_of(good: bytes) -> tuple[int, int]:
    """Return where the embedded Arrow schema lies: text in base64."""
    found = re.search(rb"ARROW:schema\x18..([A-Za-z0-9+/]+=*)", good[footer_of(good) :], re.DOTALL)
    assert found is not None
    return footer_of(good) + found.start(1), footer_of(good) + found.end(1)


def damaged(good: bytes, rng: random.Random) -> bytes:
    """Return a sample with changes anywhere, in its footer, or in its Arrow schema."""
    kind = rng.randrange(3)
    if kind == 2:
        begin, end = schema_of(good)
        schema = changed_bytes(base64.b64decode(good[begin:end]), rng)
        text = base64.b64encode(schema)[: end - begin].ljust(end - begin, b"=")
        return good[:begin] + text + good[end:]
    return changed_bytes(good, rng, begin=0 if kind == 0 else footer_of(good))


def all_answers(folder: str) -> dict[str, Any]:
    """Read damaged samples in three ways; count the results, and list the failures."""
    rng = random.Random(23)
    path, out = Path(folder, "damaged.parquet"), Path(folder, "out.csv")
    goods = [path.read_bytes() for path in SAMPLES]
    ways = (
        lambda: ss.trace_info(path, quick=True),
        lambda: ss.convert_trace(path, out, requests=200),
        lambda: ss.simulate(ss.read_trace(path, requests=100), "g2", rows=False),
    )
    good, refused, wrong = 0, 0, []
    for index in range(CHANGES):
        path.write_bytes(damaged(goods[index % len(goods)], rng))
        try:
            ways[index % len(ways)]()
            good += 1
        except ss.SledsimError as error:
            refused += 1
            if str(path) not in str(error) or "error in sledsim" in str(error):
                wrong.append(f"{index}: {error}")
        except BaseException as error:  # noqa: BLE001 (a panic is no Exception)
            wrong.append(f"{index}: {type(error).__name__}: {error}")
    return {"good": good, "refused": refused, "wrong": wrong}


def limited(folder: str) -> None:
    """Write the answers, with as much memory as it may take."""
    import resource  # not on every system

    status = Path("/proc/self/statm").read_text(encoding="ascii").split()
    limit = int(status[0]) * resource.getpagesize() + (MEMORY_MIB << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.stdout.write(json.dumps(all_answers(folder)))


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_damaged_samples_are_read_or_refused(tmp_path: Path) -> None:
    code = f"from {__name__} import limited; limited({str(tmp_path)!r})"
    command = [sys.executable, "-c", code]
    how: dict[str, Any] = {"timeout": LONG_S, "cwd": Path(__file__).parents[2], "text": True}
    done = subprocess.run(command, capture_output=True, check=False, **how)
    assert (done.returncode, done.stderr) == (0, "")
    answers = json.loads(done.stdout)
    assert answers["wrong"] == []
    assert answers["good"] + answers["refused"] == CHANGES
    assert min(answers["good"], answers["refused"]) > CHANGES // 10


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_an_arrow_schema_that_is_none_is_refused(sample: Path, tmp_path: Path) -> None:
    """A width of integers that Arrow does not have, in the schema that the file embeds."""
    good = sample.read_bytes()
    begin, end = schema_of(good)
    schema = bytearray(base64.b64decode(good[begin:end]))
    # Flatbuffers: a table Int begins with the distance to its layout, then signed and the width.
    widths = [at for at in range(0, len(schema) - 4, 4) if schema[at : at + 4] == b"\x40\0\0\0"]
    seen = []
    for at in widths:
        other = bytes(schema[:at]) + b"\x26\x80\0\0" + bytes(schema[at + 4 :])
        path = tmp_path / "d.parquet"
        path.write_bytes(good[:begin] + base64.b64encode(other) + good[end:])
        try:
            ss.trace_info(path, quick=True)
        except ss.SledsimError as error:
            seen.append(str(error))
    assert any(f"{tmp_path}/d.parquet: not a Parquet file" in said for said in seen)
    assert any("bit width of 32806" in said for said in seen)
