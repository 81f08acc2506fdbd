"""The scripts of ``sledsim completion`` complete command lines in the shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.cli import completion, main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Document, Text

shtab = pytest.importorskip("shtab")

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}

TYPED = {
    "sledsim ru": "run",
    "sledsim run --dev": "run --device",
    "sledsim run --device osdi": "run --device osdi2000",
    "sledsim run --device=g1 --device slo": "run --device=g1 --device slow.toml",
    "sledsim run --scheduler fcf": "run --scheduler fcfs",
    "sledsim run --workload zi": "run --workload zipf",
    "sledsim compare --layout organ": "compare --layout organ_pipe",
    "sledsim run power-st": "run power-study",
    "sledsim run --trace recorded": "run --trace recorded.trace",
    "sledsim devices sh": "devices show",
    "sledsim devices show --se": "devices show --set",
    "sledsim devices show sigm": "devices show sigmetrics2000",
    "sledsim mount --fs ext": "mount --fs ext4",
    "sledsim bench-app postm": "bench-app postmark",
    "sledsim bench-app sqlite --record rec": "bench-app sqlite --record records",
    "sledsim completion fi": "completion fish",
    "sledsim run --set read_fr": "run --set read_fraction=",
    "sledsim sweep --vary device.spring_f": "sweep --vary device.spring_factor=",
    "sledsim compare --devices g1,osdi": "compare --devices g1,osdi2000",
    "sledsim compare --devices g1,g2,slo": "compare --devices g1,g2,slow.toml",
    "sledsim compare --schedulers fcfs,c_l": "compare --schedulers fcfs,c_look",
    "sledsim trace hits --policies lru,slr": "trace hits --policies lru,slru",
    "sledsim bench-app sqlite --devices g2,at": "bench-app sqlite --devices g2,atlas10k",
    "sledsim run --trace sample:pgb": "run --trace sample:pgbench",
    "sledsim trace info sample:sq": "trace info sample:sqlite",
    "sledsim trace info recorded": "trace info recorded.trace",
    "sledsim run --device mi": "run --device mine.toml",
    "sledsim run --trace mi": "run --trace mine.csv",
    "sledsim run --report mi": "run --report mine.html",
    "sledsim devices import mi": "devices import mine.parv",
    "sledsim run --trace no-end": "run --trace no-ending",
    "sledsim sweep mi": "sweep mine.toml",
}
"""Text typed before TAB, and the words that the shell passes to the program."""

WITH_EQUALS = {"sledsim run --device=g1 --layout=organ": "run --device=g1 --layout=organ_pipe"}
"""What the script of shtab for zsh does not complete."""

ANSWER = re.compile(r"<got (?!\$)(.*?)/? *>")  # zsh takes the last slash away


def words_seen(shell: list[str], lines: list[str], folder: Path) -> list[str]:
    """Type lines on a terminal that runs a shell; what its function ``sledsim`` was called with.

    The next line is typed when the function has answered the one before.
    """
    terminal, far_end = pty.openpty()
    name = os.ttyname(far_end)
    # The first file that a session opens is its terminal.
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" < "$0" > "$0" 2>&1', name, *shell],
        cwd=folder,
        env=os.environ | {"HOME": str(folder), "TERM": "xterm", "INPUTRC": os.devnull},
        start_new_session=True,
    )
    heard, answers, until = "", [], time.monotonic() + 60
    try:
        for count, line in enumerate(lines, 1):
            os.write(terminal, f"{line}\n".encode())
            while len(answers := ANSWER.findall(heard)) < count:
                assert time.monotonic() < until, f"{line!r} was not answered: {heard[-2000:]}"
                if select.select([terminal], [], [], 0.1)[0]:
                    heard += os.read(terminal, 4096).decode(errors="replace")
        return answers
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(far_end)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(shell: str, tmp_path: Path, text: Text) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "_sledsim").write_text(text("completion", shell))
    for end in ("toml", "csv", "html", "parv"):
        (tmp_path / f"mine.{end}").touch()
    for name in ("slow.toml", "recorded.trace", "no-ending"):
        (tmp_path / name).touch()
    (tmp_path / "records").mkdir()
    told = 'echo "<got $*>"'
    begin = {
        "bash": f"source ./_sledsim; sledsim() {{ {told}; }}; PS1=",
        "zsh": "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; "
        f"sledsim() {{ {told} }}; PS1=",
        "fish": 'source ./_sledsim; function sledsim; echo "<got $argv>"; end; '
        "function fish_prompt; end",
    }[shell]
    lines = TYPED if shell == "zsh" else TYPED | WITH_EQUALS
    typed = [f"{begin}; sledsim ready", *(f"{line}\t" for line in lines)]
    assert words_seen(SHELLS[shell], typed, tmp_path) == ["ready", *lines.values()]


def test_a_missing_library_and_an_unknown_shell_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what to install."""

    def refused(shell: str) -> str:
        assert main(["completion", shell]) == 2
        return capsys.readouterr().err.removeprefix("sledsim: error: ").strip()

    assert "unknown name 'ksh'; did you mean 'zsh'?" in refused("ksh")
    monkeypatch.setattr(shtab, "SUPPORTED_SHELLS", ["bash", "zsh"])
    assert "does not know fish: pip install --upgrade shtab" in refused("fish")
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert refused("zsh") == "sledsim completion needs shtab: pip install shtab"


@pytest.mark.parametrize("shell", SHELLS)
def test_every_device_and_scheduler_is_offered(shell: str, document: Document, text: Text) -> None:
    script = text("completion", shell)
    assert document("completion", shell) == {"shell": shell, "script": script.removesuffix("\n")}
    assert " ".join(ss.devices()) in script
    assert " ".join(ss.schedulers()) in script


def test_keys_are_those_that_set_takes() -> None:
    names = completion.key_names()
    assert {"rate", "zipf_exponent", "time_scale", "device.spring_factor"} <= {*names}
    assert len(names) == len({*names})
    assert all(re.fullmatch(r"[a-z]\w*(\.\w+)*", name) for name in names)
