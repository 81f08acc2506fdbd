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
    "columnar.toml": '[device]\nbase = "g2"\n[layout]\nname = "columnar"\nregions = 3\n',
    "slow.validate": "R Hit 1 1 1 1\nR Hit 1 1 slow 1\n",
    "far.validate": "R Hit 1 1 1 1\nR Hit 9999999999999 1 1 1\n",
    "bad.trace": "0 0 5 8 1\n1 0 x 8 1\n",
    "bad.parv": "disk d {\n  Block count = 5\n",
    # Records of VMware vSCSI, version 1: serial, bytes, nSG, opcode, version, LBN, us.
    "cut.vscsi": b"".join(
        struct.pack("<IIIHHQQ", n, 4096, 1, 0x28, 0x0100, 8 * n, 10 * n) for n in range(3)
    )[:-5],
    "damaged.parquet": b"PAR1" + struct.pack("<I", 7) + b"PAR1",
}
