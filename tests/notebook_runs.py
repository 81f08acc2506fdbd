"""Runs the notebooks of ``examples/notebooks``, and writes their outputs anew.

``python -m tests.notebook_runs`` runs all and replaces the stored outputs; ``git diff`` shows what
changed. Names of notebooks run these alone.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
import sledsim as ss

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
_TIMEOUT_S = 120
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
EMBEDDED = re.compile(r"(?<=data:image/png;base64,)[\w+/=\\\n]+")
"""Pictures inside a page, as the frames of an animation."""
PAGE = re.compile(r'(?<= srcdoc=")[^"]*')
"""A page that explains a run. It changes with its modules, and with what compressed it."""
_COLOURS = 64


def notebooks() -> list[Path]:
    """Return the notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """Run a notebook in an empty folder, by this interpreter, and return it as it is stored.

    Nothing in it depends on when or where it ran. It names the version of matplotlib that drew its
    pictures.
    """
    from jupyter_client.kernelspec import KernelSpecManager  # tests may do without
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # No folders with kernels: what is left is that of this interpreter.
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        )
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=_TIMEOUT_S,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute(
            env={
                **os.environ,
                "PYTHONPATH": str(Path(ss.__file__).parents[1]),
                "IPYTHONDIR": folder,
                "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", folder),
                "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            }
        )
    for cell in notebook.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                data["image/png"] = small(data["image/png"])
            if "text/html" in data:  # ids of an animation are drawn by chance
                html = _ID.sub("0" * 32, data["text/html"])
                data["text/html"] = EMBEDDED.sub(lambda found: small(found[0]), html)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "matplotlib": version("matplotlib"),
    }
    return notebook


def small(png: str) -> str:
    """Return a picture in base64 with few colours: a third of the size, and it looks the same."""
    from PIL import Image  # comes with matplotlib

    content = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(png.replace("\\", "")))) as image:
        flat = Image.new("RGB", image.size, "white")
        flat.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
        reduced = flat.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        reduced.save(content, format="png", optimize=True)
    return base64.b64encode(content.getvalue()).decode()


def main() -> None:
    """Run notebooks, all without a name, and store them with their outputs."""
    parser = argparse.ArgumentParser(prog="python -m tests.notebook_runs")
    parser.add_argument("names", nargs="*", help="names of notebooks, without their ending")
    parser.add_argument("--output", type=Path, default=FOLDER, help="where the notebooks go")
    options = parser.parse_args()
    for path in notebooks():
        if not options.names or path.stem in options.names:
            nbformat.write(executed(path), options.output / path.name)


if __name__ == "__main__":
    main()
