"""Runs the code blocks of documents and docstrings, and compares their output.

README.md and docs/**/*.md are read from top to bottom, each in a temporary directory with a copy of
examples/ in it. The Python blocks of a document share one namespace.

- `python` blocks that begin with `>>>` print what stands below each statement. Others print
  nothing: output that a page does not show is an error.
- `sh` blocks are commands without their output. They must succeed.
- `console` blocks are commands after `$ `, and below each all that it prints.

In output, `...` stands for anything. `<!-- skip: next -->` above a block leaves it out. Docstrings
of python/sledsim are run where they have `>>>`.
"""

import contextlib
import doctest
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from sybil import Example, Sybil
from sybil.evaluators.doctest import OutputChecker
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.typing import Parser

ROOT = Path(__file__).parents[1]
PROGRAMS = ("python", "sledsim")
LONG_S = 600.0
NOT_RUN = ("cargo", "cd", "git", "make", "pip", "source")

_CHECKER = OutputChecker()
_PYTHON = PythonEvaluator()


def run_silently(example: Example) -> str | None:
    """Run a Python block; return its output that the page does not show."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        _PYTHON(example)
    if not out.getvalue():
        return None
    return f"The block prints what the page does not show; begin it with >>>:\n{out.getvalue()}"


def _run(line: str) -> tuple[int, str]:
    """Run a command line as a user does; return its exit code and all that it prints."""
    # The folders of the interpreter and of the programs installed for it come first.
    folders = [str(Path(sys.executable).parent), sysconfig.get_path("scripts")]
    path = os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)])
    with subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", line],
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, _ = process.communicate(timeout=LONG_S)
        except BaseException:  # its children, too: they would go on
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, out


def _program(line: str) -> str | None:
    return next(iter(shlex.split(line, comments=True)), None)


def run_commands(example: Example) -> str | None:
    """Run an `sh` block line by line; return the error."""
    for line in str(example.parsed).replace("\\\n", " ").splitlines():
        program = _program(line)
        if program is None or program in NOT_RUN:
            continue
        if program not in PROGRAMS:
            return f"Neither a command of {PROGRAMS} nor one of {NOT_RUN}: {line}"
        code, out = _run(line)
        if code != 0:
            return f"{line}\nexit code {code}\n{out}"
    return None


def run_session(example: Example) -> str | None:
    """Run the commands of a `console` block; the answer is the first that prints otherwise."""
    before, *parts = ("\n" + str(example.parsed)).replace("\\\n", " ").split("\n$ ")
    if before.strip() or not parts:
        return "A console block begins with `$ ` and a command; commands alone are an sh block"
    for part in parts:
        line, _, output = part.partition("\n")
        expected = output.strip("\n") + "\n" if output.strip() else ""
        if _program(line) not in PROGRAMS:
            return f"Not a command of {PROGRAMS}: {line}"
        code, out = _run(line)
        if code != 0:
            return f"{line}\nexit code {code}\n{out}"
        if not _CHECKER.check_output(expected, out, doctest.ELLIPSIS):
            shown = doctest.Example(line, expected)
            return f"{line}\n{_CHECKER.output_difference(shown, out, doctest.ELLIPSIS)}"
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


def parsers() -> list[Parser]:
    """Return the parsers for the blocks of a document."""
    python = PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS)
    python.codeblock_parser = CodeBlockParser("python", run_silently)
    return [
        python,
        CodeBlockParser("sh", run_commands),
        CodeBlockParser("console", run_session),
        SkipParser(),
    ]


DOCUMENTS = Sybil(
    parsers=parsers(),
    path=str(ROOT),
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    setup=enter_directory,
    teardown=leave_directory,
)
DOCSTRINGS = Sybil(
    parsers=[DocTestParser(doctest.ELLIPSIS)],
    path=str(ROOT / "python" / "sledsim"),
    patterns=["*.py"],
    setup=enter_directory,
    teardown=leave_directory,
)
