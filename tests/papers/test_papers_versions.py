"""The version of an item: its dependencies; and the end of workers, in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import sledsim as ss
from sledsim import _core

from tests.own_paper import GOOD, PAPER, SETUP, TABLE
from tests.papers.test_papers_data import PACKAGE

VERSIONED = """
from sledsim.papers import Found, Setup

def simulate(*, quick: bool, setup: Setup) -> Found:
    from sledsim.papers.paper2001 import beside
    return Found({"mean": beside.MEAN})
"""
OWN = ("setup.toml", "versioned.py", "versioned.toml", "devices/one.toml")
OURS = ("papers/judge.py", "papers/outcomes.py", "hardware/sleds.py", "emulator/server.py")
DATA = ("__init__.py", "data/traces/sqlite.parquet", "data/traces/postmark-ext4.trace.gz")
CHANGES = dict.fromkeys([*(f"papers/paper2001/{name}" for name in OWN), *OURS, *DATA], True)
CHANGES["cli/papers.py"] = False
"""Files that are changed, and whether that changes the version."""


def test_the_version_is_of_all_that_an_item_depends_on(tmp_path: Path) -> None:
    """Each file of a copy of the package is changed in turn; tools and core, too."""
    copy = _planted(tmp_path, deep=True)
    before, *others = json.loads(_python(copy, VERSIONS, CHANGES=json.dumps([*CHANGES])))
    after = dict(zip([*CHANGES, "renamed", "core", "Python", "tool"], others, strict=True))
    changed = {file: version != before for file, version in after.items()}
    assert changed == CHANGES | dict.fromkeys(["renamed", "core", "Python", "tool"], True)
    assert len({before, *others}) == 1 + sum(changed.values())
    assert json.loads(_python(copy, VERSIONS, CHANGES="[]"))[0] == before, "in each process"


# Workers: in a copy of the package, as they import it


IGNORED = shutil.ignore_patterns("__pycache__")

SLEEPS = """
    import os, time
    from multiprocessing import current_process
    from pathlib import Path

    def simulate(*, quick, setup):
        sleeper = Path(os.environ["SLEEPER"])
        if os.environ.get("DIES") != current_process().name:
            sleeper.write_text(str(os.getpid()))
            time.sleep(600)
        while not sleeper.exists():
            time.sleep(0.01)
        os._exit(3)
    """
RAISES = """
    import os, time
    from pathlib import Path

    def simulate(*, quick, setup):
        while not Path(os.environ["SLEEPER"]).exists():
            time.sleep(0.01)
        raise ValueError("on purpose")
    """


def _planted(folder: Path, *, deep: bool = False) -> Path:
    """Copy the package, a paper of our own in it; all but the core if it is to be deep."""
    source, copy = Path(ss.__file__).parent, folder / "sledsim"
    copy.mkdir()
    for entry in source.iterdir():
        if entry.name in {"papers", "__pycache__"}:
            continue
        if deep and entry.is_dir():
            shutil.copytree(entry, copy / entry.name, ignore=IGNORED)
        elif deep and entry != Path(_core.__file__):
            shutil.copyfile(entry, copy / entry.name)
        else:
            (copy / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE, copy / "papers", ignore=IGNORED)
    own = copy / "papers" / "paper2001"
    (own / "devices").mkdir(parents=True)
    codes = {"table1": GOOD, "raises": RAISES, "sleeps": SLEEPS, "dies": SLEEPS}
    codes["versioned"] = VERSIONED
    files = {f"{name}.py": textwrap.dedent(code) for name, code in codes.items()}
    files |= {f"{name}.toml": TABLE for name in codes}
    files |= {
        "__init__.py": "",
        "paper.toml": PAPER.replace('"table1"', ", ".join(f'"{name}"' for name in codes)),
        "setup.toml": SETUP,
        "beside.py": "from . import further\nMEAN = further.MEAN\n",
        "further.py": "import sledsim.papers.msst2005.prices\nMEAN = 2.0\n",
        "devices/one.toml": 'base = "g2"\n',
    }
    for name, content in files.items():
        (own / name).write_text(content)
    return copy


def _python(copy: Path, code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=os.environ | {"PYTHONPATH": str(copy.parent)} | environment,
        cwd=copy.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


VERSIONS = """
    import json, os, sys
    from pathlib import Path
    from sledsim import papers
    from sledsim.papers import versions

    (item,) = papers.find(["paper2001/versioned"])
    package = Path(versions.__file__).parents[1]
    own = package / "papers" / "paper2001" / "devices"
    assert package.parent == Path.cwd()

    def version():
        # As a process finds them that has just begun; a line more imports nothing else.
        for function in vars(versions).values():
            if hasattr(function, "cache_clear") and function is not versions.core_digest:
                function.cache_clear()
        assert versions.is_current(item)
        return versions.version_of(item)

    found = [version()]
    for name in json.loads(os.environ["CHANGES"]):
        file = package / name
        content = file.read_bytes()
        assert version() == found[0]
        file.write_bytes(content + b"\\n")
        current = versions.is_current(item)
        found.append(version())
        assert current == (found[-1] == found[0]), name
        file.write_bytes(content)
    (own / "one.toml").rename(own / "two.toml")
    found.append(version())
    (own / "two.toml").rename(own / "one.toml")
    for object, name, other in (
        (versions, "core_digest", lambda: "another"),
        (sys, "version", "another"),
        (versions, "_version_of_tool", lambda name: "another"),
    ):
        usual = getattr(object, name)
        setattr(object, name, other)
        found.append(version())
        setattr(object, name, usual)
    assert version() == found[0]
    print(json.dumps(found))
"""

RUN = """
    import os, time
    from pathlib import Path
    from sledsim import papers

    def stop(done, of):
        if {stop} and Path(os.environ["SLEEPER"]).exists():
            raise KeyboardInterrupt

    started = time.monotonic()
    try:
        papers.run(papers.find({names}), Path("out"), workers=2, progress=stop)
    except BaseException as error:
        print(type(error).__name__, "|", error, "|", time.monotonic() - started < 300)
"""


@pytest.mark.parametrize(
    ("other", "dies", "kind", "says"),
    [
        ("raises", "", "ValueError", "on purpose"),
        ("dies", "SpawnProcess-1", "SledsimError", "died"),
        ("dies", "SpawnProcess-2", "SledsimError", "died"),
        ("table1", "", "KeyboardInterrupt", ""),
    ],
)
def test_the_end_of_a_run_ends_all_workers(
    tmp_path: Path, other: str, dies: str, kind: str, says: str
) -> None:
    copy, sleeper = _planted(tmp_path), tmp_path / "sleeper"
    names = ["paper2001/sleeps", f"paper2001/{other}"]
    code = RUN.replace("{names}", repr(names)).replace("{stop}", repr(other == "table1"))
    found, text, fast = _python(copy, code, SLEEPER=str(sleeper), DIES=dies).split(" | ")
    assert (found, fast) == (kind, "True")
    assert says in text
    with pytest.raises(ProcessLookupError):
        os.kill(int(sleeper.read_text()), 0)
    left = {file.name for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert left <= {"table1.json", "table1.key", "table1.png", "table1.svg"}, left
