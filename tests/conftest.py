"""Runs the code blocks of README.md and docs/*.md as tests.

Each file is read from top to bottom in a temporary directory with a copy of examples/ in it: its
Python blocks share one namespace, and commands starting with `sledsim` run through the installed
program and must succeed. `<!-- skip: next -->` above a block leaves it out.

All tests hear signals, wherever they run.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parents[1]
SHELLS = ("sh", "bash", "console")
NOT_RUN = ("cargo", "cd", "git", "make", "pip", "source")


def run_commands(example: Example) -> str | None:
    """Run a shell block line by line; the answer is what went wrong."""
    lines = str(example.parsed).replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):  # the other lines are output
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    for line in lines:
        program = next(iter(shlex.split(line, comments=True)), None)
        if program is None or program in NOT_RUN:
            continue
        if program != "sledsim":
            return f"Neither a sledsim command nor one that is known not to be run: {line}"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            env=os.environ | {"PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode != 0:
            return f"{line}\nexit code {done.returncode}\n{done.stdout}"
    return None


def enter_directory(namespace: dict[str, Any]) -> None:
    """Go to a fresh directory until the document ends."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        shutil.copytree(ROOT / "examples", Path(directory) / "examples")
        stack.enter_context(contextlib.chdir(directory))
        namespace["leave_directory"] = stack.pop_all().close


def leave_directory(namespace: dict[str, Any]) -> None:
    """Go back, and remove the directory."""
    namespace["leave_directory"]()


class CodeBlocks:
    """Collects the documents; a plug-in, as a conftest sees only the files below its folder."""

    pytest_collect_file = staticmethod(
        Sybil(
            parsers=[
                PythonCodeBlockParser(),
                *(CodeBlockParser(language=shell, evaluator=run_commands) for shell in SHELLS),
                SkipParser(),
            ],
            path=str(ROOT),
            patterns=["README.md", "docs/*.md"],
            setup=enter_directory,
            teardown=leave_directory,
        ).pytest()
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the collector."""
    config.pluginmanager.register(CodeBlocks(), "code-blocks")


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Signals do what they do at a terminal, even where the tests run in the background."""
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
