"""Refusals of servers, mounts, recordings, crash tests of applications."""

from __future__ import annotations

import sys
from typing import Any

import sledsim as ss

WRITE_BACK = "device.buffer={size_kib=1024, segments=4, write_back_segments=2}"
LINES: list[tuple[str, ...]] = [
    # Servers
    ("serve", "no device: give --device DEVICE, or --export NAME=DEVICE"),
    ("serve --export a=g2 --read-only", "--read-only: needs --device; give keys of an export in"),
    ("serve --device g9", "unknown device 'g9'"),
    ("serve --device g2 --background wash", "unknown background task"),
    ("serve --device g2 --speed 0", "speed = 0: must be from"),
    ("serve --device g2 --speed nan", "speed = nan: must be a finite number"),
    ("serve --device g2 --scheduler lifo", "unknown scheduler 'lifo'"),
    ("serve --device g2 --set rate=5", "must begin with device., scheduler. or layout."),
    ("serve --device g2 --nbd 0.0.0.0:0", "--allow-unauthenticated-remote"),
    ("serve --device g2 --nbd nowhere", "nowhere"),
    ("serve --device g2 --nbd unix:/none/s.sock", "/none/s.sock"),
    ("serve --device g2 --file /none/d.img", "/none/d.img: No such file"),
    ("serve --device g2 --record /none/r.parquet", "/none/r.parquet"),
    ("serve --device g2 --fuse /none", "/none"),
    ("serve --device g2 --max-clients 0", "max_clients = 0: must be"),
    ("serve --device g2 --busy-poll-us 1001", "busy_poll_us = 1001: must be"),
    ("serve --device g2 --busy-poll-us=-1", "busy_poll_us = -1: must be"),
    ("serve --device g2 --export g2=g3", "export 'g2': there is one of that name already"),
    ("serve --export g2", "must begin with NAME=DEVICE"),
    ("serve --export a=g2,colour=red", "'colour=red': must be file=PATH"),
    ("serve --export a=g2,speed=fast", "speed = fast: must be a number"),
    ("serve --device g2 --metrics 0.0.0.0:0", "is beyond this machine"),
    ("serve --device g2 --metrics 192.0.2.1:80", "is beyond this machine"),
    ("serve --device g2 --metrics nine", "must be HOST:PORT"),
    ("serve --device g2 --metrics :99999", "must be HOST:PORT"),
    ("serve --device g2 --tls /none", "/none"),
    *(
        (
            f"serve --device g2 --nbd unix:s --record r.parquet --file d --grace={grace}",
            f"--grace {float(grace)!r}: must be a finite number of at least 0",
        )
        for grace in ("nan", "inf", "-1", "1e300")
    ),
    # The batch window
    ("serve --device cmu2003 --batch-window-ms=-1", "window_ms = -1"),
    ("serve --device cmu2003 --batch-window-ms nan", "window_ms = nan"),
    ("serve --device cmu2003 --batch-window-ms 1e9", "window_ms = 1000000000"),
    ("serve --device atlas10k --batch-window-ms 1", "is of kind 'disk'; only a single sled"),
    ("serve --device mcd --batch-window-ms 1", "is of kind 'mcd'; only a single sled"),
    (
        "serve --device g2 --set 'device.buffer={size_kib=64, segments=2}' --batch-window-ms 1",
        "batch_window_ms = 1: the device 'g2' has a buffer",
    ),
    ("serve --device g2 --background scan --batch-window-ms 1", "has background tasks"),
    ("serve --export a=atlas10k,batch-window-ms=1", "only a single sled"),
    ("serve --export a=g2,batch-window-ms=soon", "batch-window-ms = soon: must be a number"),
    ("serve --export a=g2,batch-window-ms", "'batch-window-ms': must be file=PATH"),
    # Failures of tips
    ("serve --device atlas10k --faults ecc_tips=1", "unknown key 'device.faults.ecc_tips'"),
    ("serve --device mwb --faults ecc_tips=1", "'mwb' is no single sled or disk: how memories"),
    ("serve --device g2 --faults x", "--faults x: 'x': must be KEY=VALUE"),
    ("serve --device g2 --faults ecc_tip=1", "did you mean"),
    ("serve --device g2 --faults ecc_tips=-1", "faults.ecc_tips = -1: must be"),
    ("serve --device g2 --faults seed=1,seed=2", "'seed=2': seed must be given once"),
    ("serve --device g2 --faults /none.toml", "--faults /none.toml: No such file"),
    ("serve --device g2 --faults speed.toml", "must have the keys of [faults] only"),
    ("serve --device g2 --faults ecc_tips=200", "ecc_tips = 200; the words of a served sled"),
    ("serve --device g2 --faults failing_tips=[1]", "must come with tip_failures_per_hour"),
    ("serve --export 'a=g2,faults=(ecc_tips)'", "'ecc_tips': must be KEY=VALUE"),
    ("serve --device g2 --faults seed=2 --layout columnar", "has to have none"),
    (f"serve --device g2 --faults seed=2 --set '{WRITE_BACK}'", "it needs write_back_segments = 0"),
    # iSCSI
    (
        "serve --device g2 --iscsi 127.0.0.1:0/target",
        "target 'target': does not begin with iqn., eui. or naa.",
    ),
    ("serve --device g2 --iscsi 127.0.0.1:0/iqn.2026-11.com.Example", "has a 'E': a-z, 0-9"),
    ("serve --device g2 --iscsi unix:s.sock", "is a socket file; initiators need HOST:PORT"),
    ("serve --device g2 --iscsi nowhere", "nowhere"),
    ("serve --device g2 --iscsi 0.0.0.0:0", "give the secrets of CHAP (--iscsi-secrets)"),
    ("serve --device g2 --iscsi :0 --iscsi-secrets /none/s", "/none/s: No such file"),
    (
        "serve --device g2 --nbd :0 --iscsi-secrets /none/s",
        "no effect without an address for iSCSI",
    ),
    (
        "serve --device g2 --iscsi :0 --tls /none",
        "no effect without an address for NBD or RPC",
    ),
    # Benchmarks
    ("bench-app postmrk", "'postmrk'", "postmark, tpch-q4, pgbench, sqlite"),
    ("bench-app postmark --set file=3", "unknown key 'file'", "files, transactions"),
    ("bench-app postmark --set files=0", "files = 0", "from 1 to 1000000"),
    ("bench-app postmark --set files=2.5", "files = 2.5", "an integer"),
    ("bench-app postmark --set files=many", "--set files=many", "KEY=NUMBER"),
    ("bench-app postmark --set least_bytes=20000", "least_bytes = 20000", "10000"),
    ("bench-app postmark --devices g2,,g3", "--devices g2,,g3", "none of them empty"),
    ("bench-app postmark --devices g2,g2", "g2 is there twice"),
    ("bench-app postmark --devices g9", "g9"),
    ("bench-app postmark --replay --fs xfs", "--fs: --replay runs nothing"),
    ("bench-app postmark --replay none.parquet", "none.toml"),
    ("bench-app postmark --replay sample:postmark-ext4", "postmark-ext4", ".toml"),
    ("bench-app postmark --replay sample:x", "'sample:x'", "sample:postmark"),
    ("bench-app postmark --plot a.gif --replay", "--plot a.gif"),
    # Failures of power under programs
    ("crash-app mysql", "unknown program 'mysql'", "sqlite, postgres, scripts"),
    ("crash-app sqlite --set diary=wal", "unknown key 'diary'", "journal, synchronous"),
    ("crash-app sqlite --set journal=fast", "journal = fast", "delete, truncate, persist, wal"),
    ("crash-app sqlite --set rows=0", "rows = 0", "an integer from 1"),
    ("crash-app sqlite --set rows=1.5", "rows = 1.5", "an integer"),
    ("crash-app sqlite --set page_size=5000", "page_size = 5000", "power of two"),
    ("crash-app sqlite --set rows", "--set rows", "KEY=VALUE"),
    ("crash-app postgres --set fsync=maybe", "fsync = maybe", "on, off"),
    ("crash-app sqlite --preset best", "--preset best", "delete, wal"),
    ("crash-app scripts --preset best", "--preset best", "none"),
    ("crash-app sqlite --load /bin/true", "sqlite: takes no scripts", "--load"),
    ("crash-app scripts --check /bin/true", "--load SCRIPT is missing"),
    ("crash-app scripts --load /bin/true", "--check SCRIPT is missing"),
    ("crash-app scripts --load none.sh --check /bin/true", "none.sh", "exists"),
    ("crash-app scripts --load plain.sh --check /bin/true", "plain.sh", "chmod +x"),
    ("crash-app scripts --load /bin/true --check /bin/true --set rows=1", "unknown key 'rows'"),
    ("crash-app sqlite --file-system btrfs", "file_system = btrfs", "ext4, xfs, raw"),
    ("crash-app sqlite --file-system raw", "file_system = raw", "sqlite needs files"),
    ("crash-app sqlite --data fast", "data = fast", "ordered, journal, writeback"),
    ("crash-app sqlite --file-system xfs --data journal", "data = journal", "only ext4"),
    ("crash-app sqlite --file-system xfs --no-barriers", "barriers = off", "only ext4"),
    ("crash-app sqlite --fs-mib 1", "fs_mib = 1", "at least 8"),
    ("crash-app sqlite --file-system xfs --fs-mib 64", "fs_mib = 64", "at least 300"),
    ("crash-app sqlite --cuts 0", "cuts = 0", "at least 1"),
    ("crash-app sqlite --patience 0", "patience = 0", "above 0"),
    ("crash-app sqlite --replay 1", "--replay 1", "--folder DIR"),
    ("crash-app sqlite --replay 1 --folder used", "used/experiment.json", "an experiment kept"),
    ("crash-app sqlite --plot a.txt", "--plot a.txt", ".png"),
    ("crash-app sqlite --report a.txt", "--report a.txt", ".html"),
]

CALLS: list[tuple[Any, ...]] = []

# Errors of disks: a wrong value of each key, what it has to come with, and what is allowed.
for wrong, others, allowed in (
    ("seed=-1", "", "an integer of at least 0"),
    ("retry_rate=2", "", "at least 0 and at most 1"),
    ("retry_revolutions=[0,2]", "", "an integer from 1 to 1000"),
    ("unrecovered_rate=1.5", "", "at least 0 and at most 1"),
    ("weak_head=9", "weak_head_retry_rate=0.5", "an integer from 0 to 3"),
    ("weak_head_retry_rate=2", "weak_head=1", "at least 0 and at most 1"),
    ("remapped=-1", "", "an integer from 0 to 1000000"),
    ("episodes_per_hour=-1", "episode_ms=1", "at least 0 and at most 1000000"),
    ("episode_ms=0", "episodes_per_hour=1", "at least 0.001 and at most 3600000"),
    ("episode_factor=0", "episodes_per_hour=1,episode_ms=1", "at least 1 and at most"),
):
    key, _, value = wrong.partition("=")
    words = ",".join(filter(None, (wrong, others)))
    said = (f"faults.{key}", f"{0 if value[0] == '[' else value}: must be {allowed}")
    LINES.append((f"serve --device barracuda2t --faults {words}", f"--faults {words}: ", *said))
    given = f"ss.device('barracuda2t', faults=dict({words}))"
    CALLS.append((given, ss.SpecError, f" faults.{key}{'[0]' * (value[0] == '[')}", said[1]))
for given in ("--faults faults.toml", "--export a=barracuda2t,faults=faults.toml"):
    line = f"serve {'--device barracuda2t ' * ('export' not in given)}{given}"
    LINES.append((line, f"{given}: ", "faults.retry_rate = 2: must be at least 0 and at most 1"))

CODE: dict[str, Any] = {"ss": ss, "Export": ss.emulator.Export}
AT_NBD = "nbd='unix:s'"
CALLS += [
    *(
        (f"ss.device('atlas10k', faults=dict({words}))", ss.SpecError, f" faults.{key}", says)
        for words, key, says in (
            ("retry_rate='x'", "retry_rate", "number"),
            ("retry_rate=0.1, retry_revolutions=[4, 2]", "retry_revolutions[1]", "the 4 before"),
            ("retry_revolutions=[1, 2]", "retry_revolutions", "with retry_rate or weak_head"),
            ("weak_head=0", "weak_head", "must come with weak_head_retry_rate"),
            ("weak_head_retry_rate=0.5", "weak_head_retry_rate", "must come with weak_head"),
            ("episodes_per_hour=1", "episodes_per_hour", "must come with episode_ms"),
            ("episode_ms=1", "episode_ms", "must come with episodes_per_hour"),
            ("episodes_per_hour=4000, episode_ms=1000", "episode_ms", "must be below 900"),
            ("spare_tips=3", "spare_tips", "unknown key"),
        )
    ),
    # Servers
    ("ss.serve('g2')", ss.SpecError, "", "no client could connect"),
    ("ss.serve('cmu2003', rpc='0.0.0.0:0')", ss.SpecError, "", "other machines"),
    (f"ss.serve(Export(device='g2', faults=5), {AT_NBD})", ss.SpecError, " faults", "a mapping"),
    (
        f"ss.serve([Export(device=d, record='r.parquet') for d in ('g2', 'g3')], {AT_NBD})",
        ss.SpecError,
        " record",
        "of another export",
    ),
    ("ss.connect('nowhere')", ss.SpecError, "", "must be unix:PATH or tcp:HOST:PORT"),
    ("ss.connect('unix:nowhere')", ss.RemoteError, "", "cannot be reached"),
    # Failures of power
    (
        f"ss.serve(Export(device='g2', record_data='no/folder'), {AT_NBD})",
        ss.OutputError,
        "no/folder",
        "No such file",
    ),
    (
        f"ss.serve(Export(device='raid5.toml', power_cut='manual'), {AT_NBD})",
        ss.SpecError,
        "",
        "write hole",
    ),
]

if sys.platform != "linux":  # which the emulator and programs on it need
    LINES, CALLS = [], []
