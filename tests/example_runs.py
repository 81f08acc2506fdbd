"""Runs of the examples as a user starts them."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_twice(
    script: Path,
    arguments: Callable[[int], list[str]],
    folders: tuple[Path | None, Path | None] = (None, None),
    **second: str,
) -> list[list[str]]:
    """Run an example twice at once, in two circumstances; return the lines that each run printed.

    ``arguments`` are asked for with 0 and 1, and name files of its own for each; ``second`` is the
    environment of the second run.
    """
    first = {"PYTHONHASHSEED": "1", "TZ": "UTC"}
    second = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"} | second
    runs = [
        subprocess.Popen(
            [sys.executable, script, *arguments(number)],
            cwd=folders[number],
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number, variables in enumerate((first, second))
    ]
    try:
        said = [run.communicate(timeout=300) for run in runs]
    finally:
        for run in runs:
            run.kill()
            run.communicate()
    for run, (_, errors) in zip(runs, said, strict=True):
        assert (run.returncode, errors) == (0, "")
    return [text.splitlines() for text, _ in said]


def run_once(script: Path, *arguments: object) -> list[str]:
    """Run an example where names hash and clocks show as on no other machine; return its lines.

    That two runs are alike is tested where a run is short, and of the core for itself.
    """
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        env=os.environ | {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def has_no_date(picture: Path) -> None:
    """Check that a picture, an SVG file, does not say when it was drawn."""
    assert re.findall(r"20\d\d-\d\d-\d\d", picture.read_text(encoding="utf-8")) == []


def texts_are_apart(figure: Figure) -> None:
    """Check that the texts of a drawn picture lie within it, none upon another."""
    texts = [text for ax in figure.axes for text in (*ax.texts, ax.title, *ax.get_yticklabels())]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) > 10
    for number, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[:number])
