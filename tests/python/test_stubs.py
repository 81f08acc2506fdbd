"""python/sledsim/_core.pyi matches the extension module, by stubtest of mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = r"sledsim\._core\.__all__ # PyO3 writes it; no one imports * from the module"
STUB_ALONE = """[mypy]
mypy_path = python
explicit_package_bases = True
follow_imports = skip
"""
"""What the stub imports is checked by `make lint`; here it would take most of the time."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the module has no emulator")
def test_the_stub_fits_the_module(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    config.write_text(STUB_ALONE, encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "sledsim._core", "--concise"]
    command += [f"--mypy-config-file={config}", "--allowlist=/dev/stdin"]
    done = subprocess.run(
        command, cwd=ROOT, input=ALLOWED, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
