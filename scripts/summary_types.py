"""Write docs/summary.schema.json and the types of ``Run.summary``, in results/summaries.py.

The schema is that of the built package. Every object of it becomes a TypedDict: its ``title`` is
the name.

    python scripts/summary_types.py           # write the files
    python scripts/summary_types.py --check   # say whether they differ, and exit with 1 if so
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from sledsim import _core

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "docs" / "summary.schema.json"
TYPES = ROOT / "python" / "sledsim" / "results" / "summaries.py"
WIDTH = 100

HEAD = '''"""Types of the summary of a run, for type checkers and editors.

``scripts/summary_types.py`` writes this file from the schema of the summary. A number that is
undefined, such as the mean of no requests, is ``None``, and so is an unknown energy. Type checkers
take them as known all the same, since they are in nearly every run; check for ``None`` where there
may be no requests, or a device without values of power.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypeAlias, TypedDict

MaybeNone: TypeAlias = Any
"""``None``, which type checkers do not insist on handling."""
'''

PLAIN = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}


def texts() -> dict[Path, str]:
    """Return the content that the files are to have."""
    schema = json.loads(_core.summary_schema())
    classes: dict[str, str] = {}
    _type_of(schema, schema["$defs"], classes)
    return {
        SCHEMA: json.dumps(schema, indent=2) + "\n",
        TYPES: "\n\n".join([HEAD, *classes.values()]),
    }


def _type_of(schema: dict[str, Any], defs: dict[str, Any], classes: dict[str, str]) -> str:
    """Return the type of a part of the schema; add the classes that it needs, the inner first."""
    if "$ref" in schema:
        name = _type_of(defs[schema["$ref"].removeprefix("#/$defs/")], defs, classes)
        return name.replace("None", "MaybeNone")
    kind, *others = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    assert others in ([], ["null"]), schema
    match kind:
        case "object" if "properties" in schema:
            name = _class(schema, defs, classes)
        case "object":
            (values,) = schema["patternProperties"].values()
            name = f"dict[str, {_type_of(values, defs, classes)}]"
        case "array":
            name = f"list[{_type_of(schema['items'], defs, classes)}]"
        case "integer" | "number" if others:
            return f"{PLAIN[kind]} | MaybeNone"
        case _:
            name = PLAIN[kind]
    return f"{name} | None" if others else name


def _class(schema: dict[str, Any], defs: dict[str, Any], classes: dict[str, str]) -> str:
    """Add the class of an object, and return its name."""
    name: str = schema["title"]
    fields = []
    for key, part in schema["properties"].items():
        kind = _type_of(part, defs, classes)
        wanted = key in schema["required"]
        fields.append(f"    {key}: {kind if wanted else f'NotRequired[{kind}]'}")
        if "description" in part:
            fields.append(documented(part["description"]))
    about = documented(schema["description"])
    made = "\n".join([f"class {name}(TypedDict):", about, "", *fields, ""])
    assert classes.setdefault(name, made) == made, f"two types are called {name}"
    return name


def documented(about: str) -> str:
    """Return a docstring, indented, with Python's word for null."""
    about = re.sub(r"\bnull\b", "``None``", about)
    lines = textwrap.wrap(about, WIDTH - 10, break_on_hyphens=False)
    if len(lines) == 1:
        return f'    """{lines[0]}"""'
    return textwrap.indent('"""' + "\n".join(lines) + '\n"""', "    ")


def write_or_check(wanted: dict[Path, str], about: str, command: str) -> int:
    """Write the files or, with ``--check``, say which differs; return the exit code."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="change nothing; say what differs")
    check = parser.parse_args().check
    for file, text in wanted.items():
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"{file.name} differs: run {command}", file=sys.stderr)
            return 1
        file.write_text(text, encoding="utf-8")
        print(f"Written: {file.relative_to(ROOT)}")
    return 0


def main() -> int:
    """Write or check the files; return the exit code."""
    return write_or_check(texts(), __doc__.partition("\n")[0], "python scripts/summary_types.py")


if __name__ == "__main__":
    sys.exit(main())
