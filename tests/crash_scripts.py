"""Scripts of a load and its check for tests of ``crash-app``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOAD = """\
import os, time
place = os.environ.get("SLEDSIM_DEVICE") or os.environ["SLEDSIM_FOLDER"] + "/file"
file = os.open(place, os.O_RDWR | os.O_CREAT)
with open(os.environ["SLEDSIM_ACKNOWLEDGED"], "a", buffering=1) as log:
    for number in range(60):
        os.pwrite(file, b"%08d" % (number + 1) * 512, 4096 * (7 * number % 60))
        {sync}
        log.write(f"{{number}} {{time.monotonic_ns()}}\\n")
"""
CHECK = """\
import os, sys
count = len(open(os.environ["SLEDSIM_ACKNOWLEDGED"]).readlines())
try:
    place = os.environ.get("SLEDSIM_DEVICE") or os.environ["SLEDSIM_FOLDER"] + "/file"
    file = os.open(place, os.O_RDONLY)
    for number in range(count):
        if os.pread(file, 4096, 4096 * (7 * number % 60)) != b"%08d" % (number + 1) * 512:
            print(f"step {number} of {count} is lost")
            sys.exit(11)
except OSError as error:
    print(error)
    sys.exit(11 if count else 10)
"""


def script(path: Path, text: str, interpreter: str = "/bin/sh") -> Path:
    """Write a program."""
    path.write_text(f"#!{interpreter}\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def scripts(folder: Path, sync: str = "os.fsync(file)") -> tuple[str, str, str]:
    """Write a load and its check; return the words that name them."""
    load = script(folder / "load", LOAD.format(sync=sync), sys.executable)
    check = script(folder / "check", CHECK, sys.executable)
    return "scripts", f"--load={load}", f"--check={check}"
