"""The build to compare with: a folder, or a revision that is built below `out/bench`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "out" / "bench"


def package_of(base: str) -> Path:
    """Return the folder that holds the package `sledsim` of a build.

    `base` is that folder, or a checkout that was built, or a revision of git.
    """
    for folder in (Path(base), Path(base) / "python"):
        if (folder / "sledsim").is_dir():
            if not any((folder / "sledsim").glob("_core*.so")):
                sys.exit(f"BASE={base}: {folder}/sledsim has no _core*.so: build it first")
            return folder.resolve()
    if Path(base).exists():
        sys.exit(f"BASE={base}: the folder holds no package sledsim")
    return built(base)


def built(revision: str) -> Path:
    """Build a revision, once: the first takes minutes, as all crates are compiled."""
    command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"BASE={revision}: neither a folder nor a revision of git")
    commit = done.stdout.strip()
    tree = FOLDER / commit[:12]
    library = tree / "python" / "sledsim" / "_core.abi3.so"
    if not library.exists():
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as tar:
            subprocess.run(["tar", "-x"], cwd=tree, stdin=tar.stdout, check=True)
        print(f"Building {revision}, {commit[:12]}, in {tree}", flush=True)
        # A target folder of its own: both builds call their library lib_core.so.
        target = FOLDER / "target"
        cargo = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "sledsim-python"]
        subprocess.run(
            cargo, cwd=tree, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(target)}
        )
        names = ("lib_core.so", "lib_core.dylib")
        compiled = [file for name in names if (file := target / "release" / name).exists()]
        shutil.copyfile(compiled[0], library)
    return tree / "python"


def yardstick() -> Path:
    """Build the program that holds the loop of fixed arithmetic, as `make test` does."""
    return program("--workspace", "--all-features")


def program(*flags: str) -> Path:
    """Build crates/sledsim-experiments/benches/scenario.rs; return the path of the program."""
    command = ["cargo", "build", "--release", *flags, "--bench=scenario"]
    command += ["--message-format=json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return executable(done.stdout)


def executable(messages: str) -> Path:
    """Read the path of the program from the messages of cargo."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "scenario" and message.get("executable"):
            return Path(message["executable"])
    sys.exit("cargo built no program named scenario")
