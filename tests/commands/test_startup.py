"""Start-up imports only the modules that are needed.

No times are measured here. A module that is imported for nothing is named by the test that fails.
"""

from __future__ import annotations

import ast
import os
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledsim as ss
from sledsim.cli import commands, whole_parser

if TYPE_CHECKING:
    from tests.commands.conftest import Text

LIBRARY_ONLY = {"argparse", "dataclasses", "enum", "inspect", "json", "pathlib", "re", "typing"}
"""Modules that are slower to import than ``import sledsim`` may be."""

HEAVY = {
    *("asyncio", "concurrent", "email", "http", "multiprocessing", "socket", "ssl", "subprocess"),
    *("difflib", "importlib.metadata", "importlib.resources", "logging", "random", "sqlite3"),
    *("tempfile", "tomllib", "unittest", "urllib.request", "xml", "zipfile"),
    *("duckdb", "jinja2", "matplotlib", "numpy", "pandas", "polars", "prometheus_client"),
    *("pyarrow", "shtab", "sledsim.disksim", "sledsim.emulator", "sledsim.papers"),
    *("sledsim.programs", "sledsim.show.pages"),
}
"""Modules that no ordinary command needs."""

RUN = ["run", "--device", "g2", "--workload", "random", "--set", "requests=100"]

COMMAND = "from sledsim.cli import main\nassert main({}) == 0"


def said_by(code: str) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(Path(ss.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def imported(code: str) -> set[str]:
    """Return the modules that Python has imported after some code, beside those of its start."""
    tell = "import sys\nprint(*sys.modules, file=sys.stderr)"
    before, after = ({*said_by(f"{each}\n{tell}").stderr.split()} for each in ("", code))
    return after - before


def banned_modules(modules: set[str], banned: set[str]) -> list[str]:
    """Return the modules that are banned, or in a banned package."""
    return sorted(name for name in modules if any(f"{name}.".startswith(f"{b}.") for b in banned))


@pytest.mark.parametrize(
    ("code", "most", "banned"),
    [
        ("import sledsim", 10, HEAVY | LIBRARY_ONLY | {"sledsim._core", "sledsim.cli"}),
        (COMMAND.format(["--version"]), 30, HEAVY | LIBRARY_ONLY - {"enum"}),
        (COMMAND.format(["--help"]), 60, HEAVY | {"inspect", "json", "sledsim._core"}),
        (COMMAND.format(["devices"]), 90, HEAVY),
        (COMMAND.format(RUN), 107, HEAVY),
    ],
    ids=["import", "version", "help", "devices", "run"],
)
def test_only_what_is_needed_is_imported(code: str, most: int, banned: set[str]) -> None:
    modules = imported(code)
    found = banned_modules(modules, banned)
    assert not found, f"imported for nothing: {', '.join(found)}"
    assert len(modules) <= most, sorted(modules)


def test_a_command_imports_no_other() -> None:
    found = imported(COMMAND.format(RUN))
    names = {name.replace("-", "_") for name in commands.TITLES}
    assert {name for name in names if f"sledsim.cli.{name}" in found} == {"run"}


def test_the_list_of_commands_says_what_their_help_says(text: Text) -> None:
    for name, title in commands.TITLES.items():
        usage, about, *_ = text(name, "--help").split("\n\n")
        assert usage.startswith(f"usage: sledsim {name} ")
        assert about.split("\n")[0] == title
    listed = text("--help")
    assert listed == whole_parser().format_help()
    places = [listed.index(f"\n    {name}") for name in commands.TITLES]
    assert places == sorted(places)


def test_each_module_adds_the_command_of_its_name() -> None:
    for name in commands.TITLES:
        found = [each.prog for each in whole_parser({name}).all_parsers() if each.description]
        assert found[:2] == ["sledsim", f"sledsim {name}"]
        assert all(prog.startswith(f"sledsim {name} ") for prog in found[2:])


# The library's names


def test_public_names_are_listed_once_and_in_one_way() -> None:
    tree = ast.parse(Path(ss.__file__).read_text(encoding="utf-8"))
    checked = next(part for part in tree.body if isinstance(part, ast.If))
    seen_by_mypy = {
        alias.name: part.module
        for part in checked.body
        if isinstance(part, ast.ImportFrom) and str(part.module).startswith("sledsim.")
        for alias in part.names
    }
    homes = {name: f"sledsim.{module}" for name, module in ss._HOME_OF.items()}
    assert homes == seen_by_mypy
    assert sorted([*homes, "__version__"]) == sorted(ss.__all__)


def test_every_public_name_is_that_of_its_module() -> None:
    said_by("""
import sledsim, sys
for name in sledsim.__all__:
    value = getattr(sledsim, name)
    home = sys.modules['sledsim.' + sledsim._HOME_OF.get(name, '_core')]
    assert value is getattr(home, {'__version__': 'VERSION'}.get(name, name)), name
    assert vars(sledsim)[name] is value, name
""")


def test_dir_lists_the_public_names() -> None:
    namespace: dict[str, object] = {}
    exec("from sledsim import *", namespace)
    assert namespace.keys() >= set(ss.__all__)
    rooms = {"caches", "disksim", "emulator", "failures", "papers", "plots", "tables"}
    assert set(dir(ss)) == {*ss.__all__, *rooms}
    page = pydoc.plain(pydoc.render_doc(ss))
    assert all(f"\n    {name}(" in page for name in ("simulate", "device", "read_trace"))
    assert f"VERSION\n    {ss.__version__}" in page
    assert imported("import sledsim; sledsim.hardware.device; import sledsim.papers")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sledsim' has no attribute 'divice'") as found:
        ss.divice  # type: ignore[attr-defined] # noqa: B018
    assert (found.value.name, found.value.obj) == ("divice", ss)  # Python names the nearest
    assert not hasattr(ss, "_nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from sledsim import nothing")


def test_pickles_are_read_by_a_process_that_has_imported_nothing() -> None:
    step = ss.device("g2").access(0, 8).steps[0]
    for value in (step, ss.SledsimError("no")):
        code = f"import pickle; print(repr(pickle.loads({pickle.dumps(value)!r})))"
        assert said_by(code).stdout == f"{value!r}\n"
