"""Pickles that another process reads and writes."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import copy, json, pickle, sys
values = pickle.load(sys.stdin.buffer)
pickle.dump(values, open(sys.argv[1], "wb"))
print(json.dumps({name: [value.digest, hash(value)] for name, value in values.items()}))
"""


def through_another_process(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return values that a process in another folder, with another hash seed, has pickled again.

    There they must have the same digests and hashes.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE, str(folder / "back")],
        input=pickle.dumps(values),
        env=os.environ | {"PYTHONHASHSEED": "123"},
        cwd=folder,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert told == {name: [value.digest, hash(value)] for name, value in values.items()}
    back: dict[str, Any] = pickle.loads((folder / "back").read_bytes())
    return back
