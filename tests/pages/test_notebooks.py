"""The notebooks run, and give the outputs that are stored in them.

``python -m tests.notebook_runs`` writes the outputs anew.
"""

import base64
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")

import nbformat
import sledsim as ss

from tests.notebook_runs import EMBEDDED, PAGE, notebooks

ROOT = Path(__file__).parents[2]

UPDATE = "python -m tests.notebook_runs writes the outputs anew"


def pixels(png: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    from PIL import Image  # comes with matplotlib

    with Image.open(io.BytesIO(base64.b64decode(png))) as image:
        return np.asarray(image.convert("RGB"), dtype=float)


def assert_like(stored: str, made: str, *, same_version: bool) -> None:
    """Compare pictures: of one version of matplotlib all pixels, or else the size."""
    first, second = pixels(stored), pixels(made)
    assert second.shape == pytest.approx(first.shape, rel=0 if same_version else 0.05), UPDATE
    if same_version:
        assert np.abs(first - second).mean() < 0.5, UPDATE


def outputs(cell: Any) -> list[dict[str, str]]:
    """Return the outputs of a cell by kind; what is printed is of the kind ``stream``."""
    found = []
    for output in cell.get("outputs", []):
        assert output.output_type != "error"
        found.append(dict(output.data) if "data" in output else {"stream": output.text})
    return found


def assert_outputs(stored: Any, made: Any) -> None:
    assert len(made.cells) == len(stored.cells)
    drawn_by = made.metadata["matplotlib"]
    same_version = stored.metadata["matplotlib"] == drawn_by
    for old, new in zip(stored.cells, made.cells, strict=True):
        before, after = outputs(old), outputs(new)
        assert [sorted(each) for each in after] == [sorted(each) for each in before], old.source
        for first, second in zip(before, after, strict=True):
            for kind, text in first.items():
                if kind == "image/png":
                    assert_like(text, second[kind], same_version=same_version)
                    continue
                told = [PAGE.sub("", each) for each in (text, second[kind])]
                pictures = [EMBEDDED.findall(each) for each in told]
                texts = [EMBEDDED.sub("", each) for each in told]
                if not any(pictures) or same_version:  # else matplotlib wrote the text, too
                    assert texts[1] == texts[0], f"{old.source}: {UPDATE}"
                for one, other in zip(*pictures, strict=True):
                    assert_like(one, other, same_version=same_version)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_stored(path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.notebook_runs", path.stem, "--output", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(Path(ss.__file__).parents[1])}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = nbformat.read(tmp_path / path.name, as_version=4)
    assert_outputs(nbformat.read(path, as_version=4), made)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_what_changes(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info", "matplotlib"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in notebook.cells:
        assert not cell.metadata
        assert len(cell.source.splitlines()) < 25, "cells are short"
        for output in outputs(cell):
            for kind, text in output.items():
                plain = "" if kind.startswith("image/") else EMBEDDED.sub("", PAGE.sub("", text))
                assert not re.search(r"/(tmp|home|root)/|\b0x\w{6}", plain), "a path, an address"
