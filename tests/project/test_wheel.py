"""The wheel and the sdist that `make wheel` builds: what is in them, and the wheel at work.

The wheel is installed into an empty environment. There is no Rust on the PATH, no other package and
no network.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import sledsim as ss

from tests.waiting import LONG_S, eventually

ROOT = Path(__file__).parents[2]
LIMIT_BYTES = 15_000_000
LICENCES = {"LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"}
COMMANDS = [
    "sledsim run --device g2 --workload random --set requests=2000",
    "sledsim compare --devices g2,atlas10k --workload random --set requests=2000",
    "sledsim devices show g2",
    "sledsim sweep --device g2 --vary rate=100,300 --set requests=500",
]
"""Commands that need the wheel alone."""


class Environment:
    """An environment of Python with the wheel in it, and a folder where its programs run."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        home = folder / "venv"
        venv.create(home, symlinks=True)  # without pip
        self.python = home / "bin" / "python"
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        self.variables = {**kept, "PATH": str(self.python.parent)}
        options = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
        pip = [sys.executable, "-m", "pip", "--python", str(self.python)]
        completed([*pip, "install", *options, str(wheel)])

    def run(self, command: str, **variables: str) -> str:
        """Run a command that must succeed; return what it prints."""
        program, *words = command.split()
        words = [str(self.python.parent / program), *words]
        return completed(words, cwd=self.folder, env=self.variables | variables)


def completed(words: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a program that must succeed; return what it prints."""
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def files(*names: str) -> set[str]:
    """List files of the checkout, and all in folders of it, without what Python leaves there."""
    found = [path for name in names for path in (ROOT / name, *(ROOT / name).rglob("*"))]
    return {
        str(path.relative_to(ROOT))
        for path in found
        if path.is_file() and path.suffix not in {".pyc", ".so"}
    }


@pytest.fixture(scope="module")
def built() -> Path:
    """Return the folder with the wheel and the sdist; make builds them unless they are current."""
    completed(["make", "wheel"])
    return ROOT / "out" / "wheels"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("wheel"), wheel)
    for tool in ("cargo", "rustc", "maturin"):
        assert shutil.which(tool, path=made.variables["PATH"]) is None
    return made


def test_the_wheel_holds_the_package_and_the_licences(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        texts = {name: archive.read(name) for name in names if "/licenses/" in name}
    info = f"sledsim-{ss.__version__}.dist-info"
    package = {name.removeprefix("python/") for name in files("python/sledsim")}
    assert {name for name in names if not name.startswith(info)} == {
        *package,
        "sledsim/_core.abi3.so",
    }
    assert texts == {f"{info}/licenses/{name}": (ROOT / name).read_bytes() for name in LICENCES}


def test_the_wheel_is_small_and_keeps_the_stable_abi(wheel: Path) -> None:
    assert re.fullmatch(rf"sledsim-{ss.__version__}-cp311-abi3-\w+\.whl", wheel.name)
    assert wheel.stat().st_size < LIMIT_BYTES
    completed([sys.executable, "-m", "abi3audit", "--strict", str(wheel)])


def test_the_sdist_holds_what_building_needs(built: Path) -> None:
    """It has every file of what is compiled or packaged.

    .github/workflows/wheels.yml builds from the sdist: that takes minutes.
    """
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    generator = files("crates/sledsim-rpc/generate")  # a workspace of its own
    sources = ["Cargo.lock", "Cargo.toml", "README.md", "pyproject.toml", *LICENCES]
    assert names == files("crates", "python", *sources) - generator | {"PKG-INFO"}


def test_the_first_example_of_the_readme(installed: Environment) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert block
    assert ">>> for name in" in block[1]
    example = installed.folder / "example.txt"
    example.write_text(f"{block[1]}>>> print(ss.__file__)\n{installed.python.parents[1]}/...\n")
    installed.run("python -m doctest -o ELLIPSIS example.txt")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(installed: Environment, command: str) -> None:
    """They print what they print in the checkout."""
    said = installed.run(command)
    words = [sys.executable, "-m", *command.split()]
    assert said
    assert said == completed(words, installed.folder, installed.variables)


def test_an_item_of_a_paper_with_its_extra(installed: Environment) -> None:
    # The packages of the extra are those of the tests, as tests have no network. The sledsim of the
    # checkout is not among them: a .pth file names its folder, and is not read in PYTHONPATH.
    extra = sysconfig.get_path("purelib")
    assert not Path(extra, "sledsim").exists()
    outcomes = str(installed.folder / "outcomes")  # not what the checkout has simulated
    item = "sigmetrics2000/springs"
    said = installed.run(
        f"sledsim papers run --quick {item}", PYTHONPATH=extra, SLEDSIM_OUTCOMES=outcomes
    )
    assert "3 reproduced" in said
    assert list((installed.folder / "out" / "papers").rglob("springs.svg"))


@pytest.mark.skipif(sys.platform != "linux", reason="the emulator needs Linux")
@pytest.mark.skipif(shutil.which("nbdcopy") is None, reason="nbdcopy is not installed")
def test_a_served_device_keeps_what_a_client_writes(installed: Environment) -> None:
    socket = installed.folder / "nbd.sock"
    content, back = installed.folder / "content", installed.folder / "back"
    content.write_bytes(random.Random(1).randbytes(1 << 20))
    words = f"serve --device memory --set device.blocks=2048 --nbd unix:{socket}"
    program = installed.python.parent / "sledsim"
    with subprocess.Popen([program, *words.split()], env=installed.variables) as server:
        try:
            eventually(socket.exists)
            uri = f"nbd+unix:///?socket={socket}"
            completed(["nbdcopy", "--flush", str(content), uri])
            completed(["nbdcopy", uri, str(back)])
        finally:
            server.terminate()
        assert server.wait(LONG_S) == 0
    assert back.read_bytes() == content.read_bytes()
