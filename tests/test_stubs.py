"""python/sledsim/_core.pyi matches the extension module, by stubtest of mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = r"sledsim\._core\.__all__ # PyO3 writes it; no one imports * from the module"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the module has no emulator")
def test_the_stub_fits_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "sledsim._core", "--concise"]
    command += ["--mypy-config-file=pyproject.toml", "--allowlist=/dev/stdin"]
    done = subprocess.run(
        command, cwd=ROOT, input=ALLOWED, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
