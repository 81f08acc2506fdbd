"""Write what docs/reference says of names, options and keys, from the code and its data.

The parts stand between ``<!-- generated: NAME -->`` and ``<!-- end -->``; the rest of a page is
written by hand.

    python scripts/reference.py           # rewrite them
    python scripts/reference.py --check   # say what differs, and exit with 1
"""

from __future__ import annotations

import argparse
import difflib
import functools
import inspect
import json
import math
import re
import sys
import textwrap
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sledsim as ss
from sledsim import _core, papers
from sledsim import _keys as _known_keys
from sledsim.cli import whole_parser
from sledsim.papers import nearness, recorded
from sledsim.papers.claims import HEAD
from sledsim.papers.judge import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sledsim.cli.parser import Parser

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
MORE = (
    ROOT / "README.md",
    ROOT / "docs" / "explanation" / "papers.md",
    ROOT / "docs" / "explanation" / "parallel.md",
    ROOT / "docs" / "howto" / "sweeps.md",
)
"""Other pages with generated parts."""
KEYS = ROOT / "crates" / "sledsim-core" / "src" / "catalog" / "keys"
"""What each input key means: a file of groups for each family."""
"""The suffixes of keys that are units, and how messages spell them."""
WIDTH = 100

_MARKED = re.compile(r"(<!-- generated: ([a-z0-9_ ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def parts() -> dict[str, Callable[[], str]]:
    """Return what writes each part, by the name in its markers."""
    return {
        "commands": _commands,
        "shared options": _shared_options,
        "command pages": _command_pages,
        "names": _names,
        "pictures": _pictures,
        "device presets": _device_presets,
        "workload presets": _workload_presets,
        "sample traces": _sample_traces,
        "trace formats": _trace_formats,
        "summary keys": _summary_keys,
        "times keys": lambda: _schema_table("times_ms"),
        "interval keys": lambda: _schema_table("interval_ms"),
        "energy keys": lambda: _schema_table("energy_j"),
        "verdicts": _verdicts,
        "claims": _claims,
        "how near": _near,
        "how near in short": _near,
        "lines of items": _lines,
        "causes of misses": _causes,
        "meanings of verdicts": _meanings,
        "readings": _readings,
        "summaries of papers": _summaries,
    } | {
        f"keys {family} {group}": functools.partial(_keys, family, group)
        for family, groups in _families().items()
        for group, found in groups.items()
        if "page" in found and "keys" in found
    }


def rewritten(page: str) -> str:
    """Return the text of a page with its generated parts as they are to be.

    Raises
    ------
    KeyError
        If a part has a name that is unknown.
    """
    return _MARKED.sub(lambda found: found[1] + parts()[found[2]]() + "\n" + found[3], page)


def names_in(page: str) -> list[str]:
    """Return the names of the generated parts of a page."""
    return [found[2] for found in _MARKED.finditer(page)]


def differences() -> Iterator[str]:
    """Compare all pages with what they are to be; the answers are lines of a diff."""
    for path in pages():
        old = path.read_text(encoding="utf-8")
        name = _name(path)
        new = rewritten(old).splitlines(keepends=True)
        yield from difflib.unified_diff(old.splitlines(keepends=True), new, name, "generated")


def pages() -> list[Path]:
    """Return the pages with generated parts, and those of the reference without."""
    return [*sorted(PAGES.glob("*.md")), *MORE]


def _name(path: Path) -> str:
    """Return the path of a page from the root, also of one that stands elsewhere."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def choices_of(error: str) -> list[str]:
    """Return the names in the message of an error that lists what a key may be."""
    return re.findall(r'"(\w+)"', error.partition("must be ")[2])


def refusal(act: Callable[[], object]) -> str:
    """Return the message with which something is refused.

    Raises
    ------
    AssertionError
        If it is not refused.
    """
    try:
        act()
    except ss.SledsimError as error:
        return str(error)
    raise AssertionError("not refused")


def power_policies() -> list[str]:
    """Return the names of the power policies, which are in no registry: an error lists them."""
    error = refusal(lambda: ss.device("g2", power={"policy": "unknown"}))
    return choices_of(error)


def written_formats() -> list[str]:
    """Return the names of the formats in which traces are written; an error lists them."""
    error = refusal(lambda: ss.convert_trace("sample:postmark-ext4", "none", to="unknown"))
    return error.partition("must be one of ")[2].split(", ")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _pictures() -> str:
    """Write the functions that draw: how each is called, and what it draws."""
    from sledsim import plots

    rows = []
    for name in plots.__all__:
        function = getattr(plots, name)
        own = inspect.signature(function).parameters.values()
        given = [each.replace(annotation=each.empty) for each in own]
        first = inspect.getdoc(function).partition("\n\n")[0]  # type: ignore[union-attr]
        text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", " ".join(first.split()))
        rows.append([f"`{name}({', '.join(map(str, given))})`", text])
    return _table(["function", "what it does"], rows)


# Commands ---------------------------------------------------------------------------------------


def _prose(text: str) -> str:
    """Mark the options in a text as code, and keep a table's cells apart."""
    marked = re.sub(r"(?<![\w`-])(--[a-z][a-z-]*( [\w.]+=[\w.]+)?)", r"`\1`", text)
    return marked.replace("|", "\\|").replace("<", "&lt;")


def _description(text: str) -> str:
    """Turn the text of a help into Markdown: what is indented are commands."""
    written = []
    for paragraph in text.strip("\n").split("\n\n"):
        if paragraph.startswith("  "):
            written.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            prose = _prose(" ".join(paragraph.split()))
            written.append(textwrap.fill(prose, WIDTH, break_on_hyphens=False))
    merged = "\n\n".join(written)
    return merged.replace("\n```\n\n```text\n", "\n\n")  # neighbours are one block


def _shown(action: argparse.Action) -> str:
    """Write an option or an argument as it is given."""
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    value = str(action.metavar or action.dest)
    if not action.option_strings:
        return {"?": f"[{value}]", "*": f"{value} ...", "+": f"{value} ..."}.get(
            str(action.nargs), value
        )
    value = f"[{value}]" if action.nargs == "?" else value
    return f"{', '.join(action.option_strings)} {value}"


def _meaning(action: argparse.Action) -> str:
    """Write the help of an option, and its default where the help does not tell."""
    told = (action.help or "") % {"default": action.default, "prog": ""}
    default = action.default
    if default in (None, False, argparse.SUPPRESS) or isinstance(default, list):
        return _prose(told)
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    if "efault" in told or f"({shown})" in told.replace(", ", ","):
        return _prose(told)
    return f"{_prose(told)} (default: {shown})"


def _options(parser: Parser) -> list[argparse.Action]:
    """Return what a command takes, but for what all take and what is not shown."""
    return [
        action
        for action in parser.actions()
        if action.help != argparse.SUPPRESS
        and not isinstance(action.choices, dict)
        and not {"--help", "--json"} & set(action.option_strings)
    ]


def _same(action: argparse.Action) -> tuple[str, str]:
    return _shown(action), _meaning(action)


def _shared() -> dict[tuple[str, str], list[str]]:
    """Return the options that several commands have, with the commands."""
    found: dict[tuple[str, str], list[str]] = {}
    for parser in whole_parser().all_parsers():
        for action in _options(parser):
            if action.option_strings:
                found.setdefault(_same(action), []).append(parser.prog.removeprefix("sledsim "))
    return {option: having for option, having in found.items() if len(having) > 1}


def _subcommands(parser: Parser) -> dict[str, Parser]:
    for action in parser.actions():
        if isinstance(action.choices, dict):
            return dict(action.choices)
    return {}


def _anchor(prog: str) -> str:
    return "#" + prog.replace(" ", "-")


def _commands() -> str:
    rows = []
    for name, parser in _subcommands(whole_parser()).items():
        title = (parser.description or "").partition("\n")[0]
        below = [f"[`{each}`]({_anchor(sub.prog)})" for each, sub in _subcommands(parser).items()]
        title += f" Commands below it: {', '.join(below)}." if below else ""
        rows.append([f"[`{name}`]({_anchor(parser.prog)})", title])
    epilog = _description(whole_parser().epilog or "")
    return f"{_table(['command', 'what it does'], rows)}\n\n{epilog}"


def _shared_options() -> str:
    rows = [
        [f"`{shown}`", meaning, ", ".join(having)] for (shown, meaning), having in _shared().items()
    ]
    return _table(["option", "meaning", "commands"], rows)


def _usage(parser: Parser) -> str:
    """Write the usage of a command, as wide as it is: argparse would ask the terminal."""
    actions, words = _options(parser), [parser.prog]
    words += [
        _shown(action).replace("-o, --output", "-o")
        for action in actions
        if action.option_strings and action.required
    ]
    words += ["COMMAND"] if _subcommands(parser) else []
    words += ["[options]"]
    words += [_shown(action) for action in actions if not action.option_strings]
    return " ".join(words)


def _command_page(parser: Parser, level: str, shared: dict[tuple[str, str], list[str]]) -> str:
    about = _description(parser.description or "")
    lines = [f"{level} `{parser.prog}`", "", "```text", _usage(parser), "```", "", about]
    rows, others = [], []
    for action in _options(parser):
        if _same(action) in shared:
            others.append(f"`{action.option_strings[-1]}`")
        else:
            rows.append([f"`{_shown(action)}`", _meaning(action)])
    if rows:
        lines += ["", _table(["argument or option", "meaning"], rows)]
    if others:
        link = "[Shared options](#options-that-several-commands-share)"
        wrapped = textwrap.fill(f"{link}: {', '.join(others)}.", WIDTH, break_on_hyphens=False)
        lines += ["", wrapped]
    pages = ["\n".join(lines)]
    pages += [_command_page(sub, "###", shared) for sub in _subcommands(parser).values()]
    return "\n\n".join(pages)


def _command_pages() -> str:
    shared = _shared()
    commands = _subcommands(whole_parser()).values()
    return "\n\n".join(_command_page(parser, "##", shared) for parser in commands)


# Names ------------------------------------------------------------------------------------------


def _names() -> str:
    rows = [
        ("`--device`", "presets", ss.devices(), "devices.md"),
        ("key `kind` of a device", "kinds", _core.names("device_kinds"), "devices.md"),
        ("`--scheduler`", "schedulers", ss.schedulers(), "schedulers.md"),
        ("`--layout`", "layouts", _core.names("layouts"), "layout-keys.md"),
        ("`--workload`", "generators", _core.names("workloads"), "workloads.md"),
        ("", "workloads that are files", ss.loads.workload_presets(), "workload-files.md"),
        ("`--trace sample:NAME`", "sample traces", sorted(ss.sample_traces()), "traces.md"),
        ("`--format`", "formats read", _core.names("trace_formats"), "trace-formats.md"),
        ("`--to`", "formats written", written_formats(), "trace-formats.md"),
        ("`--policies`, key `policy`", "policies of caches", ss.policies(), "caches.md"),
        ("key `power.policy`", "power policies", power_policies(), "power.md"),
        (
            "`--background`",
            "background tasks",
            _core.names("background_tasks"),
            "../explanation/parallel.md",
        ),
        ("argument of `sledsim run`", "scenarios", _core.names("scenarios"), ""),
    ]
    return _table(
        ["where", "what", "names"],
        [
            [where, f"[{what}]({page})" if page else what, _code(list(names))]
            for where, what, names, page in rows
        ],
    )


def _gigabytes(blocks: int) -> str:
    return f"{blocks * 512 / 1e9:,.1f}"


def _device_presets() -> str:
    rows = []
    for name in ss.devices():
        device = ss.device(name)
        facts = device.parameters
        rows.append([f"`{name}`", f"`{facts['kind']}`", _gigabytes(device.blocks), facts["title"]])
    return _table(["preset", "kind", "GB", "what it is"], rows)


def _workload_presets() -> str:
    rows = []
    for name in ss.loads.workload_presets():
        parameters = ss.loads.workload_spec(name)["parameters"]
        kind, title = parameters["kind"]["value"], parameters["title"]["value"]
        rows.append([f"`{name}`", f"`{kind}`", title])
    return _table(["workload", "kind", "what it is"], rows)


def _sample_traces() -> str:
    rows = []
    for name, sample in sorted(ss.sample_traces().items()):
        figures = sample["figures"]
        counts = [f"{figures['requests']:,}", f"{figures['duration_s']:.1f}"]
        rows.append([f"`sample:{name}`", *counts, f"{sample['title']}. {sample['description']}"])
    return _table(["trace", "requests", "seconds", "what it is"], rows)


def _trace_formats() -> str:
    written = written_formats()
    links = [f"[`{name}`](#{name})" for name in _core.names("trace_formats")]
    read = textwrap.fill(f"Read: {', '.join(links)}.", WIDTH, break_on_hyphens=False)
    return f"{read}\n\nWritten: {_code(written)}; see [below](#writing-traces)."


# Keys -------------------------------------------------------------------------------------------


@functools.cache
def _families() -> dict[str, dict[str, Any]]:
    """Return the groups of keys, by the family of the file that they stand in."""
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(KEYS.glob("*.toml"))
    }


def _as_toml(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.15f}".rstrip("0").rstrip(".")
    return str(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _default(key: dict[str, Any]) -> str:
    if "default" in key:
        return f"`{_as_toml(key['default'])}`"
    return str(key.get("default_is", "" if key.get("optional") else "required"))


def _keys(family: str, group: str) -> str:
    """Return the table of a group of keys; types and ranges are those of the readers."""
    read = {
        key["key"]: key
        for thing in _known_keys.things()
        if thing["family"] == family or family == "workloads"
        for key in thing["keys"]
        if key["group"] == group
    }
    rows = []
    for name, key in _families()[family][group]["keys"].items():
        shown = f"[{name}]" if key.get("table") else name
        shown = f"[{shown}]" if key.get("list") else shown
        meaning = key["is"] + (f" ({key['source']})" if "source" in key else "")
        reader = read.get(name, {"unit": "", "takes": ""})
        value = "" if key.get("table") else reader["takes"].replace('"', "`")
        rows.append(
            [f"`{shown}`", reader["unit"] or "", _default(key), value, meaning.replace("|", "\\|")]
        )
    head = ["key", "unit", "default", "value", "meaning"]
    kept = [
        column for column in range(5) if column in (0, 2, 4) or any(row[column] for row in rows)
    ]
    return _table([head[at] for at in kept], [[row[at] for at in kept] for row in rows])


# The summary ------------------------------------------------------------------------------------


def _schema() -> dict[str, Any]:
    text = (ROOT / "docs" / "summary.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _schema_rows(properties: dict[str, Any], within: str = "") -> Iterator[list[str]]:
    for key, rule in properties.items():
        name = f"{within}{key}"
        meaning = _prose(rule.get("description", ""))
        if rule.get("$ref") == "#/$defs/interval_ms":
            meaning = "Confidence [interval](#how-certain-is-a-mean) of the mean."
        yield [f"`{name}`", meaning]
        if "properties" in rule:
            yield from _schema_rows(rule["properties"], f"{name}.")
        elif "properties" in rule.get("items", {}) and key != "background":  # on its own page
            yield from _schema_rows(rule["items"]["properties"], f"{name}[].")


def _schema_table(name: str) -> str:
    return _table(["key", "meaning"], list(_schema_rows(_schema()["$defs"][name]["properties"])))


def _summary_keys() -> str:
    return _table(["key", "meaning"], list(_schema_rows(_schema()["properties"])))


# The papers --------------------------------------------------------------------------------------


def _recorded() -> dict[str, Counter[str]]:
    """Return the numbers of values by verdict, of a full run, by paper."""
    found: dict[str, Counter[str]] = {}
    for item, known in recorded.items().items():
        found.setdefault(item.partition("/")[0], Counter()).update(known["verdicts"].values())
    return found


def _claims() -> str:
    """Return the headline claims of the papers, as they were checked last."""
    rows = [
        [*map(_prose, (claim, *cells)), f"`{command}`"]
        for claim, (*cells, command) in recorded.claims().items()
    ]
    return _table([*HEAD, "command"], rows)


def _near() -> str:
    """Return how near a full run comes to each paper."""
    known = recorded.items()
    rows = [
        [
            paper.published,
            *nearness.together_cells(known[item.id]["nearness"] for item in paper.items),
        ]
        for paper in papers.papers()
    ]
    return _table(["paper", *nearness.HEAD], rows)


def _lines() -> str:
    """Return the line of each item of which a value could fail."""
    rows = [
        [f"`{item}`", known["line"], *nearness.cells(known["nearness"])]
        for item, known in recorded.items().items()
        if known["line"]
    ]
    return _table(["item", "", *nearness.HEAD], rows)


def _causes() -> str:
    """Return the causes of the misses of a full run."""
    known = recorded.items()
    missed = Counter(
        (paper.name, value.cause)
        for paper in papers.papers()
        for item in paper.items
        for value in item.values
        if known[item.id]["verdicts"][value.key] == "missed"
    )
    rows = [
        [f"`{paper.name}`", f"`{cause}`" if cause else "no common one", str(count), _prose(what)]
        for paper in papers.papers()
        for cause, what in (*paper.causes.items(), ("", ""))
        if (count := missed[paper.name, cause])
    ]
    return _table(["paper", "cause", "misses", "what it is"], rows)


def _verdicts() -> str:
    own = _recorded()
    rows = [
        [f"`{name}`", *(str(tally[verdict]) for verdict in MEANINGS), str(tally.total())]
        for name, tally in (*own.items(), ("all", sum(own.values(), Counter())))
    ]
    head = ["values of", *(verdict.replace("_", " ") for verdict in MEANINGS), "all"]
    return _table(head, rows)


def _meanings() -> str:
    rows = [[f"`{verdict}`", meaning] for verdict, meaning in MEANINGS.items()]
    return _table(["verdict", "meaning"], rows)


def _readings() -> str:
    rows = [
        [f"`{paper.name}`", f"`{reading.name}`", _prose(reading.what)]
        for paper in papers.papers()
        for reading in paper.readings
    ]
    return _table(["paper", "reading", "what it says"], rows)


def _summaries() -> str:
    return "\n\n".join(
        textwrap.fill(f"**{paper.published}.** {paper.summary}", WIDTH, break_on_hyphens=False)
        for paper in papers.papers()
    )


def main() -> int:
    """Rewrite or check the pages; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; say what differs")
    if parser.parse_args().check:
        found = list(differences())
        print("".join(found), end="")
        if found:
            print("reference: run python scripts/reference.py", file=sys.stderr)
        return 1 if found else 0
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = rewritten(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"Written: {_name(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
