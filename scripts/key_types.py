"""Write the types of keyword arguments that are keys, in python/sledsim/_key_types.py.

They are made from the keys of the built package.

    python -m scripts.key_types           # write the file
    python -m scripts.key_types --check   # say whether it differs, and exit with 1 if so
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from sledsim import _keys

from scripts.summary_types import WIDTH, documented, write_or_check

FILE = Path(__file__).parents[1] / "python" / "sledsim" / "_key_types.py"

HEAD = '''"""Types of keyword arguments that are keys: checkers refuse other names.

``scripts/key_types.py`` writes this file from the keys that the core reads. The keys of parts of
composites (``front.spring_factor``) and of tables that are given whole are checked by the core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat, TypeAlias, TypedDict

Real: TypeAlias = float | SupportsFloat
"""A number, also one of numpy."""
Whole: TypeAlias = Real
"""A whole number, also 1e6."""
Table: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The keys of a table, or those of several."""
'''

NAMES = {
    "workloads": ("WorkloadKeys", "Keys of :func:`sledsim.workload`."),
    "traces": ("TraceKeys", "Keys of :func:`sledsim.read_trace`."),
    "devices": ("DeviceKeys", "Keys of :func:`sledsim.device`."),
}
"""The name and the docstring of the type of each family that functions take as keywords."""

PLAIN = {
    "number": "Real",
    "integer": "Whole",
    "integer_or_text": "int | str",
    "boolean": "bool",
    "text": "str",
    "list": "Sequence[Any]",
    "table": "Table",
    "tables": "Table",
}


def text() -> str:
    """Return the content that the file is to have."""
    return "\n\n".join([HEAD, *(_class(family) for family in NAMES)])


def _class(family: str) -> str:
    types: dict[str, set[str]] = {}
    meanings: dict[str, str] = {}
    for thing in _keys.things():
        for key in thing["keys"] if thing["family"] == family else []:
            # Keys of tables have a dot in their names, and are given as keys of the table.
            if key["key"].isidentifier():
                each = [part for kind in key["types"] for part in _type_of(kind).split(" | ")]
                types.setdefault(key["key"], set()).update(each)
                meanings.setdefault(key["key"], key["meaning"].replace("`", "``"))
    name, about = NAMES[family]
    lines = [f"class {name}(TypedDict, total=False):", f'    """{about}"""', ""]
    for key, found in types.items():
        lines.append(_broken(f"    {key}: {' | '.join(sorted(found))}"))
        if meanings[key]:
            lines.append(documented(f"{meanings[key][0].upper()}{meanings[key][1:]}."))
    return "\n".join(lines) + "\n"


def _broken(line: str) -> str:
    """Break a line that is too long as the formatter does."""
    if len(line) <= WIDTH:
        return line
    before, names, behind = re.split(r"(?<=Literal)\[|\]", line, maxsplit=2)
    each = "".join(f"        {name},\n" for name in names.split(", "))
    return f"{before}[\n{each}    ]{behind}"


def _type_of(kind: Any) -> str:
    if isinstance(kind, str):
        return PLAIN[kind]
    ((which, names),) = kind.items()
    literal = f"Literal[{', '.join(map(json.dumps, names))}]"
    return literal if which == "one_of" else f"int | {literal}"


def main() -> int:
    """Write or check the file; return the exit code."""
    about = __doc__.partition("\n")[0]
    return write_or_check({FILE: text()}, about, "python -m scripts.key_types")


if __name__ == "__main__":
    sys.exit(main())
