"""Sphinx configuration; `make docs` builds."""

import base64
import dataclasses
import json
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

project = "sledsim"
author = "The sledsim authors"
project_copyright = "2026, The sledsim authors"
release = version = installed_version("sledsim")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # their outputs are stored, and tests compare them
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_google_docstring = False
smartquotes = False  # "--set" in a text is no dash

html_theme = "furo"
html_title = f"sledsim {release}"

_kept: dict[str, list[str]] = {}


def keep(_app: Any, what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Keep the text of a property: napoleon would take what stands before a colon for its type."""
    if what in {"attribute", "property"}:
        _kept[name] = list(lines)


def restore(
    _app: Any, _what: str, name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    kept = _kept.pop(name, None)
    if kept is not None and not any(line.startswith("---") for line in kept):
        lines[:] = kept


def signature(_app: Any, what: str, _name: str, of: Any, *_rest: Any) -> tuple[str, None] | None:
    """Leave out the arguments of classes that functions make."""
    if what != "class" or dataclasses.is_dataclass(of) or issubclass(of, tuple):
        return None
    return "", None


def thumbnails(app: Any, _error: Exception | None) -> None:
    """Write the first picture of each notebook, for the page that lists them."""
    folder = Path(app.outdir, "_images")
    folder.mkdir(exist_ok=True)
    for path in Path(app.srcdir, "start", "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
        picture = next((data["image/png"] for data in outputs if "image/png" in data), "")
        (folder / f"notebook-{path.stem}.png").write_bytes(base64.b64decode(picture))


def pages(app: Any, _error: Exception | None) -> None:
    """Write the pages that "See what happens in a run" links to."""
    import sledsim as ss

    slow = ss.workload("random", rate=140, requests=300)
    shown: dict[str, ss.Run | ss.Comparison] = {
        "sled": ss.simulate(ss.workload("random", rate=1500, requests=1000), "g2", "sptf"),
        "disk": ss.compare(slow, ["atlas10k"], ["fcfs", "sptf"], rows=True),
        "hybrid": ss.simulate("sample:postmark-ext4", "mcd", rows=False),
    }
    for name, result in shown.items():
        result.explore(Path(app.outdir, "howto", f"explore-{name}.html"), requests=1000)


def setup(app: Any) -> None:
    app.connect("build-finished", pages)
    app.connect("build-finished", thumbnails)
    app.connect("autodoc-process-docstring", keep, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
    app.connect("autodoc-process-signature", signature)
