"""The reference is what the code takes: its options, its names and the keys of its tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sledsim as ss
from sledsim import _core
from sledsim.cli import whole_parser
from sledsim.papers import power

from scripts import reference

FileKeys = Callable[[str], set[str]]
WRONG = "qqqqqqqqqqqqqqqq"
"""A key that is like no other, so that the error lists all that are known."""
G2_BEHIND_MEMORY = '[front]\nbase = "memory"\nblocks = 16384\n[back]\nbase = "g2"\n'
G2_CHILD = '[child]\nbase = "g2"\n'
EVERY_DEVICE = {"base", "title", "kind", "controller_cache"}
EVERY_LOAD = {"max_queue", "warm_up_requests", "warm_up_s"}


def page(name: str) -> str:
    return (reference.PAGES / f"{name}.md").read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """Give what stands below a heading, up to the next one of its level or above."""
    text = page(name)
    found = re.search(rf"^(#+) {re.escape(heading)}\n", text, re.MULTILINE)
    assert found, f"no heading {heading} in {name}.md"
    following = re.search(rf"^#{{1,{len(found[1])}}} ", text[found.end() :], re.MULTILINE)
    return text[found.end() :][: following.start() if following else None]


def first_cells(text: str, head: str) -> Iterator[str]:
    """Iterate over the first cells of all tables whose first column has that head."""
    unmarked = re.sub(r"^<!-- .* -->\n", "\n", text, flags=re.MULTILINE)
    for table in re.split(r"\n\n+", unmarked.strip("\n")):
        title, *rows = [
            line.split("|")[1].strip() for line in table.split("\n") if "|" in line
        ] or [""]
        if table.startswith("|") and title == head:
            yield from rows[1:]


def documented(text: str) -> set[str]:
    """Give the keys in tables of keys, without the table that each is in."""
    names = re.findall(r"`\[*(\w[\w.\[\]]*)`", " ".join(first_cells(text, "key")))
    names = [name.rstrip("]") for name in names]
    return {name.rpartition(".")[2] for name in names}


def taken(act: Callable[[], object]) -> set[str]:
    """Give the keys that the refusal of `WRONG` lists."""
    error = reference.refusal(act)
    assert f"{WRONG}'; known are " in error, error
    return {name.rpartition(".")[2] for name in error.partition("known are ")[2].split(", ")}


def device_keys(name: str, **keys: Any) -> set[str]:
    """Give the keys of a device, or of the one table that is given with `WRONG` in it."""
    return taken(lambda: ss.device(name, **keys))


@pytest.fixture
def file_keys(tmp_path: Path) -> FileKeys:
    """Give what tells the keys of a device file; `WRONG` stands in it."""

    def keys(text: str) -> set[str]:
        path = tmp_path / "device.toml"
        path.write_text(text, encoding="utf-8")
        return taken(lambda: ss.device(path))

    return keys


def wrong(**keys: object) -> dict[str, Any]:
    return keys | {WRONG: 1}


# What is generated ------------------------------------------------------------------------------


def test_the_generated_parts_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # the width of the terminal makes no difference
    assert "".join(reference.differences()) == ""


def test_every_generated_part_is_on_one_page() -> None:
    pages = [path.read_text(encoding="utf-8") for path in reference.pages()]
    names = [name for text in pages for name in reference.names_in(text)]
    assert sorted(names) == sorted(reference.parts())


def test_every_command_has_its_section_in_the_order_of_the_help() -> None:
    headings = re.findall(r"^#+ `(sledsim [\w -]+)`$", page("cli"), re.MULTILINE)
    program, *commands = [parser.prog for parser in whole_parser().all_parsers()]
    assert program == "sledsim"
    assert headings == commands


def test_python_lists_every_public_name_once() -> None:
    directive = r"^\.\. (?:auto|py:)\w+:: sledsim\.(\w+)(?:\(\))?$"
    listed = re.findall(directive, page("python"), re.MULTILINE)
    assert sorted(listed) == sorted(ss.__all__)


# Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "head", "names"),
    [
        ("schedulers", "name", ss.schedulers()),
        ("caches", "name", ss.policies()),
        ("layout-keys", "layout", _core.names("layouts")),
        ("workloads", "workload", _core.names("workloads")),
    ],
)
def test_tables_of_names_are_those_of_the_registries(
    name: str, head: str, names: Sequence[str]
) -> None:
    listed = re.findall(r"`(\w+)`", " ".join(first_cells(page(name), head)))
    assert sorted(listed) == sorted(names)


def test_every_kind_of_device_has_its_words() -> None:
    words = "".join(page(name) for name in ("devices", "disks", "composites", "arrays"))
    assert [kind for kind in _core.names("device_kinds") if f"`{kind}`" not in words] == []


def test_every_format_has_its_section() -> None:
    headings = re.findall(r"^## `(\w+)`$", page("trace-formats"), re.MULTILINE)
    assert headings == _core.names("trace_formats")
    listed = re.findall(r"`(\w+)`", " ".join(first_cells(page("trace-formats"), "format")))
    assert listed == reference.written_formats()


def test_every_power_policy_is_in_its_row() -> None:
    row = next(line for line in page("power").splitlines() if line.startswith("| `power.policy` |"))
    assert re.findall(r'`"(\w+)"`', row.split("|")[5]) == reference.power_policies()


# Keys of devices --------------------------------------------------------------------------------


def test_keys_of_every_device() -> None:
    assert documented(section("devices", "Keys of every device")) == EVERY_DEVICE


def test_keys_of_sleds() -> None:
    text = section("devices", 'MEMS devices: `kind = "mems"`')
    top, batching, buffer = re.split(r"\n### .*\n", text)
    assert documented(top) == device_keys("g2", **wrong()) - EVERY_DEVICE
    kinds = wrong(kind="explicit"), wrong(kind="window", window_ms=1)
    batches = [device_keys("g2", batching=keys) for keys in kinds]
    assert documented(batching) == set().union(*batches)
    small = wrong(size_kib=1024, segments=8)
    assert documented(buffer) == device_keys("g2", buffer=small)


@pytest.mark.parametrize(("name", "heading"), [("flash", "Flash"), ("memory", "Memory")])
def test_keys_of_flash_and_memory(name: str, heading: str) -> None:
    text = section("devices", f'{heading}: `kind = "{name}"`')
    assert documented(text) == device_keys(name, **wrong()) - EVERY_DEVICE


def test_keys_of_disks(file_keys: Callable[[str], set[str]]) -> None:
    (drive,) = re.findall(r"```toml\n(.*?)```", page("disks"), re.DOTALL)
    before, after = re.split(r'seek = "datasheet"\n(?:seek_.*\n)+', drive)
    seeks = {
        "table": "seek_table_ms = [[1, 1], [10, 2]]",
        "hpl": "seek_short_ms = [1, 0.1]\nseek_knee_cylinders = 9\nseek_long_ms = [3, 0.001]",
        "three_part": "seek_acceleration_cylinders_per_ms2 = 10\n"
        "seek_top_speed_cylinders_per_ms = 100\nseek_settle_ms = 1",
        "datasheet": "seek_min_ms = 1\nseek_average_ms = 8\nseek_full_ms = 16",
    }
    top = f"{WRONG} = 1\n"
    known = [
        file_keys(f'{top}{before}seek = "{name}"\n{keys}\n{after}') for name, keys in seeks.items()
    ]
    ranges = re.sub(r'"zone_end"|blocks = 1_399_780', '"range_end"', drive, count=1)
    ranges = re.sub(r"^blocks = .*\n", "sparing_range_cylinders = 10\n", ranges, flags=re.MULTILINE)
    known.append(file_keys(top + ranges))
    zones = file_keys(drive.replace("[[zone]]\n", f"[[zone]]\n{top}", 1))
    text = section("disks", "Keys of a disk")
    parts = {part.partition("\n")[0]: part for part in re.split(r"^### ", text, flags=re.MULTILINE)}
    assert documented(parts["Zones: `[[zone]]`"]) == zones
    for heading, keys in (
        ("Overheads", {}),
        ("The buffer of a drive", {"segments": 8, "segment_blocks": 100}),
        ("The queue in a drive", {"entries": 8}),
        ("The write cache of a drive", {"blocks": 8}),
    ):
        (part,) = (name for name in parts if name.startswith(heading))
        table = part.partition("[")[2].partition("]")[0]
        assert documented(parts[part]) == device_keys("atlas10k", **{table: wrong(**keys)}), part
    own = documented(parts[""]) | documented(parts["Seek curves"])
    assert own == set().union(*known) - EVERY_DEVICE


@pytest.mark.parametrize(
    ("heading", "kinds", "rest"),
    [
        ("Stripes", ["stripe", "raid0"], f"children = 2\nunit_blocks = 64\n{G2_CHILD}"),
        (
            "Disks with several actuators",
            ["actuators"],
            'actuators = 2\n[child]\nbase = "atlas10k"\n',
        ),
        ("MEMS caching disk", ["mcd"], f"segment_kib = 8\n{G2_BEHIND_MEMORY}"),
        ("", ["read_cache"], G2_BEHIND_MEMORY),
        ("MEMS write buffer", ["mwb"], '[front]\nbase = "msst2005"\n[back]\nbase = "atlas10k"\n'),
    ],
)
def test_keys_of_composites(
    heading: str, kinds: list[str], rest: str, file_keys: Callable[[str], set[str]]
) -> None:
    full = heading if not heading.startswith("MEMS") else f'{heading}: `kind = "{kinds[0]}"`'
    for kind in kinds:
        known = file_keys(f'title = "x"\nkind = "{kind}"\n{WRONG} = 1\n{rest}')
        listed = documented(section("composites", full)) if full else {"front", "back"}
        assert listed == known - EVERY_DEVICE


def test_keys_of_the_cache_of_a_controller() -> None:
    known = device_keys("g2", controller_cache=wrong(cache_mib=4, line_kib=8))
    known |= device_keys("g2", controller_cache=wrong(controller="disksim", cache_mib=4))
    assert documented(section("composites", "Cache of a controller")) == known


def test_keys_of_arrays(file_keys: Callable[[str], set[str]]) -> None:
    head = f'title = "x"\n{WRONG} = 1\nchildren = 3\nkind = '
    known = file_keys(f'{head}"raid1"\n{G2_CHILD}')
    for kind in ("raid5", "raid6", "raid10"):
        text = f'{head}"{kind}"\nunit_blocks = 64\n{G2_CHILD}'.replace("= 3", "= 4")
        known |= file_keys(text)
    assert documented(section("arrays", "Keys")) == known - EVERY_DEVICE


def test_keys_of_power_and_faults() -> None:
    states: list[dict[str, object]] = [{"starts": "off"}, {"policy": "adaptive", "timeout_ms": 1}]
    known = [device_keys("g2", power=wrong(**keys)) for keys in states]
    known += [device_keys("atlas10k", power=wrong(**power.DISK_POWER, **keys)) for keys in states]
    assert documented(page("power")) == set().union(*known)
    known = [device_keys("g2", faults=wrong(remap="elsewhere", spare_cylinders=5))]
    assert documented(page("faults")) == set().union(*known)


def test_every_device_file_of_the_pages_is_one(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    for name, count in (("devices", 2), ("disks", 1), ("composites", 6)):
        files = re.findall(r"```toml\n(.*?)```", page(name), re.DOTALL)
        assert len(files) == count
        for text in files:
            path.write_text(text, encoding="utf-8")
            assert ss.device(path).blocks > 0


# Keys of loads, layouts, schedulers and policies ------------------------------------------------


def generator_keys(name: str) -> set[str]:
    working_set = {"set_mib": 10} if name in {"files", "scan", "nurand"} else {}
    known = taken(lambda: ss.workload(name, **wrong(**working_set)))
    if name == "files":
        moving: dict[str, object] = {"popularity": "moving", "reuse_set": 2, "new_fraction": 0.5}
        moving |= {"reuse_distances": [1, 2], "reuse_counts": [1, 1], **working_set}
        known |= taken(lambda: ss.workload(name, **wrong(**moving)))
    return known


def test_keys_of_all_generators() -> None:
    listed = documented(section("workloads", "How requests arrive"))
    listed |= documented(section("workloads", "All generators"))
    assert listed == generator_keys("random")


@pytest.mark.parametrize(
    "names", [["zipf"], ["hot_cold"], ["sequential"], ["files", "scan", "nurand"]]
)
def test_keys_of_generators(names: list[str]) -> None:
    *first, last = [f"`{name}`" for name in names]
    heading = f"{', '.join(first)} and {last}" if first else last
    known = set().union(*map(generator_keys, names))
    assert documented(section("workloads", heading)) == known - generator_keys("random")


def test_keys_of_postmark() -> None:
    of_every_load = {"max_queue", "warm_up_requests", "warm_up_s"}
    known = taken(lambda: ss.workload("postmark", **wrong()))
    assert documented(section("workloads", "`postmark`")) == known - of_every_load


def test_keys_of_mixes() -> None:
    known = taken(lambda: ss.workload("mix", **wrong(part={"a": {"kind": "random"}})))
    names = re.findall(
        r"`\[?([\w.]+)\]?`", " ".join(first_cells(section("workload-files", "`mix`"), "key"))
    )
    assert {name.partition(".")[0] for name in names} == known - EVERY_LOAD


def test_keys_of_replays() -> None:
    known = taken(lambda: ss.read_trace("sample:postmark-ext4", **wrong()))
    text = page("replay")
    assert documented(text[: text.index("\n## ")]) - {"file", "kind"} == known - EVERY_LOAD


@pytest.mark.parametrize("name", _core.names("layouts"))
def test_keys_of_layouts(name: str) -> None:
    known = taken(lambda: ss.layout("g2", name, **wrong()))
    if name == "bipartite":
        known |= taken(lambda: ss.layout("g2", name, **wrong(by="columns")))
    listed = set() if name == "simple" else documented(section("layout-keys", name))
    if name == "organ_pipe":  # the key of a table stands for all of them
        listed = listed - {"file"} | {"trace"}
    assert listed == known - {"name"}


def scheduler_keys(name: str) -> set[str]:
    load, g2 = ss.workload("random", requests=1), ss.device("g2")
    return taken(lambda: ss.simulate(load, g2, f"{name}(host=fcfs; {WRONG}=1)"))


def test_keys_of_schedulers() -> None:
    known = set().union(*map(scheduler_keys, ss.schedulers()))
    assert documented(page("schedulers")) == known


def policy_keys(name: str) -> set[str]:
    return taken(lambda: ss.caches.cache(f"{name}({WRONG}=1)", 3)) - {"name"}


def test_keys_of_policies() -> None:
    known = {(name, key) for name in ss.policies() for key in policy_keys(name)}
    parts = re.findall(
        r"<!-- generated: keys caches (\w+) -->\n(.*?)<!-- end -->", page("caches"), re.DOTALL
    )
    assert {(name, key) for name, table in parts for key in documented(table)} == known
