"""Files that the rows of the tables name; each lies in the folder of every row."""

from __future__ import annotations

import struct

FILES: dict[str, str | bytes] = {
    "value.toml": 'base = "g2"\n\nspring_factor = 2\n',
    "unknown.toml": 'base = "g2"\nspring_facter = 0.5\n',
    "table.toml": 'base = "g2"\n[bufer]\nsize_kib = 8\n',
    "syntax.toml": 'base = "g2"\nspring_factor = = 1\n',
    "missing.toml": 'kind = "mems"\n',
    "scenario.toml": '[device]\nbase = "g2"\n[workload]\nkind = "random"\nrate = -1\n',
    "nodevice.toml": "[device]\n",
    "study.toml": '[device]\nbase = "unknown.toml"\n',
    "a.trace": "0.5 3 100 8 1\n1.25 3 108 8 0\n4 7 9990 10 0\n",
    "b.trace": "0.5 0 100 8 1\n0.7 0 100 8 1\n",
    "late.trace": "5 0 5 8 1\n3.5 0 5 8 1\n",
    "columnar.toml": '[device]\nbase = "g2"\n[layout]\nname = "columnar"\nregions = 3\n',
    "slow.validate": "R Hit 1 1 1 1\nR Hit 1 1 slow 1\n",
    "far.validate": "R Hit 1 1 1 1\nR Hit 9999999999999 1 1 1\n",
    "bad.trace": "0 0 5 8 1\n1 0 x 8 1\n",
    "past.trace": "0.5 0 100 8 1\n1.25 0 200 8 0\n1.249999 0 300 8 1\n",
    "x.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10",
    "cut.gz": b"\x1f\x8b\x08\x00",
    "bad.parv": "disk d {\n  Block count = 5\n",
    # Records of VMware vSCSI, version 1: serial, bytes, nSG, opcode, version, LBN, us.
    "cut.vscsi": b"".join(
        struct.pack("<IIIHHQQ", n, 4096, 1, 0x28, 0x0100, 8 * n, 10 * n) for n in range(3)
    )[:-5],
    "plain.sh": "true\n",
    "used/file": "",
    "speed.toml": "speed = 1\n[faults]\necc_tips = 1\n",
    "faults.toml": "[faults]\nretry_rate = 2\n",
    "raid5.toml": 'title = "5"\nkind = "raid5"\nchildren = 3\nunit_blocks = 8\nchild.base = "g2"\n',
    "damaged.parquet": b"PAR1" + struct.pack("<I", 7) + b"PAR1",
}
